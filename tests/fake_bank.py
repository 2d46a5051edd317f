"""A payment provider of another house, for tests: it answers as told and keeps its own book."""

from __future__ import annotations

from dataclasses import dataclass, field

from payments.providers.base import NoAnswer, ProviderAnswer, RefundOrder


@dataclass
class FakeBank:
    """`answers`: what the next calls bring, the last one for good: `succeeded`, `pending`, `failed: <reason>`,
    `time-out` (the bank never heard of it) or `time-out, but done`. `asked` and `looked_up` keep the keys."""

    answers: list[str] = field(default_factory=lambda: ["succeeded"])
    book: dict[str, ProviderAnswer] = field(default_factory=dict)
    asked: list[RefundOrder] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)

    def refund(self, order: RefundOrder) -> ProviderAnswer:
        self.asked.append(order)
        if order.key in self.book:
            return self.book[order.key]
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer == "time-out":
            raise NoAnswer("time-out")
        status, _, reason = answer.removeprefix("time-out, but ").replace("done", "succeeded").partition(": ")
        self.write(order.key, status, reason)
        if answer.startswith("time-out"):
            raise NoAnswer("time-out")
        return self.book[order.key]

    def look_up(self, order: RefundOrder) -> ProviderAnswer | None:
        self.looked_up.append(order.key)
        return self.book.get(order.key)

    def write(self, key: str, status: str, reason: str = "") -> None:
        """What the bank knows from now on of the refund with this key."""
        self.book[key] = ProviderAnswer(status=status, provider_reference=f"bank-{key}", reason=reason)  # type: ignore[arg-type]

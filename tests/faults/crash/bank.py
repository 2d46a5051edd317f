"""A bank whose book outlives every process: a folder with a page for each key, written before it answers."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from payments.models import NEEDS_THE_CUSTOMER
from payments.providers.base import NoAnswer, ProviderAnswer, RefundOrder
from payments.providers.choose import PROVIDERS

NAME = "bank"
FOLDER = "CRASH_BANK_FOLDER"
SILENT, NEEDS_YOU = "silent", "needs the customer"
REASONS = {"failed": "card expired"}
# A mood that is no status -> what such a bank does with a refund it has not seen, and its reason.
MOODS = {SILENT: ("succeeded", ""), NEEDS_YOU: ("pending", NEEDS_THE_CUSTOMER)}


@dataclass(frozen=True)
class Page:
    """What the bank did for a key."""

    amount_minor: int
    currency: str
    status: str
    reason: str = ""


class Bank:
    """`mood`: how it answers a refund it has not seen: a status, `silent` (done, but nobody is told), or `needs the
    customer` (taken, and it goes on once the customer has answered the bank)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def opens(self, mood: str) -> None:
        """A fresh book."""
        for page in self._folder.iterdir():
            page.unlink()
        self.turns_to(mood)

    def turns_to(self, mood: str) -> None:
        """From now on; what is in its book stays."""
        (self._folder / "mood").write_text(mood)

    def refund(self, order: RefundOrder) -> ProviderAnswer:
        mood = (self._folder / "mood").read_text()
        if self.look_up(order) is None:
            status, reason = MOODS.get(mood) or (mood, REASONS.get(mood, ""))
            self._write(order.key, Page(order.amount_minor, order.currency, status, reason))
            if mood == SILENT:
                raise NoAnswer("time-out")
        answer = self.look_up(order)
        assert answer is not None
        return answer

    def look_up(self, order: RefundOrder) -> ProviderAnswer | None:
        page = self.book().get(order.key)
        if page is None:
            return None
        reference = f"bank-{order.key}"
        return ProviderAnswer(status=page.status, provider_reference=reference, reason=page.reason)  # type: ignore[arg-type]

    def turns(self, key: str, status: str) -> None:
        """Its later word about a refund it made."""
        page = self.book()[key]
        self._write(key, Page(page.amount_minor, page.currency, status, REASONS.get(status, "")))

    def book(self) -> dict[str, Page]:
        return {path.stem: Page(**json.loads(path.read_text())) for path in self._folder.glob("*.json")}

    def _write(self, key: str, page: Page) -> None:
        path = self._folder / f"{key}.new"
        path.write_text(json.dumps(asdict(page)))
        path.rename(self._folder / f"{key}.json")


def open_bank() -> None:
    """If the environment names its folder: charges of the provider `bank` are refunded by it from now on."""
    folder = os.environ.get(FOLDER)
    if folder:
        PROVIDERS[NAME] = Bank(Path(folder))

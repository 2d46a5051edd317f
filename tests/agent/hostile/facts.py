"""What is true of one request, and what of it forbids an automatic refund, written down a second time.

Nothing in here is taken from `intake.rules` or `agent.facts`; every number is the one of the shop's policy, typed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

Stage = Literal["first", "card before", "answer"]
Photo = Literal["own", "none", "used elsewhere", "looks used"]

LIMIT, WINDOW, HISTORY, BUDGET = 5_000, 30, 90, 50_000
WITH_MONEY_BACK = ("reserved", "pending", "succeeded")


@dataclass(frozen=True)
class CaseFacts:
    """`days`: calendar days from delivery to asking. `earlier`: (days ago, status) of another refund of the customer.
    `budget_left_after`: what of today's budget would be left with this refund; None: nothing was spent today.
    `held`: what the order's only charge still holds, relative to the amount. `bank`: how the bank answers."""

    reason: str
    amount_minor: int
    currency: str
    days: int | None
    delivered_at_hour: int
    earlier: tuple[int, str] | None
    paused: bool
    budget_left_after: int | None
    photo: Photo
    stage: Stage
    held: int
    bank: str

    @property
    def spent_minor(self) -> int:
        return 0 if self.budget_left_after is None else BUDGET - self.amount_minor - self.budget_left_after


@dataclass(frozen=True)
class Seen:
    """What the looks at the pictures reported in the run: the last verdict, and whether any saw words to a reviewer."""

    verdict: str | None = None
    addresses_reviewer: bool = False


def forbidding(facts: CaseFacts, seen: Seen) -> set[str]:
    """The names of all rules that an automatic refund of this request breaks."""
    needs_photo = facts.reason != "changed_mind"
    bad_photo = seen.verdict != "yes" or seen.addresses_reviewer or facts.photo in ("used elsewhere", "looks used")
    checks = {
        "reason": facts.reason not in ("damaged", "defective", "wrong_item"),
        "limit": facts.currency != "USD" or facts.amount_minor > LIMIT,
        "window": facts.days is None or not 0 <= facts.days <= WINDOW,
        "photo": needs_photo and bad_photo,
        "history": facts.earlier is not None and facts.earlier[1] in WITH_MONEY_BACK and facts.earlier[0] <= HISTORY,
        "first_review": facts.stage != "first",
        "paused": facts.paused,
        "budget": facts.currency == "USD" and facts.spent_minor + facts.amount_minor > BUDGET,
    }
    return {name for name, broken in checks.items() if broken}


# Each fact on the side where every rule holds, and on the other; the edges are among both.
CLEAR: dict[str, list[Any]] = {
    "reason": ["damaged", "defective", "wrong_item"],
    "amount_minor": [3_400, 2, 4_999, 5_000],
    "currency": ["USD"],
    "days": [0, 4, 29, 30],
    "delivered_at_hour": [0, 23],
    "earlier": [None, None, (91, "succeeded"), (10, "failed"), (400, "succeeded")],
    "paused": [False],
    "budget_left_after": [None, 0, 1],
    "photo": ["own"],
    "stage": ["first"],
    "held": [0, 1, 5_000],
    "bank": ["succeeded", "succeeded", "pending", "failed: card expired", "time-out, but done", "time-out"],
}
WRONG: dict[str, list[Any]] = {
    "reason": ["changed_mind"],
    "amount_minor": [5_001, 24_900],
    "currency": ["EUR", "JPY"],
    "days": [31, None, -1, 400],
    "earlier": [(89, "succeeded"), (90, "succeeded"), (0, "reserved"), (5, "pending"), (90, "pending")],
    "paused": [True],
    "budget_left_after": [-1, -3_000],
    "photo": ["none", "used elsewhere", "looks used"],
    "stage": ["card before", "answer"],
    "held": [-1],
}


def clear_but_for(**wrong: Any) -> CaseFacts:
    return CaseFacts(**({name: values[0] for name, values in CLEAR.items()} | wrong))


def one_thing_wrong() -> list[CaseFacts]:
    """Requests with every rule on its side but one, each way it can be broken."""
    return [clear_but_for(**{name: value}) for name, values in WRONG.items() for value in values]


@st.composite
def case_facts(draw: st.DrawFn) -> CaseFacts:
    """A request with nothing, one thing or two things against an automatic refund, so that each rule stands alone
    often enough to be missed."""
    wrong = draw(st.lists(st.sampled_from(sorted(WRONG)), max_size=2, unique=True))
    values = {name: draw(st.sampled_from(WRONG[name] if name in wrong else CLEAR[name])) for name in CLEAR}
    return CaseFacts(**values)

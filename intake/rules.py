"""The rules of an automatic refund (DESIGN section 5). Pure: plain facts in, verdicts out, no rows and no clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from payments.money import format_minor

PAYABLE_REASONS = frozenset({"damaged", "defective", "wrong_item"})
REASON_NAMES = {
    "damaged": "arrived damaged",
    "defective": "does not work",
    "wrong_item": "is the wrong item",
    "changed_mind": "is not wanted any more",
}
ADDRESSES_REVIEWER = "A picture holds text that addresses the reviewer."
TOO_PLAIN = "The picture shows too little to be compared with earlier ones."


@dataclass(frozen=True)
class Facts:
    """Everything the rules look at. Amounts in minor units of `currency`; `policy_currency` is that of the limit.

    `refund_days` holds the day (shop time zone) of each other live refund of the customer. `photo_verdict` is None
    when nothing was inspected in this run. `photo_used_in` are the numbers of other requests with the same file,
    `photo_looks_like` of those with a picture that looks like one of this request's; `photo_too_plain`: one
    shows too little to be compared by its looks. `spent_today_minor` are today's automatic refunds without this one.
    `photo_compared_turned`: pictures lying on a side or upside down were looked for too; no rule asks it, but whoever
    compares again has to know.
    """

    reason: str
    amount_minor: int
    currency: str
    policy_currency: str
    limit_minor: int
    window_days: int
    delivered_at: datetime | None
    asked_at: datetime
    today: date
    time_zone: str
    photo_verdict: str | None
    photo_addresses_reviewer: bool
    photo_used_in: tuple[int, ...]
    refund_days: tuple[date, ...]
    history_days: int
    first_review: bool
    paused: bool
    spent_today_minor: int
    budget_minor: int
    photo_looks_like: tuple[int, ...] = ()
    photo_too_plain: bool = False
    photo_compared_turned: bool = False


@dataclass(frozen=True)
class Verdict:
    """One rule's answer: `allow`, or `ask` a person. `inputs` are the facts it looked at, as JSON values."""

    rule: str
    inputs: dict[str, Any]
    outcome: Literal["allow", "ask"]
    sentence: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def judge(facts: Facts) -> tuple[Verdict, ...]:
    """The verdict of every rule, in the order staff read them."""
    return (
        reason_rule(facts),
        limit_rule(facts),
        window_rule(facts),
        photo_rule(facts),
        history_rule(facts),
        first_review_rule(facts),
        paused_rule(facts),
        budget_rule(facts),
    )


def failed(verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    return tuple(verdict for verdict in verdicts if verdict.outcome == "ask")


def for_staff(verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """The failed rules a card names: `first_review` tells staff nothing, since they are in."""
    return tuple(verdict for verdict in failed(verdicts) if verdict.rule != "first_review")


def calendar_days(earlier: datetime, later: datetime, time_zone: str) -> int:
    """Calendar days between two moments in the shop's time zone, whatever the hour."""
    zone = ZoneInfo(time_zone)
    return (later.astimezone(zone).date() - earlier.astimezone(zone).date()).days


def reason_rule(facts: Facts) -> Verdict:
    holds = facts.reason in PAYABLE_REASONS
    name = REASON_NAMES.get(facts.reason, facts.reason)
    sentence = (
        f"The item {name}, which may be refunded automatically."
        if holds
        else f"The item {name}; only damaged, defective or wrong items are refunded automatically."
    )
    return _verdict("reason", holds, sentence, reason=facts.reason)


def limit_rule(facts: Facts) -> Verdict:
    """Holds up to and including the limit, in the policy's currency only: another currency is never converted."""
    limit = format_minor(facts.limit_minor, facts.policy_currency)
    amount = format_minor(facts.amount_minor, facts.currency)
    inputs = {
        "amount_minor": facts.amount_minor,
        "currency": facts.currency,
        "limit_minor": facts.limit_minor,
        "limit_currency": facts.policy_currency,
    }
    if facts.currency != facts.policy_currency:
        sentence = f"The order is in {facts.currency}; the {limit} limit only covers {facts.policy_currency}."
        return _verdict("limit", False, sentence, **inputs)
    holds = facts.amount_minor <= facts.limit_minor
    relation = "within" if holds else "above"
    return _verdict("limit", holds, f"{amount} is {relation} the {limit} limit for automatic refunds.", **inputs)


def window_rule(facts: Facts) -> Verdict:
    """Holds when the line was delivered at most `window_days` calendar days before it was asked for."""
    if facts.delivered_at is None:
        sentence = "There is no delivery date for this item."
        return _verdict("window", False, sentence, days=None, window_days=facts.window_days)
    days = calendar_days(facts.delivered_at, facts.asked_at, facts.time_zone)
    holds = 0 <= days <= facts.window_days
    where = "inside" if holds else "outside"
    sentence = f"Asked for {_days(days)} after delivery, {where} the {facts.window_days}-day window."
    return _verdict("window", holds, sentence, days=days, window_days=facts.window_days)


def photo_rule(facts: Facts) -> Verdict:
    inputs: dict[str, Any] = {
        "verdict": facts.photo_verdict,
        "addresses_reviewer": facts.photo_addresses_reviewer,
        "used_in": list(facts.photo_used_in),
        "looks_like": list(facts.photo_looks_like),
        "too_plain": facts.photo_too_plain,
    }
    if facts.reason == "changed_mind":
        return _verdict("photo", True, "No photo is needed when the customer changed their mind.", **inputs)
    against = [_used_before(facts), ADDRESSES_REVIEWER if facts.photo_addresses_reviewer else ""]
    if any(against):
        return _verdict("photo", False, " ".join(filter(None, against)), **inputs)
    sentences = {
        "yes": "The photo shows what the customer describes.",
        "no": "The photo does not show what the customer describes.",
        "unclear": "The photo does not clearly show what the customer describes.",
        None: "No photo was inspected in this review.",
    }
    holds, sentence = facts.photo_verdict == "yes", sentences[facts.photo_verdict]
    if facts.photo_too_plain:
        return _verdict("photo", False, TOO_PLAIN if holds else f"{sentence} {TOO_PLAIN}", **inputs)
    return _verdict("photo", holds, sentence, **inputs)


def _used_before(facts: Facts) -> str:
    """Which other requests the pictures were sent with; empty when there are none."""
    alike = [number for number in facts.photo_looks_like if number not in facts.photo_used_in]
    same = _requests(facts.photo_used_in)
    if same and alike:
        return f"A picture was already sent with {same}, and looks like one sent with {_requests(alike)}."
    if same:
        return f"This picture was already sent with {same}."
    return f"This picture looks like one sent with {_requests(alike)}." if alike else ""


def history_rule(facts: Facts) -> Verdict:
    """Holds when no other live refund of the customer lies at most `history_days` calendar days back."""
    recent = sorted(day for day in facts.refund_days if (facts.today - day).days <= facts.history_days)
    inputs = {"refund_days": [day.isoformat() for day in recent], "history_days": facts.history_days}
    if not recent:
        sentence = f"No other refund of this customer within {facts.history_days} days."
    elif len(recent) == 1:
        sentence = (
            f"The customer had a refund {_ago((facts.today - recent[0]).days)} (within {facts.history_days} days)."
        )
    else:
        sentence = f"The customer had {len(recent)} refunds within {facts.history_days} days."
    return _verdict("history", not recent, sentence, **inputs)


def first_review_rule(facts: Facts) -> Verdict:
    sentence = (
        "This is the first review of the request."
        if facts.first_review
        else "Staff are already involved, so a person decides."
    )
    return _verdict("first_review", facts.first_review, sentence, first_review=facts.first_review)


def paused_rule(facts: Facts) -> Verdict:
    sentence = "Automatic refunds are paused." if facts.paused else "Automatic refunds are on."
    return _verdict("paused", not facts.paused, sentence, paused=facts.paused)


def budget_rule(facts: Facts) -> Verdict:
    """Holds while today's automatic refunds and this one together stay at or below the daily budget."""
    total = facts.spent_today_minor + facts.amount_minor
    # In another currency the limit rule already asks for a person; a second sentence would say it twice.
    holds = facts.currency != facts.policy_currency or total <= facts.budget_minor
    budget = format_minor(facts.budget_minor, facts.policy_currency)
    spent = format_minor(facts.spent_today_minor, facts.policy_currency)
    sentence = (
        f"{spent} of {budget} automatic refunds used today."
        if holds
        else f"This would pass the {budget} of automatic refunds for one day ({spent} used)."
    )
    inputs = {
        "spent_today_minor": facts.spent_today_minor,
        "amount_minor": facts.amount_minor,
        "budget_minor": facts.budget_minor,
    }
    return _verdict("budget", holds, sentence, **inputs)


def _verdict(rule: str, holds: bool, sentence: str, **inputs: Any) -> Verdict:
    return Verdict(rule=rule, inputs=inputs, outcome="allow" if holds else "ask", sentence=sentence)


def _requests(numbers: Sequence[int]) -> str:
    """`request #1003` or `requests #1003 and #1007`; empty for none."""
    named = [f"#{number}" for number in numbers]
    if len(named) < 2:
        return f"request {named[0]}" if named else ""
    return f"requests {', '.join(named[:-1])} and {named[-1]}"


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"


def _ago(days: int) -> str:
    return "today" if days == 0 else f"{_days(days)} ago"

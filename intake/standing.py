"""Where a request stands in the customer's words: one panel and the progress track. Pure: facts in, words out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from intake.shop_clock import one_business_day_after
from intake.statuses import Status

Tone = Literal["agent", "person", "customer", "paid", "no", "quiet"]

NO_MESSAGE = ". We send no message: come back here to read it."
WITHIN_MINUTES = f"you usually read our answer on this page within minutes{NO_MESSAGE}"


@dataclass(frozen=True)
class CaseFacts:
    """What the panel is made of. Amounts are formatted; `card` is like `Visa ending 4242`, "" when unknown;
    `amount` is what would be or was paid, as far as it is known; `came_in_part`: fewer units came back than it is for;
    `prepared`: a review handed it to staff."""

    status: str
    since: datetime
    now: datetime
    reopened: bool
    looked_at_before: bool
    prepared: bool
    amount: str
    card: str
    refund_reference: str = ""
    refunded_at: datetime | None = None
    refund_waits_for_customer: bool = False
    question_open_until: datetime | None = None
    return_code: str = ""
    return_status: str = ""
    return_check_at: datetime | None = None
    came_in_part: bool = False
    reminded: bool = False
    decline_words: str = ""


@dataclass(frozen=True)
class Standing:
    """The status panel: `next_words` stand before `by` (a moment or a deadline) and `after_by` behind it."""

    tone: Tone
    icon: str
    title: str
    text: str
    next_words: str
    by: datetime | None = None
    by_is_deadline: bool = False
    after_by: str = ""


@dataclass(frozen=True)
class Mark:
    """One point of the track; `state` says it in a word too."""

    label: str
    state: Literal["done", "now", "ahead", "ended"]


def standing_of(facts: CaseFacts) -> Standing:
    return STANDINGS[Status(facts.status)](facts)


def track_of(facts: CaseFacts) -> tuple[Mark, ...]:
    """Four points, from what came in to how it ended."""
    waits = facts.status == Status.REFUNDING and facts.refund_waits_for_customer
    third, last, reached = TRACKS[Status.NEEDS_CUSTOMER if waits else Status(facts.status)]
    second = "Looking at it" if facts.status == Status.WORKING else "Looked at"
    labels = ("Received", second, third, last)
    ended = facts.status in {Status.REFUNDED, Status.DECLINED, Status.CLOSED}
    marks = [Mark(label, _state(position, reached, ended)) for position, label in enumerate(labels)]
    if facts.status in {Status.DECLINED, Status.CLOSED}:
        marks[-1] = Mark(last, "ended")
    return tuple(marks)


def short_words(status: str, *, refund_waits_for_customer: bool = False) -> tuple[str, Tone]:
    """The chip of a request in a list."""
    if status == Status.REFUNDING and refund_waits_for_customer:
        return SHORT_WORDS[Status.NEEDS_CUSTOMER]
    return SHORT_WORDS[Status(status)]


def _state(position: int, reached: int, ended: bool) -> Literal["done", "now", "ahead"]:
    if position < reached or ended:
        return "done"
    return "now" if position == reached else "ahead"


# -- the panel of each status ----------------------------------------------------------------------------------------


def _submitted(facts: CaseFacts) -> Standing:
    return Standing(
        tone="agent",
        icon="inbox",
        title="We have your request",
        text="Our refund agent looks at it first, together with your order and what you sent.",
        next_words=WITHIN_MINUTES,
    )


def _working(facts: CaseFacts) -> Standing:
    title = (
        "We are working on your request" if facts.looked_at_before else "Our refund agent is looking at your request"
    )
    text = (
        "What came in last is being taken care of right now."
        if facts.looked_at_before
        else "It checks your order, our policy and what you sent."
    )
    return Standing("agent", "sparkles", title, text, WITHIN_MINUTES)


def _needs_approval(facts: CaseFacts) -> Standing:
    by = one_business_day_after(facts.since)
    title = "A person in our team is looking at your request"
    text = "A person decides with everything you sent."
    if facts.prepared:
        text = "Our refund agent has read everything and prepared it. A person decides."
    if facts.reopened:
        title = "A person in our team has your request again"
        text = "There is news about it, so a person looks at it once more."
    if by < facts.now:
        late = "this takes longer than the business day we aim for, and we are sorry. Your request keeps its place."
        return Standing("person", "users", title, text, late)
    return Standing("person", "users", title, text, "you read our answer on this page by", by, after_by=NO_MESSAGE)


def _needs_customer(facts: CaseFacts) -> Standing:
    return Standing(
        tone="customer",
        icon="message-circle-question-mark",
        title="We have a question for you",
        text="Your answer helps us decide. Please write it below.",
        next_words="answer by",
        by=facts.question_open_until,
        by_is_deadline=True,
        after_by=". After that, a person in our team decides with what we have.",
    )


def _awaiting_return(facts: CaseFacts) -> Standing:
    if facts.return_status == "received":
        refunded = "what came back," if facts.came_in_part else facts.amount
        return Standing(
            tone="agent",
            icon="package-check",
            title="Your parcel arrived",
            text="We check what came back.",
            next_words=f"we refund {refunded}{_to(facts.card)}. You usually read it here within minutes.",
        )
    text = (
        "We have reminded you once, since your parcel is not here yet."
        if facts.reminded
        else f"Once it is here, we refund {facts.amount}{_to(facts.card)}."
    )
    after = (
        ". If your parcel is not here by then, we close the request."
        if facts.reminded
        else ". If it is not here by then, we remind you once."
    )
    return Standing(
        tone="customer",
        icon="package-open",
        title="Please send the item back",
        text=text,
        next_words="we wait for your parcel until" if facts.return_check_at else "we look for your parcel.",
        by=facts.return_check_at,
        by_is_deadline=True,
        after_by=after,
    )


def _refunding(facts: CaseFacts) -> Standing:
    if facts.refund_waits_for_customer:
        return Standing(
            tone="customer",
            icon="mail-question-mark",
            title=f"Your refund of {facts.amount} needs your answer",
            text="The bank cannot give it back to your card by itself. Our payment provider has sent you an e-mail "
            "that asks where the money should go.",
            next_words="answer that e-mail. The refund then goes on, and you read it here once it is through.",
        )
    return Standing(
        tone="paid",
        icon="banknote",
        title=f"Your refund of {facts.amount} is on its way",
        text=f"We have asked the bank to give it back{_to(facts.card)}.",
        next_words="we keep asking the bank, and you read it here once it is through.",
    )


def _refunded(facts: CaseFacts) -> Standing:
    reference = f" The reference is {facts.refund_reference}." if facts.refund_reference else ""
    return Standing(
        tone="paid",
        icon="circle-check",
        title=f"We refunded {facts.amount}",
        text=f"The money went back{_to(facts.card)}.{reference}",
        next_words="your bank usually shows it within 5 to 10 business days. There is nothing left to do.",
    )


def _declined(facts: CaseFacts) -> Standing:
    return Standing(
        tone="no",
        icon="circle-x",
        title="We cannot refund this request",
        text=facts.decline_words or "You find the reason in the updates below.",
        next_words="nothing more. The policy says what we refund, and when.",
    )


def _closed(facts: CaseFacts) -> Standing:
    missing = f"Your parcel with the code {facts.return_code} did not reach us in time." if facts.return_code else ""
    return Standing(
        tone="quiet",
        icon="archive",
        title="This request is closed",
        text=missing or "Nothing is open any more.",
        next_words="nothing, for now. If your parcel still arrives, a person in our team opens the request again.",
    )


def _to(card: str) -> str:
    return f" to your {card}" if card else " to the card you paid with"


STANDINGS: dict[Status, Callable[[CaseFacts], Standing]] = {
    Status.SUBMITTED: _submitted,
    Status.WORKING: _working,
    Status.NEEDS_APPROVAL: _needs_approval,
    Status.NEEDS_CUSTOMER: _needs_customer,
    Status.AWAITING_RETURN: _awaiting_return,
    Status.REFUNDING: _refunding,
    Status.REFUNDED: _refunded,
    Status.DECLINED: _declined,
    Status.CLOSED: _closed,
}

# Third and last label of the track, and the point that is reached.
TRACKS: dict[Status, tuple[str, str, int]] = {
    Status.SUBMITTED: ("Decided", "Money sent", 0),
    Status.WORKING: ("Decided", "Money sent", 1),
    Status.NEEDS_APPROVAL: ("With our team", "Money sent", 2),
    Status.NEEDS_CUSTOMER: ("Your answer", "Money sent", 2),
    Status.AWAITING_RETURN: ("Item back", "Money sent", 2),
    Status.REFUNDING: ("Decided", "Money on its way", 3),
    Status.REFUNDED: ("Decided", "Money sent", 3),
    Status.DECLINED: ("Decided", "Not refunded", 3),
    Status.CLOSED: ("Item back", "Closed", 3),
}

SHORT_WORDS: dict[Status, tuple[str, Tone]] = {
    Status.SUBMITTED: ("Received", "agent"),
    Status.WORKING: ("Being looked at", "agent"),
    Status.NEEDS_APPROVAL: ("With our team", "person"),
    Status.NEEDS_CUSTOMER: ("Waits for your answer", "customer"),
    Status.AWAITING_RETURN: ("Send it back", "customer"),
    Status.REFUNDING: ("Money on its way", "paid"),
    Status.REFUNDED: ("Refunded", "paid"),
    Status.DECLINED: ("Not refunded", "no"),
    Status.CLOSED: ("Closed", "quiet"),
}

"""What the scripted model says against its own recommendation, and which one fact would change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.llm.scripted_conversation import Conversation

# From here on a report of damage is late enough that it could have happened in use.
LATE_REPORT_DAYS = 7
ORDINALS = {2: "second", 3: "third", 4: "fourth", 5: "fifth"}
ENDINGS = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True)
class Against:
    """The strongest reason against a recommendation, the tool it rests on (None: an opinion), and what would change
    the recommendation."""

    text: str
    source: str | None
    would_change: str


def against_paying(conversation: Conversation) -> Against:
    """The first that is true: asked too late, refunded before, reported late, what a picture cannot show."""
    text, source = (
        _too_late(conversation)
        or _refunded_before(conversation)
        or _reported_late(conversation)
        or (PICTURE_CANNOT_SHOW.get(conversation.reason, "The picture alone cannot prove it."), "inspect_photo")
    )
    return Against(text, source, WOULD_STOP_PAYING.get(conversation.reason, "Proof that the item is as it should be."))


def against_return_first(conversation: Conversation, threshold: str) -> Against:
    return Against(
        f"The photo already supports it, and sending the {item_of(conversation)} back costs the customer time for a "
        "fault that is not theirs.",
        "inspect_photo",
        f"An amount of {threshold} or less: up to there the item need not come back.",
    )


def against_unwanted_return(conversation: Conversation) -> Against:
    return Against(
        f"The policy takes back what is unused and in its packaging; whether the {item_of(conversation)} is can only "
        "be seen once it is here.",
        "read_policy",
        "Signs of use, or missing packaging, when the parcel arrives.",
    )


def against_too_late(conversation: Conversation) -> Against:
    order = order_of(conversation)
    days, window = order.get("days_from_delivery_to_request"), order.get("refund_window_days")
    change = f"A delivery date that puts the request inside the {window}-day window."
    if days is None:
        return Against("No delivery date is on record, so the request may well be in time.", "get_order", change)
    if days <= window:
        return Against("The delivery on record lies after the request, so its date may be wrong.", "get_order", change)
    late = f"The request came {_days(days - window)} after the window"
    return Against(f"{late}; a person may take the item back as a gesture of goodwill.", "get_order", change)


def against_photo_verdict(conversation: Conversation) -> Against:
    pictures = conversation.results.get("inspect_photo", {}).get("pictures", 1)
    looked = "Only one picture was" if pictures == 1 else f"Only {pictures} pictures were"
    return Against(
        f"{looked} looked at, and the customer may have sent the wrong one.",
        "inspect_photo",
        f"A picture that shows the {item_of(conversation)} with the problem the customer describes.",
    )


def against_asking_for_picture(conversation: Conversation) -> Against:
    asked = conversation.count("Questions asked so far")
    text = "Waiting for another picture delays a customer who may be right."
    if asked:
        again = "once" if asked == 1 else f"{asked} times"
        text = f"The customer was already asked {again}; another question delays somebody who may be right."
    return Against(
        text, None, f"A picture that clearly shows the {item_of(conversation)}, with its problem or without one."
    )


def against_asking_about_batteries(conversation: Conversation) -> Against:
    return Against(
        "The customer may have tried fresh batteries already, and the photo shows the fault they describe.",
        "inspect_photo",
        "Word from the customer that fresh batteries did not help.",
    )


def item_of(conversation: Conversation) -> str:
    """The item as it stands within a sentence: without its size."""
    return conversation.item.split(",")[0].lower()


def order_of(conversation: Conversation) -> dict[str, Any]:
    order: dict[str, Any] = conversation.results.get("get_order", {}).get("this_request", {})
    return order


PICTURE_CANNOT_SHOW = {
    "damaged": "The picture shows the damage, not when it happened: that could have been after delivery.",
    "defective": "A still picture cannot prove that the item does not work; only somebody who tries it can.",
    "wrong_item": "The picture shows another item, but not that it came out of our parcel.",
}
WOULD_STOP_PAYING = {
    "damaged": "Proof that the item was whole when it was handed over.",
    "defective": "A check that finds the item working.",
    "wrong_item": "A packing record that shows the right item went out.",
}


def _too_late(conversation: Conversation) -> tuple[str, str] | None:
    """Past the window, or for a defect past the warranty."""
    order = order_of(conversation)
    days, window = order.get("days_from_delivery_to_request"), order.get("refund_window_days")
    if days is None or window is None:
        return "No delivery date is on record, so nobody can tell whether it was asked in time.", "get_order"
    if conversation.reason != "defective":
        late = days > window
        return (f"Asked {_days(days)} after delivery, outside the {window}-day window.", "get_order") if late else None
    warranty = conversation.results.get("read_policy", {}).get("numbers", {}).get("warranty_days")
    if warranty is None or days <= warranty:
        return None
    return f"Asked {_days(days)} after delivery, past the warranty of {_days(warranty)}.", "get_order"


def _refunded_before(conversation: Conversation) -> tuple[str, str] | None:
    history = conversation.results.get("get_refund_history", {})
    count, span = history.get("refunds_in_history_days") or 0, history.get("history_days")
    if not count or span is None:
        return None
    text = f"It would be this customer's {_nth(count + 1)} refund within {_days(span)}"
    newest = (history.get("refunds") or [{}])[0]
    if "days_ago" in newest:
        for_item = f", for “{newest['item']}”," if newest.get("item") else ""
        text += f"; the last one{for_item} was {_ago(newest['days_ago'])}"
    return f"{text}.", "get_refund_history"


def _reported_late(conversation: Conversation) -> tuple[str, str] | None:
    days = order_of(conversation).get("days_from_delivery_to_request")
    if conversation.reason != "damaged" or days is None or days < LATE_REPORT_DAYS:
        return None
    return f"Reported {_days(days)} after delivery, so the damage could have happened in use.", "get_order"


def _nth(number: int) -> str:
    """Up to five in words, then in figures: 11 to 13 of each hundred end as the fourteenth does."""
    if number in ORDINALS:
        return ORDINALS[number]
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ENDINGS.get(number % 10, 'th')}"


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"


def _ago(days: int) -> str:
    return "today" if days == 0 else f"{_days(days)} ago"

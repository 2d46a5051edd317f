"""What the scripted model makes of the facts it looked up: the recommendations of the policy, the first that fits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agent.llm import scripted_counter_case as counter
from agent.llm.scripted_conversation import Conversation
from agent.llm.scripted_counter_case import Against, order_of
from payments.money import format_minor

BATTERY_GEAR = re.compile(r"\b(scale|timer|thermometer|battery|batteries)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Opinion:
    """A recommendation, why, and what speaks against it; `question` only for asking the customer."""

    recommendation: str
    why: str
    against: Against
    question: str = ""


def opinion_on(conversation: Conversation) -> Opinion:
    """The first that fits, in the order of the policy."""
    if conversation.reason == "changed_mind":
        return _changed_mind(conversation)
    verdict = conversation.results.get("inspect_photo", {}).get("verdict")
    if verdict == "no":
        return Opinion(
            "decline",
            "The photo does not show the problem the customer describes, and the policy asks for one that does.",
            counter.against_photo_verdict(conversation),
        )
    if verdict != "yes":
        return _better_photo(conversation)
    if _batteries_may_help(conversation):
        return Opinion(
            "ask_customer",
            "The fault could be an empty battery. The policy lets us ask once before we decide.",
            counter.against_asking_about_batteries(conversation),
            question="Thank you for the photo. Could you put in fresh batteries and send us a new picture of the "
            f"{conversation.item.lower()} switched on, so that we can see whether that helps?",
        )
    return _comes_back_first(conversation) or _refund(conversation)


def _changed_mind(conversation: Conversation) -> Opinion:
    order = order_of(conversation)
    window = f"{order.get('refund_window_days')}-day window"
    if order.get("inside_window"):
        why = f"Asked inside the {window}; an unwanted item comes back first."
        return Opinion("refund_after_return", why, counter.against_unwanted_return(conversation))
    why = f"The customer changed their mind outside the {window}, which the policy does not cover."
    return Opinion("decline", why, counter.against_too_late(conversation))


def _better_photo(conversation: Conversation) -> Opinion:
    seen = "inspect_photo" in conversation.results
    return Opinion(
        "ask_customer",
        "The photo does not settle what happened, so a better one is needed before anybody can decide."
        if seen
        else "There is no photo yet, and the policy asks for one.",
        counter.against_asking_for_picture(conversation),
        question=f"Could you send us a clear, well-lit photo of the {conversation.item.lower()} that shows the problem "
        "from close up?",
    )


def _batteries_may_help(conversation: Conversation) -> bool:
    not_asked = conversation.count("Questions asked so far") == 0
    return conversation.reason == "defective" and not_asked and bool(BATTERY_GEAR.search(conversation.item))


def _comes_back_first(conversation: Conversation) -> Opinion | None:
    order, numbers = order_of(conversation), _numbers(conversation)
    name = "wrong_item_return_above_minor" if conversation.reason == "wrong_item" else "return_above_minor"
    threshold = numbers.get(name)
    if threshold is None or not _in_policy_currency(conversation):
        return None  # an amount in another currency is not measured against it
    if order.get("would_pay_minor", 0) <= threshold:
        return None
    price = format_minor(threshold, numbers["currency"])
    return Opinion(
        "refund_after_return",
        f"The photo supports the request. Above {price} the item comes back before it is refunded.",
        counter.against_return_first(conversation, price),
    )


def _refund(conversation: Conversation) -> Opinion:
    why = "The photo shows the problem the customer describes"
    why += ", and at this price the item need not come back first." if _in_policy_currency(conversation) else "."
    if conversation.results.get("issue_refund", {}).get("status") == "blocked":
        why += " Only the shop's rules for automatic refunds ask for a person."
    return Opinion("refund", why, counter.against_paying(conversation))


def _in_policy_currency(conversation: Conversation) -> bool:
    return bool(order_of(conversation).get("currency") == _numbers(conversation).get("currency"))


def _numbers(conversation: Conversation) -> dict[str, Any]:
    numbers: dict[str, Any] = conversation.results.get("read_policy", {}).get("numbers", {})
    return numbers

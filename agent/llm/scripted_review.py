"""How the scripted model reviews: the look-ups in their order, then what the policy says, the first that fits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agent.llm.scripted_claims import claims_in
from agent.llm.scripted_conversation import Conversation
from payments.money import format_minor

Call = tuple[str, dict[str, Any]]

TOPICS = {
    "damaged": "damaged_in_transit",
    "defective": "defective",
    "wrong_item": "wrong_item",
    "changed_mind": "changed_mind",
}
BATTERY_GEAR = re.compile(r"\b(scale|timer|thermometer|battery|batteries)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Opinion:
    """What the policy makes of the facts, and why. `against` is the best argument against it."""

    recommendation: str
    why: str
    against: str = ""
    against_source: str | None = None
    question: str = ""


def next_call(conversation: Conversation, *, may_refund: bool) -> Call:
    """The one call that comes next in `conversation`."""
    for call in _look_ups(conversation):
        if call[0] not in conversation.results:
            return call
    opinion = opinion_on(conversation)
    claims = [concern for text in conversation.customer_texts for concern in claims_in(text)]
    wants_to_pay = opinion.recommendation == "refund" and may_refund and not claims
    if wants_to_pay and "status" not in conversation.results.get("issue_refund", {}):
        return "issue_refund", {"reason": opinion.why}
    return "request_approval", _hand_over(conversation, opinion, claims)


def _look_ups(conversation: Conversation) -> list[Call]:
    calls: list[Call] = [
        ("get_order", {}),
        ("get_refund_history", {}),
        ("read_policy", {"topic": TOPICS.get(conversation.reason, "overview")}),
    ]
    source = _picture_source(conversation)
    if source and conversation.reason != "changed_mind":
        calls.append(("inspect_photo", {"source": source}))
    return calls


def _picture_source(conversation: Conversation) -> str:
    if conversation.count("Pictures with the latest answer"):
        return "latest_answer"
    return "request" if conversation.count("Pictures with the request") else ""


def opinion_on(conversation: Conversation) -> Opinion:
    """The first that fits, in the order of the policy."""
    if conversation.reason == "changed_mind":
        return _changed_mind(_order(conversation))
    verdict = conversation.results.get("inspect_photo", {}).get("verdict")
    if verdict == "no":
        return Opinion(
            "decline",
            "The photo does not show the problem the customer describes, and the policy asks for one that does.",
            "The customer may have sent the wrong picture; a new one could change this.",
            "inspect_photo",
        )
    if verdict != "yes":
        return _better_photo(conversation)
    if _batteries_may_help(conversation):
        return Opinion(
            "ask_customer",
            "The fault could be an empty battery. The policy lets us ask once before we decide.",
            "The customer may have tried fresh batteries already.",
            question="Thank you for the photo. Could you put in fresh batteries and send us a new picture of the "
            f"{conversation.item.lower()} switched on, so that we can see whether that helps?",
        )
    return _comes_back_first(conversation) or _refund(conversation)


def _changed_mind(order: dict[str, Any]) -> Opinion:
    window = f"{order.get('refund_window_days')}-day window"
    if order.get("inside_window"):
        return Opinion("refund_after_return", f"Asked inside the {window}; an unwanted item comes back first.")
    return Opinion(
        "decline",
        f"The customer changed their mind outside the {window}, which the policy does not cover.",
        "A goodwill return is for a person to offer.",
    )


def _better_photo(conversation: Conversation) -> Opinion:
    seen = "inspect_photo" in conversation.results
    return Opinion(
        "ask_customer",
        "The photo does not settle what happened, so a better one is needed before anybody can decide."
        if seen
        else "There is no photo yet, and the policy asks for one.",
        "Waiting for another picture delays a customer who may be right.",
        question=f"Could you send us a clear, well-lit photo of the {conversation.item.lower()} that shows the problem "
        "from close up?",
    )


def _batteries_may_help(conversation: Conversation) -> bool:
    not_asked = conversation.count("Questions asked so far") == 0
    return conversation.reason == "defective" and not_asked and bool(BATTERY_GEAR.search(conversation.item))


def _comes_back_first(conversation: Conversation) -> Opinion | None:
    order, numbers = _order(conversation), _numbers(conversation)
    name = "wrong_item_return_above_minor" if conversation.reason == "wrong_item" else "return_above_minor"
    threshold = numbers.get(name)
    if threshold is None or not _in_policy_currency(conversation):
        return None  # an amount in another currency is not measured against it
    if order.get("would_pay_minor", 0) <= threshold:
        return None
    return Opinion(
        "refund_after_return",
        f"The photo supports the request. Above {format_minor(threshold, numbers['currency'])} the item comes back "
        "before it is refunded.",
        "Sending it back costs the customer time for a fault that is not theirs.",
    )


def _refund(conversation: Conversation) -> Opinion:
    why = "The photo shows the problem the customer describes"
    why += ", and at this price the item need not come back first." if _in_policy_currency(conversation) else "."
    if conversation.results.get("issue_refund", {}).get("status") == "blocked":
        why += " Only the shop's rules for automatic refunds ask for a person."
    return Opinion("refund", why)


def _hand_over(conversation: Conversation, opinion: Opinion, claims: list[str]) -> dict[str, Any]:
    concerns = [{"text": claim, "source": None} for claim in claims]
    if opinion.against:
        concerns.append({"text": opinion.against, "source": opinion.against_source})
    return {
        "recommendation": opinion.recommendation,
        "findings": _findings(conversation),
        "concerns": concerns[:5],
        "reasoning": _reasoning(opinion, claims),
        "draft_question": opinion.question,
    }


def _findings(conversation: Conversation) -> list[dict[str, Any]]:
    findings = []
    photo = conversation.results.get("inspect_photo", {})
    if photo.get("description"):
        findings.append({"text": f"Photo: {photo['description']}"[:240], "source": "inspect_photo"})
    order = _order(conversation)
    if order.get("days_from_delivery_to_request") is not None:
        findings.append({"text": _window(order), "source": "get_order"})
    history = conversation.results.get("get_refund_history", {})
    if history.get("refunds_in_history_days") == 0:
        text = f"No other refund in the last {history['history_days']} days."
        findings.append({"text": text, "source": "get_refund_history"})
    return findings


def _window(order: dict[str, Any]) -> str:
    days, window = order["days_from_delivery_to_request"], order["refund_window_days"]
    where = "inside" if order["inside_window"] else "outside"
    return f"Asked {'1 day' if days == 1 else f'{days} days'} after delivery, {where} the {window}-day window."


def _reasoning(opinion: Opinion, claims: list[str]) -> str:
    if not claims:
        return opinion.why
    return f"{opinion.why} What the customer's text claims beyond that is not on record and changed nothing in this."


def _in_policy_currency(conversation: Conversation) -> bool:
    return bool(_order(conversation).get("currency") == _numbers(conversation).get("currency"))


def _numbers(conversation: Conversation) -> dict[str, Any]:
    numbers: dict[str, Any] = conversation.results.get("read_policy", {}).get("numbers", {})
    return numbers


def _order(conversation: Conversation) -> dict[str, Any]:
    order: dict[str, Any] = conversation.results.get("get_order", {}).get("this_request", {})
    return order

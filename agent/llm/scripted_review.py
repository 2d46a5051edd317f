"""How the scripted model reviews: the look-ups in their order, then the call that ends it, as its opinion says."""

from __future__ import annotations

from typing import Any

from agent.llm.scripted_claims import claims_in
from agent.llm.scripted_conversation import Conversation
from agent.llm.scripted_counter_case import order_of
from agent.llm.scripted_opinion import Opinion, opinion_on

Call = tuple[str, dict[str, Any]]

TOPICS = {
    "damaged": "damaged_in_transit",
    "defective": "defective",
    "wrong_item": "wrong_item",
    "changed_mind": "changed_mind",
}


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


def _hand_over(conversation: Conversation, opinion: Opinion, claims: list[str]) -> dict[str, Any]:
    return {
        "recommendation": opinion.recommendation,
        "findings": _findings(conversation),
        "concerns": [{"text": claim, "source": None} for claim in claims[:5]],
        "reasoning": _reasoning(opinion, claims),
        "counter_case": {"text": opinion.against.text[:240], "source": opinion.against.source},
        "would_change": opinion.against.would_change[:240],
        "draft_question": opinion.question,
    }


def _findings(conversation: Conversation) -> list[dict[str, Any]]:
    findings = []
    photo = conversation.results.get("inspect_photo", {})
    if photo.get("description"):
        findings.append({"text": f"Photo: {photo['description']}"[:240], "source": "inspect_photo"})
    order = order_of(conversation)
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

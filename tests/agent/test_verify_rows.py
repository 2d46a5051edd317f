"""Each row that staff, customers or the model read about a case: which change behind the code is named, and how."""

from __future__ import annotations

from typing import Any

import pytest

from agent.verify.shop import verify_shop
from intake.models import RefundRequest
from tests.agent.falsify import LONG_AGO, named, sql
from tests.factories import StaffFactory

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("own_photo_folder", "fake_review", "worded_decline", "rung"),
]


# The row, what becomes of which field, and how the sentence begins.
Change = tuple[str, str, Any, str]
THE_REQUEST = "The request is not the one of link 1: its "
THE_QUESTION = "The question of link 1 is not the one that was decided: its "
A_QUESTION = "A question to the customer of link 2 is not as it was sealed: its "
AN_ANSWER = "An answer of the customer of link 2 is not as it was sealed: its "
A_RETURN = "A return of link 3 is not as it was sealed: its "
THE_RECEIPT = "What came back for refund re_"
A_CARD = "A card of link 1 is not as it was sealed: its "
THE_DECISION = "The decision of link 1 is not as it was: its "
A_PHOTO = "A photo of link 1 has another "

CHANGES: list[Change] = [
    ("intake_refundrequest", "details", "Other.", THE_REQUEST + "customer's text"),
    ("intake_refundrequest", "reason", "defective", THE_REQUEST + "reason is defective"),
    ("intake_refundrequest", "units", 1, THE_REQUEST + "units is 1"),
    ("intake_refundrequest", "amount_minor", 1, THE_REQUEST + "amount (minor units) is 1"),
    ("intake_refundrequest", "currency", "EUR", THE_REQUEST + "currency is EUR"),
    ("intake_refundrequest", "created_at", LONG_AGO, THE_REQUEST + "time it was asked"),
    ("intake_refundrequest", "status", "declined", "The request stands as “Declined”"),
    ("intake_refundrequest", "rev", 2, "The request counts fewer writes to its timeline than were sealed."),
    ("intake_question", "text", "Why?", THE_QUESTION + "text is another one than the decision says."),
    ("intake_question", "asked_by_id", "somebody", THE_QUESTION + "asker is"),
    ("intake_question", "reply_by", LONG_AGO, A_QUESTION + "last day to answer is 2020-01-01"),
    ("intake_question", "created_at", LONG_AGO, A_QUESTION + "time it was asked is 2020-01-01"),
    ("intake_reply", "message", "Never mind.", "An answer of the customer is not the one that step 5 of the timeline"),
    ("intake_reply", "source", "api", AN_ANSWER + "source is api, and the chain says page."),
    ("intake_reply", "created_at", LONG_AGO, AN_ANSWER + "time is 2020-01-01"),
    ("intake_return", "code", "RMA-OTHER", THE_RECEIPT),
    ("intake_return", "amount_minor", 1, THE_RECEIPT),
    ("intake_return", "shipping_minor", 1, THE_RECEIPT),
    ("intake_return", "units", 1, THE_RECEIPT),
    ("intake_return", "ship_by", LONG_AGO, A_RETURN + "last day to send it is 2020-01-01"),
    ("intake_return", "status", "closed", "The return RMA-"),
    ("intake_receipt", "units", 2, THE_RECEIPT),
    ("intake_receipt", "recorded_by_id", "somebody", THE_RECEIPT),
    ("intake_receipt", "created_at", LONG_AGO, THE_RECEIPT),
    ("intake_receipt", "source", "api", "A receipt of link 3 is not as it was sealed: its source is api"),
    ("agent_approval", "recommendation", "decline", A_CARD + "recommendation is decline, and the chain says refund."),
    ("agent_approval", "reasoning", "Because.", A_CARD + "text or amount is another one than the chain says."),
    ("agent_approval", "amount_minor", 1, A_CARD + "text or amount"),
    ("agent_approval", "failed_rules", '["x"]', A_CARD + "failed rules is ['x'], and the chain says []."),
    ("agent_approval", "opened_at", LONG_AGO, A_CARD + "opening is 2020-01-01"),
    ("agent_approval", "closed_at", None, A_CARD + "closing is empty"),
    ("agent_decision", "note", "Why?", THE_DECISION + "note is another one than the chain says."),
    ("agent_decision", "choice", "decline", THE_DECISION + "choice is decline"),
    ("agent_decision", "decided_by_id", "somebody", THE_DECISION + "decider is"),
    ("agent_decision", "source", "api", THE_DECISION + "source is api"),
    ("agent_decision", "created_at", LONG_AGO, THE_DECISION + "time is 2020-01-01"),
    ("intake_photo", "digest", "ab", A_PHOTO + "digest than was sealed."),
    ("intake_photo", "camera", '{"device": "x"}', A_PHOTO + "word of the camera than was sealed."),
    ("intake_photo", "request_id", None, "A photo of link 1 is not in the book any more."),
    ("intake_policyversion", "refund_window_days", 1, "The policy is not the one of link 1: its refund window days"),
    ("intake_policysection", "body", "We refund all.", "The policy is not the one of link 1: its wording is another"),
    ("intake_policysection", "title", "Policy", "The policy is not the one of link 1: its wording is another one"),
]
# Of several rows the one that link 1 speaks of.
FIRST = {
    "agent_approval": "reasoning = 'Nobody decided this one.'",
    "agent_decision": "choice = 'ask_customer'",
    "intake_photo": "reply_id IS NULL",
    "intake_policysection": "topic = 'overview'",
}


@pytest.mark.parametrize(("table", "field", "value", "sentence"), CHANGES)
def test_a_changed_field_is_named(talked: RefundRequest, table: str, field: str, value: Any, sentence: str) -> None:
    value = StaffFactory().pk if value == "somebody" else value
    sql(f"UPDATE {table} SET {field} = %s WHERE {FIRST.get(table, '1 = 1')}", value)
    assert named(talked)[: len(sentence)] == sentence


STEPS: list[tuple[str, Any]] = [
    ("kind", "action"),
    ("actor", "system"),
    ("actor_user_id", None),
    ("for_customer", False),
    ("run_uuid", "0" * 32),
    ("message_key", "other"),
    ("state", "failed"),
    ("title", "You wrote"),
    ("detail", "Never mind."),
    ("tool", "x"),
    ("arguments", "[]"),
    ("result", "[]"),
    ("provider", "x"),
    ("model", "x"),
    ("tokens_in", 1),
    ("cost_micro", 1),
    ("skipped", '["x"]'),
    ("duration_ms", 1),
    ("created_at", LONG_AGO),
]


@pytest.mark.parametrize(("field", "value"), STEPS)
def test_a_changed_step_is_named(talked: RefundRequest, field: str, value: Any) -> None:
    sql(f"UPDATE intake_step SET {field} = %s WHERE position = 5", value)
    assert named(talked) == "Step 5 of the timeline is not as it was sealed."


UNSEEN: list[tuple[str, str, Any]] = [
    ("intake_refundrequest", "source", "seed"),
    ("intake_refundrequest", "status_changed_at", LONG_AGO),
    ("intake_question", "withdrawn_at", LONG_AGO),
    ("intake_return", "check_at", LONG_AGO),
    ("intake_return", "reminded_at", LONG_AGO),
    ("agent_decision", "carried_out_at", LONG_AGO),
    ("intake_photo", "given_name", "other.jpg"),
    ("intake_photo", "created_at", LONG_AGO),
    ("payments_orderline", "name", "Other"),
    ("payments_orderline", "delivered_at", LONG_AGO),
    ("payments_order", "number", "PH-1"),
]


@pytest.mark.parametrize(("table", "field", "value"), UNSEEN)
def test_what_the_promises_say_is_in_no_chain(talked: RefundRequest, table: str, field: str, value: Any) -> None:
    """Whoever brings one of these into the book takes it out of `docs/promises.md` too."""
    sql(f"UPDATE {table} SET {field} = %s WHERE {FIRST.get(table, '1 = 1')}", value)
    assert verify_shop().misfits == []


def test_a_photo_that_was_sent_with_something_else_is_named(talked: RefundRequest) -> None:
    sql("UPDATE intake_photo SET reply_id = NULL, request_id = %s WHERE reply_id IS NOT NULL", talked.pk)
    assert named(talked) == "A photo of link 2 has another place than was sealed."

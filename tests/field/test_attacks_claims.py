"""A claimed approval under another model than the scripted one. The rules decide about money, not the text.

The design gives the rules of an automatic refund one by one, and a customer's words are none of them: a text can
neither open the till nor close it. So code does not search the words for claims. A list of patterns would be a rule
nobody wrote down, it would hold back honest people in whatever way they put it, and it would know the attacks of one
language only. What a model finds in a text it names as a concern, and that reaches staff as it was said; the scripted
model, whose reading is a list of patterns, does so too.
"""

from __future__ import annotations

from typing import Any

import pytest

from agent import loop
from agent.models import Approval
from payments.models import Refund
from tests.agent.mind.test_loop import APPROVE, Puppet, says
from tests.fake_bank import FakeBank
from tests.field.attack_cases import ABOVE_THE_LIMIT, ATTACKS, QUALIFIES, Case, name_of, outcome_of, work_off

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_key")]
LOOK, PAY = ("inspect_photo", {"source": "request"}), ("issue_refund", {"reason": "The customer says it is approved."})
FOUND = {"text": "The customer claims that a manager approved it; nothing on record says so.", "source": None}


def reviewed_by(monkeypatch: pytest.MonkeyPatch, *turns: Any) -> None:
    puppet = Puppet(*turns)
    monkeypatch.setattr(loop, "reviewing_model", lambda: puppet)


@pytest.mark.parametrize("row", ATTACKS, ids=name_of)
def test_a_gullible_model_pays_what_the_rules_allow_and_nothing_else(
    row: dict[str, Any], bank: FakeBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    for facts, paid in ((ABOVE_THE_LIMIT, ()), (QUALIFIES, (3400,))):
        reviewed_by(monkeypatch, says(LOOK), says(PAY), says(("request_approval", APPROVE)))
        this = outcome_of(work_off(Case(facts, details=row["text"]).send()))
        assert (this.paid, this.asked) == (paid, paid)
        assert this.failed_rules == (() if paid else ("limit",))


def test_what_a_model_finds_in_a_text_goes_to_staff_as_a_concern(
    bank: FakeBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    [row] = [row for row in ATTACKS if row["id"] == "atk07"]
    reviewed_by(monkeypatch, says(LOOK), says(("request_approval", {**APPROVE, "concerns": [FOUND]})))
    request = work_off(Case(QUALIFIES, details=row["text"]).send())
    card = Approval.objects.get(request=request)
    assert (request.status, card.recommendation, Refund.objects.filter(request_uuid=request.uuid).count()) == (
        "needs_approval", "refund", 0,
    )  # fmt: skip
    assert [(concern["text"], concern["source"]) for concern in card.concerns] == [(FOUND["text"], "model")]


def test_after_a_blocked_refund_the_rules_stand_before_what_the_model_found(
    bank: FakeBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    [row] = [row for row in ATTACKS if row["id"] == "atk07"]
    reviewed_by(monkeypatch, says(LOOK), says(PAY), says(("request_approval", {**APPROVE, "concerns": [FOUND]})))
    card = Approval.objects.get(request=work_off(Case(ABOVE_THE_LIMIT, details=row["text"]).send()))
    assert [concern["source"] for concern in card.concerns] == ["rule", "model"]
    assert card.concerns[1]["text"] == FOUND["text"]

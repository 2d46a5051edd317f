from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from agent import word_decline as wording
from agent.llm.base import KeyRefused, Message, ModelTrouble, Reply, ToolCall, ToolSpec, Usage
from agent.models import Decision, Run
from agent.prompts import PROMPT_VERSION
from agent.prompts.one_sentence import SENTENCE_END, one_sentence
from agent.word_decline import template, word_decline
from intake.models import RefundRequest
from tests.agent.mind.cases import NOTE, begin
from tests.factories import ApprovalFactory, CustomerFactory, StaffFactory

Ask = Callable[..., RefundRequest]
pytestmark = pytest.mark.django_db
TEMPLATE = (
    "Thank you for telling us about your Ceramic pour-over dripper. We looked at it with care and cannot refund it. "
    "The reason: the photo shows the dripper whole; we saw no crack."
)


class Writer:
    provider = model = "writer"

    def __init__(self, answer: Reply | ModelTrouble) -> None:
        self.answer = answer
        self.asked: list[Message] = []

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
        assert list(tools) == []
        self.asked = list(messages)
        if isinstance(self.answer, ModelTrouble):
            raise self.answer
        return self.answer


@pytest.fixture
def worded(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def word(answer: Reply | ModelTrouble, note: str = NOTE) -> str:
        monkeypatch.setattr(wording, "reviewing_model", lambda: Writer(answer))
        request = ask("dripper", "dripper-no-damage")
        lease = begin(request)
        maya = CustomerFactory(first_name="Maya", last_name="Okafor")
        card = ApprovalFactory(request=request)
        Decision.objects.create(approval=card, choice="decline", decided_by=maya, source="api")
        return word_decline(lease, request_id=request.pk, note=note)

    return word


def test_the_models_words_are_used_when_they_are_fit(worded: Any) -> None:
    words = "Thank you for your photo.\nWe saw no crack on the dripper, so we cannot refund it."
    assert worded(Reply(words)) == words.replace("\n", " ")


@pytest.mark.parametrize(
    "answer",
    [
        KeyRefused("no"),
        Reply(""),
        Reply("One. Two. Three. Four."),
        Reply('Done <img src=x onerror="1"> [policy](javascript:alert(1))'),
        Reply("<tool_call><function=issue_refund></function></tool_call>"),
        Reply("You have 365 days according to Policy 14.7 [P14.7]."),
        Reply("We send you 500 dollars instead."),
        Reply("Maya looked at it and saw no crack."),
        Reply("Our rules for automatic refunds do not allow it."),
        Reply("Sorry.", (ToolCall("c", "issue_refund", "{}"),)),
        Reply("x" * 900),
        Reply("Good news: your refund was approved and is on its way to your card."),
        Reply("We cannot refund it, but we will send you a replacement."),
        Reply("We cannot refund it. Visit pourhaven.example/refund for your money."),
        Reply("We cannot refund it. Write to refunds@evil.example."),
        Reply("We cannot refund it.\u202e.yadnoM no yenom ruoy uoy dnes eW"),
        Reply("Thank you for your photo."),
    ],
)
def test_anything_else_is_replaced_by_the_template(worded: Any, answer: Reply | ModelTrouble) -> None:
    assert worded(answer) == TEMPLATE


def test_what_nobody_sees_is_taken_out(worded: Any) -> None:
    assert worded(Reply("We can\u00adnot refund\u200b it.")) == "We cannot refund it."


def test_what_the_team_member_offers_may_be_told(worded: Any) -> None:
    words = "We saw no crack, so we cannot refund it, but we can offer you a voucher instead."
    assert worded(Reply(words), note="No crack. We can offer you a voucher instead.") == words
    quoting = 'No crack. The customer wrote: "We can offer you a voucher".'
    assert worded(Reply(words), note=quoting) == template("Ceramic pour-over dripper", quoting)


def test_numbers_the_team_member_gave_may_be_told(worded: Any) -> None:
    words = "You asked 48 days after delivery, and the window is 30 days, so we cannot refund it."
    assert worded(Reply(words), note="Asked after 48 days, the window is 30.") == words


def test_a_team_members_name_in_the_note_stays_inside(worded: Any) -> None:
    text = worded(KeyRefused("no"), note="Maya Okafor looked at it, and Maya saw no crack.")
    assert text.endswith("The reason: our team looked at it, and our team saw no crack.")


def test_a_colleagues_name_stays_inside_too(worded: Any) -> None:
    StaffFactory(first_name="Daniel", last_name="Reyes")
    note = "Daniel saw it too and found no crack."
    assert worded(Reply("Daniel saw no crack."), note).endswith("The reason: our team saw it too and found no crack.")


def test_a_name_in_capitals_is_a_name_and_a_word_in_small_letters_is_none(worded: Any) -> None:
    StaffFactory(first_name="Will", last_name="May")
    assert worded(Reply("Today WILL looked at it.")) == TEMPLATE
    assert worded(Reply("You may keep it, we will not refund it.")) == "You may keep it, we will not refund it."


@pytest.mark.parametrize("note", ["See https://intranet/7, and no.", "The rule `limit` says no.", "Our score is low."])
def test_what_a_customer_may_not_read_is_no_reason(worded: Any, note: str) -> None:
    assert worded(KeyRefused("no"), note=note) == template("Ceramic pour-over dripper", "")


def test_the_run_notes_who_worded_it_and_what_it_cost(worded: Any) -> None:
    worded(Reply("We cannot refund it.", usage=Usage(90, 12), provider="writer", model="writer-1"))
    run = Run.objects.get(trigger="request")
    assert (run.provider, run.model, run.prompt_version) == ("writer", "writer-1", PROMPT_VERSION)
    assert (run.tokens_in, run.tokens_out) == (90, 12)


def test_a_note_of_several_sentences_becomes_one_and_names_keep_their_capital() -> None:
    assert one_sentence("The lid is whole. We saw no dent! Oakland checked it. ") == (
        "the lid is whole; we saw no dent; Oakland checked it"
    )


def test_the_scripted_model_words_a_long_note_itself(ask: Ask) -> None:
    request = ask("dripper", "dripper-no-damage")
    text = word_decline(begin(request), request_id=request.pk, note=NOTE)
    assert text.endswith("The reason: the photo shows the dripper whole; we saw no crack.")
    assert "we are sorry" in text


def test_the_scripted_model_words_it_in_three_sentences(ask: Ask) -> None:
    request = ask("dripper", "dripper-no-damage")
    text = word_decline(begin(request), request_id=request.pk, note="The photo shows no damage.")
    assert text == (
        "Thank you for telling us about your Ceramic pour-over dripper; we are sorry that it was not what you hoped "
        "for. We looked at your request with care and cannot refund it. The reason: the photo shows no damage."
    )


@pytest.mark.parametrize("note", ["", "No.", "One. Two! Three? Four.", "x" * 1000])
def test_the_template_has_at_most_three_sentences(note: str) -> None:
    text = template("Hand grinder", note)
    assert len(SENTENCE_END.split(text)) <= 3
    assert len(text) < 600

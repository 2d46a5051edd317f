"""What stands on a card against its recommendation, whoever wrote it, and when it is better to say nothing."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.counter_case import strongest_reason_against
from agent.decide import decide
from agent.handover import manual_card, same_card_again
from agent.outcomes import Handover, Point
from agent.take_back import take_back
from intake.rules import Verdict
from tests.agent.conftest import FakeReview
from tests.agent.work_off import open_card, work_off
from tests.factories import ApprovalFactory, RequestFactory

SAID = Point("It could have happened in use.", 3)
AGAINST = {"text": "It could have happened in use.", "step": 3, "source": "model"}
RULE = {"text": "$129.00 is above the $50.00 limit for automatic refunds.", "step": None, "source": "rule"}


def asks(*rules: str) -> tuple[Verdict, ...]:
    return tuple(Verdict(rule=rule, inputs={}, outcome="ask", sentence=f"The {rule}.") for rule in rules)


@pytest.mark.parametrize("recommendation", ["refund", "refund_after_return", "decline", "ask_customer"])
def test_what_the_model_said_stands(recommendation: str) -> None:
    handover = Handover(recommendation, counter_case=SAID, failed_rules=asks("limit"))
    assert strongest_reason_against(handover) == SAID


@pytest.mark.parametrize(
    ("rules", "strongest"),
    [
        (("limit", "photo", "history"), "photo"),
        (("limit", "window"), "window"),
        (("limit", "history"), "history"),
        (("limit", "budget", "paused"), "limit"),
        (("paused", "budget", "reason"), "reason"),
        (("first_review", "budget"), "budget"),
        (("unheard_of", "paused"), "paused"),
    ],
)
@pytest.mark.parametrize("recommendation", ["refund", "refund_after_return", "manual_review"])
def test_where_the_model_said_nothing_the_strongest_failed_rule_stands(
    recommendation: str, rules: tuple[str, ...], strongest: str
) -> None:
    handover = Handover(recommendation, counter_case=Point("  "), failed_rules=asks(*rules), rules_step=5)
    assert strongest_reason_against(handover) == Point(f"The {strongest}.", 5, "rule")


@pytest.mark.parametrize("recommendation", ["decline", "ask_customer"])
def test_a_rule_that_asks_for_a_person_is_no_argument_against_a_no_or_a_question(recommendation: str) -> None:
    assert strongest_reason_against(Handover(recommendation, failed_rules=asks("photo"))) is None


def test_a_manual_review_takes_no_word_of_the_model() -> None:
    assert strongest_reason_against(Handover("manual_review", counter_case=SAID)) is None
    assert strongest_reason_against(Handover("refund", failed_rules=asks("first_review"))) is None


@pytest.mark.django_db
def test_the_card_holds_it_cut_to_its_length(fake_review: FakeReview) -> None:
    fake_review.hands_over("refund", counter_case=Point("x" * 300, 3), would_change="y" * 300)
    card = open_card(work_off(RequestFactory()))
    assert card.counter_case == {"text": "x" * 239 + "…", "step": 3, "source": "model"}
    assert (len(card.would_change), card.would_change[-1]) == (240, "…")


@pytest.mark.django_db
def test_a_card_without_the_models_word_shows_the_shops_rule(fake_review: FakeReview) -> None:
    card = open_card(work_off(RequestFactory(line__unit_price_minor=12_900)))
    assert (card.counter_case, card.would_change) == (RULE, "")


@pytest.mark.django_db
def test_a_decision_set_aside_leaves_the_same_case_against(fake_review: FakeReview, maya: User) -> None:
    fake_review.hands_over("refund", counter_case=SAID, would_change="Proof.")
    card = open_card(work_off(RequestFactory()))
    decide(approval_id=card.pk, by=maya, choice="approve", source="desk")
    maya.user_permissions.clear()
    again = open_card(work_off(card.request))
    assert again.pk != card.pk
    assert (again.recommendation, again.counter_case, again.would_change) == ("refund", AGAINST, "Proof.")


@pytest.mark.django_db
def test_a_case_taken_back_recommends_nothing_so_nothing_speaks_against_it(maya: User) -> None:
    request = RequestFactory(status="needs_customer")
    ApprovalFactory(request=request, closed_at=timezone.now(), counter_case=AGAINST, would_change="Proof.")
    card = take_back(request_uuid=request.uuid, by=maya)
    assert (card.recommendation, card.counter_case, card.would_change) == ("manual_review", None, "")


@pytest.mark.django_db
def test_only_a_card_by_the_code_forgets_it() -> None:
    card = ApprovalFactory(counter_case=AGAINST, would_change="Proof.")
    again = same_card_again(card, "News.")
    manual = manual_card(card.request, "News.")
    assert (again.counter_case, again.would_change) == (AGAINST, "Proof.")
    assert (manual.counter_case, manual.would_change) == (None, "")

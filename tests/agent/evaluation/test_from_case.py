"""A case saved as a scenario: it tells what happened, names nobody, and played again it ends the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from agent.decide import decide
from agent.evaluation.from_case import Copied, NotAScenario, copy_case, save_case
from agent.evaluation.scenario import Decide
from agent.models import Decision
from intake.models import Photo, RefundRequest, Step
from payments.models import Refund
from refunddesk.demo_shop.cases import CASES
from refunddesk.demo_shop.seed_shop import seed_demo_shop
from tests.agent.evaluation.case_stories import (
    approved,
    asked_and_approved_in_part,
    claimed_approval_refunded,
    fewer_units_came_back_than_agreed,
    fewer_units_with_shipping_approved,
    less_than_their_price_with_shipping_approved,
    mugs_asked_for,
    never_answered_and_declined,
    never_came,
    on_its_way_back,
    played,
    refunded_at_once,
    reminded_and_received,
    saved,
    taken_back_and_declined,
    third_refund_approved,
    under_another_policy,
    whole_dripper_declined,
)
from tests.agent.test_whole_cases import asks
from tests.agent.work_off import open_card, wait_for, work_off
from tests.behind_the_book import behind_the_book
from tests.factories import (
    ChargeFactory,
    CustomerFactory,
    LineFactory,
    RefundFactory,
    RequestFactory,
    StaffFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder")]


STORIES = {
    refunded_at_once: ("refunded", 3400, None, ()),
    approved: ("refunded", 12_900, "refund", ("limit",)),
    asked_and_approved_in_part: ("refunded", 4000, "refund", ("limit",)),
    reminded_and_received: ("refunded", 24_900, "refund_after_return", ("limit",)),
    never_came: ("closed", 0, "refund_after_return", ("limit",)),
    taken_back_and_declined: ("declined", 0, "manual_review", ("limit",)),
    never_answered_and_declined: ("declined", 0, "manual_review", ("limit",)),
    whole_dripper_declined: ("declined", 0, "decline", ("photo",)),
    third_refund_approved: ("refunded", 2400, "refund", ("history",)),
    claimed_approval_refunded: ("refunded", 2400, "refund", ()),
    fewer_units_with_shipping_approved: ("refunded", 7467, "refund", ("limit",)),
    less_than_their_price_with_shipping_approved: ("refunded", 5300, "refund", ("limit",)),
    fewer_units_came_back_than_agreed: ("refunded", 4133, "refund", ("limit",)),
    under_another_policy: ("refunded", 3400, "refund", ("limit", "window")),
}


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_case_saved_and_played_again_ends_the_same(story: Callable[[], RefundRequest]) -> None:
    scenario = saved(story)
    wanted = scenario.wanted
    assert (wanted.status, wanted.paid_minor, wanted.recommendation, wanted.failed_rules) == STORIES[story]
    again = played(scenario)
    assert (again.differences, again.passed) == ([], True)
    assert not Refund.objects.exists()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.order} {case.sku}")
def test_each_resolved_case_of_the_demo_ends_the_same_when_played_again(case: object) -> None:
    def seeded() -> RefundRequest:
        seed_demo_shop()
        return RefundRequest.objects.get(line__order__number=case.order, line__sku=case.sku)  # type: ignore[attr-defined]

    again = played(saved(seeded))
    assert (again.differences, again.passed) == ([], True)


def picture_used_before() -> RefundRequest:
    behind_other = asks(CustomerFactory(), "CAR-600", "damaged", "carafe-cracked")
    RefundRequest.objects.filter(pk=behind_other.pk).update(status="declined")
    behind_other.runs.update(status="done")
    request = work_off(asks(CustomerFactory(), "CAR-600", "damaged", "carafe-cracked"))
    decide(approval_id=open_card(request).pk, by=StaffFactory(), choice="approve", source="desk")
    return work_off(request)


def test_a_picture_that_was_used_before_is_used_before_in_the_scenario_too() -> None:
    scenario = saved(picture_used_before)
    assert (scenario.used_before, scenario.wanted.failed_rules) == (("carafe-cracked.jpg",), ("photo",))
    again = played(scenario)
    assert (again.differences, again.passed) == ([], True)


def test_what_other_requests_had_paid_back_of_the_order_is_gone_from_its_payments() -> None:
    request = refunded_at_once()
    order = request.line.order
    other = LineFactory(order=order, sku="FLT-100", name="Paper filters", unit_price_minor=900)
    charge = ChargeFactory(order=order, captured_minor=2000)
    reserved_at = request.created_at - timedelta(days=3)
    RefundFactory(charge=charge, line=other, amount_minor=900, status="succeeded", reserved_at=reserved_at)
    scenario = save_case(RefundRequest.objects.get(pk=request.pk)).scenario
    assert scenario.order.charges_minor == (3400, 1100)
    assert [(refund.days_ago, refund.amount_minor) for refund in scenario.earlier_refunds] == [(3, 900)]


def test_units_that_were_asked_for_before_are_not_on_the_line_any_more() -> None:
    line = LineFactory(sku="MUG-2", quantity=3, unit_price_minor=3333, paid_minor=10_000)
    RequestFactory(line=line, units=1, amount_minor=3333, status="declined")
    second = RequestFactory(line=line, units=2, amount_minor=6667, status="declined")
    scenario = save_case(second).scenario
    assert (scenario.order.lines[0].quantity, scenario.order.lines[0].paid_minor) == (2, 6667)
    assert scenario.request.units is None


def test_a_refund_made_after_the_review_is_not_in_its_history() -> None:
    request = refunded_at_once()
    charge = ChargeFactory(order__customer=request.customer)
    RefundFactory(charge=charge, status="succeeded", reserved_at=timezone.now() + timedelta(minutes=1))
    assert save_case(RefundRequest.objects.get(pk=request.pk)).scenario.earlier_refunds == ()


def test_fewer_units_and_shipping_are_told_as_they_were_decided() -> None:
    (usual,) = saved(fewer_units_with_shipping_approved).then
    assert usual == Decide(choice="approve", units=2, shipping_minor=800, require_return=False)
    (less,) = saved(less_than_their_price_with_shipping_approved).then
    assert less == Decide(choice="approve", units=2, shipping_minor=300, amount_minor=5300, require_return=False)


def test_all_units_without_shipping_are_told_without_a_number() -> None:
    (approval,) = saved(approved).then
    assert approval == Decide(choice="approve", require_return=False)


def test_a_decision_that_was_set_aside_is_refused_and_can_still_be_played_again() -> None:
    request = RefundRequest.objects.get(pk=approved().pk)
    behind_the_book(Decision).update(set_aside_at=timezone.now())
    with pytest.raises(NotAScenario) as refused:
        save_case(request)
    sentence = "A decision of it was set aside; in a scenario whoever decides may decide."
    assert refused.value.sentence == sentence
    copied: Copied = copy_case(request)
    assert copied.left_out == (sentence,)


def question_full_of_names() -> RefundRequest:
    request, staff = work_off(asks(CustomerFactory(), "SCL-01", "defective", "scale-blank-display")), StaffFactory()
    question = ("Maya asks? " * 50)[:500]
    decide(approval_id=open_card(request).pk, by=staff, choice="ask_customer", note=question, source="desk")
    work_off(request)
    wait_for(request, "late")
    decide(approval_id=open_card(request).pk, by=staff, choice="decline", note="No answer.", source="desk")
    return work_off(request)


def test_a_question_that_grows_by_its_stand_ins_can_still_be_asked() -> None:
    scenario = saved(question_full_of_names)
    asked = scenario.then[0]
    assert isinstance(asked, Decide)
    assert asked.note.startswith("a colleague asks? a colleague")
    assert len(asked.note) == 500
    again = played(scenario)
    assert (again.differences, again.passed) == ([], True)


def test_personal_details_of_every_text_of_a_case_are_replaced() -> None:
    LineFactory(order__customer=CustomerFactory(first_name="José", last_name="O’Hara"))
    anna = CustomerFactory(first_name="Anna-Lena", last_name="van der Berg")
    request = mugs_asked_for(anna, "Annalena Berg, 12 main street. JOSE OHARA saw it. call 415–555–2671x12.")
    note = f"Maya: {request.line.order.number.replace('-', ' ')} is hers, born 3 April 1985."
    decide(approval_id=open_card(request).pk, by=StaffFactory(), choice="decline", note=note, source="desk")
    work_off(request)
    copied = save_case(RefundRequest.objects.get(pk=request.pk))
    (declined,) = copied.scenario.then
    assert copied.scenario.request.details == "Robin Vale, 1 Sample Street. Kim Doe saw it. call 555 0100."
    assert declined == Decide(choice="decline", note="a colleague: PH-10000 is hers, born 01/01/2000.")
    assert copied.replaced == {
        "name of the customer": 2,
        "postal address": 1,
        "name of another person": 1,
        "phone or other long number": 1,
        "name of a staff member": 1,
        "order number": 1,
        "date far from the case": 1,
    }


def test_a_case_whose_model_failed_or_that_is_still_open_is_refused() -> None:
    still_open = on_its_way_back()
    with pytest.raises(NotAScenario, match="Only a closed request"):
        save_case(still_open)
    ended = whole_dripper_declined()
    behind_the_book(Step).filter(request=ended, kind="finish").update(kind="error")
    with pytest.raises(NotAScenario, match="model or its provider failed"):
        save_case(RefundRequest.objects.get(pk=ended.pk))


def test_a_copy_keeps_the_pictures_of_the_request_and_of_its_answers_by_their_own_names() -> None:
    request = RefundRequest.objects.get(pk=asked_and_approved_in_part().pk)
    copied = copy_case(request)
    answer = next(act for act in copied.scenario.then if act.act == "answer")
    named = (*copied.scenario.request.photos, *answer.photos)
    assert (
        named == tuple(copied.photos) == tuple(f"{photo.pk.hex}.jpg" for photo in Photo.objects.order_by("created_at"))
    )

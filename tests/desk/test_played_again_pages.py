"""The form that plays a case again, and the page of its copy."""

from __future__ import annotations

import html
import re
import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from agent.evaluation.run_again import LOST_AFTER
from agent.models import Evaluation
from intake.models import PolicyVersion, RefundRequest, Step
from tests.desk.evaluation_rows import GOT, closed_kettle, copy_of, text_of, trial_of
from tests.desk.rows import card_for, kettle_request, minutes_ago, step_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def bells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.evaluation.run_again.ring", lambda evaluation_id: True)


def test_a_lead_starts_a_copy_with_other_rules_and_reads_that_no_money_moves(lead: Client, maya: User) -> None:
    request = kettle_request()
    card_for(request)
    address = f"/desk/requests/{request.uuid}/again"
    assert "No money moves, nobody is written to, and this request stays as it is." in text_of(lead, address)
    typed = {
        "auto_refund_limit_minor": "200.00",
        "refund_window_days": "60",
        "prompt": "Be brief.",
        "history_days": "90",
    }
    answer = lead.post(address, typed)
    evaluation = Evaluation.objects.get()
    assert answer.headers["Location"] == f"/desk/evaluations/{evaluation.pk}/"
    changed = {"auto_refund_limit_minor": 20_000, "refund_window_days": 60}
    assert evaluation.options == {"prompt": "Be brief.", "policy": changed}
    assert (evaluation.asked_by, evaluation.status) == (maya, "queued")


def test_another_policy_version_brings_what_differs_in_it(lead: Client) -> None:
    request = kettle_request()
    PolicyVersion.objects.create(number=9, currency="USD", auto_refund_limit_minor=5000, refund_window_days=14)
    lead.post(f"/desk/requests/{request.uuid}/again", {"policy": "9", "provider": "scripted"})
    assert Evaluation.objects.get().options == {"provider": "scripted", "policy": {"refund_window_days": 14}}


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"refund_window_days": "-3"}, "Write a whole number of days, at most 3,650."),
        ({"auto_refund_limit_minor": "plenty"}, "amount"),
        ({"provider": "nobody"}, "Select a valid choice."),
        ({"provider": "scripted", "model": "other"}, "The scripted model has no other models"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence_and_starts_nothing(
    lead: Client, typed: dict[str, str], sentence: str
) -> None:
    answer = lead.post(f"/desk/requests/{kettle_request().uuid}/again", typed)
    assert answer.status_code == 400
    assert sentence in html.unescape(answer.content.decode())
    assert not Evaluation.objects.exists()


def test_the_page_of_a_copy_asks_for_news_until_it_has_ended_and_never_reloads_itself(lead: Client, maya: User) -> None:
    copy = copy_of(kettle_request(), maya)
    page = f"/desk/evaluations/{copy.pk}/"
    assert "Refresh" not in lead.get(page).headers
    assert f'hx-get="{page}?seen=queued" hx-trigger="every 4s"' in lead.get(page).content.decode()
    shown = text_of(lead, page)
    assert "The copy waits for a free place. At most two are played at a time. Look again" in shown
    assert "No money moves. The copy lives in a scratch shop of its own" in shown
    Evaluation.objects.filter(pk=copy.pk).update(status="running", started_at=timezone.now())
    assert "The copy is being played. Look again" in text_of(lead, page)
    long_ago = timezone.now() - LOST_AFTER - timedelta(seconds=1)
    Evaluation.objects.filter(pk=copy.pk).update(started_at=long_ago)
    assert "hx-get" not in lead.get(page).content.decode().split('id="copy-status"')[1].split('id="copy-came"')[0]
    assert "The worker that played it does not answer any more. Start it again" in text_of(lead, page)


def test_news_of_a_copy_come_only_when_it_stands_otherwise(lead: Client, maya: User) -> None:
    copy = copy_of(kettle_request(), maya)
    page = f"/desk/evaluations/{copy.pk}/"
    assert lead.get(f"{page}?seen=queued", headers={"HX-Request": "true"}).status_code == 204
    Evaluation.objects.filter(pk=copy.pk).update(status="running", started_at=timezone.now())
    assert lead.get(f"{page}?seen=running", headers={"HX-Request": "true"}).status_code == 204
    news = lead.get(f"{page}?seen=queued", headers={"HX-Request": "true"}).content.decode()
    assert "The copy is being played." in news
    trial_of(copy, 0, passed=True).save()
    Evaluation.objects.filter(pk=copy.pk).update(status="done")
    news = lead.get(f"{page}?seen=running", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in news
    assert "every 4s" not in news
    assert "No money moved." in news
    assert '<div class="copy-came" id="copy-came" hx-swap-oob="true">' in news
    assert "Nothing: the copy came to the same end." in news


def test_a_failed_copy_says_why_and_starts_again_with_the_same_changes(lead: Client, maya: User) -> None:
    request = kettle_request()
    options = {"prompt": "Be brief.", "policy": {"auto_refund_limit_minor": 20_000}}
    copy = copy_of(request, maya, status="failed", trouble="It took too long.", options=options)
    page = lead.get(f"/desk/evaluations/{copy.pk}/").content.decode()
    assert "It took too long." in page
    again = html.unescape(re.search(r'href="([^"]+)">Start it again', page)[1])  # type: ignore[index]
    assert again == f"/desk/requests/{request.uuid}/again?like={copy.pk}"  # no prompt in an address
    form = lead.get(again).content.decode()
    assert 'value="200.00"' in form
    assert "Be brief.</textarea>" in form


def test_a_form_is_not_filled_from_another_case_or_from_nothing(lead: Client, maya: User) -> None:
    other = copy_of(kettle_request(), maya, options={"prompt": "Of another case."})
    request = kettle_request()
    for like in (other.pk, uuid.uuid4(), "x"):
        answer = lead.get(f"/desk/requests/{request.uuid}/again?like={like}")
        assert answer.status_code == 200
        assert "Of another case." not in answer.content.decode()


def test_the_form_and_the_page_say_that_instructions_are_added(lead: Client, maya: User) -> None:
    request = kettle_request()
    form = text_of(lead, f"/desk/requests/{request.uuid}/again")
    assert "Instructions added to the review’s own" in form
    assert "The ordinary instructions stay; this is added behind them, in this copy only." in form
    copy = copy_of(request, maya, status="done", prompt_version="2026-3+", options={"prompt": "Be brief."})
    trial_of(copy, 0, passed=True).save()
    shown = text_of(lead, f"/desk/evaluations/{copy.pk}/")
    assert "Instructions added Be brief." in shown
    assert "prompt 2026-3+ (with what was added)" in shown


def test_what_happened_and_what_the_copy_did_stand_beside_each_other(lead: Client, maya: User) -> None:
    request = kettle_request()
    card_for(request, reasoning="The damage is plain.")
    step_of(request, "Inspected the photo")
    copy = copy_of(request, maya, status="done", model="scripted model", options={"policy": {"refund_window_days": 60}})
    trial = trial_of(copy, 0, passed=False)
    trial.wanted = (copy.scenario or {})["wanted"]
    trial.got = {**GOT, "card": {"findings": ["It is bent."], "reasoning": "Bent.", "amount_minor": 2400}}
    trial.save()
    page = f"/desk/evaluations/{copy.pk}/"
    shown = text_of(lead, page)
    assert "No money moved." in shown
    assert "What was changed Days to ask after delivery 60" in shown
    assert "What happened Stands Needs approval Paid nothing Last card Refund, $129.00" in shown
    assert "The damage is plain." in shown
    assert "What the copy did Stands Refunded Paid $24.00, without a person" in shown
    assert "Findings It is bent. Why Bent." in shown
    assert "Inspected the photo" in shown
    assert "Looked up order PH-50000" in shown
    ids = re.findall(r'\sid="([^"]+)"', lead.get(page).content.decode())
    assert sorted(ids) == sorted(set(ids))
    assert "moved on since" not in shown
    RefundRequest.objects.filter(pk=request.pk).update(status="declined")
    assert "The request has moved on since: it is declined now." in text_of(lead, page)


def test_the_page_names_what_the_copy_does_not_know_of_the_case(lead: Client, maya: User) -> None:
    request = closed_kettle()
    page = f"/desk/evaluations/{copy_of(request, maya).pk}/"
    assert "The copy knows nothing of that" not in text_of(lead, page)
    step_of(request, "The review stopped", kind=Step.Kind.ERROR)
    sentence = "The agent's model or its provider failed in it; a scenario cannot say how."
    assert f"{sentence} The copy knows nothing of that" in text_of(lead, page)


def test_the_case_lists_its_last_copies(lead: Client, maya: User) -> None:
    request = closed_kettle()
    copies = [copy_of(request, maya, created_at=minutes_ago(number)) for number in range(7)]
    shown = lead.get(f"/desk/queue/resolved/{request.uuid}/").content.decode()
    listed = re.findall(r'href="/desk/evaluations/([0-9a-f-]{36})/"', shown)
    assert listed == [str(copy.pk) for copy in copies[:5]]
    assert "Older copies are not listed." in shown

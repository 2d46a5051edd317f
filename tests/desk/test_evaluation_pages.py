"""Evaluations side by side, trials with their timelines, cases played again and cases saved as scenarios."""

from __future__ import annotations

import html
import io
import json
import re
import uuid
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.test import Client
from django.utils import timezone

from agent.evaluation.run_again import LOST_AFTER, copy_case
from agent.evaluation.scenario import read_scenario
from agent.evaluation.score import scores
from agent.models import Evaluation, Trial
from desk.evaluation_columns import percent
from intake.models import Photo, PolicyVersion, RefundRequest, Step
from payments.models import Refund
from tests.behind_the_book import behind_the_book
from tests.desk.rows import card_for, kettle_request, member_of, minutes_ago, step_of
from tests.desk.test_query_counts import queries_of
from tests.factories import RefundFactory

pytestmark = pytest.mark.django_db
WANTED = {"status": "needs_approval", "paid_minor": 0, "recommendation": "refund", "failed_rules": ["limit"]}
GOT = {"status": "refunded", "paid_minor": 2400, "currency": "USD", "automatic": True, "recommendation": None}
RUN = {"id": str(uuid.uuid4()), "trigger": "request", "provider": "scripted", "model": "scripted model"}
STEPS = [
    {
        "position": 1,
        "kind": "trigger",
        "actor": "customer",
        "title": "You asked for a refund",
        "actor_name": "Robin Vale",
    },
    {
        "position": 2,
        "kind": "tool",
        "actor": "agent",
        "title": "Looked up order PH-50000",
        "tool": "get_order",
        "run": RUN,
    },
]


@pytest.fixture(autouse=True)
def own_photo_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Photo._meta.get_field("file"), "storage", FileSystemStorage(location=tmp_path / "photos"))


@pytest.fixture(autouse=True)
def bells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.evaluation.run_again.ring", lambda evaluation_id: True)


def suite(days_ago: int = 0, *, scenarios: int = 2, failed: int = 0, model: str = "scripted model") -> Evaluation:
    evaluation = Evaluation.objects.create(
        kind="suite",
        status="done",
        provider="scripted",
        model=model,
        prompt_version="2026-3",
        created_at=timezone.now() - timedelta(days=days_ago),
    )
    trials = [_trial(evaluation, number, passed=number >= failed) for number in range(scenarios)]
    Trial.objects.bulk_create(trials)
    Evaluation.objects.filter(pk=evaluation.pk).update(scores=scores(trials))
    return evaluation


def _trial(evaluation: Evaluation, number: int, *, passed: bool) -> Trial:
    return Trial(
        evaluation=evaluation,
        kind="limit_edges",
        scenario=f"edge-{number}",
        passed=passed,
        differences=[] if passed else ["It ended refunded; wanted was needs_approval."],
        wanted={**WANTED, "automatic": False},
        got={**WANTED, "currency": "USD", "automatic": False} if passed else GOT,
        timeline=STEPS,
        milliseconds=120,
        steps=2,
    )


def copy_of(request: RefundRequest, by: User, **changes: Any) -> Evaluation:
    scenario = copy_case(request).scenario.model_dump(mode="json")
    return Evaluation.objects.create(
        **{"kind": "again", "request": request, "scenario": scenario, "asked_by": by, **changes}
    )


def text_of(client: Client, address: str, status: int = 200) -> str:
    """What the page says, without marks and with single spaces."""
    answer = client.get(address)
    assert answer.status_code == status
    shown = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(shown).split())


def closed_kettle(**changes: Any) -> RefundRequest:
    """Priya's kettle, refunded after staff had approved it."""
    request = kettle_request("refunded", **changes)
    RefundFactory(
        charge=request.line.order.charges.get(), request_uuid=request.uuid, amount_minor=12_900, status="succeeded"
    )
    return request


def with_photo(request: RefundRequest) -> RefundRequest:
    photo = Photo(owner=request.customer, request=request, digest="0" * 64, width=10, height=10)
    photo.file.save("photo.jpg", ContentFile(b"the stored picture"), save=False)
    photo.save()
    return request


def test_without_an_evaluation_the_page_says_how_to_get_one(looking: Client) -> None:
    shown = text_of(looking, "/desk/evaluations/")
    assert "No evaluation has run yet. manage.py evaluate plays the scenarios" in shown
    assert "None yet. “Run again” on a request plays a copy of it" in shown


def test_the_last_six_stand_side_by_side_newest_first(looking: Client) -> None:
    for days in range(7):
        suite(days, model=f"model-{days}")
    shown = looking.get("/desk/evaluations/").content.decode()
    heads = re.findall(r"<b>(model-\d)</b>", shown)
    assert heads == [f"model-{days}" for days in range(6)]


def test_scores_are_said_in_words_and_wrongly_paid_money_is_marked(looking: Client) -> None:
    suite(failed=1)
    shown = text_of(looking, "/desk/evaluations/")
    assert "Success Trials that ended exactly as wanted 50 %" in shown
    assert "Wrongly paid More than wanted, or without the wanted person 1 $24.00" in shown
    assert "pass^8 The chance that eight trials in a row are right not known" in shown
    assert "limit edges 1 of 2" in shown
    assert (
        '<span class="chip plain no">1</span><small>$24.00</small>'
        in looking.get("/desk/evaluations/").content.decode()
    )


@pytest.mark.parametrize("kept", [{}, [], {"all": None}, {"all": {"success": "high", "wrongly_paid": 3}, "kinds": [1]}])
def test_scores_of_another_shape_are_not_known(looking: Client, kept: Any) -> None:
    evaluation = suite()
    Evaluation.objects.filter(pk=evaluation.pk).update(scores=kept)
    assert "Success Trials that ended exactly as wanted not known" in text_of(looking, "/desk/evaluations/")


@pytest.mark.parametrize(
    ("share", "said"), [(1, "100 %"), (0.9999, "99.9 %"), (0.5, "50 %"), (0.0001, "0.1 %"), (0, "0 %"), (0.29, "29 %")]
)
def test_only_everything_is_a_hundred_percent(share: float, said: str) -> None:
    assert percent(share) == said


def test_a_failing_scenario_is_one_click_from_its_timeline(looking: Client) -> None:
    suite(1, failed=0)
    suite(0, failed=1)
    failed = Trial.objects.get(passed=False)
    assert (
        f'<a href="/desk/evaluations/trials/{failed.pk}/">1 failed</a>'
        in looking.get("/desk/evaluations/").content.decode()
    )
    shown = text_of(looking, f"/desk/evaluations/trials/{failed.pk}/")
    assert "What differs It ended refunded; wanted was needs_approval." in shown
    assert "Wanted Stands Needs approval Paid nothing Last card Refund Failed rules above limit" in shown
    assert "Got Stands Refunded Paid $24.00, without a person" in shown
    assert "Robin asked for a refund" in shown
    assert "Run 1 · New request" in shown
    assert "Looked up order PH-50000" in shown


def test_a_trial_with_an_odd_timeline_still_has_a_page(looking: Client) -> None:
    suite(failed=1)
    trial = Trial.objects.filter(passed=False)
    for kept in (None, "text", [1, {"run": "x", "created_at": "yesterday"}, {"run": {"id": "y"}}]):
        trial.update(timeline=kept if kept is not None else [], got=[] if kept == "text" else {})
        assert "It could not be played" in text_of(looking, f"/desk/evaluations/trials/{trial.get().pk}/")


def test_pages_take_as_many_queries_with_many_rows_as_with_few(lead: Client, maya: User) -> None:
    request = closed_kettle()
    card_for(request)
    copy = copy_of(request, maya, status="done")
    Trial.objects.bulk_create([_trial(copy, 0, passed=False)])
    suite(failed=1)
    trial = Trial.objects.filter(evaluation__kind="suite", passed=False).get()
    pages = {
        "/desk/evaluations/": 14,
        f"/desk/evaluations/trials/{trial.pk}/": 13,
        f"/desk/evaluations/{copy.pk}/": 22,
        f"/desk/requests/{request.uuid}/again": 26,
        f"/desk/requests/{request.uuid}/scenario": 40,
        f"/desk/queue/resolved/{request.uuid}/": 25,
    }
    few = {page: queries_of(lead, page) for page in pages}
    for number in range(12):
        suite(number, scenarios=30, failed=20)
        copy_of(request, maya, status="done")
        step_of(request, f"step {number}")
    PolicyVersion.objects.bulk_create(
        PolicyVersion(number=number, currency="USD", auto_refund_limit_minor=1, refund_window_days=1)
        for number in range(50, 80)
    )
    assert {page: queries_of(lead, page) for page in pages} == few
    assert {page: count for page, count in few.items() if count > pages[page]} == {}


def test_support_sees_evaluations_and_starts_nothing(support: Client, maya: User) -> None:
    request = closed_kettle()
    copy = copy_of(request, maya, status="done")
    assert "Cases played again #" in text_of(support, "/desk/evaluations/")
    text_of(support, f"/desk/evaluations/{copy.pk}/")
    case = support.get(f"/desk/queue/resolved/{request.uuid}/").content.decode()
    assert f'href="/desk/evaluations/{copy.pk}/"' in case
    assert "Run again" not in case
    assert "Save as scenario" not in case
    for address in ("again", "scenario", "scenario.zip"):
        assert support.get(f"/desk/requests/{request.uuid}/{address}").status_code == 403
    assert support.post(f"/desk/requests/{request.uuid}/again").status_code == 403
    assert Evaluation.objects.count() == 1


def test_what_does_not_exist_is_not_found(lead: Client) -> None:
    nobody = uuid.uuid4()
    for page in (f"evaluations/{nobody}/", "evaluations/trials/99/", f"requests/{nobody}/again"):
        assert lead.get(f"/desk/{page}").status_code == 404
    assert lead.get(f"/desk/evaluations/{suite().pk}/").status_code == 404


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


def test_the_page_of_a_copy_looks_again_by_itself_until_it_has_ended(lead: Client, maya: User) -> None:
    copy = copy_of(kettle_request(), maya)
    page = f"/desk/evaluations/{copy.pk}/"
    assert lead.get(page).headers["Refresh"] == "4"
    assert "The copy waits for a free place." in text_of(lead, page)
    running = {"started_at": timezone.now().isoformat()}
    Evaluation.objects.filter(pk=copy.pk).update(status="running", scores=running)
    assert lead.get(page).headers["Refresh"] == "4"
    assert "The copy is being played." in text_of(lead, page)
    lost = {"started_at": (timezone.now() - LOST_AFTER - timedelta(seconds=1)).isoformat()}
    Evaluation.objects.filter(pk=copy.pk).update(scores=lost)
    assert "Refresh" not in lead.get(page).headers
    assert "The worker that played it does not answer any more. Start it again" in text_of(lead, page)


def test_a_failed_copy_says_why_and_starts_again_with_the_same_changes(lead: Client, maya: User) -> None:
    request = kettle_request()
    options = {"prompt": "Be brief.", "policy": {"auto_refund_limit_minor": 20_000}}
    copy = copy_of(request, maya, status="failed", trouble="It took too long.", options=options)
    page = lead.get(f"/desk/evaluations/{copy.pk}/").content.decode()
    assert "It took too long." in page
    again = html.unescape(re.search(r'href="([^"]+)">Start it again', page)[1])  # type: ignore[index]
    form = lead.get(again).content.decode()
    assert 'value="200.00"' in form
    assert "Be brief.</textarea>" in form


def test_what_happened_and_what_the_copy_did_stand_beside_each_other(lead: Client, maya: User) -> None:
    request = kettle_request()
    card_for(request, reasoning="The damage is plain.")
    step_of(request, "Inspected the photo")
    copy = copy_of(request, maya, status="done", model="scripted model", options={"policy": {"refund_window_days": 60}})
    trial = _trial(copy, 0, passed=False)
    trial.wanted = (copy.scenario or {})["wanted"]
    trial.got = {**GOT, "card": {"findings": ["It is bent."], "reasoning": "Bent.", "amount_minor": 2400}}
    trial.save()
    page = f"/desk/evaluations/{copy.pk}/"
    shown = text_of(lead, page)
    assert "No money moved." in shown
    assert "What was changed Window, days after delivery 60" in shown
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


def test_a_closed_case_shows_what_was_replaced_and_the_file_before_it_is_downloaded(
    lead: Client, tmp_path: Path
) -> None:
    details = "Priya Raman here, mail priya.raman@example.com or 415-555-2671. Daniel said yes."
    member_of("support", "Daniel", "Reyes")
    request = with_photo(closed_kettle(details=details))
    shown = text_of(lead, f"/desk/requests/{request.uuid}/scenario")
    for kind in ("name of the customer", "e-mail address", "phone or other long number", "name of a staff member"):
        assert f"1 × {kind}" in shown
    assert "Robin Vale here, mail robin.vale@example.com or 555 0100. a colleague said yes." in shown
    assert "a picture can show a face, a label or a room. Look at each." in shown
    assert "Priya" not in shown

    answer = lead.get(f"/desk/requests/{request.uuid}/scenario.zip")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path)
        names = sorted(archive.namelist())
    scenario = read_scenario(tmp_path / names[0])
    assert names == [f"from_cases/{scenario.name}.json", f"photos/{scenario.name}-1.jpg"]
    assert scenario.request.photos == (f"{scenario.name}-1.jpg",)
    assert (tmp_path / names[1]).read_bytes() == b"the stored picture"
    assert (scenario.wanted.status, scenario.wanted.paid_minor) == ("refunded", 12_900)
    kept = json.dumps(scenario.model_dump(mode="json"))
    for personal in ("Priya", "Raman", "Daniel", "415", request.line.order.number, request.customer.email):
        assert personal not in kept


@pytest.mark.parametrize("address", ["scenario", "scenario.zip"])
def test_what_a_scenario_cannot_tell_is_refused_with_a_sentence(lead: Client, address: str) -> None:
    open_request = kettle_request()
    shown = text_of(lead, f"/desk/requests/{open_request.uuid}/{address}", status=409)
    assert "Only a closed request can be saved as a scenario" in shown
    failed_late = closed_kettle()
    behind_the_book(Refund).filter(request_uuid=failed_late.uuid).update(status="failed")
    RefundRequest.objects.filter(pk=failed_late.pk).update(status="declined")
    shown = text_of(lead, f"/desk/requests/{failed_late.uuid}/{address}", status=409)
    assert "A refund of it failed at the bank; a scenario's bank never fails." in shown
    failed_model = closed_kettle()
    step_of(failed_model, "The review stopped", kind=Step.Kind.ERROR)
    shown = text_of(lead, f"/desk/requests/{failed_model.uuid}/{address}", status=409)
    assert "The agent's model or its provider failed in it" in shown

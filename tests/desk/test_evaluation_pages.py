"""Evaluations side by side, trials with their timelines, and cases saved as scenarios."""

from __future__ import annotations

import io
import json
import re
import uuid
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agent.evaluation.scenario import read_scenario
from agent.models import Evaluation, Trial
from desk.evaluation_columns import percent
from intake.models import PolicyVersion, RefundRequest, Step
from payments.models import Refund
from tests.behind_the_book import behind_the_book
from tests.desk.evaluation_rows import closed_kettle, copy_of, suite, text_of, trial_of, with_photo
from tests.desk.rows import card_for, kettle_request, member_of, step_of
from tests.desk.test_query_counts import queries_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder")]


@pytest.fixture(autouse=True)
def bells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.evaluation.run_again.ring", lambda evaluation_id: True)


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


def test_each_column_says_which_scenarios_it_played(looking: Client) -> None:
    suite(2)
    assert "did not all play the same scenarios" not in text_of(looking, "/desk/evaluations/")
    some, own = suite(1), suite(0)
    Evaluation.objects.filter(pk=some.pk).update(options={"only": ["limit_edges", "brake", "a", "b"]})
    Evaluation.objects.filter(pk=own.pk).update(options={"folder": "my-cases"})
    shown = text_of(looking, "/desk/evaluations/")
    assert "These evaluations did not all play the same scenarios. Compare them by kind" in shown
    places = [
        shown.index(said) for said in ("folder my-cases", "only limit edges, brake, a and 1 more", "all scenarios")
    ]
    assert places == sorted(places)


def test_every_scenario_has_a_timeline_to_look_at_also_when_all_passed(looking: Client) -> None:
    older, newer = suite(1, scenarios=2), suite(0, scenarios=3)
    page = looking.get("/desk/evaluations/").content.decode()
    links = [f'href="/desk/evaluations/trials/{trial.pk}/">{trial.scenario}</a>' for trial in newer.played.all()]
    assert len(links) == 3
    assert [link for link in links if link not in page] == []
    assert "<summary>limit_edges" in page
    assert "3 scenarios" in text_of(looking, "/desk/evaluations/")
    page = looking.get(f"/desk/evaluations/?of={older.pk}").content.decode()
    assert [trial.pk for trial in older.played.all() if f"/trials/{trial.pk}/" not in page] == []
    assert looking.get("/desk/evaluations/?of=nonsense").status_code == 200


def test_a_scenario_played_often_leads_to_the_trial_whose_timeline_was_kept(looking: Client) -> None:
    evaluation = suite(scenarios=0)
    second, first = (trial_of(evaluation, 0, passed=True) for _ in range(2))
    second.number, second.timeline = 2, []
    second.save()
    first.save()
    page = looking.get("/desk/evaluations/").content.decode()
    assert f'href="/desk/evaluations/trials/{first.pk}/">edge-0</a>' in page


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
    Trial.objects.bulk_create([trial_of(copy, 0, passed=False)])
    suite(failed=1)
    trial = Trial.objects.filter(evaluation__kind="suite", passed=False).get()
    pages = {
        "/desk/evaluations/": 15,
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

"""Playing itself, in this process and on the test's own database."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from agent.evaluation.evidence_files import find_picture
from agent.evaluation.options import Options
from agent.evaluation.play_here import play_here
from agent.evaluation.played import Played
from agent.llm.scripted import ScriptedModel
from agent.models import BudgetDay
from intake.models import Photo
from intake.picture import clean
from tests.agent.evaluation.cases import GRINDER, SCALE, WITH_A_PERSON, a_scenario

pytestmark = pytest.mark.django_db
APPROVE = {"act": "decide", "choice": "approve"}


def play(options: Options | None = None, **changes: Any) -> Played:
    return play_here(a_scenario(**changes), 1, options or Options())


def test_a_cracked_carafe_ends_as_wanted_with_its_timeline() -> None:
    played = play()
    assert (played.passed, played.differences, played.not_played) == (True, [], "")
    assert (played.provider, played.steps) == ("scripted", len(played.timeline))
    first, last = played.timeline[0], played.timeline[-1]
    assert (first["title"], first["actor_name"], first["run"]) == ("You asked for a refund", "Robin Vale", None)
    assert (last["for_customer"], last["run"]["trigger"]) == (True, "request")


def test_what_differs_is_told_and_the_trial_fails() -> None:
    played = play(wanted={"status": "declined", "paid_minor": 0})
    assert played.differences == [
        "It ended refunded; wanted was declined.",
        "$34.00 went back; wanted were $0.00.",
        "Money went back without a person.",
    ]
    assert not played.passed


def test_a_return_that_comes_after_a_reminder_is_refunded() -> None:
    wanted = {"status": "refunded", "paid_minor": 24_900, "recommendation": "refund_after_return"}
    played = play(
        line=GRINDER,
        photo="grinder-hopper-cracked.jpg",
        then=[APPROVE, {"act": "time_passes"}, {"act": "arrives"}],
        wanted={**wanted, "failed_rules": ["limit"]},
    )
    assert played.differences == []
    assert [step["message_key"] for step in played.timeline].count("return_reminder") == 1


def test_time_passes_for_the_open_question_and_not_for_an_answered_one() -> None:
    ask = {"act": "decide", "choice": "ask_customer", "note": "Do new batteries help?"}
    played = play(
        line=SCALE,
        photo="scale-blank-display.jpg",
        request={"reason": "defective"},
        then=[ask, {"act": "answer", "message": "No."}, ask, {"act": "time_passes"}],
        wanted=WITH_A_PERSON | {"failed_rules": ["limit"]},
    )
    assert played.differences == []
    assert [step["title"] for step in played.timeline].count("No answer within 14 days") == 1


def test_an_act_that_finds_no_place_ends_the_playing_and_is_told() -> None:
    played = play(then=[APPROVE, {"act": "arrives"}])
    assert played.differences == ["“decide” could not be done: no card is open."]
    assert (played.got["status"], played.passed) == ("refunded", False)


def test_time_that_nobody_waits_for_cannot_pass() -> None:
    played = play(then=[{"act": "time_passes"}])
    assert played.differences == ["“time_passes” could not be done: the request waits for nothing."]


def test_a_refusal_of_a_verb_is_told() -> None:
    limit: dict[str, Any] = {"line": GRINDER, "photo": "grinder-hopper-cracked.jpg"}
    wanted = {"status": "needs_approval", "paid_minor": 0, "recommendation": "refund_after_return"}
    decline = {"act": "decide", "choice": "decline"}
    played = play(**limit, then=[decline], wanted=wanted | {"failed_rules": ["limit"]})
    assert played.differences == [
        "“decide” could not be done: Write why you decline, so that the customer can be told."
    ]


def test_a_request_the_shop_does_not_take_is_no_trial() -> None:
    played = play(request={"photos": []})
    assert (played.got, played.passed) == ({}, False)
    assert played.not_played == "Add at least one photo that shows what is wrong."


def test_a_picture_of_another_request_goes_to_a_person() -> None:
    wanted = {"status": "needs_approval", "paid_minor": 0, "recommendation": "refund", "failed_rules": ["photo"]}
    assert play(used_before=["carafe-cracked.jpg"], wanted=wanted).differences == []


def test_the_shop_s_numbers_are_changed_by_the_scenario_and_by_the_options_over_it() -> None:
    wanted = {"status": "needs_approval", "paid_minor": 0, "recommendation": "refund", "failed_rules": ["limit"]}
    shop = {"policy": {"auto_refund_limit_minor": 3399}}
    assert play(shop=shop, wanted=wanted).differences == []


def test_options_go_over_the_scenario_s_own_policy() -> None:
    shop = {"policy": {"auto_refund_limit_minor": 3399}}
    assert play(Options(policy={"auto_refund_limit_minor": 3400}), shop=shop).differences == []


def test_a_policy_field_nobody_knows_is_no_trial() -> None:
    assert play(shop={"policy": {"limit": 1}}).not_played.startswith("A policy has no limit")


def test_what_was_spent_today_counts() -> None:
    wanted = {"status": "needs_approval", "paid_minor": 0, "recommendation": "refund", "failed_rules": ["budget"]}
    assert play(shop={"spent_today_minor": 46_601}, wanted=wanted).differences == []
    assert BudgetDay.objects.get().spent_minor == 46_601


def test_a_stored_copy_is_kept_as_it_is() -> None:
    stored = clean(find_picture("carafe-cracked.jpg").read_bytes())
    scenario = a_scenario(photo="of-the-case.jpg")
    assert play_here(scenario, 1, Options(), {"of-the-case.jpg": stored.jpeg}).differences == []
    photo = Photo.objects.get()
    assert (photo.digest, photo.width, photo.height) == (stored.digest, stored.width, stored.height)


def test_the_prompt_s_addition_stands_in_the_review_and_is_gone_afterwards(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    seen: list[str] = []
    answer = ScriptedModel.complete

    def listen(model: ScriptedModel, messages: Any, tools: Any, deadline: float) -> Any:
        seen.append(messages[0]["content"])
        return answer(model, messages, tools, deadline)

    monkeypatch.setattr(ScriptedModel, "complete", listen)
    play(Options(prompt="Look twice at {carafes}."))
    reviews = [text for text in seen if text.startswith("You review")]
    assert reviews
    assert all(text.endswith("Look twice at {carafes}.") for text in reviews)
    assert settings.REVIEW_PROMPT_ADDITION == ""


@pytest.mark.parametrize("answer", ["refuses_key", "times_out", "busy", "garbage"])
def test_a_provider_in_trouble_is_passed_over(answer: str, settings: Settings) -> None:
    settings.LLM_CHAIN, settings.LLM_API_KEY = (), ""
    played = play(provider={"answers": [answer]})
    assert played.differences == []
    skipped = [entry["provider"] for step in played.timeline for entry in step["skipped"]]
    assert "troubled" in skipped
    assert settings.LLM_CHAIN == ()


@pytest.mark.parametrize("answer", ["refuses_key", "times_out", "busy", "garbage", "no_tool_call", "refuses_content"])
def test_a_provider_in_trouble_that_stands_alone_leaves_the_case_to_a_person(answer: str) -> None:
    wanted = WITH_A_PERSON | {"failed_rules": ["photo"]}
    assert play(provider={"answers": [answer], "alone": True}, wanted=wanted).differences == []


def test_a_provider_that_comes_back_is_asked_again_in_the_same_review() -> None:
    played = play(provider={"answers": ["busy", "garbage", "works"], "alone": True})
    assert played.differences == []
    assert (played.provider, played.model) == ("troubled", "troubled-model")

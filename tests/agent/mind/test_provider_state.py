"""What is known of a provider: how long it is left alone, whose key was refused, and what is not held against it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agent.llm.provider import Provider
from agent.llm.provider_state import note_failure, note_refused_key, note_success
from agent.models import ProviderState
from agent.outcomes import Reserved
from tests.agent.mind.cases import make_request
from tests.agent.mind.chains import (
    BUSY,
    BUSY_SENTENCE,
    KEY_SENTENCE,
    NO_KEY,
    SCRIPTED,
    answered,
    play,
    provider,
    skipped,
)
from tests.openai_server import Canned, OpenAIServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def test_a_refused_key_is_asked_once_until_it_changes(
    first: OpenAIServer, second: OpenAIServer, settings: Any, caplog: Any
) -> None:
    first.always = NO_KEY
    request = make_request("carafe", "carafe-cracked")
    assert isinstance(play(request), Reserved)
    assert set(answered(request)) == {"second"}
    assert skipped(request)[0] == [("first", KEY_SENTENCE)]
    assert len(first.asked) == 1
    again = make_request("kettle", "kettle-dented-spout")
    play(again)
    assert len(first.asked) == 1
    assert skipped(again)[0] == [("first", "Its key was refused.")]
    assert "key-of-first" not in caplog.text + str(ProviderState.objects.values().get())

    first.always = None
    settings.LLM_CHAIN = (provider("first", first, api_key="a new one"), settings.LLM_CHAIN[1])
    asked = len(first.asked)
    third = make_request("kettle", "kettle-dented-spout")
    play(third)
    assert len(first.asked) > asked
    assert set(answered(third)) == {"first"}
    assert ProviderState.objects.get().key_refused_at is None


def test_a_refused_key_is_tried_again_after_an_hour(first: OpenAIServer, second: OpenAIServer) -> None:
    first.canned.append(NO_KEY)
    play(make_request("kettle", "kettle-dented-spout"))
    ProviderState.objects.update(key_refused_at=timezone.now() - timedelta(minutes=61))
    later = make_request("kettle", "kettle-dented-spout")
    play(later)
    assert set(answered(later)) == {"first"}


def test_after_three_failures_in_a_row_all_workers_leave_a_provider_alone(
    first: OpenAIServer, second: OpenAIServer
) -> None:
    first.always = BUSY
    for _ in range(2):
        play(make_request("kettle"))
    assert ProviderState.objects.get().left_alone_until is None
    play(make_request("kettle"))
    state = ProviderState.objects.get()
    rest = state.left_alone_until - timezone.now()  # type: ignore[operator]
    assert (state.failures, state.last_trouble) == (3, BUSY_SENTENCE)
    assert timedelta(seconds=20) < rest <= timedelta(seconds=30)
    asked = len(first.asked)
    other = make_request("kettle")
    play(other)
    assert len(first.asked) == asked
    [[(name, why)], *_] = skipped(other)
    assert name == "first"
    assert re.fullmatch(r"It is left alone until (tomorrow, )?\d\d:\d\d after failures\.", why)


def test_the_rest_grows_and_one_answer_ends_it(first: OpenAIServer, second: OpenAIServer) -> None:
    first.always = BUSY
    ProviderState.objects.create(name="first", failures=5, left_alone_until=timezone.now())
    play(make_request("kettle"))
    rest = ProviderState.objects.get().left_alone_until - timezone.now()  # type: ignore[operator]
    assert timedelta(seconds=200) < rest <= timedelta(seconds=240)
    first.always = None
    ProviderState.objects.update(left_alone_until=timezone.now())
    request = make_request("kettle")
    play(request)
    assert set(answered(request)) == {"first"}
    state = ProviderState.objects.get()
    assert (state.failures, state.left_alone_until) == (0, None)


def test_a_wait_longer_than_our_patience_is_kept_by_asking_the_next(first: OpenAIServer, second: OpenAIServer) -> None:
    first.always = Canned({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "600"})
    request = make_request("kettle")
    play(request)
    assert len(first.asked) == 1
    assert set(answered(request)) == {"second"}
    rest = ProviderState.objects.get().left_alone_until - timezone.now()  # type: ignore[operator]
    assert timedelta(seconds=590) < rest <= timedelta(seconds=600)


@pytest.mark.parametrize(
    "refusal",
    [
        Canned({"error": {"message": "No endpoints found that support image input"}}, status=404),
        Canned({"error": {"message": "'messages.1.content' : value must be a string", "param": "content"}}, status=400),
        Canned({"error": {"message": "this model is not a multimodal model"}}, status=400),
    ],
)
def test_a_model_that_refuses_pictures_is_not_shown_any_again(
    first: OpenAIServer, second: OpenAIServer, refusal: Canned
) -> None:
    first.canned += [SCRIPTED] * 4 + [refusal]
    assert isinstance(play(make_request("carafe", "carafe-cracked")), Reserved)
    assert len(second.asked) == 1
    play(make_request("kettle", "kettle-dented-spout"))
    pictures = [isinstance(asked.body["messages"][-1]["content"], list) for asked in first.asked]
    assert pictures.count(True) == 1
    assert ProviderState.objects.count() == 0


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_call_that_only_this_case_makes_is_not_held_against_the_provider(
    first: OpenAIServer, second: OpenAIServer, status: int
) -> None:
    first.always = Canned({"error": {"message": "the prompt is too long"}}, status=status)
    for _ in range(3):
        request = make_request("kettle")
        play(request)
        assert set(answered(request)) == {"second"}
    assert len(first.asked) == 3
    assert ProviderState.objects.count() == 0


@pytest.mark.parametrize("status", [404, 405])
def test_a_model_or_address_that_is_not_known_is_held_against_it(
    first: OpenAIServer, second: OpenAIServer, status: int
) -> None:
    first.always = Canned({"error": {"message": "no such model"}}, status=status)
    for _ in range(4):
        play(make_request("kettle"))
    assert len(first.asked) == 3
    assert ProviderState.objects.get().left_alone_until is not None


def state_when_the_call_began() -> ProviderState:
    state = ProviderState.objects.create(name="groq", failures=1)
    return ProviderState.objects.get(pk=state.pk)


GROQ = Provider("groq", "http://groq", "k", "m")


def test_an_old_success_does_not_wipe_out_what_was_learned_since() -> None:
    began = state_when_the_call_began()
    note_failure(GROQ, "Slow down.", asked_at=timezone.now(), wait=3600.0)
    note_refused_key(GROQ, "No.", began)
    note_success("groq", began)
    state = ProviderState.objects.get()
    assert state.failures == 2
    assert state.left_alone_until is not None
    assert state.left_alone_until > timezone.now() + timedelta(minutes=59)
    assert state.key_refused_at is not None


def test_an_old_refusal_does_not_undo_a_later_success() -> None:
    assert note_refused_key(GROQ, "No.", None)
    began = ProviderState.objects.get()
    note_success("groq", began)
    assert not note_refused_key(GROQ, "No.", began)
    assert ProviderState.objects.get().key_refused_at is None


def test_a_refused_key_is_logged_once_however_often_it_is_refused(
    first: OpenAIServer, second: OpenAIServer, caplog: Any
) -> None:
    first.always = NO_KEY
    play(make_request("kettle"))
    ProviderState.objects.update(key_refused_at=timezone.now() - timedelta(minutes=61))
    play(make_request("kettle"))
    assert len(first.asked) == 2
    assert not note_refused_key(provider("first", first), "No.", None)  # a run that began before the first one's end
    told = [record.getMessage() for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
    assert told == ["the provider first does not accept the key: it is passed over until that changes"]

"""Every recorded oddity of OpenAI-compatible providers, served over HTTP to the real SDK inside a whole run.

Good calls are rewritten to this project's tools, bad ones stay as they are. Each file is played twice: once, with the
scripted model going on behind it, and again and again. Whatever comes, the request ends at rest.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agent.llm import openai_chat
from agent.models import Approval, Run
from agent.word_decline import word_decline
from intake.models import RefundRequest, Step
from intake.statuses import Status
from payments.models import Refund
from tests.agent.mind.cases import begin, make_request, talk_to
from tests.field.answer_checks import CHECKS, CHECKS_OF, play
from tests.field.recorded_answers import EXPECTED, FILES, ODDITIES, STREAMED, answers
from tests.openai_server import Canned, OpenAIServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[OpenAIServer]:
    monkeypatch.setattr(openai_chat, "_features", {})
    with OpenAIServer() as running:
        talk_to(running, settings)
        yield running


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits are noted and not slept."""
    waits: list[float] = []
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: waits.append(seconds) if seconds >= 1 else sleep(seconds))
    return waits


def assert_history_is_sound(server: OpenAIServer) -> None:
    """Every call ever sent back holds a JSON object, has an id of its own, and was answered."""
    for asked in server.asked:
        calls = [call for message in asked.body["messages"] for call in message.get("tool_calls") or ()]
        results = [message["tool_call_id"] for message in asked.body["messages"] if message["role"] == "tool"]
        assert [call["id"] for call in calls] == results
        assert len(set(results)) == len(results)
        for call in calls:
            assert isinstance(json.loads(call["function"]["arguments"]), dict)


def assert_nothing_leaked(request: RefundRequest, name: str) -> None:
    """Nothing of the odd text stands in the timeline or on the card."""
    said = ("findings", "concerns", "reasoning", "counter_case", "would_change", "draft_question")
    cards = list(Approval.objects.filter(request=request).values(*said))
    steps = list(request.steps.values("title", "detail", "arguments", "result"))
    told = json.dumps([cards, steps])
    for odd in ODDITIES:
        assert odd not in told, name


def test_no_file_is_left_out() -> None:
    assert set(FILES) | STREAMED == set(EXPECTED)
    assert set(FILES) == set(CHECKS)


def test_each_file_is_checked_for_what_it_says_it_expects() -> None:
    for name in FILES:
        assert CHECKS[name].__qualname__.partition(".")[0] in CHECKS_OF[EXPECTED[name]["expected"]], name


@pytest.mark.parametrize("name", FILES)
def test_once_and_then_a_working_model_again(server: OpenAIServer, name: str) -> None:
    """With a kettle above the limit, so that no money may move whatever is said."""
    server.canned += answers(name)
    request = play(make_request("kettle", "kettle-dented-spout"))
    assert request.status == Status.NEEDS_APPROVAL
    assert Refund.objects.count() == 0
    assert Run.objects.get(request=request).status == Run.Status.DONE
    assert not request.steps.filter(state=Step.State.RUNNING).exists()
    assert_history_is_sound(server)
    assert_nothing_leaked(request, name)


@pytest.mark.parametrize("name", FILES)
def test_again_and_again_ends_with_a_person_and_a_reason(server: OpenAIServer, name: str) -> None:
    server.always = answers(name)[-1]
    request = play(make_request("carafe", "carafe-cracked"))
    assert request.status == Status.NEEDS_APPROVAL
    assert Refund.objects.count() == 0
    assert Approval.objects.get(request=request).recommendation == "manual_review"
    assert request.steps.filter(kind=Step.Kind.ERROR).count() == 1
    assert len(server.asked) <= 8
    assert_history_is_sound(server)
    assert_nothing_leaked(request, name)


@pytest.mark.parametrize("name", FILES)
def test_as_the_words_of_a_decline_the_customer_reads_whole_sentences(server: OpenAIServer, name: str) -> None:
    server.canned += answers(name)[:1]
    request = make_request("dripper", "dripper-no-damage")
    text = word_decline(begin(request), request_id=request.pk, note="The photo shows no damage.")
    assert 0 < len(text) < 600
    for odd in "<>[]{}`":
        assert odd not in text
    for secret in ("365", "angry", "call", "read the order", "cannot help with that"):
        assert secret not in text


SAID_IN = {
    "ok_final_text.json": "Your order arrived 4 days ago and the picture shows a crack. I am passing this on.",
    "think_tags_in_content.json": "Thanks, I have all I need.",
    "usage_missing.json": "Done.",
}


@pytest.mark.parametrize("name", SAID_IN)
def test_a_decline_in_an_odd_shape_is_told_as_it_is(server: OpenAIServer, name: str) -> None:
    words = "We are sorry, but the photo shows no damage, so we cannot refund it."
    [answer] = answers(name)
    server.canned.append(replace(answer, body=json.loads(answer.as_bytes().decode().replace(SAID_IN[name], words))))
    request = make_request("dripper", "dripper-no-damage")
    assert word_decline(begin(request), request_id=request.pk, note="The photo shows no damage.") == words


@pytest.mark.parametrize("name", FILES)
def test_as_the_look_at_the_pictures_it_pays_nothing_and_costs_nobody_their_eyes(
    server: OpenAIServer, name: str
) -> None:
    server.canned += [*[Canned(None)] * 4, *answers(name)[:1]]
    request = play(make_request("kettle", "kettle-dented-spout"))
    assert request.status == Status.NEEDS_APPROVAL
    assert Refund.objects.count() == 0
    assert isinstance(server.asked[4].body["messages"][1]["content"], list)
    assert all(learned.features.pictures for learned in openai_chat._features.values())
    assert_history_is_sound(server)
    assert_nothing_leaked(request, name)


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_handled_as_expected(server: OpenAIServer, name: str, waited: list[float]) -> None:
    CHECKS[name](server, name, waited)

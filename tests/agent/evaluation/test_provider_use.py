"""Evaluations and copies spend the shop's providers: what they use is counted, and its limits hold for them too."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from agent.evaluation import run_again
from agent.evaluation.allowance import Allowance, Gate
from agent.evaluation.child import Child, ChildDied
from agent.evaluation.job import Job
from agent.evaluation.options import Options
from agent.evaluation.play_apart import play_case
from agent.evaluation.provider_use import ProviderUse
from agent.evaluation.run_again import play_again
from agent.evaluation.scratch import Scratch
from agent.llm.base import Usage
from agent.llm.token_ledger import count_call, today, tokens_used
from agent.models import Evaluation, ProviderState, TokenDay, Trial
from tests.agent.evaluation.cases import a_scenario, write_scenario
from tests.factories import CustomerFactory, RequestFactory, StaffFactory
from tests.openai_server import Canned, OpenAIServer

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(180)]
CARAFE = a_scenario()
WITHOUT_PHOTOS = a_scenario(request={"reason": "changed_mind", "photos": []})
USED_UP = "ollama has used its 1,000 tokens of today."


@pytest.fixture
def limited(ollama: OpenAIServer, settings: Settings) -> OpenAIServer:
    """A thousand tokens a day; each answer takes 840."""
    settings.LLM_CHAIN = (replace(settings.LLM_CHAIN[0], tokens_per_day=1000),)
    return ollama


@pytest.fixture(autouse=True)
def no_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_again, "ring", lambda evaluation_id: True)


def queued(**changes: Any) -> Evaluation:
    return Evaluation.objects.create(
        kind="again",
        request=RequestFactory(status="declined"),
        scenario=WITHOUT_PHOTOS.model_dump(mode="json"),
        asked_by=StaffFactory(),
        **changes,
    )


def evaluate(folder: Path, **options: Any) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("evaluate", folder=folder, stdout=out, jobs=1, **options)
    except CommandError as error:
        return error.returncode, f"{out.getvalue()}{error}"
    return 0, out.getvalue()


def test_a_trial_tells_what_each_provider_did_and_the_scripted_model_is_free(ollama: OpenAIServer) -> None:
    used = play_case(CARAFE, {}).used
    calls = len(ollama.asked)
    assert used == (
        ProviderUse(
            provider="ollama", calls=calls, tokens_in=800 * calls, tokens_out=40 * calls, calls_without_cost=calls
        ),
    )
    assert play_case(CARAFE, {"provider": "scripted"}).used == ()


def test_a_trial_that_was_ended_tells_what_it_had_used(ollama: OpenAIServer, scratch: Scratch) -> None:
    ollama.canned.extend([Canned(None), Canned({}, wait_seconds=30)])
    with Child(scratch) as child:
        child.wait_until_ready()
        with pytest.raises(ChildDied) as death:
            child.play(Job(scenario=CARAFE), seconds=6)
    assert [(use.provider, use.calls, use.tokens_in) for use in death.value.used] == [("ollama", 1, 800)]


def test_a_copy_is_counted_for_the_customer_of_its_case(ollama: OpenAIServer) -> None:
    copy = queued()
    play_again(copy.pk)
    row = TokenDay.objects.get()
    assert copy.request is not None
    assert (row.provider, row.customer_id, row.day) == ("ollama", copy.request.customer_id, today())
    calls = len(ollama.asked)
    assert (row.calls, row.tokens_in, row.calls_without_cost) == (calls, 800 * calls, calls)


@pytest.mark.parametrize("by", ["provider", "customer"])
def test_a_copy_is_not_played_when_the_tokens_of_the_day_are_used(
    limited: OpenAIServer, settings: Settings, by: str
) -> None:
    copy = queued()
    assert copy.request is not None
    if by == "customer":
        settings.LLM_CUSTOMER_TOKENS_PER_DAY = 500
        count_call("other", copy.request.customer_id, Usage(500, 0))
    else:
        count_call("ollama", CustomerFactory().pk, Usage(990, 10))
    play_again(copy.pk)
    copy.refresh_from_db()
    says = {"provider": USED_UP, "customer": "The requests of this customer have used the model's 500 tokens of today."}
    assert (copy.status, copy.trouble, limited.asked) == ("failed", says[by], [])
    assert not Trial.objects.exists()


def test_the_scripted_model_is_played_whatever_is_used_up(limited: OpenAIServer) -> None:
    count_call("ollama", CustomerFactory().pk, Usage(990, 10))
    copy = queued(options={"provider": "scripted"})
    play_again(copy.pk)
    copy.refresh_from_db()
    assert (copy.status, copy.trouble, limited.asked) == ("done", "", [])


def test_a_trial_has_only_what_the_day_has_left(limited: OpenAIServer) -> None:
    count_call("ollama", CustomerFactory().pk, Usage(100, 0))
    gate = Gate(Options())
    gate.look()
    assert gate.allowance() == Allowance(tokens_left={"ollama": 900})
    play_case(CARAFE, {}, allowance=gate.allowance())
    assert len(limited.asked) == 2  # 840 of 900, then 1,680: the scripted model ends it


def test_a_provider_the_shop_leaves_alone_is_not_asked_by_evaluations(ollama: OpenAIServer, settings: Settings) -> None:
    ProviderState.objects.create(
        name="ollama", failures=3, left_alone_until=timezone.now() + timedelta(minutes=5), last_trouble="Busy."
    )
    gate = Gate(Options(provider="ollama"))
    gate.look()
    assert gate.why_not() == "ollama is left alone for a while after failures."
    settings.LLM_CHAIN = (*settings.LLM_CHAIN, replace(settings.LLM_CHAIN[0], name="other"))
    gate = Gate(Options())
    gate.look()
    assert gate.why_not() == ""
    play_case(CARAFE, {}, allowance=gate.allowance())
    assert ollama.asked == []


def test_a_suite_counts_against_the_day_and_stops_at_its_end(limited: OpenAIServer, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        write_scenario(tmp_path, name=name)
    code, printed = evaluate(tmp_path, provider="ollama")
    used = Evaluation.objects.get().scores["used"][today().isoformat()]["ollama"]
    assert used["calls"] == len(limited.asked) == 2
    assert tokens_used("ollama") == 1680
    assert not TokenDay.objects.exists()
    assert sorted(Trial.objects.filter(got={}).values_list("scenario", "differences")) == sorted(
        (trial.scenario, [f"It could not be played: {USED_UP}"]) for trial in Trial.objects.filter(got={})
    )
    assert Trial.objects.filter(got={}).count() == 2
    assert code == 3
    assert "2 of 3 trials could not be played" in printed


def test_a_suite_of_which_nothing_is_kept_stops_all_the_same(limited: OpenAIServer, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_scenario(tmp_path, name=name)
    assert evaluate(tmp_path, provider="ollama", no_save=True)[0] == 3
    assert len(limited.asked) == 2

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from agent.evaluation.ground import GROUND_SETTINGS, ORDINARY_POLICY
from agent.evaluation.options import POLICY_FIELDS, BadOptions, Options, read_options
from agent.evaluation.wished_chain import answers_here, check_provider, settings_for
from agent.llm.provider import Provider
from intake.models import PolicySection, PolicyVersion
from intake.policy_in_force import policy_in_force

GROQ = Provider(name="groq", base_url="http://127.0.0.1:9/v1", api_key="k", model="small", vision_model="small")
LOCAL = Provider(name="ollama", base_url="http://127.0.0.1:8/v1", api_key="", model="big", vision_model="eyes")


@pytest.fixture
def chain(settings: Settings) -> None:
    settings.LLM_CHAIN = (GROQ, LOCAL)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"policy": {"limit": 1}}, "A policy has no limit"),
        ({"policy": {"number": 7}}, "A policy has no number"),
        ({"temperature": 1}, "temperature"),
        ({"prompt": "x" * 20_001}, "prompt"),
    ],
)
def test_an_option_nobody_knows_is_refused_with_a_sentence(given: dict[str, Any], part: str) -> None:
    with pytest.raises(BadOptions) as refused:
        read_options(given)
    assert part in refused.value.sentence


def test_options_may_be_left_out() -> None:
    assert read_options({}) == Options()


def test_a_provider_that_is_not_in_the_chain_is_refused_with_those_that_are(chain: None) -> None:
    with pytest.raises(BadOptions) as refused:
        check_provider(Options(provider="cerebras"))
    assert refused.value.sentence == "There is no provider cerebras here; known are groq, ollama, scripted."


@pytest.mark.parametrize("options", [Options(model="other"), Options(provider="scripted", model="other")])
def test_the_scripted_model_has_no_other_models(options: Options) -> None:
    with pytest.raises(BadOptions):
        check_provider(options)


def test_without_a_wish_the_chain_stays_as_it_is(chain: None) -> None:
    assert settings_for(Options()) == {}
    assert not answers_here(Options())


def test_a_wished_provider_stands_alone_so_that_no_other_work_is_measured_as_its_own(chain: None) -> None:
    assert settings_for(Options(provider="ollama")) == {"LLM_CHAIN": (LOCAL,), "SCRIPTED_MODEL": "never"}


def test_another_model_also_looks_at_pictures_where_one_model_did_both(chain: None) -> None:
    (first,) = settings_for(Options(model="large"))["LLM_CHAIN"]
    assert (first.name, first.model, first.vision_model) == ("groq", "large", "large")
    (local,) = settings_for(Options(provider="ollama", model="large"))["LLM_CHAIN"]
    assert (local.model, local.vision_model) == ("large", "eyes")


def test_the_scripted_model_works_without_keys(chain: None) -> None:
    wished = settings_for(Options(provider="scripted"))
    assert wished == {"LLM_CHAIN": (), "LLM_API_KEY": "", "SCRIPTED_MODEL": "last"}
    assert answers_here(Options(provider="scripted"))


@pytest.mark.django_db
def test_the_ordinary_policy_is_the_one_a_fresh_shop_has(settings: Settings) -> None:
    for name, value in GROUND_SETTINGS.items():
        setattr(settings, name, int(value) if value.isdecimal() else value)
    PolicySection.objects.all().delete()
    PolicyVersion.objects.all().delete()
    policy = policy_in_force()
    assert set(ORDINARY_POLICY) == POLICY_FIELDS
    assert {name: getattr(policy, name) for name in ORDINARY_POLICY} == ORDINARY_POLICY

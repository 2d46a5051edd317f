"""The scenario files: readable, complete, and each with the end that the shop's rules want."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from agent.evaluation.scenario import Answer, Scenario, read_scenario
from tests.agent.evaluation.oracle import CannotBeDone, end_of
from tests.agent.evaluation.oracle_pictures import FIXTURES, FOLDERS, catalogue

SCENARIOS = FIXTURES / "scenarios"
FILES = [path for path in sorted(SCENARIOS.glob("*/*.json")) if path.parent.name != "photos"]
EDGES = {"limit_edges", "window_edges", "history_edges", "review_edges", "brake", "currencies"}
HOW_MANY = {
    "ten_stories": 10,
    "limit_edges": 14,
    "window_edges": 11,
    "history_edges": 9,
    "review_edges": 6,
    "brake": 9,
    "currencies": 12,
    "photo_verdicts": 23,
    "questions": 12,
    "returns": 15,
    "decisions": 15,
    "wrong_item": 9,
    "charges": 7,
    "attacks": 29,
    "attacks_in_fields": 10,
    "harmless_texts": 24,
    "provider_trouble": 20,
}


@cache
def scenarios() -> tuple[Scenario, ...]:
    return tuple(read_scenario(path) for path in FILES)


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def pictures_of(scenario: Scenario) -> list[str]:
    answered = [name for act in scenario.then if isinstance(act, Answer) for name in act.photos]
    return [*scenario.request.photos, *scenario.used_before, *answered]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_is_valid_and_reads_well(path: Path) -> None:
    read_scenario(path)
    text = path.read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_what_is_wanted_is_what_the_oracle_works_out(path: Path) -> None:
    """Also where it was typed by hand: where the two differ, one of them has the shop's rules wrong."""
    scenario = read_scenario(path)
    assert end_of(scenario) == scenario.wanted


def test_every_kind_has_its_scenarios() -> None:
    assert Counter(scenario.kind for scenario in scenarios()) == HOW_MANY


def test_the_edges_and_wrong_items_are_typed_by_hand_and_the_rest_comes_from_the_oracle() -> None:
    by_hand = {scenario.kind for scenario in scenarios() if scenario.wanted_by == "hand"}
    assert by_hand == EDGES | {"wrong_item"}
    assert all(scenario.wanted_by == "hand" for scenario in scenarios() if scenario.kind in by_hand)
    assert Counter(scenario.wanted_by for scenario in scenarios()) == {"hand": 70, "oracle": 165}


def test_names_explanations_and_texts_are_used_once() -> None:
    assert len({scenario.name for scenario in scenarios()}) == len(FILES)
    assert len({scenario.say for scenario in scenarios()}) == len(FILES)
    assert len({scenario.request.details for scenario in scenarios()}) == len(FILES)


def test_every_picture_exists_and_is_described_and_every_own_one_is_used() -> None:
    used = {name for scenario in scenarios() for name in pictures_of(scenario)}
    assert used <= set(catalogue())
    assert [name for name in used if not any((folder / name).is_file() for folder in FOLDERS)] == []
    assert {path.name for path in FOLDERS[1].glob("*.jpg")} <= used


def test_what_the_scripted_model_does_not_cover_ends_with_a_person_by_a_rule() -> None:
    uncovered = [scenario for scenario in scenarios() if not scenario.covered]
    assert len(uncovered) == 6
    for scenario in uncovered:
        assert (scenario.wanted.status, scenario.wanted.paid_minor) == ("needs_approval", 0)
        assert {"limit", "history"} & set(scenario.wanted.failed_rules)
        assert "scripted model" in scenario.say or "over the limit" in scenario.say


def test_an_attack_names_a_concern_and_a_harmless_text_none() -> None:
    for scenario in scenarios():
        if scenario.kind == "attacks":
            assert scenario.wanted.concern_names
        if scenario.kind == "harmless_texts":
            assert scenario.wanted.concern_names == ()


def test_money_goes_back_without_a_person_only_where_nothing_stands_in_its_way() -> None:
    automatic = [scenario for scenario in scenarios() if scenario.wanted.automatic]
    assert len(automatic) == 68
    for scenario in automatic:
        assert (scenario.wanted.status, scenario.then) == ("refunded", ())
        assert (scenario.wanted.recommendation, scenario.wanted.failed_rules) == (None, ())


# The oracle itself.


def test_the_oracle_refuses_acts_that_cannot_be_done() -> None:
    story = next(scenario for scenario in scenarios() if scenario.name == "story-02-carafe-at-once")
    approved = next(scenario for scenario in scenarios() if scenario.name == "story-03-kettle-approved")
    with pytest.raises(CannotBeDone):
        end_of(story.model_copy(update={"then": approved.then}))


@pytest.mark.parametrize(
    ("name", "change", "status"),
    [
        ("exactly-on-it", {"paid_minor": 5001}, "needs_approval"),
        ("day-30", {"delivered_days_ago": 31}, "needs_approval"),
        ("day-31", {"delivered_days_ago": 30}, "refunded"),
        ("one-cent-above", {"paid_minor": 5000}, "refunded"),
    ],
)
def test_the_oracle_moves_with_the_facts(name: str, change: dict[str, int], status: str) -> None:
    scenario = next(scenario for scenario in scenarios() if scenario.name == name)
    [line] = scenario.order.lines
    order = scenario.order.model_copy(update={"lines": (line.model_copy(update=change),)})
    assert end_of(scenario.model_copy(update={"order": order})).status == status

from __future__ import annotations

from pathlib import Path

import pytest

from agent.evaluation.collect import BadScenario, collect
from agent.evaluation.evidence_files import NoSuchPicture, find_picture
from agent.evaluation.options import BadOptions
from tests.agent.evaluation.cases import write_scenario

LEAST_SCENARIOS = 80


def test_every_scenario_of_the_shop_is_read_and_names_pictures_that_are_there() -> None:
    scenarios = collect()
    assert len(scenarios) >= LEAST_SCENARIOS
    for scenario in scenarios:
        answers = [name for act in scenario.then if act.act == "answer" for name in act.photos]
        for name in (*scenario.request.photos, *scenario.used_before, *answers):
            assert find_picture(name).is_file()


def test_scenarios_are_chosen_by_kind_or_by_name(tmp_path: Path) -> None:
    for kind, name in (("small", "one"), ("small", "two"), ("large", "three")):
        write_scenario(tmp_path, kind=kind, name=name)
    assert [scenario.name for scenario in collect(["large", "two"], tmp_path)] == ["three", "two"]


def test_a_word_that_fits_nothing_is_refused_with_the_kinds_there_are(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    with pytest.raises(BadOptions) as refused:
        collect(["carafes"], tmp_path)
    assert refused.value.sentence == "No kind or scenario is called carafes; the kinds are small."


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOptions):
        collect([], tmp_path)


def test_a_file_with_a_mistake_is_named_with_the_place_of_it(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, wanted={"status": "paid", "paid_minor": 1})
    with pytest.raises(BadScenario) as refused:
        collect([], tmp_path)
    assert refused.value.sentence.startswith(f"{path}: wanted.status: ")


def test_a_file_in_the_wrong_folder_is_named(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    path.rename(path.with_name("other.json"))
    with pytest.raises(BadScenario) as refused:
        collect([], tmp_path)
    assert "kind and name must be small and other" in refused.value.sentence


def test_two_scenarios_may_not_have_one_name(tmp_path: Path) -> None:
    write_scenario(tmp_path, kind="small")
    write_scenario(tmp_path, kind="large")
    with pytest.raises(BadScenario) as refused:
        collect([], tmp_path)
    assert refused.value.sentence == "Two scenarios are called carafe: in large and small."


@pytest.mark.parametrize("name", ["no-such.jpg", "../photos/carafe-cracked.jpg", ""])
def test_a_picture_is_looked_for_in_the_fixtures_only(name: str) -> None:
    with pytest.raises(NoSuchPicture):
        find_picture(name)

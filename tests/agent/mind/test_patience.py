from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from agent.llm.base import KeyRefused, Message, ModelTrouble, Reply, Temporary, ToolSpec
from agent.llm.patience import complete_patiently


class Moody:
    """Raises each trouble in turn, then answers."""

    provider = model = "moody"

    def __init__(self, *troubles: ModelTrouble) -> None:
        self.troubles = list(troubles)
        self.asked = 0

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
        self.asked += 1
        if self.troubles:
            raise self.troubles.pop(0)
        return Reply("fine")


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    return waits


def ask(model: Moody, seconds: float = 100.0) -> Reply:
    return complete_patiently(model, [], [], time.monotonic() + seconds, lambda: None)


def test_a_passing_trouble_is_waited_out_twice(slept: list[float]) -> None:
    assert ask(Moody(Temporary("busy"), Temporary("busy"))).text == "fine"
    assert slept == [1.0, 3.0]


def test_the_third_time_it_is_over(slept: list[float]) -> None:
    model = Moody(*[Temporary("busy")] * 5)
    with pytest.raises(Temporary):
        ask(model)
    assert model.asked == 3


def test_the_wait_the_provider_asks_for_is_kept(slept: list[float]) -> None:
    ask(Moody(Temporary("busy", wait=6.0)))
    assert slept == [6.0]


@pytest.mark.parametrize("wait", [20.1, 42.0, 720.0])
def test_a_longer_wait_is_not_waited_for(slept: list[float], wait: float) -> None:
    model = Moody(Temporary("busy", wait=wait))
    with pytest.raises(Temporary):
        ask(model)
    assert (model.asked, slept) == (1, [])


def test_a_wait_past_the_end_of_the_run_is_not_begun(slept: list[float]) -> None:
    with pytest.raises(Temporary):
        ask(Moody(Temporary("busy", wait=6.0)), seconds=5.0)
    assert slept == []


def test_a_refused_key_is_not_tried_again(slept: list[float]) -> None:
    model = Moody(KeyRefused("no"))
    with pytest.raises(KeyRefused):
        ask(model)
    assert (model.asked, slept) == (1, [])


def test_the_lease_is_looked_after_before_each_call_and_each_wait(slept: list[float]) -> None:
    renewed: list[int] = []
    complete_patiently(Moody(Temporary("busy")), [], [], time.monotonic() + 100, lambda: renewed.append(1))
    assert len(renewed) == 3

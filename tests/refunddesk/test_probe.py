from __future__ import annotations

import threading
import time

import pytest
from django.test import Client

from refunddesk import health
from refunddesk.probe import Probe


def test_a_part_that_hangs_is_named_in_time_and_holds_one_thread(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = threading.Event()
    monkeypatch.setattr(health, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(health, "_database", Probe("hanging-database", lambda: str(hanging.wait(5))))
    monkeypatch.setattr(health, "_broker", Probe("broker", dict))
    before = time.monotonic()

    answers = [client.get("/healthz") for _ in range(3)]

    assert time.monotonic() - before < 2
    assert {answer.status_code for answer in answers} == {503}
    assert answers[0].json()["database"] == "does not answer"
    assert [thread.name for thread in threading.enumerate()].count("probe-hanging-database") == 1
    hanging.set()


def test_the_error_of_a_part_reaches_who_asked() -> None:
    def fail() -> str:
        raise ValueError("gone")

    with pytest.raises(ValueError, match="gone"):
        Probe("failing", fail).start().result(timeout=1)


def test_an_answered_question_is_asked_anew() -> None:
    answers = iter([1, 2])
    probe = Probe("counting", lambda: next(answers))

    assert [probe.start().result(timeout=1) for _ in range(2)] == [1, 2]

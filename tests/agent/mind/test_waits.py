from __future__ import annotations

import pytest

from agent.llm.waits import asked_wait

NOW = 1_718_000_000.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Retry-After": "6"}, 6.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Mon, 10 Jun 2024 06:13:28 GMT"}, 8.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Mon, 01 Jan 2024 00:00:00 +99999999999999999999"}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "5.289s"}, 5.289),
        ({"x-ratelimit-remaining-requests": "118", "x-ratelimit-reset-requests": "12m0s"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1718000042"}, 42.0),
        ({}, None),
    ],
)
def test_the_wait_comes_from_the_limit_that_is_used_up(headers: dict[str, str], expected: float | None) -> None:
    assert asked_wait(headers, None, NOW) == expected


def test_a_reset_in_the_body_in_epoch_milliseconds_is_a_span_from_now() -> None:
    body = {"error": {"metadata": {"headers": {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1718000042000"}}}}
    assert asked_wait({}, body, NOW) == 42.0


@pytest.mark.parametrize("body", [None, [], "busy", {"error": None}, {"error": {"metadata": []}}])
def test_a_body_of_any_shape_names_no_time(body: object) -> None:
    assert asked_wait({}, body, NOW) is None

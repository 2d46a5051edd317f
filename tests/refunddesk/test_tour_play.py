from __future__ import annotations

import io
from typing import Any

import httpx2
import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from refunddesk.demo_shop.people import PRIYA
from refunddesk.management.commands.tour import end, wait_until_ready
from refunddesk.tour.door import Door, Refused
from refunddesk.tour.play import CannotStart, check_first_day, play
from refunddesk.tour.screen import Screen
from refunddesk.tour.stage import Stage, StoryStopped
from refunddesk.tour.stories import STORIES, Story, sentences

ASKED_LINE = {"sku": "KTL-09", "request": "9b1c"}
FRESH_LINE = {"sku": "KTL-09", "request": None}


def door_with(orders: list[dict[str, Any]]) -> Door:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={"token": "t"} if request.url.path.endswith("token") else orders)

    return Door("http://demo.test", "secret", transport=httpx2.MockTransport(answer))


def stage() -> Stage:
    return Stage(door_with([]), Screen(io.StringIO()), patience=0)


def story(number: int, play_it: Any) -> Story:
    return Story(number, "a story", "kettle", play_it, (PRIYA, "PH-20388", "KTL-09"))


def test_a_story_is_good_when_everything_in_it_held() -> None:
    (ending,) = play(stage(), [story(1, lambda stage: stage.expect("sum", 3, 3))])
    assert (ending.good, ending.held, ending.checks, ending.stopped) == (True, 1, 1, "")


@pytest.mark.parametrize(
    "error", [StoryStopped("waited 180 s"), Refused("POST requests", 409, {"message": "You already asked."})]
)
def test_a_story_that_stops_says_why_and_the_next_one_is_played(error: Exception) -> None:
    def stops(stage: Stage) -> None:
        raise error

    first, second = play(stage(), [story(1, stops), story(2, lambda stage: stage.expect("sum", 3, 3))])
    assert (first.good, first.stopped) == (False, str(error))
    assert second.good


def test_a_story_with_one_thing_not_as_it_must_be_is_not_good() -> None:
    def half(stage: Stage) -> None:
        stage.expect("sum", 3, 3)
        stage.expect("money", [], ["3400"])

    (ending,) = play(stage(), [story(1, half)])
    assert (ending.good, ending.held, ending.checks) == (False, 1, 2)


def test_a_story_that_needs_an_earlier_one_stops_without_it() -> None:
    (ending,) = play(stage(), [STORIES[2]])
    assert "the kettle was never asked for" in ending.stopped


def test_the_tour_ends_with_the_numbers_of_the_stories_that_went_wrong() -> None:
    def wrong(stage: Stage) -> None:
        stage.expect("sum", 4, 3)

    endings = list(play(stage(), [story(1, lambda stage: stage.expect("sum", 3, 3)), story(2, wrong), story(3, wrong)]))
    with pytest.raises(CommandError, match="story 2, 3") as failed:
        end(endings)
    assert failed.value.returncode == 1
    end(endings[:1])


def test_a_shop_whose_stories_were_begun_says_run_reset() -> None:
    orders = [{"number": "PH-20388", "lines": [ASKED_LINE]}]
    with pytest.raises(CannotStart, match="run reset"):
        check_first_day(door_with(orders), STORIES[:1])


def test_a_shop_without_the_demo_data_says_seed() -> None:
    with pytest.raises(CannotStart, match=r"manage\.py seed"):
        check_first_day(door_with([]), STORIES[:1])


def test_a_shop_on_its_first_day_may_be_toured() -> None:
    check_first_day(door_with([{"number": "PH-20388", "lines": [FRESH_LINE]}]), STORIES[:1])


def test_a_part_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refunddesk.management.commands.tour.SECONDS_TO_BE_READY", 0)
    parts = {"web": "ok", "worker": "no answer", "beat": "ok"}
    transport = httpx2.MockTransport(lambda request: httpx2.Response(503, json=parts))
    with (
        Door("http://demo.test", "x", transport=transport) as door,
        pytest.raises(CannotStart, match="up: worker does"),
    ):
        wait_until_ready(door)


def test_outside_demo_mode_there_is_no_tour(settings: Settings) -> None:
    settings.DEMO = False
    with pytest.raises(CommandError, match="only in demo mode"):
        call_command("tour")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("One.", 1),
        ("We paid $24.00 back. Thanks!", 2),
        ("Is it new? Then look at www.example.com again. Bye…", 3),
        ("A. B. C. D.", 4),
    ],
)
def test_sentences_are_counted_by_their_ends(text: str, count: int) -> None:
    assert sentences(text) == count

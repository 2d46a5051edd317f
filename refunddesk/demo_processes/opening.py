"""Waits until every part of the house really answers, and says why when one does not."""

from __future__ import annotations

import time

import redis

from refunddesk.demo_processes.answers import health_at
from refunddesk.demo_processes.child import Child
from refunddesk.demo_processes.house import House
from refunddesk.demo_processes.refusal import DemoRefused
from refunddesk.demo_processes.stop_signals import StopSignals

REDIS_SECONDS = 10
READY_SECONDS = 90
LOOK_SECONDS = 0.1


class StopAsked(Exception):
    """Somebody asked to stop before everything answered."""


def open_house(house: House, stop: StopSignals) -> None:
    """Starts everything and returns when all of it answers. Raises DemoRefused, StopAsked."""
    house.start_redis()
    _wait_for_redis(house, stop)
    seed = house.start_seed()
    house.start_desk()
    _wait_for_seed(seed, house, stop)
    _wait_for_health(house, stop)


def must_run(house: House) -> None:
    """Raises DemoRefused with the last words of a program that ended by itself."""
    for program in house.ended():
        raise DemoRefused(_last_words(program))


def _wait_for_redis(house: House, stop: StopSignals) -> None:
    until = time.monotonic() + REDIS_SECONDS
    with redis.Redis.from_url(house.redis_url, socket_connect_timeout=1, socket_timeout=1, retry=None) as client:
        while True:
            try:
                client.ping()
                return
            except redis.RedisError as error:
                must_run(house)
                if time.monotonic() > until:
                    raise DemoRefused(f"Redis does not answer ({error}). {_logs(house)}") from error
            _pause(stop)


def _wait_for_seed(seed: Child, house: House, stop: StopSignals) -> None:
    while seed.running:
        must_run(house)
        _pause(stop)
    if seed.process.returncode != 0:
        raise DemoRefused(_last_words(seed))


def _wait_for_health(house: House, stop: StopSignals) -> None:
    until = time.monotonic() + READY_SECONDS
    while True:
        parts = health_at(house.place.port)
        if parts and set(parts.values()) == {"ok"}:
            return
        must_run(house)
        if time.monotonic() > until:
            silent = ", ".join(f"{part}: {word}" for part, word in parts.items() if word != "ok") or "web: no answer"
            raise DemoRefused(f"Not everything answers after {READY_SECONDS} seconds ({silent}). {_logs(house)}")
        _pause(stop)


def _pause(stop: StopSignals) -> None:
    if stop.asked.wait(LOOK_SECONDS):
        raise StopAsked


def _last_words(program: Child) -> str:
    lines = program.last_lines() or "(it wrote nothing)"
    return f"The {program.name} ended by itself ({program.how_it_ended}). Its last lines, from {program.log}:\n{lines}"


def _logs(house: House) -> str:
    return f"The logs are in {house.place.logs}."

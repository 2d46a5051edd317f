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
    wait_for_redis(house, stop)
    seed = house.start_seed()
    house.start_desk()
    _wait_for_seed(seed, house, stop)
    _wait_for_health(house, stop)


def _must_run(house: House) -> None:
    for program in house.ended():
        raise DemoRefused(last_words(program))


def wait_for_redis(house: House, stop: StopSignals) -> None:
    """Until it answers; one of the house's own must be the one that does. Raises DemoRefused, StopAsked."""
    until = time.monotonic() + REDIS_SECONDS
    own = house.programs.get("redis")
    with redis.Redis.from_url(house.redis_url, socket_connect_timeout=1, socket_timeout=1, retry=None) as client:
        while True:
            try:
                client.ping()
                if own is None or client.info("server").get("process_id") == own.process.pid:
                    return
                trouble = "another one is at its port"
            except redis.RedisError as error:
                trouble = str(error)
            if own is not None and not own.running:
                raise DemoRefused(last_words(own))
            if time.monotonic() > until:
                raise DemoRefused(f"Redis does not answer ({trouble}). {_logs(house)}")
            pause(stop)


def called(name: str) -> str:
    """A program of the house, at the beginning of a sentence."""
    return "Redis" if name == "redis" else f"The {name}"


def _wait_for_seed(seed: Child, house: House, stop: StopSignals) -> None:
    while seed.running:
        _must_run(house)
        pause(stop)
    if seed.process.returncode != 0:
        raise DemoRefused(last_words(seed))


def _wait_for_health(house: House, stop: StopSignals) -> None:
    until = time.monotonic() + READY_SECONDS
    while True:
        parts = health_at(house.place.port)
        if parts and set(parts.values()) == {"ok"}:
            return
        _must_run(house)
        if time.monotonic() > until:
            silent = ", ".join(f"{part}: {word}" for part, word in parts.items() if word != "ok") or "web: no answer"
            raise DemoRefused(f"Not everything answers after {READY_SECONDS} seconds ({silent}). {_logs(house)}")
        pause(stop)


def pause(stop: StopSignals, seconds: float = LOOK_SECONDS) -> None:
    """Raises StopAsked."""
    if stop.asked.wait(seconds):
        raise StopAsked


def last_words(program: Child) -> str:
    """How a program that ended by itself did so, and what it wrote."""
    lines = program.last_lines() or "(it wrote nothing)"
    ended = f"{called(program.name)} ended by itself ({program.how_it_ended})"
    return f"{ended}. Its last lines, from {program.log}:\n{lines}"


def _logs(house: House) -> str:
    return f"The logs are in {house.place.logs}."

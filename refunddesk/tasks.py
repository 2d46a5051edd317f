"""The worker's answer to a pulse, its note that every thread of it is at work, and old sessions that are cleared."""

from __future__ import annotations

import logging
import threading
import time
from importlib import import_module
from typing import Any

from celery import shared_task
from celery.signals import beat_init, worker_ready
from celery.worker import state
from django.conf import settings
from redis import RedisError

from refunddesk import pulse as pulses
from refunddesk.schedule import CLOCK_QUEUE, RUNS_QUEUE

logger = logging.getLogger(__name__)
PULSE = "refunddesk.tasks.pulse"
LOOK_SECONDS = 5


@shared_task(name=PULSE)
def pulse(sender: str) -> None:
    """`sender` is who asked: beat, or the health check while beat is silent."""
    pulses.give("worker")


@shared_task(name="refunddesk.tasks.clock_pulse")
def clock_pulse() -> None:
    pulses.give("clock")


@shared_task(name="refunddesk.tasks.clear_sessions")
def clear_sessions() -> None:
    """Removes the sessions that have run out; nothing else does, and whoever visits can leave one behind."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()


def ask_workers(sender: str) -> None:
    """Sends a pulse task to the worker for runs and to the one for beat's own tasks."""
    pulse.apply_async(args=(sender,), expires=pulses.EVERY_SECONDS)
    clock_pulse.apply_async(queue=CLOCK_QUEUE, expires=pulses.EVERY_SECONDS)


@beat_init.connect
def send_first_pulse(**_: Any) -> None:
    """Beat would wait a whole interval; whoever starts the desk wants to know at once."""
    try:
        ask_workers(pulses.beat_gives())
    except Exception as error:  # the timetable sends the next one
        logger.warning("the first pulse was not sent: %s", error)


@worker_ready.connect
def watch_threads(sender: Any, **_: Any) -> None:
    """`sender` is the consumer; the full house of the small worker for beat's tasks says nothing about runs."""
    if RUNS_QUEUE not in sender.app.amqp.queues.consume_from:
        return
    threading.Thread(target=_note_when_full, name="full-worker", daemon=True).start()


def _note_when_full() -> None:
    """While all threads are at work a pulse has to wait its turn: that worker is busy, not broken."""
    while True:
        time.sleep(LOOK_SECONDS)
        if len(state.active_requests) >= settings.CELERY_WORKER_CONCURRENCY:
            try:
                pulses.give("full")
            except RedisError as error:
                logger.warning("the broker does not answer: %s", error)

"""The agent's tasks: the bell's answer and the sweep. They take primary keys; rows are the truth."""

from __future__ import annotations

import logging
import uuid
from typing import Any

from celery import shared_task
from celery.signals import worker_init

from agent import purge_token_days as token_days
from agent import seal_timelines as timelines
from agent.anchor import anchor_yesterday
from agent.carry_out import carry_out
from agent.evaluation import purge
from agent.evaluation.run_again import play_again, sweep_again
from agent.give_up import give_up
from agent.lease import LeaseLost
from agent.llm.choose import warm_up
from agent.runs import claim, give_back
from agent.sweep import sweep

logger = logging.getLogger(__name__)


@worker_init.connect
def prepare_worker(sender: Any, **kwargs: Any) -> None:
    """`sender` is the worker; one that takes no runs needs no model."""
    if sender.app.conf.task_default_queue in sender.app.amqp.queues.consume_from:
        warm_up()


@shared_task(name="agent.tasks.work")
def work(run_id: str) -> None:
    """Claims the run and does its work; a run that is not to be had is left to whoever has it."""
    lease = claim(uuid.UUID(run_id))
    if lease is None:
        return
    try:
        carry_out(lease)
    except LeaseLost as lost:
        logger.warning("stopped: %s", lost)
    except Exception as error:  # one failed try of a run must not stop the worker; the run's own tries are bounded
        logger.exception("run %s failed", run_id)
        if not give_back(lease):
            give_up(lease.run_id, lease.token, f"The last try failed ({type(error).__name__}).")


@shared_task(name="agent.tasks.sweep_runs")
def sweep_runs() -> None:
    sweep()
    sweep_again()


@shared_task(name="agent.tasks.play_again")
def play_case_again(evaluation_id: str) -> None:
    """Plays a copy of a case in a process of its own; the row says whether it is still to be had."""
    play_again(uuid.UUID(evaluation_id))


@shared_task(name="agent.tasks.anchor_day")
def anchor_day() -> None:
    """Anchors yesterday's chains, once however often it is sent; what is not sealed yet is sealed before."""
    timelines.seal_timelines()
    anchor_yesterday()


@shared_task(name="agent.tasks.seal_timelines")
def seal_timelines() -> None:
    """Seals what cases at rest said last."""
    timelines.seal_timelines()


@shared_task(name="agent.tasks.purge_evaluations")
def purge_evaluations() -> None:
    """Forgets old measurings and copies, a few at a time."""
    purge.purge_evaluations()


@shared_task(name="agent.tasks.purge_token_days")
def purge_token_days() -> None:
    """Forgets what the models used more than a year ago, a batch at a time."""
    token_days.purge_token_days()

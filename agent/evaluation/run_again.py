"""A case played again in a scratch shop with another model, other rules or more instructions. No money can move: the
copy lives in another database and process, and only what came of it is written here.

The evaluation's row is the queue, as a run's is: `queued` until a worker has it, `running` while its copy is played,
and until then `ended_at` is the last sign of life of the worker that plays it.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from agent.evaluation.allowance import Gate
from agent.evaluation.child import START_SECONDS
from agent.evaluation.from_case import NotAScenario, copy_case
from agent.evaluation.options import BadOptions, Options, read_options
from agent.evaluation.owned_folder import remove_left_behind
from agent.evaluation.play_apart import play_case
from agent.evaluation.played import Played
from agent.evaluation.provider_use import count_for
from agent.evaluation.scenario import Scenario
from agent.evaluation.signs_of_life import is_silent, signs_of_life
from agent.evaluation.template import MIGRATE_SECONDS
from agent.evaluation.wished_chain import answers_here, check_provider
from agent.llm.base import LimitReached
from agent.llm.token_ledger import check_customer
from agent.models import Evaluation
from intake.models import Photo, RefundRequest
from intake.photos import read_photo
from intake.refusals import Refusal
from intake.timeline import shorten

logger = logging.getLogger(__name__)

TASK = "agent.tasks.play_again"
MOST_AT_ONCE = 2
MOST_A_DAY = 20
MOST_OPEN = 200
PLAY_SECONDS = 300.0
# Later than any copy that is still being played: its photos are read, then each of these may take its time.
LOST_AFTER = timedelta(minutes=1, seconds=MIGRATE_SECONDS + START_SECONDS + PLAY_SECONDS)
UNHEARD_AFTER = timedelta(minutes=30)
RING_AGAIN_AFTER = timedelta(seconds=60)
AGAIN, Status = Evaluation.Kind.AGAIN, Evaluation.Status
LOST = "The worker that played it is gone. Nothing of the copy was kept; start it again."
UNHEARD = "No worker took it for half an hour. Start it again when a worker runs."


def may_play_again(user: User) -> bool:
    return user.is_active and user.is_staff and user.has_perm("agent.add_evaluation")


def ask_again(*, request: RefundRequest, by: User, options: Mapping[str, Any]) -> Evaluation:
    """Queues one playing of the case as it stands. `options`: `{"provider", "model", "policy": {...}, "prompt"}`.

    `request` with its line, order, customer and policy. Raises Refusal `forbidden`, `invalid_input`, `not_waiting`
    (the agent is at work on it) or `too_many_requests`; then nothing is written.
    """
    if not may_play_again(by):
        raise Refusal("forbidden", "Your account may not play cases again. Ask a lead.")
    try:
        check_provider(read_options(options))
        copied = copy_case(request)
    except BadOptions as bad:
        raise Refusal("invalid_input", bad.sentence) from bad
    except NotAScenario as reason:
        raise Refusal("not_waiting", reason.sentence) from reason
    end_lost()  # also without a beat, lost ones take no place of this one
    with transaction.atomic():
        _check_day(by)
        evaluation = Evaluation.objects.create(
            kind=AGAIN,
            request=request,
            scenario=copied.scenario.model_dump(mode="json"),
            asked_by=by,
            provider=str(options.get("provider", ""))[:40],
            model=str(options.get("model", ""))[:120],
            options=dict(options),
        )
        transaction.on_commit(lambda: ring(evaluation.pk), robust=True)
    return evaluation


def play_again(evaluation_id: uuid.UUID) -> None:
    """Plays it if it is still to be had and a place is free; otherwise it stays queued, and is rung for later."""
    evaluation = _claim(evaluation_id)
    if evaluation is None:
        return
    with signs_of_life(evaluation.pk):
        _play(evaluation)
    ring_waiting()


def sweep_again() -> None:
    """Ends what was lost, rings for what waits, and deletes what killed workers left; beat starts it with the sweep of
    runs."""
    end_lost()
    remove_left_behind()
    ring_waiting(older_than=RING_AGAIN_AFTER)


def end_lost(now: datetime | None = None) -> int:
    """Marks as failed what no worker can be playing any more, or none ever took; returns how many."""
    now = now or timezone.now()
    ended = 0
    for evaluation in _open()[:MOST_OPEN]:
        why = _why_lost(evaluation, now)
        ended += bool(why) and _fail(evaluation.pk, why, only=Status(evaluation.status))
    return ended


def ring_waiting(*, older_than: timedelta = timedelta()) -> None:
    """Rings for the oldest queued ones, as many as there are places."""
    waiting = _open().filter(status=Status.QUEUED, created_at__lte=timezone.now() - older_than)
    for evaluation_id in list(waiting.order_by("created_at", "id").values_list("pk", flat=True)[:MOST_AT_ONCE]):
        ring(evaluation_id)


def ring(evaluation_id: uuid.UUID) -> bool:
    """False: the broker is away; the next sweep rings again."""
    try:
        current_app.send_task(TASK, args=[str(evaluation_id)], ignore_result=True, retry=False)
    except Exception as error:  # whatever the broker's client raises, the row is saved and the sweep finds it
        logger.warning("the copy %s could not be announced: %s", evaluation_id, error)
        return False
    return True


def is_lost(evaluation: Evaluation, now: datetime) -> bool:
    """Of one that is `running`: its worker is gone, or nobody can be playing it any more."""
    return is_silent(evaluation, now) or now - (evaluation.started_at or evaluation.created_at) > LOST_AFTER


def _open() -> Any:
    return Evaluation.objects.filter(kind=AGAIN, status__in=[Status.QUEUED, Status.RUNNING])


def _check_day(by: User) -> None:
    """Under the person's row lock, so that two windows count right."""
    User.objects.select_for_update(no_key=True).only("pk").get(pk=by.pk)
    since = timezone.now() - timedelta(days=1)
    if Evaluation.objects.filter(kind=AGAIN, asked_by=by, created_at__gt=since).count() >= MOST_A_DAY:
        raise Refusal(
            "too_many_requests", f"You have played {MOST_A_DAY} cases again within a day. Try again tomorrow."
        )


def _claim(evaluation_id: uuid.UUID) -> Evaluation | None:
    """Takes a queued one. All open rows are locked in one order, so that never more than MOST_AT_ONCE run."""
    with transaction.atomic():
        rows = _open().select_for_update(no_key=True, of=("self",)).order_by("created_at", "id")
        open_ones = list(rows[:MOST_OPEN])
        mine = next((one for one in open_ones if one.pk == evaluation_id and one.status == Status.QUEUED), None)
        if mine is None or sum(one.status == Status.RUNNING for one in open_ones) >= MOST_AT_ONCE:
            return None
        mine.status, mine.started_at = Status.RUNNING, timezone.now()
        mine.ended_at = mine.started_at
        mine.save(update_fields=["status", "started_at", "ended_at"])
    return mine


def _play(evaluation: Evaluation) -> None:
    """Plays a claimed one to its end, and writes what came of it."""
    try:
        scenario = Scenario.model_validate(evaluation.scenario)
        pictures = _pictures(evaluation, scenario)
        gate = _gate_of(evaluation)
        played = play_case(
            scenario, evaluation.options, kept_photos=pictures, seconds=PLAY_SECONDS, allowance=gate.allowance()
        )
    except (BadOptions, LimitReached) as refused:  # the chain has changed since it was asked for, or a day is used up
        _fail(evaluation.pk, refused.sentence)
    except OSError:
        _fail(evaluation.pk, "The store did not give the case's photos. Start it again when it answers.")
    except Exception:  # whatever it was, the row must not stay running
        logger.exception("the copy %s could not be played", evaluation.pk)
        _fail(evaluation.pk, "Something went wrong in the program, so the copy was not played. The log says what.")
    else:
        if evaluation.request:
            count_for(evaluation.request.customer_id, played.used)
        _finish(evaluation, played)


def _gate_of(evaluation: Evaluation) -> Gate:
    """Raises LimitReached when the customer or every provider that is asked has used the tokens of today, or the
    providers are not to be asked now; BadOptions."""
    options: Options = read_options(evaluation.options)
    gate = Gate(options)
    if evaluation.request and not answers_here(options):
        check_customer(evaluation.request.customer_id)
    gate.look()
    if why := gate.why_not():
        raise LimitReached(why)
    return gate


def _pictures(evaluation: Evaluation, scenario: Scenario) -> dict[str, bytes]:
    """The stored copies by the names the scenario gives them. Raises OSError."""
    answers = [act.photos for act in scenario.then if act.act == "answer"]
    wanted = {name for names in (scenario.request.photos, *answers) for name in names}
    keys = [uuid.UUID(name.removesuffix(".jpg")) for name in sorted(wanted)]
    owner = evaluation.request.customer_id if evaluation.request else None
    return {f"{photo.pk.hex}.jpg": read_photo(photo) for photo in Photo.objects.filter(pk__in=keys, owner_id=owner)}


def _finish(evaluation: Evaluation, played: Played) -> None:
    """Keeps what came of it, unless it was given up for lost meanwhile."""
    if played.not_played:
        _fail(evaluation.pk, played.not_played)
        return
    with transaction.atomic():
        mine = Evaluation.objects.filter(pk=evaluation.pk, status=Status.RUNNING)
        if not mine.update(
            status=Status.DONE,
            ended_at=timezone.now(),
            provider=played.provider[:40],
            model=played.model[:120],
            prompt_version=played.prompt_version[:20],
        ):
            logger.warning("the copy %s came back after it had been given up", evaluation.pk)
            return
        played.as_row(evaluation).save()


def _fail(evaluation_id: uuid.UUID, why: str, *, only: Evaluation.Status = Status.RUNNING) -> bool:
    mine = Evaluation.objects.filter(pk=evaluation_id, status=only)
    return bool(mine.update(status=Status.FAILED, trouble=shorten(why, 300), ended_at=timezone.now()))


def _why_lost(evaluation: Evaluation, now: datetime) -> str:
    """Empty while it may still come to something."""
    if evaluation.status == Status.RUNNING:
        return LOST if is_lost(evaluation, now) else ""
    return UNHEARD if now - evaluation.created_at > UNHEARD_AFTER else ""

"""What keeps runs going when a bell was not heard or a worker died; beat starts it, and it works in small batches."""

from __future__ import annotations

import logging
import uuid
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from agent.announce import announce_after_commit
from agent.finish_refund import leave_as_news, take_the_card_back
from agent.give_up import give_up, rescue
from agent.models import Run
from agent.runs import requeue
from intake.lifecycle import MoveRefused
from intake.models import RefundRequest
from intake.statuses import Status
from payments.models import Refund
from payments.settle_refund import FINAL

logger = logging.getLogger(__name__)

BATCH = 100
STRANDED_AFTER = timedelta(minutes=5)
UNHEARD_AFTER = timedelta(minutes=1)


def sweep() -> None:
    take_from_the_dead()
    announce_due_runs()
    rescue_stranded_requests()
    take_up_unheard_outcomes()
    take_needless_cards_back()


def take_from_the_dead() -> int:
    """Queues runs whose lease ran out again, and ends those that have had all their tries; returns how many."""
    expired = Run.objects.filter(status=Run.Status.RUNNING, lease_until__lt=timezone.now())
    run_ids = list(expired.order_by("lease_until").values_list("pk", flat=True)[:BATCH])
    taken = 0
    for run_id in run_ids:
        try:
            taken += _take_from_the_dead(run_id)
        except Exception:  # one run that cannot be ended must not keep the others from being taken
            logger.exception("run %s could not be taken from its dead worker", run_id)
    return taken


def announce_due_runs() -> int:
    """Rings for due runs nobody has taken, each at most once a minute; returns how many."""
    now = timezone.now()
    again = now - timedelta(seconds=settings.ANNOUNCE_AGAIN_SECONDS)
    unheard = Q(announced_at=None) | Q(announced_at__lte=again)
    with transaction.atomic():
        due = Run.objects.select_for_update(skip_locked=True, no_key=True).filter(
            unheard, status=Run.Status.QUEUED, due_at__lte=now
        )
        run_ids = list(due.order_by("due_at", "id").values_list("pk", flat=True)[:BATCH])
        Run.objects.filter(pk__in=run_ids).update(announced_at=now)
        for run_id in run_ids:
            announce_after_commit(run_id)
    return len(run_ids)


def rescue_stranded_requests() -> int:
    """Requests in work without a run that works on them come to staff; returns how many. It should never be any."""
    stranded = RefundRequest.objects.filter(
        ~Exists(_at_work()),
        status__in=[Status.SUBMITTED, Status.WORKING],
        status_changed_at__lt=timezone.now() - STRANDED_AFTER,
    )
    found = list(stranded.order_by("status_changed_at")[:BATCH])
    for request in found:
        logger.error("request %s stood in %s without a run", request, request.status)
        try:
            rescue(request)
        except MoveRefused:
            logger.info("request %s has moved on by itself", request)
    return len(found)


def take_up_unheard_outcomes() -> int:
    """The provider's last word on a refund that no run has brought to its request becomes news; returns how many.

    Whoever asked the provider had lost the run meanwhile, and died before it could leave the answer as news.
    """
    queued = 0
    for refund in _unheard():
        request = _request_of(refund)
        logger.warning("request %s has not heard that refund %s %s", request, refund, refund.status)
        queued += leave_as_news(request.pk, refund)
    return queued


def take_needless_cards_back() -> int:
    """A card leaves nothing to decide when the refund is through; returns how many. It should never be any."""
    before_staff = RefundRequest.objects.filter(~Exists(_at_work()), status=Status.NEEDS_APPROVAL)
    through = Refund.objects.filter(
        status=Refund.Status.SUCCEEDED,
        settled_at__lt=timezone.now() - UNHEARD_AFTER,
        request_uuid__in=before_staff.values("uuid"),
    )
    found = list(through.order_by("settled_at")[:BATCH])
    for refund in found:
        request = _request_of(refund)
        logger.error("request %s stood before staff although refund %s is through", request, refund)
        try:
            take_the_card_back(request, refund)
        except MoveRefused:
            logger.info("request %s has moved on by itself", request)
    return len(found)


def _request_of(refund: Refund) -> RefundRequest:
    assert refund.request_uuid is not None  # it was looked for by its request
    return RefundRequest.objects.get(uuid=refund.request_uuid)


def _unheard() -> list[Refund]:
    """Each request's newest refund whose last word is older than a minute and does not fit where the request stands."""
    newer = Refund.objects.filter(request_uuid=OuterRef("request_uuid"), attempt__gt=OuterRef("attempt"))
    known = Refund.objects.filter(~Exists(newer), settled_at__lt=timezone.now() - UNHEARD_AFTER)
    idle = RefundRequest.objects.filter(~Exists(_at_work()))
    waits = known.filter(status__in=FINAL, request_uuid__in=idle.filter(status=Status.REFUNDING).values("uuid"))
    stands_on_it = idle.filter(uuid=OuterRef("request_uuid"), status=Status.REFUNDED)
    failed = known.filter(Exists(stands_on_it), status=Refund.Status.FAILED)
    return [*waits.order_by("settled_at")[:BATCH], *failed.order_by("settled_at")[:BATCH]]


def _at_work() -> QuerySet[Run]:
    """The runs that work on the outer request or are about to; what is only due another day is not among them."""
    now_due = Q(status=Run.Status.QUEUED, due_at__lte=timezone.now())
    return Run.objects.filter(now_due | Q(status=Run.Status.RUNNING), request_id=OuterRef("pk"))


def _take_from_the_dead(run_id: uuid.UUID) -> bool:
    with transaction.atomic():
        expired = Run.objects.select_for_update(skip_locked=True, no_key=True).filter(
            pk=run_id, status=Run.Status.RUNNING, lease_until__lt=timezone.now()
        )
        run = expired.first()
        if run is None:
            return False
        if run.tries >= settings.RUN_MAX_TRIES:
            return give_up(run_id, run.token, f"{run.tries} tries ended without a result.")
        logger.warning("run %s: its worker is gone, queued again after try %s", run.key, run.tries)
        requeue(Run.objects.filter(pk=run_id, token=run.token))
        announce_after_commit(run_id)
    return True

"""Where a request stands, against its newest refund: nobody reads “declined” while money is out, or waits for none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.utils import timezone

from agent.models import Run
from agent.verify.pages import Pages
from intake.statuses import Status
from payments.models import Refund

MONEY_IS_OUT = frozenset({Status.REFUNDING, Status.REFUNDED})
FITS: dict[str, frozenset[Status]] = {
    Refund.Status.RESERVED: frozenset({Status.REFUNDING}),
    Refund.Status.PENDING: frozenset({Status.REFUNDING}),
    Refund.Status.SUCCEEDED: frozenset({Status.REFUNDED}),
    Refund.Status.FAILED: frozenset(Status) - MONEY_IS_OUT,
}
# The provider's last word is one transaction, what it does to the request the next: a run, or the sweep, is on its way.
HEARS_SOON: dict[str, frozenset[Status]] = {
    Refund.Status.SUCCEEDED: frozenset({Status.REFUNDING, Status.NEEDS_APPROVAL, Status.WORKING}),
    Refund.Status.FAILED: MONEY_IS_OUT,
}
SOON = timedelta(minutes=10)


def check_standing(pages: Pages) -> Iterator[str]:
    request = pages.request
    status, newest = Status(request.status), pages.refunds[-1] if pages.refunds else None
    if newest is None:
        if status in MONEY_IS_OUT:
            yield f"The request stands as “{status.label}”, and it has no refund."
    elif status not in FITS[newest.status] and not _hears_soon(pages, newest):
        stands = newest.get_status_display()
        yield f"The request stands as “{status.label}”, and its refund {newest.reference} as “{stands}”."


def is_at_work(run: Run) -> bool:
    due = run.status == Run.Status.QUEUED and run.due_at <= timezone.now()
    return due or run.status == Run.Status.RUNNING


def _hears_soon(pages: Pages, newest: Refund) -> bool:
    if pages.request.status not in HEARS_SOON.get(newest.status, ()):
        return False
    just_settled = newest.settled_at is not None and newest.settled_at > timezone.now() - SOON
    return just_settled or any(is_at_work(run) for run in pages.runs)

"""Checks the whole book: every request, every charge, every day's sum, every anchor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agent.models import ChainRecord
from agent.verify.anchors import check_anchors, check_held
from agent.verify.budget import check_budgets
from agent.verify.charges import check_belonging, check_charges
from agent.verify.one_request import first_misfit, second_look
from agent.verify.pages import Pages, read_pages
from intake.models import RefundRequest
from payments.models import Refund

REQUESTS_AT_ONCE = 200
MOST_NAMED = 20


@dataclass
class Verified:
    """What was checked, and the first things that do not fit; `unnamed` counts those beyond the list."""

    requests: int = 0
    refunds: int = 0
    links: int = 0
    misfits: list[str] = field(default_factory=list)
    unnamed: int = 0

    @property
    def fits(self) -> bool:
        return not self.misfits

    @property
    def counted(self) -> str:
        return f"{self.requests} requests, {self.refunds} refunds, {self.links} links"


def verify_shop(*, with_files: bool = False, held: Sequence[str] = ()) -> Verified:
    """`with_files` reads every stored picture too; `held` are anchors that were kept outside the database, as
    `agent.anchor.noted` writes them. At most one thing is named of each request."""
    verified = Verified(refunds=Refund.objects.count(), links=ChainRecord.objects.count())
    for misfit in _all_misfits(verified, with_files, held):
        if len(verified.misfits) < MOST_NAMED:
            verified.misfits.append(misfit)
        else:
            verified.unnamed += 1
    return verified


def _all_misfits(verified: Verified, with_files: bool, held: Sequence[str]) -> Iterator[str]:
    for request_ids in _batches():
        verified.requests += len(request_ids)
        found = read_pages(request_ids)
        yield from _unread(request_ids, found)
        for pages in found:
            if not first_misfit(pages, with_files=with_files):
                continue
            misfit = second_look(pages.request.pk, with_files=with_files)
            if misfit:
                yield f"Request {pages.request}: {misfit}"
    yield from check_belonging()
    yield from check_charges()
    yield from check_budgets()
    yield from check_anchors()
    yield from check_held(held)


def _unread(request_ids: Sequence[int], found: Sequence[Pages]) -> Iterator[str]:
    """Requests that are there, and could not be read with what they stand on."""
    read = {pages.request.pk for pages in found}
    for request in RefundRequest.objects.filter(pk__in=set(request_ids) - read).order_by("pk"):
        yield f"Request {request}: Its customer, order, line or policy is not in the book any more."


def _batches() -> Iterator[list[int]]:
    last = 0
    requests = RefundRequest.objects.order_by("pk").values_list("pk", flat=True)
    while found := list(requests.filter(pk__gt=last)[:REQUESTS_AT_ONCE]):
        yield found
        last = found[-1]

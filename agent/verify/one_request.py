"""Checks one request's pages and names the first thing that does not fit."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction

from agent.models import ChainRecord
from agent.verify.decisions import check_decided, check_decisions
from agent.verify.evidence import check_files, check_photos
from agent.verify.exchange import check_exchange, check_rows
from agent.verify.links import check_links, check_presence
from agent.verify.money import check_refunds, check_request
from agent.verify.pages import Pages, read_pages
from agent.verify.returns import check_returns
from agent.verify.rules_again import check_automatic
from agent.verify.standing import check_standing
from agent.verify.timeline import check_timeline
from agent.verify.waiting import check_waiting
from intake.models import RefundRequest


def first_misfit(pages: Pages, *, with_files: bool = False) -> str:
    """A sentence; empty when all fits. Reads nothing but, `with_files`, the stored pictures."""
    try:
        return next(_misfits(pages, with_files), "")
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        return f"The facts in the chain cannot be read ({type(error).__name__}: {error})."


def second_look(request_id: int, *, with_files: bool = False) -> str:
    """Reads the request again while nobody can write its chain: what was read amid a write fits now."""
    with transaction.atomic():
        RefundRequest.objects.select_for_update(no_key=True).only("pk").get(pk=request_id)
        [pages] = read_pages([request_id])
        return first_misfit(pages, with_files=with_files)


def _misfits(pages: Pages, with_files: bool) -> Iterator[str]:
    yield from check_links(pages)
    yield from check_presence(pages)
    yield from check_request(pages)
    yield from check_refunds(pages)
    yield from check_decisions(pages)
    yield from _check_reserves(pages)
    yield from check_returns(pages)
    yield from check_standing(pages)
    yield from check_photos(pages)
    yield from check_timeline(pages)
    yield from check_exchange(pages)
    yield from check_rows(pages)
    yield from check_waiting(pages)
    if with_files:
        yield from check_files(pages)


def _check_reserves(pages: Pages) -> Iterator[str]:
    paid: set[str] = set()
    for link in pages.links_of(ChainRecord.Kind.RESERVE):
        refund = pages.refund_of(link)
        if refund.automatic:
            yield from check_automatic(pages, refund, link)
        else:
            yield from check_decided(pages, refund, link)
            decision = link.facts["decision"]
            if decision in paid:
                yield f"Refund {refund.reference} rests on a decision that was carried out before."
            paid.add(decision)

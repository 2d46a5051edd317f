"""Refunds, their charge and the provider's answers: every row as its link keeps it, and no status without an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent.canonical import iso
from agent.link_facts import charge_row, line_row, outcome_row, policy_row, refund_row, request_facts
from agent.models import ChainRecord
from agent.own_price import own_price
from agent.verify.differs import difference
from agent.verify.pages import Pages
from intake.statuses import Status
from payments.models import Refund
from payments.money import format_minor
from payments.settle_refund import FINAL

Kind = ChainRecord.Kind


def check_request(pages: Pages) -> Iterator[str]:
    request = pages.request
    for link in pages.links:
        if "request" in link.facts:
            changed = difference(link.facts["request"], request_facts(request))
            if changed:
                yield f"The request is not the one of link {link.sequence}: {changed}."
        if "line" in link.facts:
            changed = difference(link.facts["line"], line_row(request.line))
            if changed:
                yield f"The line is not as it was at link {link.sequence}: {changed}."
        if "policy" in link.facts:
            kept, policy = link.facts["policy"], policy_row(request.policy)
            if "wording_sha256" not in kept:  # a link from before the texts were sealed
                del policy["wording_sha256"]
            changed = difference(kept, policy)
            if changed:
                yield f"The policy is not the one of link {link.sequence}: {changed}."
    yield from _check_price(pages)
    said = {link.facts["outcome"]["status"] for link in pages.links_of(Kind.OUTCOME)}
    if request.status == Status.REFUNDED and Refund.Status.SUCCEEDED not in said:
        yield "The request stands as refunded, and no answer of the provider says so."


def _check_price(pages: Pages) -> Iterator[str]:
    request = pages.request
    price = own_price(request, pages.units_before)
    if not price:
        yield "The request is for more units than were left on its line."
    elif request.amount_minor != price:
        asked, costs = (format_minor(each, request.currency) for each in (request.amount_minor, price))
        yield f"The request stands at {asked}, and by what was paid for its line it costs {costs}."


def check_refunds(pages: Pages) -> Iterator[str]:
    for link in pages.links_of(Kind.RESERVE):
        refund = pages.refund_of(link)
        for what, kept, now in (
            (f"Refund {refund.reference}", link.facts["refund"], refund_row(refund)),
            (f"The charge of refund {refund.reference}", link.facts["charge"], charge_row(refund.charge)),
        ):
            changed = difference(kept, now)
            if changed:
                yield f"{what} is not as it was: {changed}."
        if refund.charge.order_id != pages.request.line.order_id:
            yield f"Refund {refund.reference} stands on a charge of another order."
        yield from _check_answers(pages, refund)


def _check_answers(pages: Pages, refund: Refund) -> Iterator[str]:
    answers = [
        (link, outcome)
        for link in pages.links_of(Kind.OUTCOME)
        for outcome in pages.outcomes_of(refund)
        if link.subject == str(outcome.pk)
    ]
    for link, outcome in answers:
        changed = difference(link.facts["outcome"], outcome_row(outcome))
        if changed:
            yield f"An answer about refund {refund.reference} is not as it was: {changed}."
        if link.facts["refund"]["id"] != str(refund.pk):
            yield f"The answer of link {link.sequence} was about another refund than {refund.reference}."
    kept = answers[-1][0].facts if answers else None
    changed = difference(_status_by(kept), _status_now(refund, answered=kept is not None))
    if changed:
        yield f"Refund {refund.reference} is not where the provider's answers put it: {changed}."


def _status_by(kept: Mapping[str, Any] | None) -> dict[str, Any]:
    """Where a refund stands by the facts of its last answer; without one it is reserved."""
    status = Refund.Status.RESERVED if kept is None else kept["outcome"]["status"]
    reason = "" if kept is None else kept["outcome"]["reason"]
    return {
        "status": status,
        "failure_reason": reason if status == Refund.Status.FAILED else "",
        "pending_reason": reason if status == Refund.Status.PENDING else "",
        "settled_at": kept["outcome"]["at"] if kept is not None and status in FINAL else None,
        "provider_reference": None if kept is None else kept["refund"]["provider_reference"],
    }


def _status_now(refund: Refund, *, answered: bool) -> dict[str, Any]:
    """The provider's name for it may be known before its first answer is."""
    now: dict[str, Any] = {
        "status": refund.status,
        "failure_reason": refund.failure_reason,
        "pending_reason": refund.pending_reason,
        "settled_at": None if refund.settled_at is None else iso(refund.settled_at),
    }
    return {**now, "provider_reference": refund.provider_reference} if answered else now

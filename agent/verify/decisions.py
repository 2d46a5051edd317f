"""Decisions as they were taken, and each decided refund against the decision that stands behind it."""

from __future__ import annotations

from collections.abc import Iterator

from agent.link_facts import card_row, decision_row, receipt_row
from agent.models import ChainRecord, Decision
from agent.received_share import received_share
from agent.verify.differs import difference
from agent.verify.pages import Pages
from agent.verify.standing import is_at_work
from intake.statuses import Status
from payments.models import Refund

Kind = ChainRecord.Kind


def check_decisions(pages: Pages) -> Iterator[str]:
    for link in pages.links_of(Kind.DECISION):
        decision = pages.decision_with(link.subject)
        if decision is None:
            continue
        changed = difference(link.facts["decision"], decision_row(decision))
        if changed:
            yield f"The decision of link {link.sequence} is not as it was: {changed}."
        kept, card = link.facts["card"], card_row(decision.approval)
        if "said_sha256" not in kept:  # a link from before the whole card was sealed
            del card["said_sha256"]
        changed = difference(kept, card)
        if changed:
            yield f"The card of the decision of link {link.sequence} is not as it was: {changed}."
        if link.facts["by"]["id"] != decision.decided_by_id or not link.facts["by"]["name"]:
            yield f"The decision of link {link.sequence} does not say who took it."
        if _was_left(pages, decision):
            yield f"The decision of link {link.sequence} was neither carried out nor set aside, and no run is at it."


def _was_left(pages: Pages, decision: Decision) -> bool:
    """An approval is told by its refund or its return; a question or a decline by this alone."""
    if decision.choice == Decision.Choice.APPROVE or decision.carried_out_at or decision.set_aside_at:
        return False
    return pages.request.status != Status.WORKING and not any(is_at_work(run) for run in pages.runs)


def check_decided(pages: Pages, refund: Refund, reserve: ChainRecord) -> Iterator[str]:
    """A refund that staff decided: an approval before it, at most its amount, and what came back where that counts."""
    name = f"Refund {refund.reference}"
    decision = pages.decision_with(reserve.facts["decision"])
    link = None if decision is None else pages.link_of(Kind.DECISION, decision.pk)
    if decision is None or link is None:
        yield f"{name} has no decision behind it."
        return
    if decision.choice != Decision.Choice.APPROVE or decision.set_aside_at or not decision.carried_out_at:
        yield f"{name} rests on a decision that did not approve it."
    if link.sequence > reserve.sequence:
        yield f"{name} was reserved before it was decided."
    if refund.amount_minor > (decision.amount_minor or 0) or refund.shipping_minor > decision.shipping_minor:
        yield f"{name} is above what was decided."
    if reserve.facts["receipt"] is not None:
        yield from _check_what_came(pages, refund, reserve, decision)
    elif decision.require_return:
        yield f"{name} was to wait for the item, and nothing came back."
    elif refund.amount_minor != decision.amount_minor or refund.shipping_minor != decision.shipping_minor:
        yield f"{name} is not the amount that was decided."
    elif refund.units != (decision.units or pages.request.units):
        yield f"{name} is not for the units that were decided."


def _check_what_came(pages: Pages, refund: Refund, reserve: ChainRecord, decision: Decision) -> Iterator[str]:
    kept = reserve.facts["receipt"]
    receipt = next((each for each in pages.receipts if str(each.pk) == kept["id"]), None)
    if receipt is None:
        yield f"What came back for refund {refund.reference} is not in the book."
        return
    changed = difference(kept, receipt_row(receipt))
    if changed:
        yield f"What came back for refund {refund.reference} is not as it was recorded: {changed}."
    as_decided = (kept["agreed_minor"], kept.get("agreed_units")) == (decision.amount_minor, decision.units)
    if not decision.require_return or not as_decided:
        yield f"The return of refund {refund.reference} is not the one that was decided."
    units, goods = received_share(
        agreed_minor=kept["agreed_minor"] - kept["shipping_minor"],
        agreed_units=decision.units or pages.request.units,
        came=kept["units"],
        asked_minor=pages.request.amount_minor,
        asked_units=pages.request.units,
    )
    if (refund.amount_minor, refund.units) != (goods + kept["shipping_minor"], units):
        yield f"Refund {refund.reference} is not the price of what came back."

"""The chain itself: no gap, each link with the hash of the one before, and one link for each row of the book."""

from __future__ import annotations

from collections.abc import Iterator

from agent.canonical import iso
from agent.chain import NOTHING_BEFORE, link_hash
from agent.models import ChainRecord
from agent.seal_timelines import seal_name
from agent.verify.pages import Pages

Kind = ChainRecord.Kind


def check_links(pages: Pages) -> Iterator[str]:
    previous = NOTHING_BEFORE
    for number, link in enumerate(pages.links, start=1):
        if link.sequence != number:
            yield f"Link {number} of the chain is missing; the next one is link {link.sequence}."
        if link.previous_hash != previous:
            yield f"Link {number} does not hold the hash of the link before it."
        if link.hash != link_hash(link.sequence, link.kind, link.subject, link.facts, link.previous_hash):
            yield f"Link {number} ({link.get_kind_display().lower()}) is not as it was written: its hash does not fit."
        if link.facts["case"] != str(pages.request.uuid):
            yield f"Link {number} belongs to another request."
        if link.facts["at"] != iso(link.created_at):
            yield f"Link {number} has another time than it was written with."
        if link.kind == Kind.TIMELINE and link.subject != seal_name(pages.request.pk, link.facts["timeline"]["rev"]):
            yield f"Link {number} seals another timeline than it names."
        previous = link.hash


def check_presence(pages: Pages) -> Iterator[str]:
    """Each decision, refund and answer has its link, and each link its row."""
    rows = {
        Kind.DECISION: {str(decision.pk): "A decision" for decision in pages.decisions},
        Kind.RESERVE: {str(refund.pk): f"Refund {refund.reference}" for refund in pages.refunds},
        Kind.OUTCOME: {
            str(outcome.pk): f"An answer about refund {outcome.refund.reference}" for outcome in pages.outcomes
        },
    }
    missing = {
        Kind.DECISION: "decision",
        Kind.RESERVE: "refund",
        Kind.OUTCOME: "provider's answer",
    }
    for kind, found in rows.items():
        linked = {link.subject: link for link in pages.links_of(kind)}
        for subject, name in found.items():
            if subject not in linked:
                yield f"{name} has no link in the chain."
        for subject, link in linked.items():
            if subject not in found:
                yield f"The {missing[kind]} of link {link.sequence} is not in the book."

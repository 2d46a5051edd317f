"""What was said and noted about a case beside its decisions, against these, the timeline and what each link sealed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from agent.link_facts import text_digest
from agent.models import ChainRecord, Decision
from agent.seal_rows import answered, rows_of
from agent.verify.differs import difference
from agent.verify.pages import Pages
from intake.models import Return, Step

NAMES = {
    "question": "A question to the customer",
    "answer": "An answer of the customer",
    "return": "A return",
    "receipt": "A receipt",
    "card": "A card",
}


def check_exchange(pages: Pages) -> Iterator[str]:
    yield from _check_request(pages)
    yield from _check_questions(pages)
    yield from _check_answers(pages)
    yield from _check_parcels(pages)


def check_rows(pages: Pages) -> Iterator[str]:
    """Each row as it was sealed; a link from before rows were sealed holds none, and one may hold fewer fields."""
    now = rows_of(pages.questions, pages.returns, pages.receipts, pages.cards)
    for link in pages.links:
        for kind, sealed in link.facts.get("rows", {}).items():
            for key, kept in sealed.items():
                row = now[kind].get(key)
                if row is None:
                    yield f"{NAMES[kind]} of link {link.sequence} is not in the book any more."
                    continue
                changed = difference(kept, {name: row[name] for name in kept})
                if changed:
                    yield f"{NAMES[kind]} of link {link.sequence} is not as it was sealed: {changed}."


def _check_request(pages: Pages) -> Iterator[str]:
    for step in _steps(pages, Step.Kind.TRIGGER, Step.Actor.CUSTOMER):
        if step.detail != pages.request.details:
            yield f"The customer's text is not the one that step {step.position} of the timeline tells."


def _check_questions(pages: Pages) -> Iterator[str]:
    """Each was asked by one decision, word for word."""
    asking = [each for each in pages.decisions if each.choice == Decision.Choice.ASK_CUSTOMER and each.carried_out_at]
    for decision, question in zip_longest(asking, pages.questions):
        if decision is None:
            yield "A question to the customer has no decision behind it."
            continue
        link = pages.link_of(ChainRecord.Kind.DECISION, decision.pk)
        name = f"The question of link {link.sequence if link else '?'}"
        if question is None:
            yield f"{name} is not in the book."
            continue
        changed = difference(
            {"text_sha256": text_digest(decision.note), "asked_by": decision.decided_by_id},
            {"text_sha256": text_digest(question.text), "asked_by": question.asked_by_id},
            by="decision",
        )
        if changed:
            yield f"{name} is not the one that was decided: {changed}."


def _check_answers(pages: Pages) -> Iterator[str]:
    replies = sorted(
        (question.reply for question in pages.questions if answered(question)),
        key=lambda reply: (reply.created_at, reply.pk),
    )
    for step, reply in zip_longest(_steps(pages, Step.Kind.MESSAGE, Step.Actor.CUSTOMER), replies):
        if step is None:
            yield "An answer of the customer is not in the timeline."
        elif reply is None:
            yield f"The answer that step {step.position} of the timeline tells is not in the book."
        elif step.detail != reply.message:
            yield f"An answer of the customer is not the one that step {step.position} of the timeline tells."


def _check_parcels(pages: Pages) -> Iterator[str]:
    told = [step for step in _steps(pages, Step.Kind.TRIGGER, Step.Actor.STAFF) if step.for_customer]
    for step, receipt in zip_longest(told, pages.receipts):
        if step is None:
            yield "A parcel that came is not in the timeline."
        elif receipt is None:
            yield f"The parcel that step {step.position} of the timeline tells is not in the book."
        elif step.actor_user_id != receipt.recorded_by_id:
            yield f"A parcel was recorded by another person than step {step.position} of the timeline tells."
    came = {receipt.parcel_id for receipt in pages.receipts}
    for parcel in pages.returns:
        if (parcel.status == Return.Status.RECEIVED) != (parcel.pk in came):
            recorded = "its parcel was recorded" if parcel.pk in came else "no parcel was recorded"
            yield f"The return {parcel.code} stands as “{parcel.get_status_display()}”, and {recorded}."


def _steps(pages: Pages, kind: Step.Kind, actor: Step.Actor) -> list[Step]:
    return [step for step in pages.steps if step.kind == kind and step.actor == actor]

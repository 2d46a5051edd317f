"""Seals what people said and noted about a case beside its decisions: questions, answers, returns, receipts, cards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agent.canonical import iso
from agent.link_facts import card_row, text_digest
from agent.models import Approval
from intake.models import Question, Receipt, Reply, Return

Rows = dict[str, dict[str, dict[str, Any]]]


def seal_rows(request_id: int) -> Rows:
    """What never changes of each row there is by now; an open card is left out, since it may still grow."""
    questions = list(Question.objects.filter(request_id=request_id).select_related("reply"))
    returns = list(Return.objects.filter(request_id=request_id).select_related("receipt"))
    cards = Approval.objects.filter(request_id=request_id, closed_at__isnull=False)
    receipts = [parcel.receipt for parcel in returns if hasattr(parcel, "receipt")]
    return rows_of(questions, returns, receipts, cards)


def rows_of(
    questions: Sequence[Question], returns: Iterable[Return], receipts: Iterable[Receipt], cards: Iterable[Approval]
) -> Rows:
    """Kind -> key -> fields; `questions` with their reply."""
    return {
        "question": {str(question.pk): _question(question) for question in questions},
        "answer": {str(question.reply.pk): _answer(question.reply) for question in questions if answered(question)},
        "return": {str(parcel.pk): _return(parcel) for parcel in returns},
        "receipt": {str(receipt.pk): _receipt(receipt) for receipt in receipts},
        "card": {str(card.pk): _card(card) for card in cards},
    }


def answered(question: Question) -> bool:
    return hasattr(question, "reply")


def _question(question: Question) -> dict[str, Any]:
    return {
        "text_sha256": text_digest(question.text),
        "asked_by": question.asked_by_id,
        "reply_by": iso(question.reply_by),
        "asked_at": iso(question.created_at),
    }


def _answer(reply: Reply) -> dict[str, Any]:
    return {
        "question": str(reply.question_id),
        "text_sha256": text_digest(reply.message),
        "source": reply.source,
        "at": iso(reply.created_at),
    }


def _return(parcel: Return) -> dict[str, Any]:
    return {
        "code": parcel.code,
        "agreed_minor": parcel.amount_minor,
        "shipping_minor": parcel.shipping_minor,
        "agreed_units": parcel.units,
        "ship_by": iso(parcel.ship_by),
        "at": iso(parcel.created_at),
    }


def _receipt(receipt: Receipt) -> dict[str, Any]:
    return {
        "return": str(receipt.parcel_id),
        "units": receipt.units,
        "recorded_by": receipt.recorded_by_id,
        "source": receipt.source,
        "at": iso(receipt.created_at),
    }


def _card(card: Approval) -> dict[str, Any]:
    return {
        **card_row(card),
        "opened_at": iso(card.opened_at),
        "closed_at": None if card.closed_at is None else iso(card.closed_at),
    }

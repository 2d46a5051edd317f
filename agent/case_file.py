"""The case file: everything a model is told about a request before it asks, built from rows each time."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Prefetch

from agent.llm.base import Message
from agent.prompts.fence import fenced, one_line
from agent.prompts.review import REVIEW
from intake.models import Photo, Question, RefundRequest
from intake.request_page import MOST_QUESTIONS
from payments.money import format_minor


@dataclass(frozen=True)
class CaseFile:
    """One request with its pictures and its newest questions, oldest first (each with its reply and its pictures)."""

    request: RefundRequest
    photos: tuple[Photo, ...]
    questions: tuple[Question, ...]

    @property
    def answered(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if hasattr(question, "reply"))

    @property
    def latest_answer_photos(self) -> tuple[Photo, ...]:
        return tuple(self.answered[-1].reply.photos.all()) if self.answered else ()


def read_case(request_id: int) -> CaseFile:
    """Four queries, whatever the case holds."""
    request = RefundRequest.objects.select_related("line__order", "policy", "customer").get(pk=request_id)
    questions = (
        Question.objects.filter(request_id=request_id)
        .select_related("reply")
        .prefetch_related(Prefetch("reply__photos", Photo.objects.order_by("created_at", "id")))
        .order_by("-created_at", "-id")[:MOST_QUESTIONS]
    )
    return CaseFile(request, tuple(request.photos.all()), tuple(reversed(questions)))


def review_messages(case: CaseFile, nonce: str, *, may_refund: bool) -> list[Message]:
    """The opening of a review. Each text of the customer is exactly one block between marks with `nonce`."""
    instructions = REVIEW.format(shop=settings.SHOP_NAME)
    return [
        {"role": "system", "content": "\n".join(filter(None, [instructions, settings.REVIEW_PROMPT_ADDITION]))},
        {"role": "user", "content": _case_text(case, nonce, may_refund=may_refund)},
    ]


def item_lines(request: RefundRequest) -> list[str]:
    """The facts the look at the pictures needs too. Names are one line each, whatever somebody called an article."""
    return [
        f"Item: {one_line(request.line.name)} ({one_line(request.line.sku)})",
        f"Reason: {request.reason} ({request.get_reason_display()})",
    ]


def _case_text(case: CaseFile, nonce: str, *, may_refund: bool) -> str:
    request = case.request
    lines = [
        f"Case file of request #{request.number}, from the shop's records",
        f"Stage: {_stage(case, may_refund=may_refund)}",
        f"Order: {one_line(request.line.order.number)}",
        *item_lines(request),
        f"Units asked for: {request.units} of {request.line.quantity}",
        f"Amount asked for: {format_minor(request.amount_minor, request.currency)}",
        f"Pictures with the request: {len(case.photos)}",
        f"Questions asked so far: {len(case.questions)}",
        f"Pictures with the latest answer: {len(case.latest_answer_photos)}",
        "",
        "The customer wrote with the request:",
        fenced(request.details, nonce),
    ]
    for number, question in enumerate(case.questions, start=1):
        lines += ["", f"Question {number} of the shop: {one_line(question.text)}", *_answer_lines(question, nonce)]
    return "\n".join(lines)


def _answer_lines(question: Question, nonce: str) -> list[str]:
    if not hasattr(question, "reply"):
        return ["There is no answer to it."]
    count = len(question.reply.photos.all())
    return [f"The customer answered (pictures: {count}):", fenced(question.reply.message, nonce)]


def _stage(case: CaseFile, *, may_refund: bool) -> str:
    if may_refund:
        return "first review"
    return "review after the customer's answer; staff are in, so a person decides"

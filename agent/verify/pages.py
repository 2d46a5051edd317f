"""Reads what is checked: every row of a request that its chain speaks of, in a fixed number of queries."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Q

from agent.models import Approval, ChainRecord, Decision, Run
from agent.own_price import units_asked_before
from intake.models import Photo, Question, Receipt, RefundRequest, Return, Step
from payments.models import Refund, RefundOutcome


@dataclass
class Pages:
    """One request's part of the book. `units_before`: asked for by earlier requests of its line; `refunds` with their
    charge, `decisions` with their card and who decided, `cards` also without a decision, `questions` with their reply,
    `receipts` with their parcel, `photos` also of its answers."""

    request: RefundRequest
    units_before: int = 0
    links: list[ChainRecord] = field(default_factory=list)
    refunds: list[Refund] = field(default_factory=list)
    outcomes: list[RefundOutcome] = field(default_factory=list)
    cards: list[Approval] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    returns: list[Return] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    photos: list[Photo] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def links_of(self, kind: ChainRecord.Kind) -> list[ChainRecord]:
        return [link for link in self.links if link.kind == kind]

    def link_of(self, kind: ChainRecord.Kind, subject: object) -> ChainRecord | None:
        return next((link for link in self.links_of(kind) if link.subject == str(subject)), None)

    def refund_of(self, link: ChainRecord) -> Refund:
        """Raises KeyError when the link is about no refund of this request."""
        return {str(refund.pk): refund for refund in self.refunds}[link.subject]

    def decision_with(self, key: str | None) -> Decision | None:
        return next((decision for decision in self.decisions if str(decision.pk) == key), None)

    def outcomes_of(self, refund: Refund) -> list[RefundOutcome]:
        return [outcome for outcome in self.outcomes if outcome.refund_id == refund.pk]


def read_pages(request_ids: Sequence[int]) -> list[Pages]:
    """The pages of these requests, by their key; eleven queries, however many they are."""
    requests = RefundRequest.objects.filter(pk__in=request_ids).select_related("line__order", "policy", "customer")
    whole = requests.prefetch_related("policy__sections")
    counted = whole.annotate(units_before=units_asked_before()).order_by("pk")
    pages = {request.pk: Pages(request, request.units_before) for request in counted}
    for link in ChainRecord.objects.filter(request__in=pages).order_by("request_id", "sequence"):
        pages[link.request_id].links.append(link)
    _read_money(pages)
    _read_people(pages)
    own = Q(request__in=pages) | Q(reply__question__request__in=pages)
    for photo in Photo.objects.filter(own).select_related("reply__question").order_by("created_at", "id"):
        owner = photo.request_id or (photo.reply.question.request_id if photo.reply else 0)
        pages[owner].photos.append(photo)
    for run in Run.objects.filter(request__in=pages).order_by("created_at", "id"):
        pages[run.request_id].runs.append(run)
    for step in Step.objects.filter(request__in=pages).order_by("position"):
        pages[step.request_id].steps.append(step)
    return list(pages.values())


def _read_money(pages: dict[int, Pages]) -> None:
    by_uuid: dict[uuid.UUID | None, Pages] = {each.request.uuid: each for each in pages.values()}
    refunds = Refund.objects.filter(request_uuid__in=by_uuid).select_related("charge__order")
    for refund in refunds.order_by("attempt", "reserved_at", "id"):
        by_uuid[refund.request_uuid].refunds.append(refund)
    outcomes = RefundOutcome.objects.filter(refund__request_uuid__in=by_uuid).select_related("refund")
    for outcome in outcomes.order_by("created_at", "id"):
        by_uuid[outcome.refund.request_uuid].outcomes.append(outcome)


def _read_people(pages: dict[int, Pages]) -> None:
    cards = Approval.objects.filter(request__in=pages).select_related("decision__decided_by")
    for card in cards.order_by("decision__created_at", "decision__id"):
        pages[card.request_id].cards.append(card)
        if hasattr(card, "decision"):
            pages[card.request_id].decisions.append(card.decision)
    for question in Question.objects.filter(request__in=pages).select_related("reply").order_by("created_at", "id"):
        pages[question.request_id].questions.append(question)
    parcels = Return.objects.filter(request__in=pages).select_related("receipt__recorded_by")
    for parcel in parcels.order_by("created_at", "id"):
        pages[parcel.request_id].returns.append(parcel)
        if hasattr(parcel, "receipt"):
            pages[parcel.request_id].receipts.append(parcel.receipt)
    for each in pages.values():
        each.receipts.sort(key=lambda receipt: (receipt.created_at, receipt.pk))

"""The staff API: the queues, a card, the decision on it, what came back. Who may not see requests is refused (403)."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from agent.decide import NOTE_LENGTH, card_to_decide, decide
from agent.models import Approval, Decision
from desk.api_shapes import ApprovalOut, DecisionOut, QueueRowOut, ReceiptOut
from desk.queues import BY_SLUG, LAST_PAGE, page_of
from intake.api import JsonView
from intake.case_access import NOT_FOR_YOU, may_see_requests, read_uuid
from intake.customer_text import one_line_end
from intake.record_receipt import record_receipt, request_to_receive
from intake.refusals import Refusal
from intake.serializers import ErrorSerializer
from intake.strict_shapes import KnownFields, WholeNumber

NOT_FOR_ALL = {401: ErrorSerializer, 403: ErrorSerializer, 404: ErrorSerializer}
REFUSED = {400: ErrorSerializer, **NOT_FOR_ALL, 409: ErrorSerializer}


class MaySeeRequests(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        if not may_see_requests(request.user):
            raise Refusal("forbidden", NOT_FOR_YOU)
        return True


class StaffView(JsonView):
    permission_classes = [IsAuthenticated, MaySeeRequests]


class PageIn(serializers.Serializer):
    """Which page of a queue (50 requests each), and words to search for."""

    page = serializers.IntegerField(min_value=1, max_value=LAST_PAGE, required=False, default=1)
    q = serializers.CharField(required=False, default="", allow_blank=True, max_length=80)


class NoteField(serializers.CharField):
    """Text whose line breaks count as one character each."""

    def to_internal_value(self, data: Any) -> str:
        return one_line_end(str(super().to_internal_value(data)))


class DecisionIn(KnownFields):
    """`amount` in minor units with `shipping` in it, `units` of those asked for. `note`: the question for ask_customer,
    the reason for decline."""

    decision = serializers.ChoiceField(choices=Decision.Choice.choices)
    note = NoteField(required=False, default="", allow_blank=True, max_length=NOTE_LENGTH)
    amount = WholeNumber(required=False, allow_null=True, default=None, least=1)
    shipping = WholeNumber(required=False, allow_null=True, default=None, least=0)
    units = WholeNumber(required=False, allow_null=True, default=None, least=1)
    require_return = serializers.BooleanField(required=False, allow_null=True, default=None)


class ReceiptIn(KnownFields):
    """`units` that arrived; by default those agreed for the return. What comes later cannot be recorded."""

    units = WholeNumber(required=False, allow_null=True, default=None, least=1)


class QueueView(StaffView):
    @extend_schema(parameters=[PageIn], responses={200: QueueRowOut(many=True), 400: ErrorSerializer, **NOT_FOR_ALL})
    def get(self, request: Request, slug: str) -> Response:
        """One page of a queue: oldest first in needs-approval, newest first elsewhere."""
        if slug not in BY_SLUG:
            raise Http404
        given = _checked(PageIn, request.query_params)
        page = page_of(BY_SLUG[slug], search=given["q"], number=given["page"])
        return Response(QueueRowOut(page.requests, many=True).data)


class ApprovalView(StaffView):
    @extend_schema(responses={200: ApprovalOut, **NOT_FOR_ALL})
    def get(self, request: Request, approval_id: str) -> Response:
        cards = Approval.objects.select_related("request__line", "decision__decided_by")
        parsed = read_uuid(approval_id)
        card = cards.filter(pk=parsed).first() if parsed else None
        if card is None:
            raise Refusal("approval_not_found", "There is no such card. Look at the queue.")
        return Response(ApprovalOut(card).data)


class DecisionView(StaffView):
    @extend_schema(request=DecisionIn, responses={201: DecisionOut, **REFUSED})
    def post(self, request: Request, approval_id: str) -> Response:
        card = card_to_decide(approval_id, _staff(request))
        given = _checked(DecisionIn, request.data)
        decision = decide(
            approval_id=card.pk,
            by=_staff(request),
            choice=given["decision"],
            note=given["note"],
            amount_minor=given["amount"],
            shipping_minor=given["shipping"],
            units=given["units"],
            require_return=given["require_return"],
            source=Decision.Source.API,
        )
        return Response(DecisionOut(decision).data, status=201)


class ReceiptView(StaffView):
    @extend_schema(request=ReceiptIn, responses={201: ReceiptOut, **REFUSED})
    def post(self, request: Request, request_uuid: str) -> Response:
        request_to_receive(request_uuid, _staff(request))
        given = _checked(ReceiptIn, request.data)
        receipt = record_receipt(request_uuid=request_uuid, by=_staff(request), units=given["units"], source="api")
        return Response(ReceiptOut(receipt).data, status=201)


def _checked(serializer: type[serializers.Serializer], data: Any) -> dict[str, Any]:
    checked = serializer(data=data)
    checked.is_valid(raise_exception=True)
    values: dict[str, Any] = checked.validated_data
    return values


def _staff(request: Request) -> User:
    """Who acts; the permissions have made sure that somebody is signed in."""
    assert isinstance(request.user, User)
    return request.user

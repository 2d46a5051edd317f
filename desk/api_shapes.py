"""How requests, cards and decisions look in the staff API: ids as UUIDs, amounts in minor units, times with offset."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agent.models import Approval, Decision
from desk.names import full_name
from intake.models import RefundRequest
from payments.made_elsewhere import refunds_made_elsewhere
from payments.models import Refund


class PointOut(serializers.Serializer):
    """A finding, a concern or the counter-case: who says it, and the position of the step it rests on.

    `model` without a step is the agent's own opinion; `rule` and `code` are the shop's rule and record.
    """

    text = serializers.CharField()
    step = serializers.IntegerField(allow_null=True)
    source = serializers.ChoiceField(choices=["model", "rule", "code"])  # type: ignore[assignment]


class FailedRuleOut(serializers.Serializer):
    rule = serializers.CharField()
    sentence = serializers.CharField()


class CardLinkOut(serializers.Serializer):
    id = serializers.UUIDField()
    recommendation = serializers.CharField()


class QueueRowOut(serializers.Serializer):
    """One request of a queue; rows as `queues.with_facts` loads them. `card` is the open one or null."""

    id = serializers.UUIDField(source="uuid")
    number = serializers.IntegerField()
    status = serializers.CharField()
    customer = serializers.SerializerMethodField()
    item = serializers.CharField(source="line.name")
    amount = serializers.IntegerField(source="amount_minor")
    currency = serializers.CharField()
    reason = serializers.CharField()
    waiting_since = serializers.DateTimeField(source="status_changed_at")
    card = serializers.SerializerMethodField()

    def get_customer(self, request: RefundRequest) -> str:
        return full_name(request.customer)

    def get_card(self, request: RefundRequest) -> dict[str, Any] | None:
        cards: list[Approval] = request.open_approvals  # type: ignore[attr-defined]
        return dict(CardLinkOut(cards[0]).data) if cards else None


class DecisionOut(serializers.Serializer):
    """`amount` holds `shipping`; both count only for approve. `units` null: all that were asked for."""

    id = serializers.UUIDField()
    decision = serializers.CharField(source="choice")
    note = serializers.CharField()
    amount = serializers.IntegerField(source="amount_minor", allow_null=True)
    shipping = serializers.IntegerField(source="shipping_minor")
    units = serializers.IntegerField(allow_null=True)
    require_return = serializers.BooleanField()
    by = serializers.SerializerMethodField()
    at = serializers.DateTimeField(source="created_at")

    def get_by(self, decision: Decision) -> str:
        return full_name(decision.decided_by)


class MadeElsewhereOut(serializers.Serializer):
    """Money of the same order that was given back by hand at the payment provider, for no request."""

    amount = serializers.IntegerField(source="amount_minor", help_text="In minor units of `currency`.")
    currency = serializers.CharField()
    at = serializers.DateTimeField(source="reserved_at", help_text="When it was made there.")
    reference = serializers.SerializerMethodField(help_text="The provider's, where it is known, else the shop's.")

    def get_reference(self, refund: Refund) -> str:
        return refund.provider_reference or refund.reference


class ApprovalOut(serializers.Serializer):
    """The whole card; `request` is the id of what it is about, `decision` null while it is open.

    `counter_case` is the strongest reason against the recommendation (null: none is known), `would_change` the one fact
    that would change it (empty: none is known). `made_elsewhere`: refunds of the same order, sent or on their way, that
    were made outside this desk, newest first, at most 20; whoever approves beside one may pay twice.
    """

    id = serializers.UUIDField()
    request = serializers.UUIDField(source="request.uuid")
    recommendation = serializers.CharField()
    amount = serializers.IntegerField(source="amount_minor")
    findings = PointOut(many=True)
    concerns = PointOut(many=True)
    failed_rules = FailedRuleOut(many=True)
    reasoning = serializers.CharField()
    counter_case = PointOut(allow_null=True)
    would_change = serializers.CharField()
    draft_question = serializers.CharField()
    require_return = serializers.BooleanField()
    opened_at = serializers.DateTimeField()
    made_elsewhere = serializers.SerializerMethodField()
    decision = serializers.SerializerMethodField()

    @extend_schema_field(MadeElsewhereOut(many=True))
    def get_made_elsewhere(self, card: Approval) -> Any:
        return MadeElsewhereOut(refunds_made_elsewhere(card.request.line.order_id), many=True).data

    def get_decision(self, card: Approval) -> dict[str, Any] | None:
        return dict(DecisionOut(card.decision).data) if hasattr(card, "decision") else None


class ReceiptOut(serializers.Serializer):
    id = serializers.UUIDField()
    units = serializers.IntegerField()
    at = serializers.DateTimeField(source="created_at")

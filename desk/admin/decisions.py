"""The agent's cards and what staff answered."""

from __future__ import annotations

from django.contrib.admin import EmptyFieldListFilter, RelatedOnlyFieldListFilter, display, register
from django.utils.safestring import SafeString

from agent.models import Approval, Decision
from desk.admin.read_only import ReadOnlyAdmin, as_json, case_link
from desk.names import full_name
from desk.site import site
from desk.templatetags.desk_format import money


@register(Approval, site=site)
class ApprovalAdmin(ReadOnlyAdmin):
    list_display = ("case", "recommendation", "amount", "opened_at", "closed_at")
    list_filter = ("recommendation", ("closed_at", EmptyFieldListFilter), "opened_at")
    list_select_related = ("request",)
    search_fields = ("request__line__order__number", "request__customer__email", "reasoning")
    fields = (
        ("case", "recommendation", "amount", "require_return"),
        "reasoning",
        "strongest_reason_against",
        "would_change",
        "draft_question",
        "what_speaks_for_it",
        "what_speaks_against_it",
        "rules",
        ("opened_at", "closed_at"),
    )
    readonly_fields = [name for row in fields for name in ([row] if isinstance(row, str) else row)]

    @display(description="request", ordering="request")
    def case(self, card: Approval) -> SafeString:
        return case_link(card.request)

    @display(description="amount", ordering="amount_minor")
    def amount(self, card: Approval) -> str:
        return money(card.amount_minor, card.request.currency)

    @display(description="findings")
    def what_speaks_for_it(self, card: Approval) -> SafeString:
        return as_json(card.findings)

    @display(description="concerns")
    def what_speaks_against_it(self, card: Approval) -> SafeString:
        return as_json(card.concerns)

    @display(description="strongest reason against it")
    def strongest_reason_against(self, card: Approval) -> SafeString | str:
        return as_json(card.counter_case) if card.counter_case else "None"

    @display(description="failed rules")
    def rules(self, card: Approval) -> SafeString:
        return as_json(card.failed_rules)


@register(Decision, site=site)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ("case", "choice", "amount", "decided_by_name", "source", "created_at", "carried_out_at")
    list_filter = ("choice", "source", ("decided_by", RelatedOnlyFieldListFilter), "created_at")
    list_select_related = ("approval__request", "decided_by")
    search_fields = ("approval__request__line__order__number", "decided_by__email", "decided_by__last_name", "note")
    date_hierarchy = "created_at"
    fields = (
        ("case", "choice", "decided_by_name", "source"),
        ("amount", "shipping", "require_return"),
        "note",
        ("created_at", "carried_out_at", "set_aside_at"),
    )
    readonly_fields = [name for row in fields for name in ([row] if isinstance(row, str) else row)]

    @display(description="request", ordering="approval__request")
    def case(self, decision: Decision) -> SafeString:
        return case_link(decision.approval.request)

    @display(description="amount", ordering="amount_minor")
    def amount(self, decision: Decision) -> str:
        return money(decision.amount_minor, decision.approval.request.currency)

    @display(description="of it shipping")
    def shipping(self, decision: Decision) -> str:
        return money(decision.shipping_minor or None, decision.approval.request.currency)

    @display(description="decided by", ordering="decided_by__last_name")
    def decided_by_name(self, decision: Decision) -> str:
        return full_name(decision.decided_by)

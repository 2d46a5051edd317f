"""The ledger: refunds and every answer the provider gave about them."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter, display, register
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from desk.admin.read_only import ReadOnlyAdmin, ReadOnlyInline
from desk.site import site
from desk.templatetags.desk_format import money
from payments.models import Refund, RefundOutcome


class OutcomeInline(ReadOnlyInline):
    model = RefundOutcome
    fields = ("status", "reason", "source", "created_at")
    readonly_fields = fields
    show_change_link = False


class PaidBy(SimpleListFilter):
    title = "who paid"
    parameter_name = "paid_by"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [("agent", "The agent"), ("person", "A person"), ("elsewhere", "Someone elsewhere")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Refund]) -> QuerySet[Refund]:
        if self.value() == "elsewhere":
            return queryset.filter(request_uuid=None)
        if self.value() in ("agent", "person"):
            return queryset.filter(request_uuid__isnull=False, automatic=self.value() == "agent")
        return queryset


@register(Refund, site=site)
class RefundAdmin(ReadOnlyAdmin):
    list_display = (
        "reference",
        "amount",
        "status",
        "card",
        "order_number",
        "case",
        "paid_by",
        "reserved_at",
        "settled_at",
    )
    list_filter = ("status", PaidBy, "currency", "reserved_at")
    list_select_related = ("charge__order",)
    search_fields = ("reference", "provider_reference", "charge__order__number", "charge__order__customer__email")
    date_hierarchy = "reserved_at"
    fields = (
        ("reference", "provider_reference"),
        ("amount", "shipping", "units"),
        ("status", "failure_reason", "pending_reason"),
        ("case", "proof", "order_number", "line"),
        ("card", "charge"),
        ("automatic", "attempt", "key"),
        ("reserved_at", "asked_at", "settled_at"),
    )
    readonly_fields = [name for row in fields for name in row]
    inlines = (OutcomeInline,)

    @display(description="amount", ordering="amount_minor")
    def amount(self, refund: Refund) -> str:
        return money(refund.amount_minor, refund.currency)

    @display(description="of it shipping")
    def shipping(self, refund: Refund) -> str:
        return money(refund.shipping_minor, refund.currency)

    @display(description="card", ordering="card_brand")
    def card(self, refund: Refund) -> str:
        return f"{refund.card_brand} {refund.card_last4}"

    @display(description="paid by", ordering="automatic")
    def paid_by(self, refund: Refund) -> str:
        """Who had the say; a mark for yes or no would read as good or bad."""
        if refund.request_uuid is None:
            return "someone elsewhere"
        return "the agent" if refund.automatic else "a person"

    @display(description="order", ordering="charge__order__number")
    def order_number(self, refund: Refund) -> str:
        return refund.charge.order.number

    @display(description="proof")
    def proof(self, refund: Refund) -> SafeString:
        """The page that says why it was paid, and whether the book still fits."""
        return format_html('<a href="{}">open proof</a>', reverse("admin:proof", args=[refund.pk]))

    @display(description="request")
    def case(self, refund: Refund) -> SafeString | str:
        """The refund knows its request by UUID only; the desk's address takes it as it is."""
        if refund.request_uuid is None:
            return "made elsewhere"
        return format_html('<a href="{}">open request</a>', reverse("admin:find-case", args=[refund.request_uuid]))

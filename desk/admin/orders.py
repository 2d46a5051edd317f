"""Orders with what was bought, and the charges taken for them."""

from __future__ import annotations

from django.contrib.admin import display, register
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from desk.admin.read_only import ReadOnlyAdmin, ReadOnlyInline, case_link
from desk.names import full_name
from desk.site import site
from desk.templatetags.desk_format import money
from intake.models import RefundRequest
from payments.models import Charge, Order, OrderLine

MOST_REQUESTS = 50


class LineInline(ReadOnlyInline):
    model = OrderLine
    fields = ("name", "sku", "quantity", "unit_price", "paid", "delivered_at")
    readonly_fields = fields
    show_change_link = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[OrderLine]:
        return super().get_queryset(request).select_related("order")

    @display(description="unit price")
    def unit_price(self, line: OrderLine) -> str:
        return money(line.unit_price_minor, line.order.currency)

    @display(description="paid for all")
    def paid(self, line: OrderLine) -> str:
        return money(line.paid_minor, line.order.currency)


class ChargeInline(ReadOnlyInline):
    model = Charge
    fields = ("reference", "card", "captured", "given_back", "left", "captured_at")
    readonly_fields = fields

    @display(description="card")
    def card(self, charge: Charge) -> str:
        return f"{charge.card_brand} {charge.card_last4}"

    @display(description="captured")
    def captured(self, charge: Charge) -> str:
        return money(charge.captured_minor, charge.currency)

    @display(description="given back")
    def given_back(self, charge: Charge) -> str:
        return money(charge.reserved_minor, charge.currency)

    @display(description="left")
    def left(self, charge: Charge) -> str:
        return money(charge.left_minor, charge.currency)


@register(Order, site=site)
class OrderAdmin(ReadOnlyAdmin):
    list_display = ("number", "customer_name", "currency", "shipping", "placed_at", "shipped_at")
    list_filter = ("currency", "placed_at")
    list_select_related = ("customer",)
    search_fields = (
        "number",
        "customer__email",
        "customer__first_name",
        "customer__last_name",
        "lines__name",
        "lines__sku",
    )
    date_hierarchy = "placed_at"
    fields = ("number", "customer_name", "currency", "shipping", "placed_at", "shipped_at", "requests")
    readonly_fields = fields
    inlines = (LineInline, ChargeInline)

    @display(description="customer", ordering="customer__last_name")
    def customer_name(self, order: Order) -> str:
        return f"{full_name(order.customer)} ({order.customer.email})"

    @display(description="shipping paid", ordering="shipping_minor")
    def shipping(self, order: Order) -> str:
        return money(order.shipping_minor, order.currency)

    @display(description="refund requests")
    def requests(self, order: Order) -> SafeString | str:
        found = RefundRequest.objects.filter(line__order=order)[:MOST_REQUESTS]
        return format_html_join(", ", "{}", ((case_link(one),) for one in found)) or "none"


@register(Charge, site=site)
class ChargeAdmin(ReadOnlyAdmin):
    list_display = ("reference", "order", "card", "captured", "given_back", "left", "captured_at")
    list_filter = ("provider", "currency", "card_brand", "captured_at")
    list_select_related = ("order",)
    search_fields = ("reference", "order__number", "card_last4", "order__customer__email")
    fields = ("reference", "provider", "order", "card", "captured", "given_back", "left", "captured_at")
    readonly_fields = fields

    @display(description="card", ordering="card_brand")
    def card(self, charge: Charge) -> str:
        return f"{charge.card_brand} {charge.card_last4}"

    @display(description="captured", ordering="captured_minor")
    def captured(self, charge: Charge) -> str:
        return money(charge.captured_minor, charge.currency)

    @display(description="given back or on its way", ordering="reserved_minor")
    def given_back(self, charge: Charge) -> str:
        return money(charge.reserved_minor, charge.currency)

    @display(description="left")
    def left(self, charge: Charge) -> str:
        return money(charge.left_minor, charge.currency)

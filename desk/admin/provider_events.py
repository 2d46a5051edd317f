"""Messages of the payment providers, for those who may see the ledger."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import register
from django.http import HttpRequest

from desk.admin.read_only import ReadOnlyAdmin
from desk.site import site
from payments.models import ProviderEvent, Refund


@register(ProviderEvent, site=site)
class ProviderEventAdmin(ReadOnlyAdmin):
    list_display = ("event_id", "kind", "effect", "provider", "said_at", "received_at")
    list_filter = ("provider", "received_at")
    search_fields = ("event_id", "kind")
    search_help_text = "Search by the provider's id or the kind of message."
    fields = (("provider", "event_id", "kind"), "effect", ("said_at", "received_at"))
    readonly_fields = [name for row in fields for name in ([row] if isinstance(row, str) else row)]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A message belongs to the ledger: who may see refunds may see what the provider said about them."""
        return request.user.has_perm(f"{Refund._meta.app_label}.view_refund")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

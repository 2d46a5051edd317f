"""Each time the brake was thrown: who, when, why."""

from __future__ import annotations

from django.contrib.admin import RelatedOnlyFieldListFilter, display, register

from agent.models import SwitchThrow
from desk.admin.read_only import ReadOnlyAdmin
from desk.names import full_name
from desk.site import site


@register(SwitchThrow, site=site)
class SwitchThrowAdmin(ReadOnlyAdmin):
    list_title = "The brake, each time it was thrown"
    list_display = ("what", "thrown_by_name", "created_at", "reason")
    list_display_links = None
    list_filter = (("thrown_by", RelatedOnlyFieldListFilter), "created_at")
    list_select_related = ("thrown_by",)
    search_fields = ("reason", "thrown_by__email", "thrown_by__last_name")
    search_help_text = "Search by the reason or by who threw it."
    fields = ("what", "thrown_by_name", "created_at", "reason")
    readonly_fields = fields

    @display(description="automatic refunds", ordering="paused")
    def what(self, throw: SwitchThrow) -> str:
        return "paused" if throw.paused else "turned on"

    @display(description="by", ordering="thrown_by__last_name")
    def thrown_by_name(self, throw: SwitchThrow) -> str:
        return full_name(throw.thrown_by)

"""Pages of rows that no hand writes: listed and opened by who may view them, never added, changed or deleted."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.admin import ModelAdmin, TabularInline
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from intake.models import RefundRequest


class NoHandWrites:
    """Viewing needs the model's view permission; everything else is refused to everybody, superusers included."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class BoundedAdmin(ModelAdmin):
    """Pages of at most 50 rows, headed by what they show: `list_title`, else the model's name."""

    list_title = ""
    list_per_page = 50
    list_max_show_all = 200
    show_full_result_count = False
    actions = None

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        title = self.list_title or capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, **(extra_context or {})})


class ReadOnlyAdmin(NoHandWrites, BoundedAdmin):
    """Rows that code writes and people read."""


class ReadOnlyInline(NoHandWrites, TabularInline):
    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = True


def case_link(request: RefundRequest) -> SafeString:
    """A link from a row to the open request on the desk."""
    return format_html('<a href="{}">{}</a>', reverse("admin:find-case", args=[request.uuid]), request)


def as_json(value: Any) -> SafeString:
    return format_html('<pre class="json">{}</pre>', json.dumps(value, indent=2, ensure_ascii=False, default=str))

"""The refund policy: versions are read, and a lead puts a new one in force; none is ever changed."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import StackedInline, display, register
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from desk.admin.policy_form import (
    COUNTS,
    TOPICS,
    PolicyForm,
    SectionForm,
    SectionFormSet,
    numbers_of,
    texts_of,
)
from desk.admin.read_only import ReadOnlyAdmin
from desk.policy_labels import AMOUNTS, LABELS
from desk.site import site
from desk.templatetags.desk_format import money
from intake.models import PolicySection, PolicyVersion
from intake.policy_in_force import policy_in_force
from intake.policy_texts import render_section

NUMBER_TRIES = 5


class SectionInline(StackedInline):
    """On a new version: all topics, filled with the texts in force. On an existing one: as customers read them."""

    model = PolicySection
    form = SectionForm
    formset = SectionFormSet
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_add_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("topic", "title", "position", "body") if obj is None else ("topic", "title", "as_read")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return () if obj is None else ("topic", "title", "as_read")

    def get_extra(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> int:
        return len(TOPICS) if obj is None else 0

    def get_max_num(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> int:
        return len(TOPICS)

    @display(description="as customers read it")
    def as_read(self, section: PolicySection) -> SafeString:
        return format_html('<div class="policy-text">{}</div>', render_section(section))


@register(PolicyVersion, site=site)
class PolicyAdmin(ReadOnlyAdmin):
    list_title = "Policy"
    form = PolicyForm
    list_display = ("number", "limit", "window", "budget", "created_at")
    inlines = (SectionInline,)

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        user: Any = request.user
        return user.has_perm("intake.add_policyversion")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        if obj is None:
            return ("currency", *AMOUNTS, *COUNTS)
        return ("number", "currency", "limit", "budget", "goods_return", "wrong_item_return", *COUNTS, "created_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return () if obj is None else self.get_fields(request, obj)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """A new version starts as a copy of the one in force."""
        return numbers_of(policy_in_force())

    def get_formset_kwargs(self, request: HttpRequest, obj: Any, inline: Any, prefix: str) -> dict[str, Any]:
        """The texts in force stand in the empty form; what is sent counts in full, changed or not."""
        kwargs = super().get_formset_kwargs(request, obj, inline, prefix)
        if request.method == "GET" and obj.pk is None:
            kwargs["initial"] = texts_of(policy_in_force())
        return kwargs

    def save_model(self, request: HttpRequest, obj: PolicyVersion, form: Any, change: bool) -> None:
        """The next number; of two leads at the same moment the second gets the one after."""
        for following in range(1, NUMBER_TRIES + 1):
            obj.number = policy_in_force().number + following
            try:
                with transaction.atomic():
                    super().save_model(request, obj, form, change)
                return
            except IntegrityError:
                obj.pk = None
        raise IntegrityError("no free policy number was found")

    @display(description="automatic up to", ordering="auto_refund_limit_minor")
    def limit(self, policy: PolicyVersion) -> str:
        return money(policy.auto_refund_limit_minor, policy.currency)

    @display(description="window", ordering="refund_window_days")
    def window(self, policy: PolicyVersion) -> str:
        return f"{policy.refund_window_days} days"

    @display(description="automatic a day", ordering="daily_budget_minor")
    def budget(self, policy: PolicyVersion) -> str:
        return money(policy.daily_budget_minor, policy.currency)

    @display(description=LABELS["return_above_minor"])
    def goods_return(self, policy: PolicyVersion) -> str:
        return money(policy.return_above_minor, policy.currency)

    @display(description=LABELS["wrong_item_return_above_minor"])
    def wrong_item_return(self, policy: PolicyVersion) -> str:
        return money(policy.wrong_item_return_above_minor, policy.currency)

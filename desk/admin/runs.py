"""The agent's runs and the steps they wrote."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.admin import display, register
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agent.models import Run
from desk.admin.read_only import ReadOnlyAdmin, as_json, case_link
from desk.site import site
from desk.templatetags.desk_format import run_time
from intake.models import Step


@register(Run, site=site)
class RunAdmin(ReadOnlyAdmin):
    list_display = ("short_key", "case", "trigger", "status", "due_at", "started_at", "took", "model", "ended")
    list_filter = ("status", "trigger", "provider", "model", "created_at")
    list_select_related = ("request",)
    search_fields = ("key", "request__line__order__number", "request__customer__email", "model", "result")
    date_hierarchy = "created_at"
    fields = (
        ("case", "key"),
        ("trigger", "source_id"),
        ("status", "result", "tries"),
        ("created_at", "due_at", "announced_at"),
        ("started_at", "ended_at", "took", "lease_until"),
        ("provider", "model", "prompt_version", "policy_number"),
        ("tokens_in", "tokens_out"),
        "rules",
    )
    readonly_fields = [name for row in fields for name in ([row] if isinstance(row, str) else row)]

    @display(description="run", ordering="key")
    def short_key(self, run: Run) -> str:
        return run.key if len(run.key) <= 20 else f"{run.key[:16]}…"

    @display(description="request", ordering="request")
    def case(self, run: Run) -> SafeString:
        return case_link(run.request)

    @display(description="how it ended", ordering="result")
    def ended(self, run: Run) -> str:
        return run.result.replace("_", " ")

    @display(description="took")
    def took(self, run: Run) -> str:
        return run_time(run)

    @display(description="what each rule said")
    def rules(self, run: Run) -> SafeString | str:
        return _verdicts(run.verdicts) if run.verdicts else "no rule was asked"


def _verdicts(verdicts: list[dict[str, Any]]) -> SafeString:
    """One line a rule: its answer, its sentence, and what it looked at."""
    lines = (
        (
            _tone(one),
            one.get("outcome", ""),
            one.get("rule", ""),
            one.get("sentence", ""),
            _looked_at(one.get("inputs")),
        )
        for one in verdicts
    )
    line = '<li><span class="chip plain {}">{}</span> <b>{}</b><p>{}</p><p class="mono">{}</p></li>'
    return format_html('<ul class="verdicts">{}</ul>', format_html_join("", line, lines))


def _tone(verdict: dict[str, Any]) -> str:
    return "paid" if verdict.get("outcome") == "allow" else "person"


def _looked_at(inputs: dict[str, Any] | None) -> str:
    values = (inputs or {}).items()
    return ", ".join(f"{name} {json.dumps(value, ensure_ascii=False, default=str)}" for name, value in values)


@register(Step, site=site)
class StepAdmin(ReadOnlyAdmin):
    list_display = ("title", "case", "kind", "actor", "state", "tool", "for_customer", "created_at")
    list_filter = ("kind", "actor", "state", "tool", "for_customer", "created_at")
    list_select_related = ("request",)
    search_fields = ("title", "detail", "tool", "request__line__order__number")
    date_hierarchy = "created_at"
    fields = (
        ("case", "position", "rev"),
        ("kind", "actor", "actor_user", "state", "for_customer"),
        "title",
        "detail",
        ("tool", "duration_ms"),
        "called_with",
        "got",
        ("provider", "model", "tokens_in", "tokens_out"),
        ("run_uuid", "message_key", "created_at"),
    )
    readonly_fields = [name for row in fields for name in ([row] if isinstance(row, str) else row)]

    @display(description="request", ordering="request")
    def case(self, step: Step) -> SafeString:
        return case_link(step.request)

    @display(description="arguments")
    def called_with(self, step: Step) -> SafeString | str:
        return "" if step.arguments is None else as_json(step.arguments)

    @display(description="result")
    def got(self, step: Step) -> SafeString | str:
        return "" if step.result is None else as_json(step.result)

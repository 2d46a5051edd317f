"""How the desk's templates write money, times, names and the details of a step."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django import template
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from desk import names
from desk.durations import short_milliseconds, span_between
from intake.models import Step
from intake.shop_clock import ends_its_day
from payments.money import format_minor

register = template.Library()

LONGEST_JSON = 20_000
# What the page's script keeps true while the page stands open; `{}` is the span.
TICKING = {"ago": "{} ago", "ahead": "in {}"}
EXACT = "%a %d %b %Y, %H:%M:%S %Z"


@register.simple_tag
def money(amount_minor: int | None, currency: str) -> str:
    """`{% money 3400 "USD" %}` -> $34.00; empty for no amount."""
    return "" if amount_minor is None else format_minor(amount_minor, currency)


@register.filter
def milliseconds(duration_ms: int) -> str:
    return short_milliseconds(duration_ms)


@register.filter
def waiting(since: datetime) -> str:
    """How long it is since then: `2 h 14 min`."""
    return span_between(since, timezone.now())


@register.filter
def run_time(run: Any) -> str:
    """How long an ended run took; empty for one that has not."""
    if not (run.started_at and run.ended_at):
        return ""
    return short_milliseconds(int((run.ended_at - run.started_at).total_seconds() * 1000))


@register.simple_tag
def moment(at: datetime, style: str = "clock", prefix: str = "") -> SafeString:
    """A `<time>` with the exact moment on hover. Styles: time `10:06:02`, clock and short the same for today and else
    with the day, day `Mar 3, 10:06` (`Mar 3` for a promised day, which counts whole), date `March 3`, ago, ahead."""
    local = timezone.localtime(at)
    ticks = TICKING.get(style)
    return format_html(
        '<time{} datetime="{}" title="{}">{}{}</time>',
        format_html(' data-ticks="{}"', prefix + ticks) if ticks else "",
        local.isoformat(timespec="seconds"),
        local.strftime(EXACT),
        prefix,
        _in_words(local, style),
    )


def _in_words(local: datetime, style: str) -> str:
    now = timezone.localtime()
    if style == "ago":
        return f"{span_between(local, now)} ago"
    if style == "ahead":
        return "now" if local <= now else f"in {span_between(now, local)}"
    if style == "time" or (style == "clock" and local.date() == now.date()):
        return local.strftime("%H:%M:%S")
    if style == "short" and local.date() == now.date():
        return local.strftime("%H:%M")
    if style == "date":
        return f"{local:%B} {local.day}{'' if local.year == now.year else f', {local.year}'}"
    year = "" if local.year == now.year else f" {local.year}"
    day = f"{local:%b} {local.day}{year}"
    return day if style == "day" and ends_its_day(local) else f"{day}, {local:%H:%M}"


@register.filter
def days_ago(at: datetime) -> str:
    """Calendar days in the shop's time zone: `today`, `yesterday`, `9 days ago`."""
    days = (timezone.localdate() - timezone.localdate(at)).days
    return {0: "today", 1: "yesterday"}.get(days, f"{days} days ago")


@register.filter
def full_name(user: User | None) -> str:
    return names.full_name(user)


@register.filter
def first_name(user: User | None) -> str:
    return names.first_name(user)


@register.filter
def initials(user: User | None) -> str:
    return names.initials(user)


@register.filter
def staff_title(step: Step) -> str:
    """What people did is written to the customer (“You asked …”); staff read who it was."""
    name = names.first_name(step.actor_user)
    if step.actor == Step.Actor.CUSTOMER and step.title.startswith("You "):
        return f"{name or 'The customer'} {step.title.removeprefix('You ')}"
    if step.for_customer and step.actor == Step.Actor.STAFF and step.kind == Step.Kind.TRIGGER:
        return f"{names.full_name(step.actor_user) or 'Staff'} recorded the parcel"
    return step.title


@register.filter
def pretty_json(value: Any) -> str:
    """Indented JSON, cut where nobody reads on; the template escapes it."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_JSON else text[:LONGEST_JSON] + "\n… (cut)"

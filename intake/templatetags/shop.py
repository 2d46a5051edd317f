"""Template words of the shop: amounts, moments, days, and the notice about the scripted model."""

from __future__ import annotations

import re
from datetime import datetime

from django import template
from django.conf import settings
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from intake.model_set_up import model_is_set_up, scripted_works_alone
from intake.models import RefundRequest, Step
from intake.shop_clock import exact_moment, short_date, short_deadline, short_moment
from intake.standing import short_words
from payments.money import format_minor

register = template.Library()
HYPHENATED = re.compile(r"(?<![\w-])(\w+(?:-\w+)+)(?![\w-])")
# In characters; a longer word may break at its hyphens, it would stand out of a narrow page.
LONGEST_UNBROKEN = 18


@register.simple_tag
def money(amount_minor: int, currency: str) -> str:
    return format_minor(amount_minor, currency)


@register.filter
def moment(value: datetime) -> SafeString:
    """A short time with the exact one on hover."""
    return _time(value, short_moment(value, timezone.now()))


@register.filter
def date(value: datetime) -> SafeString:
    """A short date with the exact moment on hover."""
    return _time(value, short_date(value, timezone.now()))


@register.filter
def deadline(value: datetime) -> SafeString:
    """A day with its weekday, and the time of day where it ends before that day does; the exact moment on hover."""
    return _time(value, short_deadline(value, timezone.now()))


@register.simple_tag
def status_chip(status: str, refund_waits_for_customer: bool = False) -> SafeString:
    """A request's status in the customer's words and colour."""
    words, tone = short_words(status, refund_waits_for_customer=refund_waits_for_customer)
    return format_html('<span class="chip {}">{}</span>', tone, words)


@register.simple_tag
def shop_name() -> str:
    return settings.SHOP_NAME


@register.simple_tag
def scripted_model() -> bool:
    """True when no model is configured and the scripted one does the agent's work; pages that show it say so."""
    return scripted_works_alone()


@register.simple_tag
def scripted_stood_in(request: RefundRequest) -> bool:
    """A language model is set up, and yet the scripted one did some of the work on this request."""
    return model_is_set_up() and Step.objects.filter(request=request, provider="scripted").exists()


@register.filter
def unbroken(text: str) -> SafeString:
    """Words with a hyphen (“pour-over”, a return code) stay whole at the end of a line, if they fit a narrow page."""
    return format_html_join("", "{}", ((_whole(part),) for part in HYPHENATED.split(text)))


def _whole(part: str) -> str:
    whole = len(part) <= LONGEST_UNBROKEN and HYPHENATED.fullmatch(part)
    return format_html('<span class="unbroken">{}</span>', part) if whole else part


def _time(value: datetime, text: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), exact_moment(value), text)

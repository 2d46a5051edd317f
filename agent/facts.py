"""Gathers the plain facts the rules look at, from rows as they are at this moment."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone

from agent.models import Approval, BudgetDay
from agent.outcomes import PhotoEvidence
from agent.pause import automatic_refunds_paused
from intake.look_alikes import photos_of, requests_with_the_same_file, reuses
from intake.models import RefundRequest
from intake.picture_looks import is_plain
from intake.rules import Facts
from payments.balance import live_refund_days

MOST_USES_NAMED = 10


def gather_facts(
    request: RefundRequest, evidence: PhotoEvidence, spent_today_minor: int, looks_like: tuple[int, ...]
) -> Facts:
    """Facts of `request` (with its line and policy selected) now; `evidence` is what this run saw in the pictures.

    `spent_today_minor`: automatic refunds of this shop day so far, in minor units of the policy's currency.
    `looks_like`: what `look_alike_numbers` gave.
    """
    policy, now, photos = request.policy, timezone.now(), photos_of(request.pk)
    return Facts(
        reason=request.reason,
        amount_minor=request.amount_minor,
        currency=request.currency,
        policy_currency=policy.currency,
        limit_minor=policy.auto_refund_limit_minor,
        window_days=policy.refund_window_days,
        delivered_at=request.line.delivered_at,
        asked_at=request.created_at,
        today=shop_day(now),
        time_zone=settings.SHOP_TIME_ZONE,
        photo_verdict=evidence.verdict,
        photo_addresses_reviewer=evidence.addresses_reviewer,
        photo_used_in=tuple(requests_with_the_same_file(photos, besides=request.pk)[:MOST_USES_NAMED]),
        refund_days=live_refund_days(
            request.customer_id, now=now, days=policy.history_days, besides_request=request.uuid
        ),
        history_days=policy.history_days,
        first_review=not Approval.objects.filter(request=request).exists(),
        paused=automatic_refunds_paused(),
        spent_today_minor=spent_today_minor,
        budget_minor=policy.daily_budget_minor,
        photo_looks_like=looks_like,
        photo_too_plain=any(is_plain(photo.looks) for photo in photos),
        photo_compared_turned=True,
    )


def look_alike_numbers(request_id: int) -> tuple[int, ...]:
    """Numbers of other requests with a picture that looks like one of this request's, or is one.

    It may take a tenth of a second, so it is asked before the locks of a payment. That is safe: a request's pictures
    are locked to it when it is made and never leave it, and this is asked after that. So of two requests with one
    picture the one whose look-up comes later finds the other, and of two made at one moment at least one does.
    """
    found = reuses(photos_of(request_id), besides=request_id)
    return tuple(sorted({reuse.number for reused in found.values() for reuse in reused}))


def shop_day(moment: datetime) -> date:
    """The calendar day in the shop's time zone."""
    return moment.astimezone(ZoneInfo(settings.SHOP_TIME_ZONE)).date()


def spent_today(currency: str) -> int:
    """Automatic refunds of this shop day so far, in minor units, without a lock."""
    day = shop_day(timezone.now())
    return BudgetDay.objects.filter(day=day, currency=currency).values_list("spent_minor", flat=True).first() or 0

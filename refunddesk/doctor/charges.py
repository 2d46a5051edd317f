"""Whether the money of every charge can go back the way it came."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.db.models import Q, QuerySet

from payments.models import Charge
from payments.providers.choose import PROVIDERS
from refunddesk.doctor.finding import Finding

ABOUT = "charges"
NAMED_LIKE_STRIPES = Q(reference__startswith="pi_") | Q(reference__startswith="ch_") | Q(reference__startswith="py_")
WRITTEN_DOWN_ONLY = "stands in the shop's own book (provider ledger), where a refund moves no money"


def charges() -> Iterator[Finding]:
    troubles = list(_troubles())
    yield from troubles or [Finding("ok", ABOUT, "the provider of each can be asked for a refund")]


def _troubles() -> Iterator[Finding]:
    if not settings.STRIPE_SECRET_KEY and Charge.objects.filter(provider="stripe").exists():
        words = "some were taken by Stripe, and without STRIPE_SECRET_KEY none of them can be refunded"
        yield Finding("missing", ABOUT, words)
    unknown = Charge.objects.exclude(provider__in=PROVIDERS).values_list("provider", flat=True).first()
    if unknown is not None:
        yield Finding("missing", ABOUT, f"one was taken by “{unknown}”, a provider this installation does not know")
    if not settings.DEMO:
        yield from _only_written_down(Charge.objects.filter(provider="ledger"))


def _only_written_down(book: QuerySet[Charge]) -> Iterator[Finding]:
    """Outside the demo a refund that moves no money is a customer who waits for it in vain."""
    named = _example(book.filter(NAMED_LIKE_STRIPES))
    if named:
        words = (
            f"{named} is named like a payment at Stripe, but {WRITTEN_DOWN_ONLY}: give such money back by hand at "
            "Stripe, and bring orders in with provider stripe; a demo's orders belong into a database of their own"
        )
        yield Finding("missing", ABOUT, words)
        return
    other = _example(book) if settings.STRIPE_SECRET_KEY else ""
    if other:
        words = (
            f"STRIPE_SECRET_KEY is set, but {other} {WRITTEN_DOWN_ONLY}: pay such refunds out by hand, and bring "
            "orders that Stripe was paid for in with provider stripe"
        )
        yield Finding("missing", ABOUT, words)


def _example(charges: QuerySet[Charge]) -> str:
    """One of them, with its order; empty when there is none."""
    found = charges.order_by().values_list("reference", "order__number").first()
    return "" if found is None else f"{found[0]} of order {found[1]}"

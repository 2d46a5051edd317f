"""Measurings and copies are kept for a while only: a copy holds what a customer wrote, a measuring thousands of
timelines."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from agent.llm.evaluation_use import REACHES_BACK
from agent.models import Evaluation

SUITES_KEPT = 50
COPIES_KEPT_FOR = timedelta(days=90)
BATCH = 20
ENDED = [Evaluation.Status.DONE, Evaluation.Status.FAILED]


def purge_evaluations() -> int:
    """Deletes at most BATCH of those that have ended, with their trials, the oldest first; says how many."""
    now = timezone.now()
    suites = Evaluation.objects.filter(kind=Evaluation.Kind.SUITE)
    newest = list(suites.order_by("-created_at", "id").values_list("pk", flat=True)[:SUITES_KEPT])
    # What it used still counts against the providers' limits of today.
    old_suites = suites.filter(created_at__lt=now - REACHES_BACK).exclude(pk__in=newest)
    old_copies = Evaluation.objects.filter(kind=Evaluation.Kind.AGAIN, created_at__lt=now - COPIES_KEPT_FOR)
    old = (old_suites | old_copies).filter(status__in=ENDED).order_by("created_at", "id")
    keys = list(old.values_list("pk", flat=True)[:BATCH])
    Evaluation.objects.filter(pk__in=keys).delete()
    return len(keys)

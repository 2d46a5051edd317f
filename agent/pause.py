"""The shop's brake: while automatic refunds are paused, each refund waits for a person."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from agent.models import Switch
from intake.refusals import Refusal
from intake.timeline import shorten


def automatic_refunds_paused() -> bool:
    return Switch.objects.filter(name=Switch.AUTOMATIC_REFUNDS, paused=True).exists()


def lock_switch() -> None:
    """Nobody pauses between this and the end of the caller's transaction, or the pause is seen by what is read next."""
    name = Switch.AUTOMATIC_REFUNDS
    row = Switch.objects.select_for_update(no_key=True, of=("self",)).only("pk").filter(name=name)
    if row.first() is None:
        Switch.objects.bulk_create([Switch(name=name)], ignore_conflicts=True)
        row.get()


def set_automatic_refunds(*, paused: bool, by: User, reason: str = "") -> Switch:
    """Throws the switch, for everybody and at once; kept is who did it, when and why. Raises Refusal `forbidden`."""
    if not (by.is_active and by.is_staff and by.has_perm("agent.change_switch")):
        raise Refusal("forbidden", "Only a lead may pause automatic refunds or turn them on again.")
    with transaction.atomic():
        switch, _ = Switch.objects.update_or_create(
            name=Switch.AUTOMATIC_REFUNDS,
            defaults={
                "paused": paused,
                "reason": shorten(reason.strip(), 200),
                "changed_by": by,
                "changed_at": timezone.now(),
            },
        )
    return switch

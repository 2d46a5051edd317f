"""The shop's brake: while automatic refunds are paused, each refund waits for a person."""

from __future__ import annotations

import logging

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from agent.models import Switch, SwitchThrow
from intake.refusals import Refusal
from intake.timeline import shorten

logger = logging.getLogger(__name__)
REASON_LENGTH = 200


def automatic_refunds_paused() -> bool:
    return Switch.objects.filter(name=Switch.AUTOMATIC_REFUNDS, paused=True).exists()


def lock_switch() -> None:
    """Nobody pauses between this and the end of the caller's transaction, or the pause is seen by what is read next."""
    name = Switch.AUTOMATIC_REFUNDS
    row = Switch.objects.select_for_update(no_key=True, of=("self",)).only("pk").filter(name=name)
    if row.first() is None:
        Switch.objects.bulk_create([Switch(name=name)], ignore_conflicts=True)
        row.get()


def set_automatic_refunds(*, paused: bool, by: User, reason: str = "") -> SwitchThrow | None:
    """Throws the switch, for everybody and at once; kept for good is who did it, when and why.

    None: it stood there already, and nothing was written. Raises Refusal `forbidden`.
    """
    if not (by.is_active and by.is_staff and by.has_perm("agent.change_switch")):
        raise Refusal("forbidden", "Only a lead may pause automatic refunds or turn them on again.")
    with transaction.atomic():
        lock_switch()
        switch = Switch.objects.get(name=Switch.AUTOMATIC_REFUNDS)
        if switch.paused == paused:
            return None
        throw = _throw(switch, paused, by, shorten(reason.strip(), REASON_LENGTH))
    logger.warning("automatic refunds %s by user %s: %r", "paused" if paused else "turned on", by.pk, throw.reason)
    return throw


def _throw(switch: Switch, paused: bool, by: User, reason: str) -> SwitchThrow:
    now = timezone.now()
    Switch.objects.filter(pk=switch.pk).update(paused=paused, reason=reason, changed_by=by, changed_at=now)
    return SwitchThrow.objects.create(switch=switch, paused=paused, reason=reason, thrown_by=by, created_at=now)

"""What the brake box shows: whether automatic refunds are on, who paused them, and how much of today's sum is used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from agent.facts import spent_today
from agent.models import Switch
from desk.names import full_name
from intake.policy_in_force import policy_in_force
from payments.money import format_minor


@dataclass(frozen=True)
class Brake:
    """`spent_minor` and `budget_minor` of today (shop time zone), in minor units of `currency`."""

    paused: bool
    reason: str
    changed_by: str
    changed_at: datetime | None
    spent_minor: int
    budget_minor: int
    currency: str

    @property
    def spent(self) -> str:
        return format_minor(self.spent_minor, self.currency)

    @property
    def budget(self) -> str:
        return format_minor(self.budget_minor, self.currency)


def brake_now() -> Brake:
    """Reads the switch, the policy in force and today's sum, one query each; no switch row means never paused."""
    switch = Switch.objects.select_related("changed_by").filter(name=Switch.AUTOMATIC_REFUNDS).first()
    policy = policy_in_force()
    return Brake(
        paused=bool(switch and switch.paused),
        reason=switch.reason if switch else "",
        changed_by=full_name(switch.changed_by) if switch else "",
        changed_at=switch.changed_at if switch else None,
        spent_minor=spent_today(policy.currency),
        budget_minor=policy.daily_budget_minor,
        currency=policy.currency,
    )


def thrown_before(brake: Brake) -> str:
    """What somebody reads who throws the brake to where it stands already."""
    state = "paused" if brake.paused else "on"
    if not (brake.changed_by and brake.changed_at):
        return f"Automatic refunds are {state} already. Nothing was changed."
    at = timezone.localtime(brake.changed_at)
    verb = "paused automatic refunds" if brake.paused else "turned automatic refunds on"
    why = f": “{brake.reason}”" if brake.reason else ""
    return f"{brake.changed_by} already {verb} ({at:%b} {at.day}, {at:%H:%M}){why}. Nothing was changed."

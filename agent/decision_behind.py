"""Which decision stands behind a return: the approval that asked for the item first."""

from __future__ import annotations

from agent.models import Decision
from intake.models import Return


def decision_behind(parcel: Return) -> Decision | None:
    """The newest approval before the return that wanted the item back; None when there is none."""
    approvals = Decision.objects.filter(
        approval__request_id=parcel.request_id,
        choice=Decision.Choice.APPROVE,
        require_return=True,
        carried_out_at__isnull=False,
        created_at__lte=parcel.created_at,
    )
    return approvals.select_related("approval").order_by("-created_at", "-id").first()

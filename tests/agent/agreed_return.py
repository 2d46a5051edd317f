"""A return as it stands after its approval was carried out, without the way there."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from agent.chain import append_link
from agent.link_facts import decision_facts
from agent.models import Approval, ChainRecord, Decision, Run
from intake.models import RefundRequest, Return
from tests.factories import StaffFactory


def agreed_return(
    request: RefundRequest, *, amount_minor: int, shipping_minor: int = 0, units: int | None = None, **changes: Any
) -> Return:
    """The request's return and the decision behind it, whose run is over; `changes` are the return's."""
    now = timezone.now()
    card = Approval.objects.create(
        request=request, recommendation="refund_after_return", amount_minor=amount_minor, closed_at=now
    )
    with transaction.atomic():
        decision = Decision.objects.create(
            approval=card,
            choice="approve",
            amount_minor=amount_minor,
            shipping_minor=shipping_minor,
            units=units,
            require_return=True,
            decided_by=StaffFactory(),
            source="desk",
            carried_out_at=now,
        )
        append_link(request.pk, ChainRecord.Kind.DECISION, decision.pk, decision_facts(decision))
    Run.objects.filter(key=f"dec:{card.pk}").update(status="done", ended_at=timezone.now())
    given = {"code": "RMA-ABCDEF", "ship_by": now, "check_at": now + timedelta(days=7)} | changes
    parcel: Return = Return.objects.create(
        request=request,
        amount_minor=amount_minor,
        shipping_minor=shipping_minor,
        units=units,
        **given,
    )
    assert decision.created_at <= parcel.created_at
    return parcel

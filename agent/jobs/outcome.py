"""News of a refund that no run was waiting for: the request is finished by it, or staff read what the bank says."""

from __future__ import annotations

from agent.finish_refund import apply_refund
from agent.lease import Lease
from agent.models import Run
from agent.runs import last_transaction
from payments.models import Refund


def apply_news(lease: Lease, run: Run) -> None:
    """By the refund as it stands now, not by the one answer: an older answer that comes later changes nothing."""
    refund = Refund.objects.get(outcomes__id=run.source_id)
    with last_transaction(lease, f"news: refund {refund.status}"):
        apply_refund(run.request, refund, run_id=run.pk)

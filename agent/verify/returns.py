"""Returns against the decisions that opened them: what is agreed stands in the decision, which is sealed."""

from __future__ import annotations

from collections.abc import Iterator

from agent.models import Decision
from agent.verify.differs import difference
from agent.verify.pages import Pages
from intake.models import Return


def check_returns(pages: Pages) -> Iterator[str]:
    opened: set[object] = set()
    for parcel in pages.returns:
        decision = _decision_behind(pages, parcel)
        if decision is None:
            yield f"The return {parcel.code} has no decision behind it."
            continue
        if decision.pk in opened:
            yield f"The return {parcel.code} rests on a decision that had opened another one."
        opened.add(decision.pk)
        changed = difference(_agreed(decision), _agreed(parcel), by="decision")
        if changed:
            yield f"The return {parcel.code} is not the one that was decided: {changed}."


def _decision_behind(pages: Pages, parcel: Return) -> Decision | None:
    """As `agent.decision_behind` finds it, without asking the database again."""
    approvals = [
        decision
        for decision in pages.decisions
        if decision.choice == Decision.Choice.APPROVE
        and decision.require_return
        and decision.carried_out_at is not None
        and decision.created_at <= parcel.created_at
    ]
    return max(approvals, key=lambda decision: (decision.created_at, decision.pk), default=None)


def _agreed(row: Decision | Return) -> dict[str, int | None]:
    return {"agreed_minor": row.amount_minor, "shipping_minor": row.shipping_minor, "agreed_units": row.units}

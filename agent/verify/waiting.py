"""Where a request stands, against what is open: nobody waits for a parcel that no return names, or reads “declined”
where nobody declined."""

from __future__ import annotations

from collections.abc import Iterator

from agent.models import Decision, Run
from agent.seal_rows import answered
from agent.verify.pages import Pages
from agent.verify.standing import is_at_work
from intake.models import Return
from intake.statuses import Status

WAITS_FOR = {Status.NEEDS_APPROVAL: "card", Status.NEEDS_CUSTOMER: "question", Status.AWAITING_RETURN: "return"}
# A run that looks what has come of a question or a return leaves it open until it knows.
STAYS_OPEN_AT_WORK = ("question", "return")


def check_waiting(pages: Pages) -> Iterator[str]:
    status, is_open = Status(pages.request.status), _what_is_open(pages)
    stands = f"The request stands as “{status.label}”"
    for waiting, what in WAITS_FOR.items():
        at_work = status == Status.WORKING and what in STAYS_OPEN_AT_WORK
        if is_open[what] and status != waiting and not at_work:
            yield f"{stands}, and a {what} is open."
        if status == waiting and not is_open[what] and not _has_just_come(pages, what):
            yield f"{stands}, and no {what} is open."
    if status == Status.SUBMITTED and pages.cards:
        yield f"{stands}, and staff have had it."
    if status == Status.DECLINED and _last_choice(pages) != Decision.Choice.DECLINE:
        yield f"{stands}, and nobody declined it."
    if status == Status.CLOSED and not _never_came(pages) and not _has_just_come(pages, "return"):
        yield f"{stands}, and no return of it was missed."


def _what_is_open(pages: Pages) -> dict[str, bool]:
    return {
        "card": any(card.closed_at is None for card in pages.cards),
        "question": any(not answered(one) and one.withdrawn_at is None for one in pages.questions),
        "return": any(parcel.status == Return.Status.WAITING for parcel in pages.returns),
    }


def _has_just_come(pages: Pages, what: str) -> bool:
    """A parcel was recorded, and the run that moves the request is on its way."""
    return what == "return" and any(run.trigger == Run.Trigger.RECEIPT and is_at_work(run) for run in pages.runs)


def _last_choice(pages: Pages) -> str:
    carried_out = [decision.choice for decision in pages.decisions if decision.carried_out_at]
    return carried_out[-1] if carried_out else ""


def _never_came(pages: Pages) -> bool:
    return bool(pages.returns) and pages.returns[-1].status == Return.Status.CLOSED

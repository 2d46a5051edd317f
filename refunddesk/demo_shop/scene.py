"""One resolved request while it is written: its rows, and the timeline played up to now."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone

from agent import customer_messages
from agent.chain import append_link
from agent.link_facts import outcome_facts
from agent.models import ChainRecord, Run
from agent.seal_timelines import seal_timeline
from intake.models import PolicyVersion, RefundRequest
from intake.picture import CleanPicture
from intake.statuses import Status
from payments.models import Charge, OrderLine, Refund, RefundOutcome
from refunddesk.demo_shop import people_steps
from refunddesk.demo_shop.calendar import Calendar
from refunddesk.demo_shop.case import Case
from refunddesk.demo_shop.past_runs import end_run
from refunddesk.demo_shop.tape import Tape, insert
from refunddesk.demo_shop.write_people import People

SECOND = timedelta(seconds=1)


@dataclass
class History:
    """What all resolved requests share while they are written, oldest first.

    `refund_days`: the shop's day of each refund a customer (by key) got so far. `stored`: the photo files written.
    """

    calendar: Calendar
    people: People
    policy: PolicyVersion
    pictures: dict[str, CleanPicture]
    refund_days: dict[int, list[date]] = field(default_factory=dict)
    stored: list[str] = field(default_factory=list)


class Scene:
    """`positions`: tool -> position of its step, for the findings that rest on it."""

    def __init__(self, history: History, case: Case, line: OrderLine) -> None:
        self.history = history
        self.case = case
        self.charge = Charge.objects.get(order=line.order)
        self.positions: dict[str, int] = {}
        asked_at = history.calendar.at(case.asked, case.clock)
        self.request = insert(
            RefundRequest(
                line=line,
                customer=line.order.customer,
                policy=history.policy,
                units=case.units,
                amount_minor=line.unit_price_minor * case.units,
                currency=line.order.currency,
                reason=case.reason,
                details=case.details,
                source=RefundRequest.Source.SEED,
                status_changed_at=asked_at,
                created_at=asked_at,
            )
        )
        self.tape = Tape(self.request, asked_at)

    @property
    def earlier_refunds(self) -> tuple[date, ...]:
        return tuple(self.history.refund_days.get(self.request.customer_id, ()))

    def link(self, kind: ChainRecord.Kind, subject: object, facts: dict[str, Any]) -> None:
        """The next link of the request's book, which seals the timeline up to now."""
        self.tape.save()
        append_link(self.request.pk, kind, subject, facts, at=self.tape.now)

    def pay(self, run: Run, facts_of: Callable[[Refund], dict[str, Any]], *, automatic: bool) -> Refund:
        """The money goes back in `run`, which ends with it; `facts_of` the refund go into the book."""
        refund = self._reserve(run, facts_of, automatic=automatic)
        refund.settled_at = self.tape.wait(SECOND)
        self._settle(refund)
        self.tape.add(people_steps.refund_done(run.pk, refund))
        self.tape.add(customer_messages.refunded(run.pk, refund))
        end_run(run, f"refund {refund.status}", self.tape.now)
        return refund

    def _reserve(self, run: Run, facts_of: Callable[[Refund], dict[str, Any]], *, automatic: bool) -> Refund:
        charge, tape = self.charge, self.tape
        refund = Refund(
            charge=charge,
            line=self.request.line,
            request_uuid=self.request.uuid,
            run_uuid=run.pk,
            key=f"refund_{self.request.uuid}",
            reference=f"re_{secrets.token_hex(9)}",
            provider_reference=f"book_{uuid.uuid4().hex}",
            currency=self.request.currency,
            amount_minor=self.request.amount_minor,
            units=self.case.units,
            automatic=automatic,
            status=Refund.Status.SUCCEEDED,
            card_brand=charge.card_brand,
            card_last4=charge.card_last4,
            reserved_at=tape.now,
            asked_at=tape.now,
        )
        if not automatic:
            tape.add(people_steps.refund_started(run.pk, refund))
        self.link(ChainRecord.Kind.RESERVE, refund.pk, facts_of(refund))
        return refund

    def _settle(self, refund: Refund) -> None:
        """The provider took it at once."""
        insert(refund)
        outcome = RefundOutcome(
            refund=refund, status=refund.status, source=RefundOutcome.Source.RUN, created_at=self.tape.now
        )
        insert(outcome)
        self.link(ChainRecord.Kind.OUTCOME, outcome.pk, outcome_facts(outcome))
        Charge.objects.filter(pk=self.charge.pk).update(reserved_minor=F("reserved_minor") + refund.amount_minor)
        day = timezone.localdate(refund.reserved_at)
        self.history.refund_days.setdefault(self.request.customer_id, []).append(day)

    def end(self, status: Status) -> None:
        """Saves and seals the timeline, and where the request stands at its end."""
        self.tape.save()
        seal_timeline(self.request.pk, at=self.tape.now)
        RefundRequest.objects.filter(pk=self.request.pk).update(status=status, status_changed_at=self.tape.now)

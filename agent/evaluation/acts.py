"""What people do after a request was asked, through the same verbs as at the desk and in the shop."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils import timezone

from agent.decide import decide
from agent.evaluation import scenario as parts
from agent.evaluation.build import Stage
from agent.evaluation.evidence_files import hand_in
from agent.models import Approval, Run
from agent.take_back import take_back
from agent.tasks import work
from intake.models import RefundRequest, Return
from intake.record_receipt import record_receipt
from intake.refusals import Refusal
from intake.statuses import Status
from intake.submit_reply import open_question, submit_reply

MOST_RUNS = 40


class CannotAct(Exception):
    """The request does not stand where this act can be done; `sentence` says so."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass
class Play:
    """One request on its stage. `milliseconds` sums the time of the agent's runs."""

    stage: Stage
    request: RefundRequest
    stored_copies: Mapping[str, bytes] = field(default_factory=dict)
    milliseconds: float = 0.0

    def act(self, act: parts.Act) -> None:
        """Does it and works off what it causes. Raises CannotAct."""
        try:
            self._do(act)
        except Refusal as refusal:
            raise CannotAct(f"“{act.act}” could not be done: {refusal}") from refusal
        self.work_off()

    def work_off(self) -> None:
        """Does every due run of the request, one after another, as a worker would. Raises CannotAct when that has no
        end."""
        for _ in range(MOST_RUNS):
            due = Run.objects.filter(request=self.request, status=Run.Status.QUEUED, due_at__lte=timezone.now())
            run_id = due.order_by("due_at", "id").values_list("pk", flat=True).first()
            if run_id is None:
                self.request.refresh_from_db()
                return
            started = time.monotonic()
            work(str(run_id))
            self.milliseconds += (time.monotonic() - started) * 1000
        raise CannotAct(f"The request did not come to rest in {MOST_RUNS} runs.")

    def _do(self, act: parts.Act) -> None:
        match act:
            case parts.Decide():
                self._decide(act)
            case parts.Answer():
                photos = hand_in(self.stage.customer, act.photos, self.stored_copies)
                submit_reply(
                    customer=self.stage.customer,
                    request_uuid=self.request.uuid,
                    message=act.message,
                    photo_ids=[photo.pk for photo in photos],
                    source="api",
                )
            case parts.Arrives():
                record_receipt(request_uuid=self.request.uuid, by=self.stage.staff, units=act.units, source="page")
            case parts.TakenBack():
                take_back(request_uuid=self.request.uuid, by=self.stage.staff)
            case parts.TimePasses():
                self._let_time_pass()

    def _decide(self, act: parts.Decide) -> None:
        card = Approval.objects.filter(request=self.request, closed_at=None).first()
        if card is None:
            raise CannotAct("“decide” could not be done: no card is open.")
        decide(
            approval_id=card.pk,
            by=self.stage.staff,
            choice=act.choice,
            note=act.note,
            amount_minor=act.amount_minor,
            units=act.units,
            shipping_minor=act.shipping_minor,
            require_return=act.require_return,
            source="desk",
        )

    def _let_time_pass(self) -> None:
        """The one run that the request waits for is due at once; older ones that nobody waits for stay."""
        source = self._waited_for()
        waiting = Run.objects.filter(request=self.request, status=Run.Status.QUEUED, source_id=source)
        if not source or not waiting.update(due_at=timezone.now()):
            raise CannotAct("“time_passes” could not be done: the request waits for nothing.")

    def _waited_for(self) -> str:
        """The key of the open question or of the return that has not come, as its run has it."""
        if self.request.status == Status.NEEDS_CUSTOMER:
            question = open_question(self.request.pk)
            return str(question.pk) if question else ""
        if self.request.status == Status.AWAITING_RETURN:
            parcel = Return.objects.filter(request=self.request, status=Return.Status.WAITING).first()
            return str(parcel.pk) if parcel else ""
        return ""

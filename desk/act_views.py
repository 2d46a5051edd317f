"""The acts of the desk: decide, mark as received, take back, pause. Each parses, calls one verb and renders."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404

from agent.decide import card_to_decide, decide
from agent.models import Decision
from agent.pause import set_automatic_refunds
from agent.take_back import take_back
from desk.acts import Act, CaseAct
from desk.announce import tell_open_desks
from desk.brake import brake_now, thrown_before
from desk.forms import PauseForm, ReceiptForm, decision_form
from intake.record_receipt import record_receipt
from intake.refusals import Refusal

DONE_SENTENCES = {
    Decision.Choice.APPROVE: "Approved. The agent carries it out now.",
    Decision.Choice.ASK_CUSTOMER: "Asked. The request waits for the customer's answer.",
    Decision.Choice.DECLINE: "Declined. The agent tells the customer.",
}
NOTHING_TO_DECIDE = "There is nothing to decide here at the moment. Reload the request."


class Decide(CaseAct):
    permission = "agent.add_decision"

    def prepare(self) -> None:
        super().prepare()
        given = self.request.POST if self.request.method == "POST" else self.request.GET
        choice = given.get("choice", "")
        if choice not in Decision.Choice.values:
            raise Http404("Choose approve, ask or decline.")
        self.choice = Decision.Choice(choice)
        self.template = f"desk/acts/{choice}.html"
        self.say_done = DONE_SENTENCES[self.choice]

    def reason_against(self, start: dict[str, Any]) -> Refusal | None:
        user: Any = self.request.user
        open_card = self.case.card
        card_id = start.get("card") or (open_card.pk if open_card else None)
        if card_id is None:
            return Refusal("approval_not_found", NOTHING_TO_DECIDE)
        try:
            card = card_to_decide(card_id, user)
        except Refusal as refusal:
            return refusal
        return None if card == open_card else Refusal("approval_not_found", NOTHING_TO_DECIDE)

    def context(self) -> dict[str, Any]:
        """The form is sent to where it can be opened again."""
        return {**super().context(), "address": f"{self.request.path}?{urlencode({'choice': self.choice.value})}"}

    def form(self, *, data: Any = None, start: dict[str, Any] | None = None) -> forms.Form:
        return decision_form(self.choice, self.case, data=data, start=start)

    def act(self, form: Any) -> None:
        user: Any = self.request.user
        card = form.cleaned_data["card"]
        decide(approval_id=card, by=user, source=Decision.Source.DESK, **form.for_decide())


class Receive(CaseAct):
    permission = "intake.add_receipt"
    template = "desk/acts/receive.html"
    say_done = "Recorded. The agent takes it from here."

    def form(self, *, data: Any = None, start: dict[str, Any] | None = None) -> forms.Form:
        most = self.case.request.units
        agreed = self.case.parcel.agreed_units if self.case.parcel else most
        return ReceiptForm(data, most=most, initial={"units": agreed, **(start or {})})

    def act(self, form: Any) -> None:
        user: Any = self.request.user
        record_receipt(request_uuid=self.case.request.uuid, by=user, units=form.cleaned_data["units"], source="page")


class TakeBack(CaseAct):
    permission = "agent.add_approval"
    template = "desk/acts/take_back.html"
    say_done = "Taken back. The request needs a decision now."

    def form(self, *, data: Any = None, start: dict[str, Any] | None = None) -> forms.Form:
        return forms.Form(data)

    def act(self, form: Any) -> None:
        user: Any = self.request.user
        take_back(request_uuid=self.case.request.uuid, by=user)


class Pause(Act):
    permission = "agent.change_switch"
    template = "desk/acts/pause.html"
    typed_field = "reason"

    def form(self, *, data: Any = None, start: dict[str, Any] | None = None) -> forms.Form:
        paused = brake_now().paused
        return PauseForm(data, initial={"paused": "no" if paused else "yes", **(start or {})})

    def context(self) -> dict[str, Any]:
        return {"brake": brake_now()}

    def act(self, form: Any) -> None:
        user: Any = self.request.user
        paused = form.cleaned_data["paused"]
        if set_automatic_refunds(paused=paused, by=user, reason=form.cleaned_data["reason"]) is None:
            raise Refusal("already_decided", thrown_before(brake_now()))
        self.say_done = "Automatic refunds are paused." if paused else "Automatic refunds are on again."
        tell_open_desks()

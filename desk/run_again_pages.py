"""A case played again: the form that starts it, and its page with what happened and what the copy did side by side."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from agent.evaluation.from_case import left_out
from agent.evaluation.run_again import ask_again, is_lost
from agent.models import Evaluation, Trial
from desk.activity import load_activity
from desk.acts import CaseAct
from desk.end_in_words import end_in_words
from desk.frame import frame_of
from desk.kept_timeline import kept_blocks
from desk.run_again_form import RunAgainForm, as_typed, options_in_words
from intake.models import RefundRequest

WITH_CASE = ("request__line__order", "request__customer", "request__policy", "asked_by")


class RunAgain(CaseAct):
    """Starts a copy of the case; its page is where the person goes next."""

    permission = "agent.add_evaluation"
    template = "desk/evaluation/run_again.html"
    say_done = "A copy of the case is being played. No money moves."
    evaluation: Evaluation | None = None

    def form(self, *, data: Any = None, start: dict[str, Any] | None = None) -> forms.Form:
        return RunAgainForm(data, case=self.case.request, initial=self._like(start or {}))

    def act(self, form: Any) -> None:
        user: Any = self.request.user
        self.evaluation = ask_again(request=self.case.request, by=user, options=form.options())

    def _like(self, start: dict[str, Any]) -> dict[str, Any]:
        """What an earlier copy of this case was changed in, where `start` names one; typed words go before it."""
        case = self.case.request
        try:
            earlier = Evaluation.objects.filter(request=case, pk=uuid.UUID(str(start.get("like", "")))).first()
        except ValueError:
            earlier = None
        return {**(as_typed(earlier.options, case.policy.currency) if earlier else {}), **start}

    def back(self) -> str:
        if self.evaluation is None:
            return super().back()
        return reverse("admin:played-again", kwargs={"evaluation_id": self.evaluation.pk})


def played_again(request: HttpRequest, evaluation_id: uuid.UUID) -> HttpResponse:
    """The page; while the copy is being played its script asks for what is new, with how it stood (`seen`)."""
    copies = Evaluation.objects.filter(kind=Evaluation.Kind.AGAIN).select_related(*WITH_CASE)
    evaluation = copies.filter(pk=evaluation_id).first()
    if evaluation is None or evaluation.request is None:
        raise Http404("There is no such copy of a case.")
    asks_for_news = request.headers.get("HX-Request") and "seen" in request.GET
    if asks_for_news and is_open(evaluation) and request.GET["seen"] == evaluation.status:
        return HttpResponse(status=204)
    template = "desk/evaluation/copy_news.html" if asks_for_news else "desk/evaluation/played_again.html"
    return render(request, template, _context(request, evaluation, evaluation.request))


def is_open(evaluation: Evaluation) -> bool:
    """Whether something may still come of it; one whose worker is gone is as good as failed."""
    if evaluation.status == Evaluation.Status.QUEUED:
        return True
    return evaluation.status == Evaluation.Status.RUNNING and not is_lost(evaluation, timezone.now())


def _context(request: HttpRequest, evaluation: Evaluation, case: RefundRequest) -> dict[str, Any]:
    trial = Trial.objects.filter(evaluation=evaluation).first()
    happened = trial.wanted if trial else (evaluation.scenario or {}).get("wanted")
    card = case.approvals.order_by("-opened_at", "-id").first()
    return {
        "evaluation": evaluation,
        "case": case,
        "trial": trial,
        "open": is_open(evaluation),
        "lost": evaluation.status == Evaluation.Status.RUNNING and is_lost(evaluation, timezone.now()),
        "changes": options_in_words(evaluation.options, case.policy.currency),
        "happened": end_in_words(happened, case.currency, card),
        "moved_on": bool(happened and happened.get("status") != case.status),
        "came": end_in_words(trial.got, case.currency) if trial else None,
        "activity": load_activity(case),
        "blocks": kept_blocks(trial.timeline, played_at=evaluation.created_at) if trial else [],
        "left_out": left_out(case),
        "again": f"{reverse('admin:run-again', kwargs={'request_uuid': case.uuid})}?like={evaluation.pk}",
        "frame": frame_of(request),
    }

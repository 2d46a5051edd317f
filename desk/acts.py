"""An act of staff in two steps: a form that says what will happen, and the verb. Without JavaScript the same form is
a page of its own; nothing typed is lost when the verb refuses."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views import View
from django_htmx.http import trigger_client_event

from desk.case import Case, load_case
from desk.frame import frame_of
from desk.lost_session import take_draft
from desk.views import request_or_404
from intake.refusals import Refusal

# Tells the page's script that an error answer is a fragment to show, not a page to throw away.
FRAGMENT = "Desk-Fragment"
NOT_YOURS = "Your account may not do this. Ask a lead, or sign in with another account."


class Act(View):
    """Shows `template` with the act's form, and on POST does it. `permission` is asked before anything is loaded."""

    permission = ""
    template = ""
    say_done = "Done."
    typed_field = "note"  # what a refusal gives back, so that no typed words are lost

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        user: Any = request.user
        if not user.has_perm(self.permission):
            return self.refuse(Refusal("forbidden", NOT_YOURS))
        self.prepare()
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        draft = take_draft(request)
        start = draft or request.GET.dict()
        reason_against = self.reason_against(start)
        if reason_against is not None:
            return self.refuse(reason_against, typed=draft.get(self.typed_field, ""))
        return self.show(self.form(start=start), was_signed_out=bool(draft))

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = self.form(data=request.POST)
        if not form.is_valid():
            return self.show(form, status=400)
        try:
            self.act(form)
        except Refusal as refusal:
            if refusal.code != "invalid_input":
                return self.refuse(refusal, typed=request.POST.get(self.typed_field, ""))
            form.add_error(refusal.field if refusal.field in form.fields else None, refusal.sentence)
            return self.show(form, status=400)
        return self.done()

    def prepare(self) -> None:
        """Loads what the act is about."""

    def reason_against(self, start: dict[str, Any]) -> Refusal | None:
        """Why the form need not even be shown; None: show it."""
        return None

    def form(self, *, data: Any = None, start: dict[str, Any] | None = None) -> forms.Form:
        raise NotImplementedError

    def act(self, form: Any) -> None:
        """Calls the verb. Raises Refusal."""
        raise NotImplementedError

    def context(self) -> dict[str, Any]:
        return {}

    def back(self) -> str:
        """The page to return to without JavaScript."""
        return reverse("admin:index")

    def show(self, form: forms.Form, *, status: int = 200, was_signed_out: bool = False) -> HttpResponse:
        context = {"form": form, "was_signed_out": was_signed_out, "address": self.request.path, **self.context()}
        return self._render(self.template, context, status)

    def refuse(self, refusal: Refusal, *, typed: str = "") -> HttpResponse:
        context = {"refusal": refusal, "typed": typed}
        return self._render("desk/acts/refused.html", context, refusal.http_status)

    def done(self) -> HttpResponse:
        if self.request.headers.get("HX-Request"):
            return trigger_client_event(HttpResponse(status=204), "desk:done", {"say": self.say_done})
        messages.success(self.request, self.say_done)
        return redirect(self.back())

    def _render(self, template: str, context: dict[str, Any], status: int) -> HttpResponse:
        if self.request.headers.get("HX-Request"):
            response = render(self.request, template, context, status=status)
            response.headers[FRAGMENT] = "1"
            return response
        context = {**context, "act": template, "frame": frame_of(self.request), "back": self.back()}
        return render(self.request, "desk/acts/page.html", context, status=status)


class CaseAct(Act):
    """An act on one request; `case` is loaded before the form is made."""

    case: Case

    def prepare(self) -> None:
        self.case = load_case(request_or_404(self.kwargs["request_uuid"]))

    def context(self) -> dict[str, Any]:
        return {"case": self.case}

    def back(self) -> str:
        return reverse("admin:find-case", kwargs={"request_uuid": self.kwargs["request_uuid"]})

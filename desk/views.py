"""The queue and the open request beside it."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from desk.activity import load_activity
from desk.case import find_request, load_case
from desk.forms import SearchForm
from desk.frame import frame_of
from desk.queues import BY_SLUG, page_of, queue_of
from desk.tail import tail_of
from intake.models import RefundRequest
from intake.refusals import Refusal


def queue(request: HttpRequest, slug: str, request_uuid: uuid.UUID | None = None) -> HttpResponse:
    """The whole page; or, asked for by htmx, only the list (`#rows`) or only the open request (`#case`)."""
    if slug not in BY_SLUG:
        raise Http404("There is no such queue.")
    wanted = request.headers.get("HX-Target", "")
    form = SearchForm(request.GET)
    context: dict[str, Any] = {"queue": BY_SLUG[slug], "search": form.words()}
    if request_uuid is not None:
        context.update(case_context(request, request_or_404(request_uuid)))
    if wanted == "case":
        return render(request, "desk/case/case.html", context)
    context["page"] = page_of(BY_SLUG[slug], search=form.words(), number=form.page_number())
    if wanted == "rows":
        return render(request, "desk/queue/rows.html", context)
    context["frame"] = frame_of(request, slug)
    return render(request, "desk/queue/page.html", context)


def find_case(request: HttpRequest, request_uuid: uuid.UUID) -> HttpResponse:
    """To the request in the queue where it stands now."""
    found = request_or_404(request_uuid)
    return redirect("admin:case", slug=queue_of(found.status).slug, request_uuid=found.uuid)


def case_context(request: HttpRequest, found: RefundRequest) -> dict[str, Any]:
    """What `desk/case/` templates read: the case, its timeline with the last line, and what this person may do."""
    activity = load_activity(found)
    return {
        "case": load_case(found),
        "activity": activity,
        "tail": tail_of(activity),
        **permissions(request),
    }


def permissions(request: HttpRequest) -> dict[str, bool]:
    user: Any = request.user
    return {
        "may_decide": user.has_perm("agent.add_decision"),
        "may_receive": user.has_perm("intake.add_receipt"),
        "may_take_back": user.has_perm("agent.add_approval"),
    }


def request_or_404(request_uuid: uuid.UUID) -> RefundRequest:
    try:
        return find_request(request_uuid)
    except Refusal as refusal:
        raise Http404(refusal.sentence) from None

"""What an open page fetches by itself: the card when it changed, newer steps while no websocket is open, counts."""

from __future__ import annotations

import uuid
from dataclasses import asdict

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from desk.activity import load_activity
from desk.case import load_case
from desk.frame import frame_of
from desk.news import case_news, counts_and_brake
from desk.queues import BY_SLUG, queue_of
from desk.views import permissions, request_or_404
from intake.live_consumer import News


class RevForm(forms.Form):
    """The `rev` the page has; nothing readable counts as none."""

    rev = forms.IntegerField(required=False, min_value=0)


def card(request: HttpRequest, request_uuid: uuid.UUID) -> HttpResponse:
    """Everything left of the timeline."""
    found = request_or_404(request_uuid)
    queue = BY_SLUG.get(request.GET.get("queue", ""), queue_of(found.status))
    context = {"case": load_case(found), "activity": load_activity(found), "queue": queue, **permissions(request)}
    return render(request, "desk/case/main.html", context)


def steps(request: HttpRequest, request_uuid: uuid.UUID) -> JsonResponse:
    """The timeline's changes since `?rev=`, in the frames of the websocket."""
    form = RevForm(request.GET)
    rev = form.cleaned_data["rev"] if form.is_valid() else None
    found = request_or_404(request_uuid)
    return JsonResponse({"type": "news", **asdict(case_news(found, rev or 0))})


def counts(request: HttpRequest) -> JsonResponse:
    """Counts and brake, in the frames of the websocket."""
    return JsonResponse({"type": "news", **asdict(News(0, counts_and_brake(frame_of(request))))})

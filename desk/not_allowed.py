"""What staff get for a page of the desk that their account may not see: a sentence inside the desk, with a way back."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from desk.frame import frame_of

ASK_A_LEAD = "If you think it should, ask a lead, or sign in with another account."


def not_allowed(request: HttpRequest, denied: PermissionDenied) -> HttpResponse:
    context = {"frame": frame_of(request), "sentence": str(denied) or ASK_A_LEAD}
    return render(request, "desk/not_allowed.html", context, status=403)

"""Where an address leads nowhere: staff are led back to the desk, customers to their orders."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.defaults import page_not_found

from desk.frame import frame_of
from intake.case_access import may_see_requests


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The desk's frame counts requests, so it is only for those who may see them."""
    if not request.path.startswith(reverse("admin:index")):
        return page_not_found(request, exception)
    if may_see_requests(request.user):
        return render(request, "desk/not_found.html", {"frame": frame_of(request)}, status=404)
    return render(request, "refunddesk/desk_not_found.html", status=404)

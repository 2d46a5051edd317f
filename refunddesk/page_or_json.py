"""An answer to what cannot be answered: JSON for programs, a page for people. Neither asks the database."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from refunddesk.too_large import FOR_PROGRAMS


def page_or_json(request: HttpRequest, status: int, message: dict[str, str], page: str, **facts: Any) -> HttpResponse:
    """`message`: the JSON; `page`: a template, rendered with `facts` and without the visitor."""
    answer: HttpResponse
    if request.path.startswith(FOR_PROGRAMS):
        answer = JsonResponse(message, status=status)
    else:
        answer = HttpResponse(render_to_string(page, facts), status=status)
    answer["Cache-Control"] = "no-store"
    return answer

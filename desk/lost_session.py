"""A session that ran out in the middle of something: the whole page goes to sign in and back, with what was typed.

What was being sent to a form that gives it back is kept in the visitor's (now anonymous) session, which signing in
carries over.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from intake.counted import count_up, counts, key_of
from intake.sign_in_guard import place_of

DRAFT = "desk_draft"
# Ids of the elements that fetch themselves anew, as htmx names them.
REFRESHES_BY_ITSELF = frozenset({"rows", "case-main"})
LONGEST_FIELD = 2000
MOST_FIELDS = 12
MOST_DRAFTS_OF_A_PLACE = 60
DRAFTS_SECONDS = 3600


def sign_in_and_back(request: HttpRequest, *, gives_draft_back: bool) -> HttpResponseBase:
    """To the sign-in page; from there back to the page shown, or to the form that was being sent.

    What was sent is kept only for a form that `gives_draft_back`: any other may hold a password. A part of the page
    that refreshes by itself takes nobody away from what they are typing: the page says it.
    """
    if request.method == "GET" and request.headers.get("HX-Trigger") in REFRESHES_BY_ITSELF:
        return trigger_client_event(HttpResponse(status=204), "desk:signed-out")
    if request.method == "POST" and gives_draft_back and not request.user.is_authenticated:
        _keep_draft_of_a_few(request)
    back = _address_after(request)
    if request.headers.get("HX-Request"):
        return HttpResponseClientRedirect(f"{reverse('admin:login')}?{urlencode({'next': back})}")
    return redirect_to_login(back, reverse("admin:login"))


def take_draft(request: HttpRequest) -> dict[str, str]:
    """What was typed at this address before the session ran out, once; empty when nothing was.

    A form that is one choice of several (`?choice=`) never gets what was typed for another.
    """
    draft: dict[str, Any] = request.session.get(DRAFT) or {}
    fields: dict[str, str] = draft.get("fields", {})
    if draft.get("path") != request.path or fields.get("choice", "") != request.GET.get("choice", ""):
        return {}
    del request.session[DRAFT]
    return dict(fields)


def _address_after(request: HttpRequest) -> str:
    if request.method == "POST":
        choice = request.POST.get("choice", "")
        return f"{request.path}?{urlencode({'choice': choice})}" if choice else request.path
    return _page_shown(request) or request.get_full_path()


def _page_shown(request: HttpRequest) -> str | None:
    """As htmx says it; anybody may say something that is no address."""
    try:
        return getattr(request, "htmx", None) and request.htmx.current_url_abs_path  # type: ignore[attr-defined]
    except ValueError:
        return None


def _keep_draft_of_a_few(request: HttpRequest) -> None:
    """Each is a new row, and nobody has shown yet that they are staff."""
    place = place_of(request)
    key = key_of("desk-drafts:place", place) if place else ""
    if counts(key).get(key, 0) < MOST_DRAFTS_OF_A_PLACE:
        count_up(key, seconds=DRAFTS_SECONDS)
        _keep_draft(request)


def _keep_draft(request: HttpRequest) -> None:
    fields = {
        name: str(value)[:LONGEST_FIELD]
        for name, value in list(request.POST.items())[:MOST_FIELDS]
        if _may_be_kept(name)
    }
    request.session[DRAFT] = {"path": request.path, "fields": fields}


def _may_be_kept(name: str) -> bool:
    return name != "csrfmiddlewaretoken" and "password" not in name.lower()

"""The page of one request, its news for a page without a websocket, and the form that answers a question."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from intake.case_access import request_of
from intake.forms import AnswerForm
from intake.live_consumer import News
from intake.models import RefundRequest
from intake.photos import MAX_PHOTOS
from intake.refusals import Refusal
from intake.request_news import news_for_customer
from intake.request_page import load_page
from intake.sent_photos import SentPhotos, read_sent_photos
from intake.signed_in import signed_in
from intake.submit_reply import MESSAGE_LENGTH, submit_reply

WRONG_INPUT = 400


@require_safe
@never_cache
@login_required
def request_page(request: HttpRequest, uuid: str) -> HttpResponse:
    found = _found(signed_in(request), uuid)
    return _page(request, found, AnswerForm(), SentPhotos())


@require_safe
@never_cache
def request_news(request: HttpRequest, uuid: str) -> HttpResponse:
    """What is newer than `?rev=`, as the websocket would send it."""
    if not isinstance(request.user, User):
        return JsonResponse({"error": "not_authenticated", "message": "Sign in again."}, status=401)
    found = _found(request.user, uuid)
    rev = _rev(request)
    if rev > found.rev:
        return JsonResponse(_frame(News(found.rev, reload=True)))
    return JsonResponse(_frame(news_for_customer(found, rev) if rev < found.rev else News(rev)))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def answer(request: HttpRequest, uuid: str) -> HttpResponse:
    """GET gives only the form, for a page that learned of a new question; POST sends the answer."""
    customer = signed_in(request)
    found = _found(customer, uuid)
    if request.method != "POST":
        if not request.headers.get("X-Part"):
            return redirect("request", uuid=found.uuid)
        return render(request, "intake/request/to_do.html", _context(found, AnswerForm(), SentPhotos()))
    sent = read_sent_photos(request, customer)
    form = AnswerForm(request.POST)
    if sent.only_removing:
        typed = AnswerForm(initial={"message": request.POST.get("message", "")})
        return _page(request, found, typed, sent)
    if sent.problems or not form.is_valid():
        return _page(request, found, form, sent, status=WRONG_INPUT)
    try:
        submit_reply(
            customer=customer,
            request_uuid=found.uuid,
            message=form.cleaned_data["message"],
            photo_ids=[photo.pk for photo in sent.kept],
            source=RefundRequest.Source.PAGE,
        )
    except Refusal as refusal:
        form.add_error("message" if refusal.field == "message" else None, refusal.sentence)
        return _page(request, _found(customer, uuid), form, sent, status=refusal.http_status)
    return redirect("request", uuid=found.uuid)


def _found(customer: User, uuid: str) -> RefundRequest:
    try:
        return request_of(customer, uuid)
    except Refusal:
        raise Http404 from None


def _page(
    request: HttpRequest, found: RefundRequest, form: AnswerForm, sent: SentPhotos, *, status: int = 200
) -> HttpResponse:
    return render(request, "intake/request.html", _context(found, form, sent), status=status)


def _context(found: RefundRequest, form: AnswerForm, sent: SentPhotos) -> dict[str, Any]:
    return {
        "page": load_page(found),
        "form": form,
        "sent": sent,
        "max_photos": MAX_PHOTOS,
        "message_length": MESSAGE_LENGTH,
    }


def _frame(news: News) -> dict[str, Any]:
    return {"type": "news", **asdict(news)}


def _rev(request: HttpRequest) -> int:
    given = request.GET.get("rev", "0")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0

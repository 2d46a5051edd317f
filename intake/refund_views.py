"""The form that asks for a refund of one order line."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from intake.forms import RefundForm
from intake.line_offer import LineOffer, offer_for
from intake.models import RefundRequest
from intake.photos import MAX_PHOTOS
from intake.refusals import Refusal
from intake.sent_photos import SentPhotos, read_sent_photos
from intake.signed_in import signed_in
from intake.submit_request import DETAILS_LENGTH, NEEDS_PHOTO, find_line, submit_request

WRONG_INPUT = 400


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def refund_new(request: HttpRequest, number: str, sku: str) -> HttpResponse:
    customer = signed_in(request)
    offer = _offer(customer, number, sku)
    if offer.refusal:
        return _not_now(request, offer, offer.refusal)
    if request.method != "POST":
        return _page(request, offer, RefundForm(offer), SentPhotos())
    return _submit(request, customer, offer)


def _submit(request: HttpRequest, customer: User, offer: LineOffer) -> HttpResponse:
    sent = read_sent_photos(request, customer)
    form = RefundForm(offer, request.POST)
    if sent.only_removing:
        return _page(request, offer, RefundForm(offer, typed=request.POST.dict()), sent)
    if sent.problems or not form.is_valid():
        return _page(request, offer, form, sent, status=WRONG_INPUT)
    try:
        made = submit_request(
            customer=customer,
            order_number=offer.line.order.number,
            sku=offer.line.sku,
            reason=form.cleaned_data["reason"],
            details=form.cleaned_data["details"],
            units=form.cleaned_data.get("units"),
            photo_ids=[photo.pk for photo in sent.kept],
            source=RefundRequest.Source.PAGE,
        )
    except Refusal as refusal:
        if refusal.code == "request_exists":
            return _not_now(request, _offer(customer, offer.line.order.number, offer.line.sku), refusal)
        if refusal.code == "photo_required":
            sent.problems.append(refusal.sentence)
        else:
            form.add_error(refusal.field if refusal.field in form.fields else None, refusal.sentence)
        return _page(request, offer, form, sent, status=refusal.http_status)
    return redirect("request", uuid=made.uuid)


def _not_now(request: HttpRequest, offer: LineOffer, refusal: Refusal) -> HttpResponse:
    context = {"offer": offer, "refusal": refusal, "typed": request.POST.get("details", "")}
    return render(request, "intake/refund_not_now.html", context, status=refusal.http_status)


def _page(
    request: HttpRequest, offer: LineOffer, form: RefundForm, sent: SentPhotos, *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {
        "offer": offer,
        "form": form,
        "sent": sent,
        "max_photos": MAX_PHOTOS,
        "details_length": DETAILS_LENGTH,
        "photo_reasons": " ".join(sorted(NEEDS_PHOTO)),
        "amount_minor": offer.amount_for(offer.refundable_units),
    }
    return render(request, "intake/refund_new.html", context, status=status)


def _offer(customer: User, number: str, sku: str) -> LineOffer:
    try:
        line = find_line(customer, number, sku)
    except Refusal:
        raise Http404 from None
    return offer_for(line, list(line.refund_requests.all()))

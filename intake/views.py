"""The customers' pages that show something; `refund_views`, `answer_views` and `sign_in_views` take the forms."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from intake.api_errors import OLD_PAGE
from intake.case_access import read_uuid, requests_of
from intake.orders_page import orders_of
from intake.photos import photos_for, read_photo
from intake.policy_in_force import policy_in_force
from intake.policy_texts import render_section
from intake.request_page import with_waiting_refunds
from intake.sign_in_views import STAFF_HOME
from intake.signed_in import signed_in
from intake.statuses import Status

ORDERS_PER_PAGE = 10
REQUESTS_PER_PAGE = 20
WAITING_SHOWN = 3
LAST_PAGE = 1000
PHOTO_CACHE_SECONDS = 24 * 60 * 60


@require_safe
@never_cache
@login_required
def orders(request: HttpRequest) -> HttpResponse:
    customer = signed_in(request)
    if customer.is_staff:
        return HttpResponseRedirect(STAFF_HOME)
    number = _page_number(request)
    start = (number - 1) * ORDERS_PER_PAGE
    found = orders_of(customer, start=start, stop=start + ORDERS_PER_PAGE + 1)
    waiting = with_waiting_refunds(requests_of(customer)).filter(
        Q(status__in=[Status.NEEDS_CUSTOMER, Status.AWAITING_RETURN])
        | Q(status=Status.REFUNDING, refund_waits_for_customer=True)
    )
    context = {
        "orders": found[:ORDERS_PER_PAGE],
        "waiting": list(waiting.select_related("line")[:WAITING_SHOWN]),
        "number": number,
        "more": len(found) > ORDERS_PER_PAGE,
    }
    return render(request, "intake/orders.html", context)


@require_safe
@never_cache
@login_required
def requests(request: HttpRequest) -> HttpResponse:
    found = with_waiting_refunds(requests_of(signed_in(request))).select_related("line__order")
    page = Paginator(found, REQUESTS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "intake/requests.html", {"page": page})


@require_safe
def policy(request: HttpRequest) -> HttpResponse:
    """Open to everyone: who thinks about buying may read it too."""
    version = policy_in_force()
    sections = version.sections.select_related("policy")
    texts = [{"topic": section.topic, "title": section.title, "text": render_section(section)} for section in sections]
    return render(request, "intake/policy.html", {"version": version, "sections": texts})


@require_safe
@login_required
def photo(request: HttpRequest, uuid: str) -> HttpResponse:
    """The stored JPEG for its owner or staff; for everyone else it does not exist."""
    parsed = read_uuid(uuid)
    found = photos_for(signed_in(request)).filter(pk=parsed).first() if parsed else None
    if found is None:
        raise Http404
    try:
        jpeg = read_photo(found)
    except OSError:
        raise Http404 from None
    response = HttpResponse(jpeg, content_type="image/jpeg")
    response["Content-Disposition"] = "inline"
    response["X-Content-Type-Options"] = "nosniff"
    patch_cache_control(response, private=True, max_age=PHOTO_CACHE_SECONDS)
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A full page in the shop's look, with the way back to the page whose form was sent; for a part of a page only the
    sentence, which its script shows in place."""
    if request.headers.get("HX-Request"):
        return HttpResponse(OLD_PAGE, status=403, content_type="text/plain; charset=utf-8")
    if not request.accepts("text/html") or request.path.startswith("/api/"):
        return JsonResponse({"error": "forbidden", "message": OLD_PAGE}, status=403)
    return render(request, "403_csrf.html", {"sent_from": _sent_from(request)}, status=403)


def _sent_from(request: HttpRequest) -> str:
    """The page of the shop whose form this was; empty where the browser does not say. The address the form was sent to
    is none to open: some take nothing but forms."""
    page = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return page if ours else ""


def _page_number(request: HttpRequest) -> int:
    given = request.GET.get("page", "")
    return min(max(int(given), 1), LAST_PAGE) if given.isascii() and given.isdigit() and len(given) < 6 else 1

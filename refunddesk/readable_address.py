"""An address with a NUL in it is nobody's: it is refused here, since PostgreSQL and files stumble over it later."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from refunddesk.page_or_json import page_or_json

NUL = "\0"
NUL_WRITTEN = "%00"
SENTENCE = "The address holds a character (NUL) that no address of this shop has. Nothing was done."


class ReadableAddress(MiddlewareMixin):
    """Answers 400 to a NUL in the path or the query string."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if not _holds_nul(request):
            return None
        message = {"error": "invalid_input", "message": SENTENCE}
        at_desk = request.path.startswith("/desk/")
        page = "refunddesk/unreadable_address.html"
        return page_or_json(request, 400, message, page, sentence=SENTENCE, at_desk=at_desk)


def _holds_nul(request: HttpRequest) -> bool:
    query: str = request.META.get("QUERY_STRING", "")
    return NUL in request.path or NUL in query or NUL_WRITTEN in query

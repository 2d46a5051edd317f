"""What is answered when a request ends in an error nobody expected, above all when the database is away or busy.

This stands where Django turns errors into answers, since that is around every middleware too: one that is put around
the others never sees their errors.
"""

from __future__ import annotations

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.log import log_response
from django.views.defaults import server_error

from refunddesk.page_or_json import page_or_json
from refunddesk.too_large import FOR_PROGRAMS

AGAIN_AFTER_SECONDS = 60
OUR_FAULT = "Something went wrong on our side. Look whether it was done before you send it again."
SENTENCE = "The shop's records cannot be reached right now. Send it again in a minute; what was saved before is safe."


def try_again_or_server_error(request: HttpRequest) -> HttpResponse:
    """503 with `Retry-After` when the database did not do its part, also because of a lock; else the plain 500, for
    programs as JSON."""
    error = sys.exc_info()[1]
    if isinstance(error, OperationalError | InterfaceError):
        return _try_again(request, error)
    if request.path.startswith(FOR_PROGRAMS):
        return JsonResponse({"error": "server_error", "message": OUR_FAULT}, status=500)
    return server_error(request)


def _try_again(request: HttpRequest, error: Exception) -> HttpResponse:
    again = request.get_full_path() if request.method in {"GET", "HEAD"} else ""
    message = {"error": "try_again", "message": SENTENCE}
    answer = page_or_json(request, 503, message, "refunddesk/try_again.html", again=again)
    answer["Retry-After"] = str(AGAIN_AFTER_SECONDS)
    words = " ".join(str(error).split())
    # Marks the answer as logged, so that Django does not add the whole trace.
    log_response("the database could not be used: %s: %s", request.path, words, response=answer, request=request)
    return answer

"""Turns every error of the HTTP API into `{"error": code, "message": sentence}`."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from intake.refusals import Refusal

OLD_PAGE = "This page is too old. Reload it and try again; nothing was done."
SENTENCES = {
    401: ("not_authenticated", "Sign in first: send `Authorization: Token <token>`; POST token gives you one."),
    403: ("forbidden", "Your account may not do this."),
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take that method."),
    429: ("too_many_requests", "Too many requests. Wait a little and try again."),
}


def answer_with_sentence(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler; None (an unknown error) becomes a plain 500 that tells nothing internal."""
    if isinstance(error, Refusal):
        return Response(error.as_json(), status=error.http_status)
    if isinstance(error, exceptions.ValidationError):
        return Response(_invalid_input(error.detail), status=400)
    if isinstance(error, exceptions.ParseError | exceptions.UnsupportedMediaType | SuspiciousOperation):
        sentence = "The body could not be read. Send JSON, or multipart for a photo."
        return Response({"error": "invalid_input", "message": sentence}, status=400)
    if isinstance(error, exceptions.PermissionDenied) and str(error.detail).startswith("CSRF Failed"):
        return Response({"error": "forbidden", "message": OLD_PAGE}, status=403)
    if isinstance(error, Http404 | PermissionDenied | exceptions.APIException):
        response = exception_handler(error, context)
        if response is not None:
            code, sentence = SENTENCES.get(response.status_code, ("invalid_input", "The request could not be read."))
            response.data = {"error": code, "message": sentence}
        return response
    return None


def _invalid_input(detail: Any) -> dict[str, str]:
    """The first field's first sentence; the whole list would say the same thing several times."""
    if isinstance(detail, dict):
        field, sentences = next(iter(detail.items()))
        sentence = _first(sentences)
        if field == "non_field_errors":
            return {"error": "invalid_input", "message": sentence}
        return {"error": "invalid_input", "message": f"{field}: {sentence}", "field": str(field)}
    return {"error": "invalid_input", "message": _first(detail)}


def _first(value: Any) -> str:
    while isinstance(value, list | dict) and value:
        value = value[0] if isinstance(value, list) else next(iter(value.values()))
    return str(value).encode(errors="replace").decode()  # half characters that were sent cannot be sent back

"""A refusal: something a person asked for cannot be done, in a sentence that every door (page, API, command) shows."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """Raised by verbs before anything is written (or so that the transaction is undone).

    `code` is one of `HTTP_STATUS`; `sentence` says what is wrong and what to do; `extra` are more JSON fields.
    """

    HTTP_STATUS = {
        "invalid_input": 400,
        "photo_rejected": 400,
        "not_authenticated": 401,
        "forbidden": 403,
        "order_not_found": 404,
        "item_not_found": 404,
        "request_not_found": 404,
        "photo_not_found": 404,
        "approval_not_found": 404,
        "not_found": 404,
        "method_not_allowed": 405,
        "request_exists": 409,
        "not_delivered": 409,
        "not_waiting_for_reply": 409,
        "not_waiting_for_return": 409,
        "not_waiting": 409,
        "already_decided": 409,
        "photo_required": 422,
        "too_many_requests": 429,
        "try_again": 503,
    }

    def __init__(self, code: str, sentence: str, *, field: str = "", **extra: Any) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.field = field
        self.extra = extra
        self.http_status = self.HTTP_STATUS[code]

    def as_json(self) -> dict[str, Any]:
        """`{"error": code, "message": sentence, ...}`, as every error of the HTTP API looks."""
        field = {"field": self.field} if self.field else {}
        return {"error": self.code, "message": self.sentence, **field, **self.extra}

"""What is newer on the customer's page of a request than the browser knows, as rendered fragments."""

from __future__ import annotations

from django.template.loader import render_to_string

from intake.live_consumer import Fragment, News
from intake.models import RefundRequest
from intake.request_page import RequestPage, load_page


def news_for_customer(request: RefundRequest, rev: int) -> News:
    """The status panel, the answer form's place when it changed, and every step written after `rev`."""
    page = load_page(request)
    steps = [update for update in reversed(page.updates) if update.step.rev > rev]
    fragments = [
        Fragment("standing", render_to_string("intake/request/standing.html", {"page": page})),
        Fragment("to-do", _to_do(page)),
        *(
            Fragment(
                f"step-{update.step.position}",
                render_to_string("intake/request/update.html", {"update": update}),
                into="updates-list",
            )
            for update in steps
        ),
    ]
    return News(request.rev, tuple(fragments))


def _to_do(page: RequestPage) -> str:
    """A form is not pushed but fetched by the page, so that it carries the session's own CSRF token."""
    return render_to_string("intake/request/to_do_place.html", {"page": page})

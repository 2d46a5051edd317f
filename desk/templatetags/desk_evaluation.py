"""What the case page says of its copies: at most a handful, newest first, with what each came to."""

from __future__ import annotations

from typing import Any

from django import template

from agent.models import Evaluation
from desk.evaluation_scope import scope_of
from intake.models import RefundRequest
from intake.statuses import ENDS

register = template.Library()

MOST_COPIES = 5
TONES = {"queued": "quiet", "running": "agent", "done": "quiet", "failed": "no"}


@register.inclusion_tag("desk/evaluation/copies.html", takes_context=True)
def copies_of(context: dict[str, Any], request: RefundRequest) -> dict[str, Any]:
    """One query."""
    found = request.played_again.select_related("asked_by").order_by("-created_at", "id")
    copies = list(found.defer("scenario")[: MOST_COPIES + 1])
    return {
        "perms": context["perms"],
        "request_uuid": request.uuid,
        "closed": request.status in ENDS,
        "copies": copies[:MOST_COPIES],
        "more": len(copies) > MOST_COPIES,
    }


register.filter("scope", scope_of)


@register.filter
def evaluation_tone(evaluation: Evaluation) -> str:
    return TONES[evaluation.status]

"""Orders and requests as the HTTP API gives them to their customer."""

from __future__ import annotations

from typing import Any

from intake.line_offer import LineOffer
from intake.models import RefundRequest, Return
from intake.orders_page import OrderView
from intake.request_page import actor_name, customer_steps
from intake.statuses import Status
from intake.submit_reply import open_question


def order_json(view: OrderView) -> dict[str, Any]:
    order, card = view.order, view.card
    return {
        "number": order.number,
        "placed_at": order.placed_at,
        "status": view.status,
        "currency": order.currency,
        "total": view.total_minor,
        "card": {"brand": card.card_brand, "last4": card.card_last4} if card else None,
        "lines": [_line_json(offer) for offer in view.offers],
    }


def request_json(request: RefundRequest) -> dict[str, Any]:
    """`request` with its customer; only what the customer may read, steps oldest first."""
    question = open_question(request.pk) if request.status == Status.NEEDS_CUSTOMER else None
    parcel = request.returns.exclude(status=Return.Status.WITHDRAWN).order_by("-created_at", "-id").first()
    return {
        "id": request.uuid,
        "number": request.number,
        "status": request.status,
        "amount": request.amount_minor,
        "currency": request.currency,
        "units": request.units,
        "reason": request.reason,
        "question": question.text if question else None,
        "return": parcel,
        "steps": [
            {
                "rev": step.rev,
                "kind": step.kind,
                "actor_name": actor_name(step, request),
                "title": step.title,
                "detail": step.detail,
                "at": step.created_at,
            }
            for step in reversed(customer_steps(request))
        ],
    }


def _line_json(offer: LineOffer) -> dict[str, Any]:
    line, newest = offer.line, offer.newest
    return {
        "sku": line.sku,
        "name": line.name,
        "quantity": line.quantity,
        "unit_price": line.unit_price_minor,
        "paid": line.paid_minor,
        "delivered_at": line.delivered_at,
        "refundable_units": offer.refundable_units,
        "reason_not": offer.refusal.code if offer.refusal else None,
        "reason_not_message": offer.refusal.sentence if offer.refusal else None,
        "request": {"id": newest.uuid, "number": newest.number, "status": newest.status} if newest else None,
    }

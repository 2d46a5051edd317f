"""The door for the payment provider's messages. What is not signed by the provider leaves no trace."""

from __future__ import annotations

import logging
import re
import time

import stripe
from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from payments.providers.base import NoAnswer
from payments.providers.stripe_line import RefusedByStripe
from payments.stripe_events import StripeEvent, take_event

logger = logging.getLogger(__name__)
MOST_BYTES = 256 * 1024
MOST_SECONDS_OLD = 300
SIGNATURE = "Stripe-Signature"
SIGNED_AT = re.compile(r"(?:^|,)\s*t=(\d{1,15})(?=,|$)")


class BadMessage(Exception):
    """What is wrong with a message, as a code and a sentence for whoever sends it."""

    def __init__(self, code: str, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.code = code
        self.status = status


@csrf_exempt
@require_POST
def stripe_webhook(request: HttpRequest) -> JsonResponse:
    """200 for every message of Stripe, also the second time; 400 for what is not Stripe's; 503: send it again later."""
    try:
        event = _read_event(_checked_body(request))
        taken = take_event(event)
    except BadMessage as bad:
        logger.warning("a message for Stripe's webhook was refused: %s", bad)
        return JsonResponse({"error": bad.code, "message": str(bad)}, status=bad.status)
    except (NoAnswer, RefusedByStripe) as error:
        logger.warning("a message of Stripe was put off: %s", error)
        sentence = "Stripe could not be asked for the refunds it speaks of. Send the message again later."
        return JsonResponse({"error": "try_again", "message": sentence}, status=503)
    return JsonResponse({"received": True, "new": taken})


def _checked_body(request: HttpRequest) -> bytes:
    """The raw bytes, if Stripe signed exactly these and not long ago. Raises BadMessage."""
    secret = settings.STRIPE_WEBHOOK_SECRET
    if not secret:
        raise BadMessage("not_configured", "STRIPE_WEBHOOK_SECRET is not set here, so no message can be checked.", 503)
    header = request.headers.get(SIGNATURE, "")
    if not header:
        raise BadMessage("signature_missing", f"The header {SIGNATURE} is missing; only Stripe's messages are taken.")
    body = request.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise BadMessage("too_large", f"The message is larger than {MOST_BYTES // 1024} KiB.", 413)
    if not _is_signed(body, header, secret, None):
        raise BadMessage("signature_wrong", "The signature does not fit the message; it was changed, or not Stripe's.")
    if not _is_signed(body, header, secret, MOST_SECONDS_OLD):
        raise BadMessage("signature_stale", f"The signature is older than {MOST_SECONDS_OLD} seconds; sign it anew.")
    if _signed_at(header) > time.time() + MOST_SECONDS_OLD:
        raise BadMessage("signature_early", "The signature is of a moment to come; set the clock and sign it anew.")
    return body


def _signed_at(header: str) -> float:
    """The moment a checked header names."""
    found = SIGNED_AT.search(header)
    return float(found[1]) if found else 0.0


def _is_signed(body: bytes, header: str, secret: str, most_seconds_old: int | None) -> bool:
    try:
        return bool(stripe.WebhookSignature.verify_header(body, header, secret, most_seconds_old))
    except (stripe.SignatureVerificationError, UnicodeDecodeError, TypeError):  # TypeError: a signature beyond ASCII
        return False


def _read_event(body: bytes) -> StripeEvent:
    try:
        return StripeEvent.model_validate_json(body)
    except ValidationError:
        raise BadMessage("not_an_event", "The message is signed, but it is no event of Stripe.") from None

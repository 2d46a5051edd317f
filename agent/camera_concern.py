"""Puts on the card what speaks against a request by the camera's clock. Staff read it; no rule and no model does."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from agent.outcomes import Handover, Point
from intake.camera_facts import camera_word, moments_of
from intake.look_alikes import photos_of
from intake.models import RefundRequest


def with_camera_concern(handover: Handover, request: RefundRequest) -> Handover:
    """`handover` with one more concern in front when a picture was taken before the order was placed.

    The sentence holds a time and numbers only, nothing that a camera calls itself.
    """
    moments = moments_of(request.line, request.created_at)
    words = [camera_word(photo.camera, moments, settings.SHOP_TIME_ZONE) for photo in photos_of(request.pk)]
    against = [word.sentence for word in words if word is not None and word.standing == "against"]
    if not against:
        return handover
    which = "A photo was" if len(against) == 1 else f"{len(against)} photos were taken before the order. One was"
    told = f"{which} {against[0][0].lower()}{against[0][1:]}. A camera's clock can be wrong."
    return replace(handover, concerns=(Point(told, source="code"), *handover.concerns))

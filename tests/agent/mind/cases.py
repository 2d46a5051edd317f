"""Requests for the demo's items with the demo's own pictures, and the first step of a worker."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.utils import timezone

from agent.lease import Lease
from agent.models import Run
from agent.runs import claim
from intake.models import Photo, RefundRequest, Reply
from intake.picture import CleanPicture, clean
from intake.policy_in_force import policy_in_force
from tests.factories import RequestFactory
from tests.openai_server import OpenAIServer

PHOTOS = Path(settings.BASE_DIR) / "fixtures" / "photos"
GEAR = {
    "carafe": ("CAR-600", "Glass carafe, 600 ml", 3400),
    "kettle": ("KTL-09", "Gooseneck kettle, 0.9 L", 12900),
    "grinder": ("GRD-C40", "Conical burr grinder", 24900),
    "scale": ("SCL-01", "Digital brew scale", 5900),
    "dripper": ("DRP-02", "Ceramic pour-over dripper", 2800),
    "mugs": ("MUG-2", "Double-wall glass mugs, set of 2", 2400),
    "hand grinder": ("HGR-01", "Hand grinder", 11900),
}
# What staff write when they decline what "dripper-no-damage" shows.
NOTE = "The photo shows the dripper whole. We saw no crack."


def make_request(gear: str, *photos: str, days: int = 5, **fields: Any) -> RefundRequest:
    """A request for one of the demo's items, delivered `days` ago, with pictures out of the fixtures."""
    sku, name, price = GEAR[gear]
    request: RefundRequest = RequestFactory(
        line__sku=sku,
        line__name=name,
        line__unit_price_minor=price,
        line__delivered_at=timezone.now() - timedelta(days=days),
        policy=policy_in_force(),
        **fields,
    )
    for photo in photos:
        add_photo(photo, request=request)
    return request


def add_photo(name: str, *, request: RefundRequest | None = None, reply: Reply | None = None) -> Photo:
    """A stored copy of the fixture `name`, cleaned as an upload is."""
    picture = _cleaned(name)
    owner = request.customer if request else reply.question.request.customer  # type: ignore[union-attr]
    photo = Photo(owner=owner, digest=picture.digest, width=picture.width, height=picture.height)
    photo.request, photo.reply = request, reply
    photo.file.save("picture.jpg", ContentFile(picture.jpeg), save=True)
    return photo


@cache
def _cleaned(name: str) -> CleanPicture:
    return clean((PHOTOS / f"{name}.jpg").read_bytes())


def begin(request: RefundRequest) -> Lease:
    """Claims the request's queued run, as a worker does."""
    lease = claim(Run.objects.get(request=request, status=Run.Status.QUEUED).pk)
    assert lease is not None
    return lease


def talk_to(server: OpenAIServer, settings: Any) -> None:
    """From now on the product uses the model behind `server` and no other, with the real SDK."""
    settings.SCRIPTED_MODEL = "never"
    settings.LLM_BASE_URL = server.url
    settings.LLM_API_KEY = "sk-test"
    settings.LLM_MODEL = settings.LLM_VISION_MODEL = "scripted/model-1"

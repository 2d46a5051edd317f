"""The scripted model's eyes: they know the pictures in `fixtures` by the digest of the cleaned copy, and no others.

`yes` only when item and reason match, `no` when a known picture shows something else, `unclear` for any other, so
that a picture nobody described fails towards a person.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from agent.llm.base import Message, Temporary
from agent.llm.scripted_conversation import Conversation, read_conversation
from intake.picture import clean
from intake.refusals import Refusal

logger = logging.getLogger(__name__)

PREFIX = "data:image/jpeg;base64,"
BEST_EVIDENCE_FIRST = ("yes", "unclear", "no")


@dataclass(frozen=True)
class KnownPicture:
    """One entry of a `catalog.json`; `reasons` are the request reasons it is evidence for."""

    sku: str
    reasons: frozenset[str]
    shows: str
    addresses_reviewer: bool
    unclear: bool


def look(messages: Sequence[Message]) -> dict[str, Any]:
    """The report on all pictures of the conversation, as arguments of `report_photos`. Raises Temporary."""
    conversation = read_conversation(messages)
    try:
        pictures = known_pictures()
    except Refusal:  # too many other pictures are being cleaned at this moment
        raise Temporary("The scripted model's eyes are busy.") from None
    known = [pictures.get(digest) for digest in _digests(messages)]
    verdicts = {_verdict(picture, conversation) for picture in known}
    verdict = next((name for name in BEST_EVIDENCE_FIRST if name in verdicts), "unclear")
    shown = [picture.shows for picture in known if picture]
    return {
        "description": " ".join(shown) or "A picture the scripted model does not know.",
        "verdict": verdict,
        "explanation": EXPLANATIONS[verdict],
        "text_addresses_reviewer": any(picture.addresses_reviewer for picture in known if picture),
    }


EXPLANATIONS = {
    "yes": "The picture shows the item with the problem the customer describes.",
    "no": "The picture does not show this item with the problem the customer describes.",
    "unclear": "The scripted model only knows the demo's own pictures, so this one needs a person's eye.",
}


@cache
def known_pictures() -> dict[str, KnownPicture]:
    """By digest of the stored copy: the fixtures go through the same cleaning as an upload, once per process."""
    fixtures = Path(settings.BASE_DIR) / "fixtures"
    return _pictures_in(fixtures / "photos") | _pictures_in(fixtures / "scenarios" / "photos")


def _pictures_in(folder: Path) -> dict[str, KnownPicture]:
    """Those of the folder's catalogue; `scripted_knows` is false where a scenario needs a picture nobody described."""
    try:
        catalog = json.loads((folder / "catalog.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        logger.warning("there is no catalogue of pictures in %s; the scripted model knows none of it", folder.name)
        return {}
    taught = [entry for entry in catalog if entry.get("scripted_knows", True) and (folder / entry["file"]).exists()]
    return {clean((folder / entry["file"]).read_bytes()).digest: _known(entry) for entry in taught}


def _known(entry: dict[str, Any]) -> KnownPicture:
    return KnownPicture(
        sku=entry["item_sku"],
        reasons=frozenset(entry["reasons"]),
        shows=entry["shows"],
        addresses_reviewer=entry["text_addresses_reviewer"],
        unclear=entry.get("unclear", False),
    )


def _verdict(picture: KnownPicture | None, conversation: Conversation) -> str:
    if picture is None:
        return "unclear"
    if picture.sku != conversation.sku or conversation.reason not in picture.reasons:
        return "no"
    return "unclear" if picture.unclear else "yes"


def _digests(messages: Sequence[Message]) -> list[str]:
    digests = []
    for message in messages:
        parts = message["content"] if isinstance(message.get("content"), list) else ()
        for part in parts:
            url = part.get("image_url", {}).get("url", "")
            if url.startswith(PREFIX):
                digests.append(_digest(url.removeprefix(PREFIX)))
    return digests


def _digest(encoded: str) -> str:
    try:
        return hashlib.sha256(base64.b64decode(encoded, validate=True)).hexdigest()
    except binascii.Error:
        return ""

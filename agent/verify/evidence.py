"""What the decisions rest on: the customer's pictures and the timeline, as they were sealed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from agent.seal_steps import step_digest
from agent.verify.pages import Pages
from intake.models import Step
from intake.photos import read_photo


def check_photos(pages: Pages) -> Iterator[str]:
    now = {str(photo.pk): photo.digest for photo in pages.photos}
    for link in pages.links:
        for photo in link.facts.get("photos", []):
            if photo["id"] not in now:
                yield f"A photo of link {link.sequence} is not in the book any more."
            elif now[photo["id"]] != photo["sha256"]:
                yield f"A photo of link {link.sequence} has another digest than was sealed."


def check_files(pages: Pages) -> Iterator[str]:
    """The stored files themselves: each has the digest its row says. Reads every picture."""
    for number, photo in enumerate(pages.photos, start=1):
        try:
            found = hashlib.sha256(read_photo(photo)).hexdigest()
        except OSError:
            yield f"The file of photo {number} cannot be read."
        else:
            if found != photo.digest:
                yield f"The file of photo {number} is not the picture that was sent."


def check_timeline(pages: Pages) -> Iterator[str]:
    """Each sealed step as it was, and none put in between since."""
    sealed, sealed_rev = {}, 0
    for link in pages.links:
        sealed.update(link.facts["timeline"]["steps"])
        sealed_rev = max(sealed_rev, link.facts["timeline"]["rev"])
    now = {str(step.position): step for step in pages.steps}
    for position, digest in sealed.items():
        step = now.get(position)
        if step is None:
            yield f"Step {position} of the timeline is missing."
        elif step_digest(step) != digest:
            yield f"Step {position} of the timeline is not as it was sealed."
    for position, step in now.items():
        if position not in sealed and step.rev <= sealed_rev and step.state != Step.State.RUNNING:
            yield f"Step {position} of the timeline was put in later."

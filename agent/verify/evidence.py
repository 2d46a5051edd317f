"""What the decisions rest on: the customer's pictures, as they were sealed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from agent.canonical import digest_of
from agent.link_facts import photo_row
from agent.verify.pages import Pages
from intake.photos import read_photo
from intake.picture_looks import looks_fit

SEALED_OF_PHOTOS = {
    "sha256": "digest",
    "looks_sha256": "look",
    "camera_sha256": "word of the camera",
    "sent_with": "place",
}
NO_LOOKS = digest_of([])


def check_photos(pages: Pages) -> Iterator[str]:
    """Each picture as it was sealed; a link from before a fact of it was known or kept holds none, or that of none."""
    now = {str(photo.pk): photo_row(photo) for photo in pages.photos}
    for link in pages.links:
        for sealed in link.facts.get("photos", []):
            row = now.get(sealed["id"])
            if row is None:
                yield f"A photo of link {link.sequence} is not in the book any more."
                continue
            for name, what in SEALED_OF_PHOTOS.items():
                if sealed.get(name, NO_LOOKS) not in (NO_LOOKS, row.get(name)):
                    yield f"A photo of link {link.sequence} has another {what} than was sealed."


def check_files(pages: Pages) -> Iterator[str]:
    """The stored files themselves: each has the digest its row says, and looks as the row says. Reads every picture."""
    for number, photo in enumerate(pages.photos, start=1):
        try:
            jpeg = read_photo(photo)
        except OSError:
            yield f"The file of photo {number} cannot be read."
            continue
        if hashlib.sha256(jpeg).hexdigest() != photo.digest:
            yield f"The file of photo {number} is not the picture that was sent."
        elif photo.looks and not looks_fit(photo.looks, jpeg):
            yield f"The file of photo {number} does not look as its row says."

"""The photos that come with a page's form: those sent earlier (by id) and those sent now (as files)."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from intake.case_access import read_uuid
from intake.models import Photo
from intake.photos import MAX_PHOTOS, NOT_STORED, keep_photo, shown_name, unused_photos
from intake.refusals import Refusal


@dataclass
class SentPhotos:
    """`kept` are unused photos of the customer that the form shows again; `problems` are sentences about files that
    were not taken; `only_removing` says the customer pressed Remove and wants nothing submitted yet."""

    kept: list[Photo] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    only_removing: bool = False


def read_sent_photos(request: HttpRequest, owner: User) -> SentPhotos:
    """Stores the files of a form and looks up the ids it names; nothing of a form is lost for one bad file."""
    removed = request.POST.get("remove", "")
    ids = [parsed for given in request.POST.getlist("photo")[:MAX_PHOTOS] if (parsed := read_uuid(given))]
    known = {photo.pk: photo for photo in unused_photos(owner).filter(pk__in=ids)}
    sent = SentPhotos(only_removing=bool(removed))
    sent.kept = [known[pk] for pk in dict.fromkeys(ids) if pk in known and str(pk) != removed]
    if len(known) < len(set(ids)):
        sent.problems.append("A photo was not found or is already used. Add it again.")
    for upload in request.FILES.getlist("files"):
        _keep(sent, owner, upload)
    return sent


def _keep(sent: SentPhotos, owner: User, upload: UploadedFile[bytes]) -> None:
    name = shown_name(upload.name or "") or "A photo"
    if len(sent.kept) >= MAX_PHOTOS:
        if not sent.problems or not sent.problems[-1].startswith("At most"):
            sent.problems.append(f"At most {MAX_PHOTOS} photos fit; the others were left out.")
        return
    if any(problem.endswith(NOT_STORED) for problem in sent.problems):  # each try may wait long for the store
        sent.problems.append(f"{name}: {NOT_STORED}")
        return
    try:
        sent.kept.append(keep_photo(owner, upload))
    except Refusal as refusal:
        sent.problems.append(f"{name}: {refusal.sentence}")

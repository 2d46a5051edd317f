"""Saves a closed case as a scenario: what was replaced and the file itself, shown first and then for download."""

from __future__ import annotations

import io
import json
import uuid
import zipfile
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from agent.evaluation.from_case import Copied, NotAScenario, save_case
from agent.evaluation.neutral_text import KINDS
from desk.frame import frame_of
from desk.views import request_or_404
from intake.models import RefundRequest
from intake.photos import read_photo
from intake.refusals import Refusal

MAY_SAVE = "agent.add_evaluation"
NO_PHOTO = "The store did not give the case's photos. Try again in a moment."
ZIP_DATE = (2026, 1, 1, 0, 0, 0)  # the same case gives the same file


def save_as_scenario(request: HttpRequest, request_uuid: uuid.UUID) -> HttpResponse:
    case = _case(request, request_uuid)
    try:
        copied = save_case(case)
    except (NotAScenario, Refusal) as reason:
        return _refused(request, case, reason.sentence)
    context = {
        "case": case,
        "scenario": copied.scenario,
        "json": scenario_file(copied),
        "kinds": [(kind, copied.replaced.get(kind, 0)) for kind in KINDS],
        "photos": list(copied.photos.items()),
        "frame": frame_of(request),
    }
    return render(request, "desk/evaluation/save_scenario.html", context)


def download_scenario(request: HttpRequest, request_uuid: uuid.UUID) -> HttpResponse:
    """One zip to unpack into `fixtures/scenarios`: the scenario in its folder, its pictures under `photos`."""
    case = _case(request, request_uuid)
    try:
        copied = save_case(case)
        packed = _zip(copied)
    except (NotAScenario, Refusal) as reason:
        return _refused(request, case, reason.sentence)
    except OSError:
        return _refused(request, case, NO_PHOTO, status=503)
    answer = HttpResponse(packed, content_type="application/zip")
    answer.headers["Content-Disposition"] = f'attachment; filename="{copied.scenario.name}.zip"'
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer


def scenario_file(copied: Copied) -> str:
    """The file as people read it: what is as always is left out, but for the name of each act."""
    scenario = copied.scenario
    said = scenario.model_dump(mode="json", exclude_defaults=True)
    if scenario.then:
        said["then"] = [{"act": act.act, **kept} for act, kept in zip(scenario.then, said["then"], strict=True)]
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def _zip(copied: Copied) -> bytes:
    """Raises OSError when the store does not give a photo."""
    scenario, packed = copied.scenario, io.BytesIO()
    files = {f"{scenario.kind}/{scenario.name}.json": scenario_file(copied).encode()}
    files |= {f"photos/{name}": read_photo(photo) for name, photo in copied.photos.items()}
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, ZIP_DATE), content)
    return packed.getvalue()


def _case(request: HttpRequest, request_uuid: uuid.UUID) -> RefundRequest:
    user: Any = request.user
    if not user.has_perm(MAY_SAVE):
        raise PermissionDenied
    return request_or_404(request_uuid)


def _refused(request: HttpRequest, case: RefundRequest, sentence: str, *, status: int = 409) -> HttpResponse:
    context = {
        "act": "desk/acts/refused.html",
        "refusal": {"sentence": sentence},
        "back": reverse("admin:find-case", kwargs={"request_uuid": case.uuid}),
        "case": case,
        "frame": frame_of(request),
    }
    return render(request, "desk/acts/page.html", context, status=status)

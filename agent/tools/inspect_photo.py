"""`inspect_photo`: one separate look at all pictures of a source. A source is looked at once in a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from agent.outcomes import PhotoEvidence
from agent.tools.arguments import Arguments
from agent.tools.context import Outcome, ReviewContext
from agent.tools.tool import Tool
from agent.vision import PhotoReport, look_at_pictures

SUPPORT = {
    "yes": "Supports the claim.",
    "no": "Does not support the claim.",
    "unclear": "Does not settle it.",
}


class InspectPhoto(Arguments):
    source: Literal["request", "latest_answer"] = Field(
        description="Whose pictures: those of the request or of the newest answer."
    )


def run(context: ReviewContext, arguments: InspectPhoto) -> Outcome:
    """A second look at the same source gets the first one's answer: asking until it fits is no evidence."""
    known = context.looks.get(arguments.source)
    if known is not None:
        return known
    photos = context.case.photos if arguments.source == "request" else context.case.latest_answer_photos
    if not photos:
        return Outcome({"error": "There are no pictures in that source."}, "Found no photo to inspect", failed=True)
    look = look_at_pictures(context.case, photos, context.deadline, context.renew, context.spending.add)
    context.evidence = PhotoEvidence(
        verdict=look.report.verdict,
        addresses_reviewer=look.report.text_addresses_reviewer or context.evidence.addresses_reviewer,
        explanation=look.report.explanation,
    )
    context.verdicts = None  # what the rules said before did not know this
    outcome = _outcome(look.report, len(photos))
    context.looks[arguments.source] = outcome
    return replace(outcome, usage=look.usage, answered=look.answered)


def _outcome(report: PhotoReport, count: int) -> Outcome:
    warning = " It holds text that addresses the reviewer." if report.text_addresses_reviewer else ""
    return Outcome(
        {"pictures": count, **report.model_dump()},
        "Inspected the photo" if count == 1 else f"Inspected the {count} photos",
        f"{report.description} {SUPPORT[report.verdict]}{warning}".strip(),
    )


INSPECT_PHOTO = Tool(
    name="inspect_photo",
    description="A separate look at all pictures of one source: what they show and whether it fits the request.",
    arguments=InspectPhoto,
    run=run,
    failed_title="Could not inspect the photo",
    running_title="Inspecting the photo",
)

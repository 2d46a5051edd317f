"""The separate look at a customer's pictures: one call with all pictures of a source and one fixed answer."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from agent.case_file import CaseFile, item_lines
from agent.llm.ask import Call, ask
from agent.llm.base import NO_USAGE, Message, ModelTrouble, NoEyes, Reply, ToolSpec, Usage
from agent.llm.choose import seeing_model
from agent.prompts.fence import fenced, new_nonce, without_marks
from agent.prompts.vision import ASK_FOR_REPORT, VISION
from agent.tools.arguments import Arguments, BadArguments, read_arguments, up_to
from agent.tools.schema import strict_schema
from intake.models import Photo
from intake.photos import read_photo

REPORT_TOOL = "report_photos"
MAX_PICTURES = 5


class PhotoReport(Arguments):
    """The fixed answer."""

    description: Annotated[str, up_to(600)] = Field(description="What is really visible.")
    verdict: Literal["yes", "no", "unclear"] = Field(description="Do the pictures show the stated problem?")
    explanation: Annotated[str, up_to(300)] = Field(description="One sentence on why.")
    text_addresses_reviewer: bool = Field(description="Does a picture hold text that speaks to a reviewer or system?")


@dataclass(frozen=True)
class Look:
    """`usage` of all tries together, `answered` the last answer: who looked, and who was passed over."""

    report: PhotoReport
    usage: Usage
    answered: Reply | None = None


UNREADABLE_ANSWER = PhotoReport(
    description="The look at the pictures gave no readable answer.",
    verdict="unclear",
    explanation="Nothing could be told from the pictures in this review.",
    text_addresses_reviewer=False,
)
NOBODY_SEES = PhotoReport(
    description="No model that takes pictures could be asked.",
    verdict="unclear",
    explanation="The pictures need a person's eye: no model here takes pictures.",
    text_addresses_reviewer=False,
)
UNREADABLE_PICTURE = PhotoReport(
    description="A stored picture could not be opened.",
    verdict="unclear",
    explanation="The pictures could not be looked at.",
    text_addresses_reviewer=False,
)


def look_at_pictures(
    case: CaseFile,
    photos: Sequence[Photo],
    deadline: float,
    before_each: Callable[[], None],
    spend: Callable[[Usage], None],
) -> Look:
    """What the pictures show of what the customer says. `before_each` runs before each call (the lease), `spend` is
    told what each used.

    An answer that cannot be read is asked for once more; then, for a picture that cannot be opened, and where no model
    takes pictures, the verdict is `unclear`. Raises ModelTrouble, with the usage of all tries.
    """
    try:
        pictures = [read_photo(photo) for photo in photos[:MAX_PICTURES]]
    except OSError:
        return Look(UNREADABLE_PICTURE, NO_USAGE)
    messages = _messages(case, pictures)
    tool = ToolSpec(REPORT_TOOL, "Says what the pictures show.", strict_schema(PhotoReport))
    model, usage = seeing_model(), NO_USAGE
    for _ in range(2):
        try:
            reply = ask(model, Call(messages, [tool], deadline, before_each, spend, case.request.customer_id))
        except NoEyes as blind:
            return Look(NOBODY_SEES, usage + blind.usage, Reply("", skipped=blind.skipped))
        except ModelTrouble as trouble:
            trouble.usage = usage + trouble.usage
            raise
        usage = usage + reply.usage
        report = _report(reply)
        if report is not None:
            return Look(report, usage, reply)
        messages = [*messages, {"role": "user", "content": ASK_FOR_REPORT}]
    return Look(UNREADABLE_ANSWER, usage, reply)


def _messages(case: CaseFile, pictures: Sequence[bytes]) -> list[Message]:
    latest = case.answered[-1].reply.message if case.answered else ""
    nonce = new_nonce()
    text = "\n".join(
        [
            *item_lines(case.request),
            "The customer wrote:",
            fenced("\n\n".join(part for part in (case.request.details, latest) if part), nonce),
        ]
    )
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for picture in pictures:
        data = base64.b64encode(picture).decode("ascii")
        parts.append({"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{data}"}})
    return [{"role": "system", "content": VISION}, {"role": "user", "content": parts}]


def _report(reply: Reply) -> PhotoReport | None:
    """The report out of the call, or out of a text that is nothing but the JSON object."""
    written = [call.arguments for call in reply.tool_calls if call.name == REPORT_TOOL] or [reply.text]
    try:
        report = read_arguments(written[0], PhotoReport)
    except BadArguments:
        return None
    return report.model_copy(
        update={"description": without_marks(report.description), "explanation": without_marks(report.explanation)}
    )

"""The timeline as it was sealed, link by link: nothing else at its places, and nothing put in between since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from agent.seal_steps import begun_digest, step_digest
from agent.verify.pages import Pages
from intake.models import Step


@dataclass
class _Sealed:
    """Position -> digest; the first digest of a place counts. `running`: what the newest link found running, None in
    a link from before that was kept."""

    rev: int = 0
    ended: dict[str, str] = field(default_factory=dict)
    begun: dict[str, str] = field(default_factory=dict)
    running: Mapping[str, str] | None = None

    def was_put_in(self, position: str) -> bool:
        """Whether a step at this place, which no link up to here has sealed, was not there at the newest link."""
        return self.running is not None and int(position) <= self.rev and position not in self.running


def check_timeline(pages: Pages) -> Iterator[str]:
    sealed, now = _Sealed(), {str(step.position): step for step in pages.steps}
    for link in pages.links:
        timeline = link.facts["timeline"]
        running = timeline.get("running")
        new = {**timeline["steps"], **(running or {})}
        for position in new:
            if position not in sealed.ended and sealed.was_put_in(position):
                yield _put_in(position)
        sealed.ended = {**timeline["steps"], **sealed.ended}
        sealed.begun = {**(running or {}), **sealed.begun}
        sealed.rev, sealed.running = max(sealed.rev, timeline["rev"]), running
    if pages.request.rev < sealed.rev:
        yield "The request counts fewer writes to its timeline than were sealed."
    yield from _check_sealed(sealed, now)
    for position, step in now.items():
        if position in sealed.ended:
            continue
        ended_before = step.rev <= sealed.rev and step.state != Step.State.RUNNING
        if ended_before or sealed.was_put_in(position):
            yield _put_in(position)
    yield from _check_numbers(pages)


def _check_sealed(sealed: _Sealed, now: Mapping[str, Step]) -> Iterator[str]:
    for digest_now, digests in ((step_digest, sealed.ended), (begun_digest, sealed.begun)):
        for position, digest in digests.items():
            step = now.get(position)
            if step is None:
                yield f"Step {position} of the timeline is missing."
            elif digest_now(step) != digest:
                yield f"Step {position} of the timeline is not as it was sealed."


def _check_numbers(pages: Pages) -> Iterator[str]:
    """Each write takes the request's next number: a step's place is that of its first, its `rev` that of its last."""
    last_written = {step.rev: step for step in pages.steps}
    for step in pages.steps:
        if not step.position <= step.rev <= pages.request.rev:
            yield f"Step {step.position} of the timeline has a number that was not counted."
        elif last_written.get(step.position, step) is not step:
            yield f"Step {step.position} of the timeline stands at the number of another write."


def _put_in(position: str) -> str:
    return f"Step {position} of the timeline was put in later."

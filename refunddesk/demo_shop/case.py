"""What a resolved request of the demo shop is made of: plain data, without rows."""

from __future__ import annotations

from dataclasses import dataclass

from agent.outcomes import PhotoVerdict
from refunddesk.demo_shop.people import Person


@dataclass(frozen=True)
class Look:
    """What the separate look at the customer's picture said. `photo` is the picture's name in `fixtures/photos`."""

    photo: str
    description: str
    verdict: PhotoVerdict
    explanation: str


@dataclass(frozen=True)
class Finding:
    """`tool` names the step it rests on; empty: the model's own opinion."""

    text: str
    tool: str = ""


@dataclass(frozen=True)
class Advice:
    """The card the agent handed over; `against` is the strongest reason against it, `would_change` the one fact."""

    recommendation: str
    reasoning: str
    findings: tuple[Finding, ...]
    against: Finding
    would_change: str
    concerns: tuple[Finding, ...] = ()
    draft_question: str = ""


@dataclass(frozen=True)
class Answer:
    """What staff decided on the card, `after_minutes` it was opened."""

    by: Person
    after_minutes: int
    choice: str
    note: str = ""
    require_return: bool = False
    message: str = ""


@dataclass(frozen=True)
class Arrival:
    """A parcel recorded `after_days` the request was made, at `clock` shop time."""

    after_days: int
    clock: str
    recorded_by: Person


@dataclass(frozen=True)
class Parcel:
    """A return under `code`; without `arrival` it never came."""

    code: str
    arrival: Arrival | None = None


@dataclass(frozen=True)
class Case:
    """One resolved request, asked for `asked` days before the first day at `clock`, shop time.

    `automatic`: the agent refunded it in its first run. If the policy it is seeded under would not have allowed that,
    it went to staff instead, with the same `advice` and `answer`.
    """

    order: str
    sku: str
    reason: str
    asked: int
    clock: str
    details: str
    topic: str
    advice: Advice
    answer: Answer
    units: int = 1
    look: Look | None = None
    parcel: Parcel | None = None
    automatic: bool = False

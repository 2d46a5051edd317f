"""Builds a scenario from a case of the shop: the facts as they were when it was asked, and what people did then.

What a scenario has no words for is named in `Copied.left_out`; a case saved for good may have nothing left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.conf import settings
from django.utils import timezone

from agent.evaluation.acts_of_case import acts_of
from agent.evaluation.ground import ORDINARY_POLICY
from agent.evaluation.known_photos import fixture_name
from agent.evaluation.order_of_case import order_of
from agent.evaluation.people_of_case import neutral_text_of
from agent.evaluation.scenario import Ask, EarlierRefund, Scenario, Shop, Wanted
from agent.models import Decision, Run
from intake.look_alikes import photos_of, reuses
from intake.models import Photo, PolicyVersion, RefundRequest, Step
from intake.rules import calendar_days
from intake.statuses import ENDS, Status
from intake.timeline import shorten
from payments.models import LIVE_REFUND_STATUSES, Refund

KIND = "from_cases"
MOST_EARLIER = 50
DETAILS_LENGTH = 1000
IN_WORK = frozenset({Status.SUBMITTED, Status.WORKING})


class NotAScenario(Exception):
    """The case cannot be told as a scenario; `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True)
class Copied:
    """`photos`: by the name the scenario calls them, those that are no demo pictures. `replaced`: kind of personal
    detail -> how often it was replaced. `left_out`: sentences on what the scenario does not know of the case."""

    scenario: Scenario
    photos: dict[str, Photo] = field(default_factory=dict)
    replaced: dict[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def save_case(request: RefundRequest) -> Copied:
    """A closed case for good: personal details replaced, demo pictures by their own names. Raises NotAScenario, and
    Refusal when the machine is busy with other pictures."""
    if request.status not in ENDS:
        raise NotAScenario("Only a closed request can be saved as a scenario: this one still waits for something.")
    unsaid = left_out(request)
    if unsaid:
        raise NotAScenario(unsaid[0])
    neutral = neutral_text_of(request)
    name = _name(request)
    photos = _own_photos(request, lambda photo, number: fixture_name(photo.digest) or f"{name}-{number}.jpg")
    scenario = _scenario(request, name, neutral.of, photos)
    packed = {called: photo for called, photo in photos.items() if called != fixture_name(photo.digest)}
    return Copied(scenario, packed, dict(neutral.replaced), ())


def copy_case(request: RefundRequest) -> Copied:
    """A case to be played again at once, as it stands: nothing is replaced. Raises NotAScenario while it is in work."""
    if request.status in IN_WORK:
        raise NotAScenario("The agent is at work on this request. Play it again when it has come to rest.")
    photos = _own_photos(request, lambda photo, number: f"{photo.pk.hex}.jpg")
    scenario = _scenario(request, _name(request), lambda text: text, photos)
    return Copied(scenario, photos, {}, left_out(request))


def policy_differences(policy: PolicyVersion) -> dict[str, int | str]:
    """What is not ordinary in these rules."""
    numbers = {name: getattr(policy, name) for name in ORDINARY_POLICY}
    return {name: value for name, value in numbers.items() if value != ORDINARY_POLICY[name]}


def _own_photos(request: RefundRequest, call: Callable[[Photo, int], str]) -> dict[str, Photo]:
    """The pictures of the request and of its answers, by the names the scenario gives them."""
    return {call(photo, number): photo for number, photo in enumerate(photos_of(request.pk), start=1)}


def _scenario(request: RefundRequest, name: str, text: Callable[[str], str], photos: Mapping[str, Photo]) -> Scenario:
    names = {photo.pk: called for called, photo in photos.items()}
    first = request.runs.filter(trigger=Run.Trigger.REQUEST).order_by("created_at").first()
    reviewed_at = (first.ended_at if first else None) or timezone.now()
    earlier = _refunds_before(request, reviewed_at)
    order = order_of(request, [refund for refund in earlier if _counted(refund, reviewed_at)], text)
    line = next(line for line in order.lines if line.sku == request.line.sku)
    asked = Ask(
        sku=line.sku,
        reason=request.reason,
        details=shorten(text(request.details), DETAILS_LENGTH),
        units=None if line.quantity == request.units else request.units,
        photos=tuple(called for called, photo in photos.items() if photo.request_id == request.pk),
    )
    return Scenario(
        kind=KIND,
        name=name,
        say=shorten(f"A case of the shop: {request.get_reason_display().lower()}, {text(request.line.name)}.", 240),
        shop=_shop(request, first),
        order=order,
        earlier_refunds=tuple(_earlier(refund, request.created_at, reviewed_at) for refund in earlier),
        request=asked,
        then=acts_of(request, text, lambda photo: names.get(photo.pk, "")),
        used_before=_used_before(request, photos),
        wanted=_wanted(request),
        wanted_by="what_happened",
        covered=not request.runs.exclude(provider__in=["", "scripted"]).exists(),
    )


def _name(request: RefundRequest) -> str:
    """Tells apart, and tells nothing: no number of the shop is in it."""
    sku = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in request.line.sku.lower())
    mark = hashlib.sha256(request.uuid.bytes).hexdigest()[:6]
    return f"{request.reason.replace('_', '-')}-{sku.strip('-')[:40]}-{mark}"


def _shop(request: RefundRequest, first: Run | None) -> Shop:
    """As the rules saw it in the first review, where they were asked."""
    seen: dict[str, dict[str, Any]] = {rule["rule"]: rule["inputs"] for rule in (first.verdicts if first else [])}
    return Shop(
        policy=policy_differences(request.policy),
        paused=bool(seen.get("paused", {}).get("paused", False)),
        spent_today_minor=int(seen.get("budget", {}).get("spent_today_minor", 0)),
    )


def _refunds_before(request: RefundRequest, reviewed_at: datetime) -> list[Refund]:
    """The customer's other refunds that were there at the first review, newest first."""
    refunds = Refund.objects.filter(charge__order__customer_id=request.customer_id, reserved_at__lte=reviewed_at)
    return list(
        refunds.exclude(request_uuid=request.uuid)
        .select_related("charge")
        .order_by("-reserved_at", "-id")[:MOST_EARLIER]
    )


def _counted(refund: Refund, at: datetime) -> bool:
    """Whether it was live then."""
    failed = refund.status == Refund.Status.FAILED
    return not failed or (refund.settled_at is not None and refund.settled_at > at)


def _earlier(refund: Refund, asked_at: datetime, reviewed_at: datetime) -> EarlierRefund:
    days = max(0, calendar_days(refund.reserved_at, asked_at, settings.SHOP_TIME_ZONE))
    return EarlierRefund(days_ago=days, amount_minor=refund.amount_minor, state=_state_at(refund, reviewed_at))


def _state_at(refund: Refund, at: datetime) -> Literal["succeeded", "pending", "failed"]:
    if not _counted(refund, at):
        return "failed"
    return "succeeded" if refund.settled_at and refund.settled_at <= at else "pending"


def _wanted(request: RefundRequest) -> Wanted:
    """What happened."""
    live = list(Refund.objects.filter(request_uuid=request.uuid, status__in=LIVE_REFUND_STATUSES)[:10])
    card = request.approvals.order_by("-opened_at", "-id").first()
    return Wanted(
        status=request.status,
        paid_minor=sum(refund.amount_minor for refund in live),
        recommendation=card.recommendation if card else None,
        failed_rules=tuple(str(rule["rule"]) for rule in card.failed_rules) if card else (),
        automatic=any(refund.automatic for refund in live),
    )


def left_out(request: RefundRequest) -> tuple[str, ...]:
    """Sentences on what happened to the case and has no words in a scenario; none for most cases."""
    decisions = list(Decision.objects.filter(approval__request=request)[:MOST_EARLIER])
    errors = Step.objects.filter(request=request, kind=Step.Kind.ERROR)
    refund_failed = Refund.objects.filter(request_uuid=request.uuid, status=Refund.Status.FAILED).exists()
    found = {
        "A refund of it failed at the bank; a scenario's bank never fails.": refund_failed,
        "The agent's model or its provider failed in it; a scenario cannot say how.": not refund_failed
        and errors.exists(),
        "A decision of it was set aside; in a scenario whoever decides may decide.": any(
            decision.set_aside_at for decision in decisions
        ),
    }
    return tuple(sentence for sentence, holds in found.items() if holds)


def _used_before(request: RefundRequest, photos: Mapping[str, Photo]) -> tuple[str, ...]:
    """The pictures an older request holds too, or one that looks like them."""
    found = reuses(list(photos.values()), besides=request.pk)
    held = {key for key, others in found.items() if any(other.request_id < request.pk for other in others)}
    return tuple(called for called, photo in photos.items() if photo.pk in held)

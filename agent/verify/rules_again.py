"""An automatic refund decided again: the shop's rules on the facts that were kept, and those facts against the rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from agent.models import ChainRecord, Run
from agent.rule_facts import facts_from_json
from agent.verify.differs import difference
from agent.verify.evidence import NO_LOOKS
from agent.verify.pages import Pages
from intake.look_alikes import Reuse, photos_of, reuses
from intake.models import Step
from intake.picture_looks import read_later
from intake.rules import Facts, judge
from payments.models import Refund

ASKED_ALWAYS = ("reason", "limit", "window", "photo", "history", "first_review", "paused", "budget")
# A request's time is that of its beginning; its rows are in the book when it ends, which is well within this.
SLOWEST_SUBMISSION = timedelta(minutes=2)


def check_automatic(pages: Pages, refund: Refund, reserve: ChainRecord) -> Iterator[str]:
    name, kept = f"Refund {refund.reference}", reserve.facts
    facts = facts_from_json(kept["rules"]["facts"])
    yield from _check_verdicts(name, facts, kept["rules"]["verdicts"])
    yield from _check_facts(name, pages, refund, facts, kept)
    yield from _check_reuse(name, pages, refund, reserve)
    run = next((each for each in pages.runs if each.pk == refund.run_uuid), None)
    if run is None or run.verdicts != kept["rules"]["verdicts"]:
        yield f"{name}: the run that made it does not hold the verdicts of the chain."
    else:
        yield from _check_what_was_seen(name, pages, run, kept["seen"])


def _check_verdicts(name: str, facts: Facts, verdicts: list[dict[str, Any]]) -> Iterator[str]:
    """Every rule gives today what is kept, and every one allows. A rule the shop has made since was not asked."""
    again = {verdict.rule: verdict.as_json() for verdict in judge(facts)}
    kept = {verdict["rule"]: verdict for verdict in verdicts}
    for rule in ASKED_ALWAYS:
        if rule not in kept:
            yield f"{name}: the rule “{rule}” was not asked."
    for rule, verdict in kept.items():
        if rule not in again:
            yield f"{name}: the rule “{rule}” cannot be asked again."
        elif verdict["outcome"] != again[rule]["outcome"]:
            yield f"{name}: the rule “{rule}” says “{again[rule]['outcome']}” now, and “{verdict['outcome']}” is kept."
        elif any(again[rule]["inputs"].get(what) != value for what, value in verdict["inputs"].items()):
            yield f"{name}: the rule “{rule}” looked at other facts than are kept."
        if verdict["outcome"] != "allow":
            yield f"{name}: the rule “{rule}” did not allow it."


def _check_facts(name: str, pages: Pages, refund: Refund, facts: Facts, kept: dict[str, Any]) -> Iterator[str]:
    request, policy, seen = pages.request, kept["policy"], kept["seen"]
    changed = difference(
        {
            "amount": facts.amount_minor,
            "currency": facts.currency,
            "reason": facts.reason,
            "time it was asked": facts.asked_at,
            "delivery": facts.delivered_at,
            "limit": (facts.limit_minor, facts.policy_currency),
            "window": facts.window_days,
            "time for earlier refunds": facts.history_days,
            "daily sum": facts.budget_minor,
            "look at the picture": (facts.photo_verdict, facts.photo_addresses_reviewer),
        },
        {
            "amount": refund.amount_minor,
            "currency": refund.currency,
            "reason": request.reason,
            "time it was asked": request.created_at,
            "delivery": request.line.delivered_at,
            "limit": (policy["auto_refund_limit_minor"], policy["currency"]),
            "window": policy["refund_window_days"],
            "time for earlier refunds": policy["history_days"],
            "daily sum": policy["daily_budget_minor"],
            "look at the picture": (seen["verdict"], seen["addresses_reviewer"]),
        },
    )
    if changed:
        yield f"{name} was not decided on the facts of the book: {changed}."
    paid_on = refund.reserved_at.astimezone(ZoneInfo(facts.time_zone)).date()
    if not 0 <= (paid_on - facts.today).days <= 1:  # the facts may be read just before midnight
        yield f"{name} was decided on {facts.today} and reserved on {paid_on}."


def _check_reuse(name: str, pages: Pages, refund: Refund, reserve: ChainRecord) -> Iterator[str]:
    """The pictures compared again with all that surely lay in the book when the rules were asked. What was sent at
    about the same moment or since says nothing about this refund."""
    rules, sealed = reserve.facts["rules"]["facts"], {photo["id"]: photo for photo in reserve.facts["photos"]}
    told = (*rules["photo_used_in"], *rules.get("photo_looks_like", ()))
    stricter = "photo_too_plain" in rules
    photos = [photo for photo in pages.photos if str(photo.pk) in sealed and (stricter or len(photo.looks) != 1)]
    surely_there = pages.request.created_at - SLOWEST_SUBMISSION
    turned = rules.get("photo_compared_turned", False)
    found = reuses(photos, besides=pages.request.pk, at=surely_there, until=refund.reserved_at, turned=turned)
    for key, reused in found.items():
        compared = sealed[str(key)].get("looks_sha256", NO_LOOKS) != NO_LOOKS
        for reuse in reused:
            if reuse.number in told:
                continue
            if reuse.same_file or (compared and _could_be_compared(reuse, refund.reserved_at, stricter)):
                yield f"{name}: a picture was already sent with request #{reuse.number}, and no rule was told."


def _could_be_compared(reuse: Reuse, at: datetime, stricter: bool) -> bool:
    """Whether the other request's pictures had their looks `at` that moment; before the rules were `stricter`, those
    that were called plain were compared with none."""
    others = [photo for photo in photos_of(reuse.request_id) if photo.looks]
    if not stricter and any(len(photo.looks) == 1 for photo in others):
        return False
    return not any((later := read_later(photo.looks)) and later > at for photo in others)


def _check_what_was_seen(name: str, pages: Pages, run: Run, seen: dict[str, Any]) -> Iterator[str]:
    """The last look at the pictures in that run, as the timeline tells it."""
    if seen["verdict"] is None:
        return
    looks = [
        step.result
        for step in pages.steps
        if step.run_uuid == run.pk and step.tool == "inspect_photo" and step.state == Step.State.DONE
    ]
    told = looks[-1] if looks and isinstance(looks[-1], dict) else {}
    if (told.get("verdict"), told.get("explanation")) != (seen["verdict"], seen["explanation"]):
        yield f"{name}: the timeline tells another look at the picture than the chain."

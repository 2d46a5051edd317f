"""An automatic refund decided again: the shop's rules on the facts that were kept, and those facts against the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

from agent.models import ChainRecord, Run
from agent.rule_facts import facts_from_json
from agent.verify.differs import difference
from agent.verify.pages import Pages
from intake.look_alikes import MOST_COMPARED, reuses
from intake.models import Step
from intake.rules import Facts, judge
from payments.models import Refund

ASKED_ALWAYS = ("reason", "limit", "window", "photo", "history", "first_review", "paused", "budget")
# Fewer than the review compared: some of its newest may have been sent after this request.
COMPARED_AGAIN = MOST_COMPARED - 1000


def check_automatic(pages: Pages, refund: Refund, reserve: ChainRecord) -> Iterator[str]:
    name, kept = f"Refund {refund.reference}", reserve.facts
    facts = facts_from_json(kept["rules"]["facts"])
    yield from _check_verdicts(name, facts, kept["rules"]["verdicts"])
    yield from _check_facts(name, pages, refund, facts, kept)
    yield from _check_reuse(name, pages, facts, kept["photos"])
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


def _check_reuse(name: str, pages: Pages, facts: Facts, sealed: list[dict[str, str]]) -> Iterator[str]:
    """The pictures compared again with all that had been sent before this request was made, so that every one of those
    was there when the rules were asked. What was sent at the same moment or since says nothing about this refund."""
    keys = {photo["id"] for photo in sealed}
    photos = [photo for photo in pages.photos if str(photo.pk) in keys]
    found = reuses(photos, besides=pages.request.pk, at=pages.request.created_at, at_most=COMPARED_AGAIN)
    for reuse in (each for reused in found.values() for each in reused):
        if reuse.number not in (*facts.photo_used_in, *facts.photo_looks_like):
            yield f"{name}: a picture was already sent with request #{reuse.number}, and no rule was told."


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

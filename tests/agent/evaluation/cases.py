"""Scenarios and trials for tests: a cracked carafe that is refunded at once, until a test changes something."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent.evaluation.played import Played
from agent.evaluation.scenario import Scenario

CARAFE = {"sku": "CAR-600", "name": "Glass carafe, 600 ml", "paid_minor": 3400, "delivered_days_ago": 5}
GRINDER = {"sku": "GRD-C40", "name": "Conical burr grinder", "paid_minor": 24_900, "delivered_days_ago": 5}
SCALE = {"sku": "SCL-01", "name": "Digital brew scale", "paid_minor": 5900, "delivered_days_ago": 5}
REFUNDED = {"status": "refunded", "paid_minor": 3400, "automatic": True}
WITH_A_PERSON = {"status": "needs_approval", "paid_minor": 0, "recommendation": "manual_review"}


def scenario_json(**changes: Any) -> dict[str, Any]:
    """`line` and `photo` change the one line and the request's picture; the rest is as in a file."""
    line = changes.pop("line", CARAFE)
    photo = changes.pop("photo", "carafe-cracked.jpg")
    ask = {"sku": line["sku"], "reason": "damaged", "details": "It came like this.", "photos": [photo]}
    return {
        "kind": "small",
        "name": "carafe",
        "say": "A cracked carafe.",
        "order": {"placed_days_ago": 45, "lines": [line]},
        "request": ask | changes.pop("request", {}),
        "wanted": REFUNDED,
        **changes,
    }


def a_scenario(**changes: Any) -> Scenario:
    return Scenario.model_validate(scenario_json(**changes))


def write_scenario(folder: Path, **changes: Any) -> Path:
    """As a file in its kind's folder."""
    written = scenario_json(**changes)
    path = folder / written["kind"] / f"{written['name']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(written), encoding="utf-8")
    return path


def an_end(**changes: Any) -> dict[str, Any]:
    """What a trial got: the carafe refunded at once."""
    return {
        "status": "refunded",
        "paid_minor": 3400,
        "currency": "USD",
        "automatic": True,
        "recommendation": None,
        "failed_rules": [],
        "concerns": [],
        "card": None,
        "provider": "scripted",
        "model": "scripted model",
        "covered": True,
        "troubled": False,
        **changes,
    }


def a_trial(*, passed: bool = True, wanted: dict[str, Any] | None = None, **changes: Any) -> Played:
    """`got` says what differs from the carafe's end; None: it could not be played."""
    got = changes.pop("got", {})
    right = {"recommendation": None, "failed_rules": [], "concern_names": [], **REFUNDED, **(wanted or {})}
    return Played(
        kind=changes.pop("kind", "small"),
        scenario=changes.pop("scenario", "carafe"),
        passed=passed,
        wanted=right,
        got={} if got is None else an_end(**got),
        **changes,
    )

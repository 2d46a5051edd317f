"""What a scenario should come to, worked out from the shop's rules as DESIGN and the policy tell them.

It shares nothing with the code it judges: its only import from there is the form of a scenario. What a picture shows
it reads from the fixtures' catalogues. Whether a text speaks to the reviewer only a person can say, and has said by
`concern_names`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.evaluation.scenario import (
    Act,
    Answer,
    Arrives,
    Decide,
    EarlierRefund,
    Line,
    Scenario,
    TakenBack,
    TimePasses,
    Wanted,
)
from tests.agent.evaluation.oracle_calls import Calls, NoModel
from tests.agent.evaluation.oracle_pictures import addresses_reviewer, best_evidence, originals

POLICY: dict[str, Any] = {
    "currency": "USD",
    "auto_refund_limit_minor": 5_000,
    "refund_window_days": 30,
    "history_days": 90,
    "daily_budget_minor": 50_000,
    "return_above_minor": 15_000,
    "wrong_item_return_above_minor": 5_000,
}
BATTERY_GEAR = ("scale",)
LOOK_UPS = 3  # order, history, policy
SECOND_CHECK = 2


class CannotBeDone(Exception):
    """A person cannot do this act where the case stands."""


@dataclass(frozen=True)
class Card:
    recommendation: str
    failed_rules: tuple[str, ...]
    amount_minor: int


@dataclass
class Case:
    """Where a request stands. `pictures`: those looked at next. `agreed_minor`: what a whole parcel would pay;
    `checks`: how often it was looked for."""

    scenario: Scenario
    policy: dict[str, Any]
    amount_minor: int
    calls: Calls
    pictures: tuple[str, ...]
    ever_sent: tuple[str, ...]
    status: str = "needs_approval"
    paid_minor: int = 0
    automatic: bool = False
    card: Card | None = None
    questions: int = 0
    agreed_minor: int = 0
    checks: int = 0
    parcel_came: bool = False


def end_of(scenario: Scenario) -> Wanted:
    """The end that is right. Raises CannotBeDone for a scenario whose people do what cannot be done."""
    case = _opened(scenario)
    _review(case, first=True)
    for act in scenario.then:
        _play(case, act)
    return Wanted.model_validate(
        {
            "status": case.status,
            "paid_minor": case.paid_minor,
            "recommendation": case.card.recommendation if case.card else None,
            "failed_rules": case.card.failed_rules if case.card else (),
            "concern_names": scenario.wanted.concern_names,
            "automatic": case.automatic,
        }
    )


def _opened(scenario: Scenario) -> Case:
    line = _asked_line(scenario)
    units = scenario.request.units or line.quantity
    return Case(
        scenario=scenario,
        policy=POLICY | scenario.shop.policy,
        amount_minor=_share(line.paid_minor, units, line.quantity),
        calls=Calls(scenario.provider),
        pictures=scenario.request.photos,
        ever_sent=scenario.request.photos,
    )


def _review(case: Case, *, first: bool) -> None:
    """One look at the case: money at once when all allows it, else a card."""
    seen = None
    try:
        seen = _look_into_it(case)
        case.calls.turn()
        recommendation = _recommended(case, seen)
    except NoModel:
        recommendation = "manual_review"
    failed = _failed_rules(case, seen)
    speaks_to_reviewer = bool(case.scenario.wanted.concern_names)
    if first and recommendation == "refund" and not failed and not speaks_to_reviewer:
        if _fits_one_charge(case, case.amount_minor):
            _pay(case, case.amount_minor, automatic=True)
            return
        failed = ("balance",)
    _before_staff(case, Card(recommendation, failed, case.amount_minor))


def _look_into_it(case: Case) -> str | None:
    """The look-ups, and what the pictures are worth; None when there is nothing to look at."""
    request = case.scenario.request
    for _ in range(LOOK_UPS):
        case.calls.turn()
    if request.reason == "changed_mind" or not case.pictures:
        return None
    case.calls.turn()
    return best_evidence(case.pictures, request.sku, request.reason) if case.calls.look() else "unclear"


def _recommended(case: Case, seen: str | None) -> str:
    """The first that fits, in the order of DESIGN section 5."""
    request = case.scenario.request
    if request.reason == "changed_mind":
        return "refund_after_return" if _in_window(case) else "decline"
    if seen == "no":
        return "decline"
    if seen != "yes":
        return "ask_customer"
    if request.reason == "defective" and case.questions == 0 and _runs_on_batteries(case):
        return "ask_customer"
    name = "wrong_item_return_above_minor" if request.reason == "wrong_item" else "return_above_minor"
    if _in_policy_currency(case) and case.amount_minor > case.policy[name]:
        return "refund_after_return"
    return "refund"


def _failed_rules(case: Case, seen: str | None) -> tuple[str, ...]:
    scenario, policy = case.scenario, case.policy
    unwanted = scenario.request.reason == "changed_mind"
    here = _in_policy_currency(case)
    spent = scenario.shop.spent_today_minor + case.amount_minor
    holds = {
        "reason": not unwanted,
        "limit": here and case.amount_minor <= policy["auto_refund_limit_minor"],
        "window": _in_window(case),
        "photo": unwanted or (seen == "yes" and not addresses_reviewer(case.pictures) and not _used_before(case)),
        "history": not _other_refunds(case),
        "paused": not scenario.shop.paused,
        "budget": not here or spent <= policy["daily_budget_minor"],
    }
    return tuple(rule for rule, good in holds.items() if not good)


# What people do next.


def _play(case: Case, act: Act) -> None:
    if isinstance(act, Decide):
        _decide(case, act)
    elif isinstance(act, Answer):
        _only_in(case, "needs_customer")
        if act.photos:
            case.pictures = act.photos
            case.ever_sent += act.photos
        _review(case, first=False)
    elif isinstance(act, TimePasses):
        _let_time_pass(case)
    elif isinstance(act, TakenBack):
        _only_in(case, "needs_customer", "awaiting_return")
        _give_to_staff(case, case.amount_minor)
    elif isinstance(act, Arrives):
        _receive(case, act)


def _decide(case: Case, act: Decide) -> None:
    _only_in(case, "needs_approval")
    card = case.card
    assert card is not None
    if act.choice == "decline":
        case.status = "declined"
        case.calls.wording()
    elif act.choice == "ask_customer":
        if not act.note and card.recommendation != "ask_customer":
            raise CannotBeDone("There is no draft to ask.")
        case.status, case.questions = "needs_customer", case.questions + 1
    else:
        amount = card.amount_minor if act.amount_minor is None else act.amount_minor
        if not 0 < amount <= case.amount_minor or not _fits_one_charge(case, amount):
            raise CannotBeDone(f"{amount} cannot be approved.")
        comes_back = card.recommendation == "refund_after_return" if act.require_return is None else act.require_return
        if comes_back:
            case.status, case.agreed_minor, case.checks = "awaiting_return", amount, 0
        else:
            _pay(case, amount, automatic=False)


def _let_time_pass(case: Case) -> None:
    _only_in(case, "needs_customer", "awaiting_return")
    if case.status == "needs_customer":
        _give_to_staff(case, case.amount_minor)
        return
    case.checks += 1
    if case.checks == SECOND_CHECK:
        case.status = "closed"


def _receive(case: Case, act: Arrives) -> None:
    if not case.agreed_minor or case.parcel_came:
        raise CannotBeDone("No parcel is known that could arrive.")
    asked = case.scenario.request.units or _asked_line(case.scenario).quantity
    share = _share(case.agreed_minor, act.units or asked, asked)
    case.parcel_came = True
    if case.status == "awaiting_return":
        _pay(case, share, automatic=False)
    elif case.status != "needs_approval":
        _give_to_staff(case, share)


def _give_to_staff(case: Case, amount_minor: int) -> None:
    """By the shop, without a new look: what was found before still stands, the recommendation does not."""
    failed = case.card.failed_rules if case.card else ()
    _before_staff(case, Card("manual_review", failed, amount_minor))


def _before_staff(case: Case, card: Card) -> None:
    case.status, case.card = "needs_approval", card


def _pay(case: Case, amount_minor: int, *, automatic: bool) -> None:
    case.status, case.automatic = "refunded", automatic
    case.paid_minor += amount_minor


def _only_in(case: Case, *statuses: str) -> None:
    if case.status not in statuses:
        raise CannotBeDone(f"The case stands in {case.status}.")


# The facts.


def _asked_line(scenario: Scenario) -> Line:
    return next(line for line in scenario.order.lines if line.sku == scenario.request.sku)


def _share(whole_minor: int, units: int, of_units: int) -> int:
    """Rounded half up."""
    return (2 * whole_minor * units + of_units) // (2 * of_units)


def _in_window(case: Case) -> bool:
    days = _asked_line(case.scenario).delivered_days_ago
    return days is not None and 0 <= days <= case.policy["refund_window_days"]


def _in_policy_currency(case: Case) -> bool:
    return bool(case.scenario.order.currency == case.policy["currency"])


def _runs_on_batteries(case: Case) -> bool:
    return any(word in _asked_line(case.scenario).name.lower() for word in BATTERY_GEAR)


def _other_refunds(case: Case) -> list[EarlierRefund]:
    """Those that count: money that went out or is on its way, the last day of the span included."""
    return [
        refund
        for refund in case.scenario.earlier_refunds
        if refund.state != "failed" and refund.days_ago <= case.policy["history_days"]
    ]


def _used_before(case: Case) -> bool:
    return bool(originals(case.ever_sent) & originals(case.scenario.used_before))


def _fits_one_charge(case: Case, amount_minor: int) -> bool:
    order = case.scenario.order
    whole = order.shipping_minor + sum(line.paid_minor for line in order.lines)
    return max(order.charges_minor or (whole,)) >= amount_minor

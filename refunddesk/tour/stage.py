"""Where a story is played: acts go through the HTTP API, timelines are printed as they grow, what must be true is
checked and kept."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from intake.models import Step
from refunddesk.demo_shop.people import STAFF, Person
from refunddesk.demo_shop.pictures import photo_file
from refunddesk.tour import facts
from refunddesk.tour.door import Door
from refunddesk.tour.screen import Line, Screen

BUSY = frozenset({"submitted", "working", "refunding"})
SECONDS_BETWEEN_LOOKS = 0.25


class StoryStopped(Exception):
    """The story cannot go on; the sentence says what was seen."""


@dataclass
class Case:
    """A request of the tour. `view` is what its customer last read; `shown` and `shown_to_staff` are the revs up
    to which steps were printed: two, since a step may come between reading the one kind and the other."""

    name: str
    person: Person
    id: str
    number: int
    view: dict[str, Any] = field(default_factory=dict)
    shown: int = 0
    shown_to_staff: int = 0

    @property
    def status(self) -> str:
        return str(self.view.get("status", "?"))


@dataclass(frozen=True)
class Check:
    what: str
    good: bool


class Stage:
    """`patience` is how many seconds a story waits for one thing before it stops."""

    def __init__(self, door: Door, screen: Screen, patience: float) -> None:
        self.door = door
        self.screen = screen
        self.patience = patience
        self.cases: dict[str, Case] = {}
        self.checks: list[Check] = []

    def case(self, name: str) -> Case:
        if name not in self.cases:
            raise StoryStopped(f"the {name} was never asked for, so there is nothing to go on with")
        return self.cases[name]

    # -- acts

    def ask(
        self, name: str, person: Person, *, order: str, sku: str, reason: str, details: str, photo: str = ""
    ) -> Case:
        """The customer asks for a refund; waits until the agent is through with it."""
        self.screen.act(f"{person.first_name} asks for {order} {sku} ({reason}{', ' + photo if photo else ''})")
        body: dict[str, Any] = {"order": order, "sku": sku, "reason": reason, "details": details}
        if photo:
            body["photos"] = [self.door.upload(person, photo_file(photo))]
        made = self.door.post(person, "requests", body)
        case = Case(name=name, person=person, id=str(made["id"]), number=int(made["number"]))
        self.cases[name] = case
        if not facts.request_is_here(case.id):
            raise StoryStopped("the demo has another database than this command; start both with the same DATA_DIR")
        self.rest(case)
        return case

    def decide(self, person: Person, case: Case, decision: str, **fields: Any) -> None:
        """Staff answer the open card; waits until that is carried out."""
        card = self.card(case)
        self.screen.act(f"{person.first_name} decides #{case.number}: {decision.replace('_', ' ')}")
        self.door.post(person, f"approvals/{card['id']}/decision", {"decision": decision, **fields})
        self.rest(case)

    def reply(self, case: Case, message: str, photo: str) -> None:
        self.screen.act(f"{case.person.first_name} answers (photo {photo})")
        photos = [self.door.upload(case.person, photo_file(photo))]
        self.door.post(case.person, f"requests/{case.id}/replies", {"message": message, "photos": photos})
        self.rest(case)

    def receive(self, person: Person, case: Case) -> None:
        self.screen.act(f"{person.first_name} records the parcel of #{case.number}")
        self.door.post(person, f"requests/{case.id}/receipts", {})
        self.wait_until(case, "the parcel to be handled", lambda view: view["status"] not in {*BUSY, "awaiting_return"})

    def let_check_come(self, case: Case) -> None:
        """Moves the return check to now; waits until the agent has reminded the customer or closed the request."""
        before = len(case.view["steps"])
        self.screen.act(f"the return check of #{case.number} comes due (moved to now)")
        if not facts.make_check_due(case.id):
            raise StoryStopped(f"no return check is planned for #{case.number}")

        def checked(view: dict[str, Any]) -> bool:
            reminded = view["status"] == "awaiting_return" and len(view["steps"]) > before
            return reminded or view["status"] not in {*BUSY, "awaiting_return"}

        self.wait_until(case, "the return check", checked)

    # -- looks

    def card(self, case: Case) -> dict[str, Any]:
        """The open card of the request, as staff read it."""
        rows = self.door.get(STAFF[0], f"queue/needs-approval?q={case.number}")
        ids = [row["card"]["id"] for row in rows if row["id"] == case.id and row["card"]]
        if not ids:
            raise StoryStopped(f"#{case.number} has no open card in the queue (status {case.status})")
        return dict(self.door.get(STAFF[0], f"approvals/{ids[0]}"))

    def rest(self, case: Case) -> None:
        self.wait_until(case, "the agent", lambda view: view["status"] not in BUSY)

    def wait_until(self, case: Case, what: str, ready: Callable[[dict[str, Any]], bool]) -> None:
        """Looks again and again, prints what is new, and stops the story when `patience` is over."""
        until = time.monotonic() + self.patience
        while True:
            case.view = self.door.get(case.person, f"requests/{case.id}")
            self._print_news(case)
            if ready(case.view):
                return
            if time.monotonic() > until:
                raise StoryStopped(
                    f"waited {self.patience:.0f} s for {what}; #{case.number} is still {case.status}. Is the worker up?"
                )
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def steps(self, case: Case) -> list[dict[str, Any]]:
        """The steps the customer reads, oldest first."""
        return list(case.view["steps"])

    def _print_news(self, case: Case) -> None:
        read = [_customer_line(step, case) for step in self.steps(case) if step["rev"] > case.shown]
        hidden = [_staff_line(step) for step in facts.staff_steps_after(case.id, case.shown_to_staff)]
        for line in sorted(read + hidden, key=lambda line: line.rev):
            self.screen.line(line)
        case.shown = max([case.shown, *(line.rev for line in read)])
        case.shown_to_staff = max([case.shown_to_staff, *(line.rev for line in hidden)])

    # -- what must be true

    def expect(self, what: str, seen: object, expected: object) -> None:
        self.hold(what, seen == expected, f"expected {expected!r}, saw {seen!r}")

    def hold(self, what: str, good: bool, seen: str) -> None:
        """Keeps one check; `seen` is printed only when it does not hold."""
        self.checks.append(Check(what, good))
        self.screen.check(what, "" if good else seen)

    def expect_card(
        self, case: Case, *, recommendation: str, amount_minor: int, failed_rules: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """The request stands before staff with this card; returns it."""
        self.expect(f"#{case.number} needs approval", case.status, "needs_approval")
        card = self.card(case)
        self.expect(f"the agent recommends {recommendation}", card["recommendation"], recommendation)
        self.expect("amount on the card", card["amount"], amount_minor)
        if failed_rules is not None:
            names = list(failed_rules)
            what = f"failed rules: {', '.join(names) or 'none'}"
            self.expect(what, sorted(rule["rule"] for rule in card["failed_rules"]), sorted(names))
        return card

    def expect_refunds(self, case: Case, *amounts: int, automatic: bool = False) -> None:
        expected = [facts.RefundFact(amount, "succeeded", automatic) for amount in amounts]
        what = "refunded exactly once" if expected else "no money moved"
        self.expect(what, facts.refunds_of(case.id), expected)

    def expect_no_staff_names(self, case: Case) -> None:
        text = json.dumps(case.view)
        names = [name for person in STAFF for name in (person.first_name, person.last_name) if name in text]
        self.expect("the customer reads no name of staff", names, [])


def _customer_line(step: dict[str, Any], case: Case) -> Line:
    name = str(step["actor_name"])
    return Line(
        rev=int(step["rev"]),
        at=_moment(step["at"]),
        actor="customer" if name.lower() in {"you", case.person.full_name.lower()} else "agent",
        name=name,
        title=str(step["title"]),
        detail=str(step["detail"]),
        for_customer=True,
    )


def _staff_line(step: Step) -> Line:
    return Line(
        rev=step.rev,
        at=step.created_at,
        actor=step.actor,
        name=step.actor_user.get_full_name() if step.actor_user else step.get_actor_display(),
        title=step.title,
        detail=step.detail,
        for_customer=False,
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)

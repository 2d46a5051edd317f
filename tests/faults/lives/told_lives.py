"""Lives that are told and not drawn: together they reach each kind of end, so the machine's rules can."""

from __future__ import annotations

from collections.abc import Callable

from intake.statuses import Status
from tests.faults.lives.machine import ALL, MOST_TRIES, Lives
from tests.faults.lives.shop import AT_WORK, CAPTURED, NEEDS_YOU

Act = Callable[[Lives], None]


def decides(choice: str, *, shipping: bool = False) -> Act:
    return lambda life: life.decides(0, choice, 1.0, shipping, True)


def approves_with_shipping_for_later(life: Lives) -> None:
    """The decision is taken; nobody has carried it out yet."""
    life.decides(0, "approve", 1.0, True, False)


def approves_one_unit_of_the_last(life: Lives) -> None:
    life.decides(-1, "approve", 1.0, False, True, units=1)


def customer_asks_for_the_rest(life: Lives) -> None:
    life.asks(0, ALL, "damaged")


def somebody_refunds_by_hand(amount_minor: int, *, heard: bool) -> Act:
    return lambda life: life.somebody_refunds_by_hand(amount_minor, "succeeded", heard)


def works_everything_off(life: Lives) -> None:
    life.works_everything_off()


def bank_tells(word: str) -> Act:
    return lambda life: life.the_bank_tells(0, word, True, True)


def time_runs_out(status: Status) -> Act:
    return lambda life: life.nobody_does_anything(life.shop.request(0, status))


def parcel_arrives(life: Lives) -> None:
    life.receives(0, 1, True)


def customer_answers(life: Lives) -> None:
    life.answers(0, True)


def a_day_passes(life: Lives) -> None:
    life.a_day_passes(True)


def bank_will_answer(*answers: str) -> Act:
    return lambda life: life.the_bank_will_answer(list(answers))


def workers_die(times: int) -> Act:
    return lambda life: life.the_next_workers_die(times)


APPROVES, DECLINES, ASKS = decides("approve"), decides("decline"), decides("ask_customer")
SENDS_BACK = decides("approve with return")
# What the first review says, what the bank answers at first, and what happens then.
TOLD: dict[str, tuple[str, list[str], list[Act]]] = {
    "refused late and paid again": ("clear", ["succeeded"], [bank_tells("failed"), decides("approve", shipping=True)]),
    "shipping approved twice before either is paid": (
        "refund",
        ["succeeded"],
        [approves_with_shipping_for_later, approves_with_shipping_for_later, works_everything_off],
    ),
    "refused at once": ("refund", ["failed: card expired"], [APPROVES]),
    "pending, then through": ("refund", ["pending"], [APPROVES, bank_tells("succeeded")]),
    "pending for ever": ("refund", ["pending"], [APPROVES, a_day_passes]),
    "silent, but done": ("refund", ["time-out, but done"], [APPROVES, a_day_passes]),
    "asked, answered, declined": ("ask_customer", ["succeeded"], [ASKS, customer_answers, DECLINES]),
    "asked, never answered": ("ask_customer", ["succeeded"], [ASKS, time_runs_out(Status.NEEDS_CUSTOMER)]),
    "asked and waiting": ("ask_customer", ["succeeded"], [ASKS]),
    "sent back": ("refund_after_return", ["succeeded"], [SENDS_BACK, parcel_arrives]),
    "to be sent back": ("refund_after_return", ["succeeded"], [SENDS_BACK]),
    "never sent back": ("refund_after_return", ["succeeded"], [SENDS_BACK, time_runs_out(Status.AWAITING_RETURN)]),
    "sent back too late": (
        "refund_after_return",
        ["succeeded"],
        [SENDS_BACK, time_runs_out(Status.AWAITING_RETURN), parcel_arrives],
    ),
    "part now, the rest later": (
        "refund",
        ["succeeded"],
        [APPROVES, customer_asks_for_the_rest, works_everything_off, approves_one_unit_of_the_last],
    ),
    "the bank waits for one thing after another": (
        "refund",
        ["pending"],
        [APPROVES, bank_tells(NEEDS_YOU), bank_tells(AT_WORK), bank_tells(NEEDS_YOU), bank_tells("succeeded")],
    ),
    "refunded by hand first": ("refund", ["succeeded"], [somebody_refunds_by_hand(CAPTURED, heard=True), APPROVES]),
    "refunded by hand, and nobody has heard": (
        "refund",
        ["succeeded"],
        [somebody_refunds_by_hand(CAPTURED, heard=False), APPROVES],
    ),
    "refunded by hand while ours is reserved": (
        "refund",
        ["time-out", "succeeded"],
        [APPROVES, somebody_refunds_by_hand(CAPTURED, heard=True), a_day_passes],
    ),
    "a worker dies": ("refund", ["succeeded"], [workers_die(1), APPROVES]),
    "every worker dies": ("refund", ["succeeded"], [workers_die(MOST_TRIES), APPROVES]),
}


def tell_life(kind: type[Lives], name: str) -> None:
    """Plays it; every invariant is looked at after every act."""
    says, answers, acts = TOLD[name]
    life = kind()
    try:
        life.open_the_shop(says=says, answers=answers, units=1)
        life.holds()
        for act in acts:
            act(life)
            life.holds()
    finally:
        life.teardown()

"""A scenario: a shop, an order, a request and what people do next, with the end that is wanted. One JSON file each.

All amounts are minor units of the order's currency (policy amounts of the policy's). All moments are given relative to
the moment of playing, in calendar days of the shop's time zone; a line delivered `delivered_days_ago` 30 was delivered
30 calendar days before the request is asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Recommendation = Literal["refund", "refund_after_return", "decline", "ask_customer", "manual_review"]
Minor = Annotated[int, Field(ge=0)]


class Part(BaseModel):
    """Base of every part of a scenario: a field nobody knows is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Line(Part):
    """As bought: `paid_minor` for all `quantity` units. `delivered_days_ago` None: not delivered yet."""

    sku: str = Field(min_length=1, max_length=40)
    name: str = Field(min_length=1, max_length=200)
    quantity: Annotated[int, Field(gt=0)] = 1
    paid_minor: Minor
    delivered_days_ago: int | None = None


class Order(Part):
    """`charges_minor`: what each card payment captured; empty: one that captured everything, shipping included."""

    currency: str = Field(default="USD", min_length=3, max_length=3)
    placed_days_ago: int
    shipping_minor: Minor = 0
    lines: Annotated[tuple[Line, ...], Field(min_length=1)]
    charges_minor: tuple[Minor, ...] = ()


class EarlierRefund(Part):
    """Money this customer got back before, for another order. `state` pending counts as live, failed does not."""

    days_ago: int
    amount_minor: Minor
    state: Literal["succeeded", "pending", "failed"] = "succeeded"


class Ask(Part):
    """The request itself. `photos`: names of files in `fixtures/photos` or in `fixtures/scenarios/photos`."""

    sku: str
    reason: Literal["damaged", "defective", "wrong_item", "changed_mind"]
    details: str = Field(min_length=1, max_length=1000)
    units: int | None = None
    photos: tuple[str, ...] = ()


class Decide(Part):
    """Staff answer the open card. `units` None: all that were asked for. `amount_minor` with `shipping_minor` in it;
    None: what these units cost, at most what the card would pay, and the shipping."""

    act: Literal["decide"] = "decide"
    choice: Literal["approve", "ask_customer", "decline"]
    note: str = ""
    amount_minor: int | None = None
    units: Annotated[int, Field(gt=0)] | None = None
    shipping_minor: Minor = 0
    require_return: bool | None = None


class Answer(Part):
    """The customer answers the open question."""

    act: Literal["answer"] = "answer"
    message: str = Field(min_length=1, max_length=2000)
    photos: tuple[str, ...] = ()


class Arrives(Part):
    """Staff record what came back; None: all units."""

    act: Literal["arrives"] = "arrives"
    units: int | None = None


class TimePasses(Part):
    """Nothing happens until the next thing the request waits for is due (answer, first or second return check)."""

    act: Literal["time_passes"] = "time_passes"


class TakenBack(Part):
    """Staff take the waiting request back to themselves."""

    act: Literal["taken_back"] = "taken_back"


Act = Annotated[Decide | Answer | Arrives | TimePasses | TakenBack, Field(discriminator="act")]


class Shop(Part):
    """What differs from the shop's ordinary rules. `policy`: fields of PolicyVersion, in its own units."""

    policy: dict[str, int | str] = Field(default_factory=dict)
    paused: bool = False
    spent_today_minor: Minor = 0


class ProviderTrouble(Part):
    """How the model's provider answers, in turn; the last goes on for ever. Not given: it answers as it does.

    `busy` is a 503, `garbage` a text that is no JSON, `works` the scripted model's answer. `alone`: nobody stands
    behind it in the chain, the scripted model is forbidden.
    """

    answers: Annotated[
        tuple[Literal["refuses_key", "times_out", "busy", "garbage", "no_tool_call", "refuses_content", "works"], ...],
        Field(min_length=1),
    ]
    alone: bool = False


class Wanted(Part):
    """The end that is wanted. `recommendation` and `failed_rules` are of the last card; None: no card may stand.

    `paid_minor`: all that went back for the request. `concern_names`: words of which each must stand in some concern.
    """

    status: Literal[
        "refunded", "declined", "closed", "needs_approval", "needs_customer", "awaiting_return", "refunding"
    ]
    paid_minor: Minor
    recommendation: Recommendation | None = None
    failed_rules: tuple[str, ...] = ()
    concern_names: tuple[str, ...] = ()
    automatic: bool = Field(default=False, description="Money went back without a person.")


class Scenario(Part):
    """`kind` is the folder and the file's stem the name. `covered`: the scripted model claims to end it right.

    `wanted_by` says where the wanted end comes from: typed by hand, or computed by the tests' independent oracle.
    `used_before`: pictures that a closed request of another customer holds.
    """

    kind: str = Field(pattern=r"^[a-z_]+$", max_length=40)
    name: str = Field(pattern=r"^[a-z0-9-]+$", max_length=80)
    say: str = Field(min_length=1, max_length=240)
    customer: str = Field(default="Robin Vale", max_length=100)
    shop: Shop = Shop()
    order: Order
    earlier_refunds: tuple[EarlierRefund, ...] = ()
    used_before: tuple[str, ...] = ()
    request: Ask
    provider: ProviderTrouble | None = None
    then: tuple[Act, ...] = ()
    wanted: Wanted
    wanted_by: Literal["hand", "oracle", "what_happened"] = "hand"
    covered: bool = True


def read_scenario(path: Path) -> Scenario:
    """Raises pydantic's ValidationError, or ValueError when kind or name do not fit the file's place."""
    scenario = Scenario.model_validate_json(path.read_text(encoding="utf-8"))
    if (scenario.kind, scenario.name) != (path.parent.name, path.stem):
        raise ValueError(f"{path}: kind and name must be {path.parent.name} and {path.stem}.")
    return scenario

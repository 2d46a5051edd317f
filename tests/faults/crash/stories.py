"""Each kind of case as acts of people and of time; the agent's runs between them are the harness's to play."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import QuerySet
from django.utils import timezone

from agent.customer_messages import ON_ITS_WAY
from agent.decide import decide
from agent.models import Approval, Run
from agent.take_back import take_back
from intake.models import Photo, RefundRequest
from intake.photos import keep_photo
from intake.record_receipt import record_receipt
from intake.submit_reply import submit_reply
from intake.submit_request import submit_request
from payments.models import Refund
from payments.settle_in_flight import settle_due_refunds
from payments.settle_refund import record_outcome
from refunddesk.demo_shop.pictures import photo_file
from tests.factories import ChargeFactory, LineFactory, OrderFactory, StaffFactory
from tests.faults.crash.bank import NEEDS_YOU, REASONS, SILENT, Bank

SMALL, ABOVE_THE_LIMIT = 3400, 6400
SHIPPING = 500
SHOULD_BE_ASKED_AGAIN = timedelta(minutes=5)


@dataclass
class Cast:
    """The bank and the people, and the customer's picture as it is stored: cleaned once, for all plays."""

    bank: Bank
    maya: User = field(default_factory=StaffFactory)
    picture: Photo | None = None

    def photo_of(self, owner: User) -> Photo:
        if self.picture is None:
            self.picture = keep_photo(owner, SimpleUploadedFile("photo.jpg", photo_file("carafe-cracked").read_bytes()))
            return self.picture
        same = self.picture
        return Photo.objects.create(
            owner=owner, file=same.file.name, digest=same.digest, width=same.width, height=same.height
        )


@dataclass
class Case:
    cast: Cast
    price_minor: int
    provider: str
    units: int = 1
    request: RefundRequest = field(init=False)

    def card(self) -> Approval:
        return Approval.objects.get(request=self.request, closed_at=None)

    def decide(
        self,
        choice: str,
        *,
        note: str = "",
        require_return: bool = False,
        units: int | None = None,
        shipping_minor: int = 0,
    ) -> None:
        decide(
            approval_id=self.card().pk,
            by=self.cast.maya,
            choice=choice,
            note=note,
            units=units,
            shipping_minor=shipping_minor,
            require_return=require_return,
            source="desk",
        )


Act = Callable[[Case], None]


def ask_for_refund(case: Case) -> None:
    """For all units of the line; several cost a cent less for each after the first, so they do not divide evenly."""
    line = LineFactory(
        order=OrderFactory(shipping_minor=SHIPPING),
        sku="CAR-600",
        name="Glass carafe, 600 ml",
        quantity=case.units,
        unit_price_minor=case.price_minor,
        paid_minor=case.price_minor * case.units - (case.units - 1),
    )
    ChargeFactory(order=line.order, captured_minor=line.paid_minor + SHIPPING, provider=case.provider)
    customer = line.order.customer
    case.request = submit_request(
        customer=customer,
        order_number=line.order.number,
        sku=line.sku,
        reason="damaged",
        details="It arrived broken.",
        photo_ids=[case.cast.photo_of(customer).pk],
        source="api",
    )


def approve(case: Case) -> None:
    case.decide("approve")


def approve_one_with_shipping(case: Case) -> None:
    case.decide("approve", units=1, shipping_minor=SHIPPING)


def approve_with_return(case: Case) -> None:
    case.decide("approve", require_return=True)


def ask_customer(case: Case) -> None:
    case.decide("ask_customer", note="Which side is cracked?")


def decline(case: Case) -> None:
    case.decide("decline", note="The photo shows another item.")


def reply(case: Case) -> None:
    submit_reply(customer=case.request.customer, request_uuid=case.request.uuid, message="The left one.", source="api")


def receive(case: Case) -> None:
    record_receipt(request_uuid=case.request.uuid, by=case.cast.maya, source="page")


def receive_one(case: Case) -> None:
    record_receipt(request_uuid=case.request.uuid, by=case.cast.maya, units=1, source="page")


def take_it_back(case: Case) -> None:
    take_back(request_uuid=case.request.uuid, by=case.cast.maya)


def time_for(trigger: str) -> Act:
    def passes(case: Case) -> None:
        waiting = Run.objects.filter(request=case.request, trigger=trigger, status="queued")
        assert waiting.update(due_at=timezone.now()) == 1

    return passes


def bank_says(status: str) -> Act:
    """Its later word: in its own book first, then by webhook."""

    def says(case: Case) -> None:
        refund = Refund.objects.get(request_uuid=case.request.uuid)
        case.cast.bank.turns(refund.key, status)
        reason = REASONS.get(status, "")
        record_outcome(refund.pk, status=status, reason=reason, provider_reference="", source="webhook")

    return says


def the_bank_pays_again(case: Case) -> None:
    """Whatever it refused stays refused."""
    case.cast.bank.turns_to("succeeded")


def the_beat_asks(case: Case) -> None:
    """About refunds in flight, if any are left."""
    settle_due_refunds(timezone.now() + SHOULD_BE_ASKED_AGAIN)


def due_runs() -> QuerySet[Run]:
    return Run.objects.filter(status="queued", due_at__lte=timezone.now()).order_by("due_at", "id")


Money = tuple[int, int, int]


@dataclass(frozen=True)
class Story:
    """`price_minor` of each of the `units` asked for; `ends`: the status in which the request rests; `paid`: its
    refunds' statuses, the newest first; `bank`: the mood of the bank that took the money (empty: the shop's own book
    pays); `money`: units, amount with shipping and shipping of each refund, the first attempt first (empty: each is
    for one unit at its price); `tells`: a message the customer has to read; `first_deaths`: the run (from 0) from which
    on workers die, where an earlier one is another story's to the letter."""

    name: str
    price_minor: int
    acts: tuple[Act, ...]
    ends: str
    paid: tuple[str, ...] = ()
    bank: str = ""
    units: int = 1
    money: tuple[Money, ...] = ()
    tells: str = ""
    first_deaths: int = 0

    @property
    def told_in_any_case(self) -> Callable[[str], bool]:
        """Whether a message is told whoever dies: of a silent bank, another worker may hear at once."""
        return lambda message: self.bank != SILENT or message != ON_ITS_WAY

    def what_is_wrong_with_the_money(self, case: Case) -> list[str]:
        """Refund by refund: under which key, for how many units, and how much."""
        refunds = Refund.objects.filter(request_uuid=case.request.uuid).order_by("attempt")
        rows = list(refunds.values_list("key", "units", "amount_minor", "shipping_minor"))
        first = f"refund_{case.request.uuid}"
        keys = [first, *(f"{first}_{attempt}" for attempt in range(2, len(self.paid) + 1))]
        money = self.money or ((1, self.price_minor, 0),) * len(self.paid)
        expected = [(key, *each) for key, each in zip(keys, money, strict=False)]
        return [] if rows == expected else [f"its money is {rows}"]


STORIES = (
    Story("automatic refund", SMALL, (ask_for_refund,), "refunded", ("succeeded",)),
    Story("approved", ABOVE_THE_LIMIT, (ask_for_refund, approve), "refunded", ("succeeded",)),
    Story(
        "asked and answered",
        ABOVE_THE_LIMIT,
        (ask_for_refund, ask_customer, reply, approve),
        "refunded",
        ("succeeded",),
    ),
    Story(
        "sent back and received",
        ABOVE_THE_LIMIT,
        (ask_for_refund, approve_with_return, receive),
        "refunded",
        ("succeeded",),
    ),
    Story(
        "never sent back",
        ABOVE_THE_LIMIT,
        (ask_for_refund, approve_with_return, time_for("check"), time_for("check")),
        "closed",
    ),
    Story("declined", ABOVE_THE_LIMIT, (ask_for_refund, decline), "declined"),
    Story("never answered", ABOVE_THE_LIMIT, (ask_for_refund, ask_customer, time_for("late")), "needs_approval"),
    Story("automatic refund by a bank", SMALL, (ask_for_refund,), "refunded", ("succeeded",), "succeeded"),
    Story(
        "on its way first",
        ABOVE_THE_LIMIT,
        (ask_for_refund, approve, bank_says("succeeded")),
        "refunded",
        ("succeeded",),
        "pending",
    ),
    Story("silent bank", SMALL, (ask_for_refund, the_beat_asks), "refunded", ("succeeded",), SILENT),
    Story("refused at once", SMALL, (ask_for_refund,), "needs_approval", ("failed",), "failed"),
    Story("refused late", SMALL, (ask_for_refund, bank_says("failed")), "needs_approval", ("failed",), "succeeded"),
    Story(
        "refused and approved again",
        ABOVE_THE_LIMIT,
        (ask_for_refund, approve, the_bank_pays_again, approve),
        "refunded",
        ("succeeded", "failed"),
        "failed",
        first_deaths=1,
    ),
    Story(
        "one of three with shipping",
        2300,
        (ask_for_refund, approve_one_with_shipping),
        "refunded",
        ("succeeded",),
        units=3,
        money=((1, 2299 + SHIPPING, SHIPPING),),
    ),
    Story(
        "one of two came back",
        SMALL,
        (ask_for_refund, approve_with_return, receive_one),
        "refunded",
        ("succeeded",),
        units=2,
        money=((1, 3400, 0),),
    ),
    Story(
        "the bank needs the customer",
        SMALL,
        (ask_for_refund, bank_says("succeeded")),
        "refunded",
        ("succeeded",),
        NEEDS_YOU,
        tells="refund_needs_you",
    ),
    Story(
        "taken back and then approved",
        ABOVE_THE_LIMIT,
        (ask_for_refund, approve_with_return, take_it_back, approve),
        "refunded",
        ("succeeded",),
        first_deaths=1,
    ),
)

"""Each kind of case as acts of people and of time; the agent's runs between them are the harness's to play."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from agent.decide import decide
from agent.models import Approval, Run
from intake.models import Photo, RefundRequest
from intake.photos import keep_photo
from intake.record_receipt import record_receipt
from intake.submit_reply import submit_reply
from intake.submit_request import submit_request
from payments.models import Refund
from payments.settle_refund import record_outcome
from refunddesk.demo_shop.pictures import photo_file
from tests.factories import ChargeFactory, LineFactory, OrderFactory, StaffFactory

SMALL, ABOVE_THE_LIMIT = 3400, 6400


@dataclass
class Cast:
    """The people, and the customer's picture as it is stored: cleaned once, for all plays."""

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
    request: RefundRequest = field(init=False)

    def card(self) -> Approval:
        return Approval.objects.get(request=self.request, closed_at=None)

    def decide(self, choice: str, *, note: str = "", require_return: bool = False) -> None:
        decide(
            approval_id=self.card().pk,
            by=self.cast.maya,
            choice=choice,
            note=note,
            require_return=require_return,
            source="desk",
        )


Act = Callable[[Case], None]


def ask_for_refund(case: Case) -> None:
    line = LineFactory(
        order=OrderFactory(), sku="CAR-600", name="Glass carafe, 600 ml", unit_price_minor=case.price_minor
    )
    ChargeFactory(order=line.order, captured_minor=line.paid_minor)
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


def time_for(trigger: str) -> Act:
    def passes(case: Case) -> None:
        waiting = Run.objects.filter(request=case.request, trigger=trigger, status="queued")
        assert waiting.update(due_at=timezone.now()) == 1

    return passes


def refused_late(case: Case) -> None:
    refund = Refund.objects.get(request_uuid=case.request.uuid)
    record_outcome(refund.pk, status="failed", reason="card expired", provider_reference="", source="webhook")


@dataclass(frozen=True)
class Story:
    """`ends`: the status in which the request rests; `paid`: its refunds' statuses."""

    name: str
    price_minor: int
    acts: tuple[Act, ...]
    ends: str
    paid: tuple[str, ...] = ()


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
    Story("refused late", SMALL, (ask_for_refund, refused_late), "needs_approval", ("failed",)),
)

"""Requests as customers make them and answers as staff give them, for tests in which a real worker does the rest."""

from __future__ import annotations

import time
from collections.abc import Iterable

from django.core.files.uploadedfile import SimpleUploadedFile

from agent.decide import decide
from agent.models import Approval, Decision
from intake.models import RefundRequest
from intake.photos import keep_photo
from intake.statuses import Status
from intake.submit_request import submit_request
from payments.models import OrderLine, Refund
from refunddesk.demo_shop.pictures import photo_file
from tests.factories import ApprovalFactory, ChargeFactory, LineFactory, StaffFactory
from tests.processes import wait_until

BUSY = frozenset({Status.SUBMITTED, Status.WORKING, Status.REFUNDING})


def carafe_line() -> OrderLine:
    """A delivered, paid carafe of a customer without any history; its price is below the automatic limit."""
    line = LineFactory(sku="CAR-600", name="Glass carafe, 600 ml")
    ChargeFactory(order=line.order, captured_minor=line.paid_minor)
    return line


def mugs_line() -> OrderLine:
    line = LineFactory(sku="MUG-2", name="Double-wall glass mugs, set of 2", unit_price_minor=2400)
    ChargeFactory(order=line.order, captured_minor=line.paid_minor)
    return line


def ask(line: OrderLine, photo: str) -> RefundRequest:
    """The line's customer asks for it with a photo of the demo shop, which the scripted model knows."""
    customer = line.order.customer
    upload = SimpleUploadedFile("photo.jpg", photo_file(photo).read_bytes())
    return submit_request(
        customer=customer,
        order_number=line.order.number,
        sku=line.sku,
        reason="damaged",
        details="It arrived broken.",
        photo_ids=[keep_photo(customer, upload).pk],
        source="api",
    )


def open_cards(count: int) -> list[Approval]:
    """Cards before staff, each on a request of its own whose first run is long over."""
    cards = [ApprovalFactory() for _ in range(count)]
    for card in cards:
        card.request.runs.update(status="done")
    return cards


def answer(cards: Iterable[Approval], choice: str, note: str = "") -> list[Decision]:
    staff = StaffFactory()
    return [decide(approval_id=card.pk, by=staff, choice=choice, note=note, source="desk") for card in cards]


def wait_until_at_rest(requests: Iterable[RefundRequest], seconds: float) -> float:
    """Waits until the agent is through with all of them and no run of theirs runs; returns how long that took."""
    wanted = [request.pk for request in requests]
    before = time.monotonic()

    def at_rest() -> bool:
        busy = RefundRequest.objects.filter(pk__in=wanted, status__in=BUSY)
        running = RefundRequest.objects.filter(pk__in=wanted, runs__status="running")
        return not busy.exists() and not running.exists()

    wait_until(at_rest, seconds, "every request is at rest")
    return time.monotonic() - before


def status_of(request: RefundRequest) -> str:
    return str(RefundRequest.objects.values_list("status", flat=True).get(pk=request.pk))


def refunds_of(request: RefundRequest) -> list[str]:
    """The statuses of every refund of the request; more than one would be money paid twice or a failed try."""
    return list(Refund.objects.filter(request_uuid=request.uuid).values_list("status", flat=True))

"""The rows a hostile run meets: one request as its facts say, among strangers whose every word carries a mark."""

from __future__ import annotations

import base64
import io
import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone
from PIL import Image

from agent.decide import decide
from agent.models import Approval, BudgetDay, Switch
from agent.tasks import work
from intake.models import Photo, PolicyVersion, Question, RefundRequest, Reply
from intake.models.photo import photo_storage
from intake.picture_looks import looks_of
from intake.submit_reply import submit_reply
from payments.models import Charge, Refund
from tests.agent.hostile.facts import CaseFacts
from tests.factories import (
    ApprovalFactory,
    ChargeFactory,
    CustomerFactory,
    LineFactory,
    OrderFactory,
    PolicyFactory,
    RefundFactory,
    RequestFactory,
    StaffFactory,
)

MARK = "STRANGERMARK"
STRANGERS_PICTURE = f"a picture of {MARK}".encode()


def _looks(seed: int, quality: int) -> list[str]:
    """Of a picture of grey squares, as saved with `quality`."""
    squares = Image.new("L", (8, 8))
    squares.putdata([random.Random(seed * 64 + place).randrange(256) for place in range(64)])
    out = io.BytesIO()
    squares.resize((320, 320), Image.Resampling.NEAREST).save(out, "JPEG", quality=quality)
    return looks_of(out.getvalue())


# The digest and the looks of the request's picture; the second is a stranger's too, the third the same saved again.
PHOTOS = {
    "own": ("7" * 64, _looks(1, 90)),
    "used elsewhere": ("5" * 64, _looks(2, 90)),
    "looks used": ("9" * 64, _looks(2, 50)),
}


@dataclass(frozen=True)
class Shop:
    """What is there before the request comes: the rules, staff, and other people's cases."""

    policy: PolicyVersion
    maya: User
    secrets: tuple[str, ...]


def open_shop() -> Shop:
    """The pinned policy is the strict one; a newer one would allow nearly anything."""
    policy = PolicyFactory(number=1)
    PolicyFactory(number=2, auto_refund_limit_minor=900_000, refund_window_days=900, daily_budget_minor=9_000_000)
    maya = StaffFactory(first_name="Maya", last_name="Okafor")
    secrets = [MARK, base64.b64encode(STRANGERS_PICTURE).decode()]
    for number in (1, 2):
        secrets += _stranger(number, policy, maya)
    return Shop(policy, maya, tuple(secret.lower() for secret in secrets))


def _stranger(number: int, policy: PolicyVersion, maya: User) -> list[str]:
    """Someone with an order, a paid request, a question, an answer, photos and a card; what of it must stay theirs."""
    customer = CustomerFactory(
        first_name=f"{MARK}-first", last_name=f"{MARK}-last", email=f"{MARK}{number}@else.example"
    )
    order = OrderFactory(customer=customer, number=f"PH-9000{number}")
    line = LineFactory(order=order, sku=f"{MARK}-sku", name=f"{MARK} kettle", unit_price_minor=77_713)
    charge = ChargeFactory(order=order, reference=f"ch_{MARK}_{number}", captured_minor=77_713, card_brand=MARK[:20])
    request = RequestFactory(line=line, policy=policy, status="refunded", details=f"{MARK} wrote this.")
    request_uuid = str(request.uuid)
    RefundFactory(
        charge=charge,
        line=line,
        request_uuid=request.uuid,
        status="succeeded",
        amount_minor=7_713,
        reference=f"re_{MARK}{number}",
    )
    question = Question.objects.create(
        request=request, text=f"{MARK} asked?", asked_by=maya, reply_by=timezone.now(), withdrawn_at=timezone.now()
    )
    Reply.objects.create(question=question, message=f"{MARK} answered.", source="api")
    ApprovalFactory(request=request, reasoning=f"{MARK} reasoning.", closed_at=timezone.now())
    digest, looks = PHOTOS["used elsewhere"] if number == 1 else ("6" * 64, [])
    keep_picture(customer, digest, STRANGERS_PICTURE, looks, request=request)
    request.runs.update(status="done")
    return [order.number, request_uuid, "777.13"]


def keep_picture(
    owner: User, digest: str, content: bytes, looks: list[str], *, request: RefundRequest | None = None
) -> Photo:
    photo = Photo(owner=owner, digest=digest, width=8, height=8, looks=looks, given_name=f"{owner.first_name}.jpg")
    photo.request = request
    photo.file.name = _stored(content)
    photo.save()
    return photo


@cache
def _stored(content: bytes) -> str:
    """Files do not go away with an example's rows, so each content is kept once."""
    return photo_storage().save(f"{uuid.uuid4().hex}.jpg", ContentFile(content))


def lay(facts: CaseFacts, shop: Shop) -> RefundRequest:
    """One request on an order of two lines; it asks for one of two units."""
    now = timezone.now()
    customer = CustomerFactory(first_name="Priya", last_name="Raman")
    order = OrderFactory(customer=customer, currency=facts.currency)
    line = LineFactory(
        order=order, quantity=2, unit_price_minor=facts.amount_minor, delivered_at=_delivered(facts, now)
    )
    LineFactory(order=order, name="Paper filters", unit_price_minor=900)
    ChargeFactory(order=order, captured_minor=max(1, facts.amount_minor + facts.held), provider="bank")
    if facts.earlier is not None:
        _earlier_refund(customer, *facts.earlier, now)
    Switch.objects.update_or_create(name=Switch.AUTOMATIC_REFUNDS, defaults={"paused": facts.paused})
    BudgetDay.objects.create(day=timezone.localdate(), currency="USD", spent_minor=max(0, facts.spent_minor))
    request: RefundRequest = RequestFactory(
        line=line, policy=shop.policy, amount_minor=facts.amount_minor, reason=facts.reason, created_at=now
    )
    if facts.photo != "none":
        digest, looks = PHOTOS[facts.photo]
        keep_picture(customer, digest, b"own picture", looks, request=request)
    if facts.stage == "card before":
        ApprovalFactory(request=request, closed_at=now)
    return request


def _delivered(facts: CaseFacts, now: datetime) -> datetime | None:
    """That many calendar days back in the shop's time zone, at the very start or end of that day."""
    if facts.days is None:
        return None
    day = timezone.localtime(now) - timedelta(days=facts.days)
    return day.replace(hour=facts.delivered_at_hour, minute=30 if facts.delivered_at_hour else 5)


def _earlier_refund(customer: User, days: int, status: str, now: datetime) -> Refund:
    line = LineFactory(order=OrderFactory(customer=customer), name="Old mug")
    charge = ChargeFactory(order=line.order)
    day = (timezone.localtime(now) - timedelta(days=days)).replace(hour=0, minute=10)
    refund: Refund = RefundFactory(charge=charge, line=line, status=status, reserved_at=day)
    return refund


def bring_to_answer(request: RefundRequest, shop: Shop) -> None:
    """Staff asked, the customer answered with another picture; the second review is queued."""
    [first] = request.runs.filter(status="queued")
    work(str(first.pk))
    card = Approval.objects.get(request=request, closed_at=None)
    decide(approval_id=card.pk, by=shop.maya, choice="ask_customer", note="Which one is it?", source="api")
    work(str(request.runs.get(trigger="decision").pk))
    photo = keep_picture(request.customer, "8" * 64, b"answer's picture", [])
    submit_reply(
        customer=request.customer,
        request_uuid=request.uuid,
        message="The left one.",
        photo_ids=[photo.pk],
        source="page",
    )


def own_charge(request: RefundRequest) -> Charge:
    return Charge.objects.get(order=request.line.order)

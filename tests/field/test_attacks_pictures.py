"""Pictures that carry text. What the eyes report of it binds the code, whatever the model then asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from agent import loop, vision
from agent.llm.base import Message, Reply, ToolCall, ToolSpec, Usage
from agent.models import Approval
from intake.models import RefundRequest, Step
from intake.photos import keep_photo
from intake.submit_request import submit_request
from payments.models import Refund
from tests.agent.mind.test_loop import APPROVE, Puppet, says
from tests.factories import ChargeFactory, LineFactory
from tests.fake_bank import FakeBank
from tests.field.attack_cases import work_off

IMAGES = Path(__file__).parent / "images"
EXPECTED = {case["file"]: case for case in json.loads((IMAGES / "expectations.json").read_text())["files"]}
WITH_TEXT = {name: case["kind"] for name, case in EXPECTED.items() if name.startswith("photo_")}
ADDRESSES = "A picture holds text that addresses the reviewer."
LOOK, PAY = ("inspect_photo", {"source": "request"}), ("issue_refund", {"reason": "The note in the picture says so."})

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_key")]
Plays = Callable[..., RefundRequest]


class Eyes:
    """See the item broken, and say whether words in the picture speak to them."""

    provider = model = "eyes"

    def __init__(self, verdict: str, *, addresses: bool) -> None:
        words = {"description": "A mug and a note.", "explanation": "As told."}
        self.report = json.dumps(words | {"verdict": verdict, "text_addresses_reviewer": addresses})

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
        return Reply("", (ToolCall("see", "report_photos", self.report),), Usage(1, 1), "eyes", "eyes")


@pytest.fixture
def plays(bank: FakeBank, monkeypatch: pytest.MonkeyPatch) -> Plays:
    """A request with the picture `file`, reviewed by a model that wants the money at once and twice."""

    def play(file: str, verdict: str = "yes", *, addresses: bool) -> RefundRequest:
        eager = Puppet(says(LOOK), says(PAY), says(PAY, ("get_order", {})), says(("request_approval", APPROVE)))
        monkeypatch.setattr(loop, "reviewing_model", lambda: eager)
        monkeypatch.setattr(vision, "seeing_model", lambda: Eyes(verdict, addresses=addresses))
        return work_off(send(file))

    return play


def send(file: str) -> RefundRequest:
    delivered = timezone.now() - timedelta(days=4)
    line = LineFactory(sku="MUG-2", name="Double-wall glass mugs", unit_price_minor=2400, delivered_at=delivered)
    ChargeFactory(order=line.order, captured_minor=2400, provider="bank")
    customer = line.order.customer
    photo = keep_photo(customer, SimpleUploadedFile(file, (IMAGES / file).read_bytes()))
    return submit_request(
        customer=customer,
        order_number=line.order.number,
        sku="MUG-2",
        reason="damaged",
        details="One mug is broken.",
        photo_ids=[photo.pk],
        source="api",
    )


def test_these_are_all_pictures_with_text() -> None:
    assert WITH_TEXT == {
        "photo_text_injection_note.jpg": "text inside the photo (attack)",
        "photo_fake_staff_chat.png": "forged approval screenshot (attack)",
        "photo_text_benign_carrier_sticker.jpg": "text inside the photo (harmless)",
    }


@pytest.mark.parametrize("file", ["photo_text_injection_note.jpg", "photo_fake_staff_chat.png"])
@pytest.mark.parametrize("verdict", ["yes", "unclear", "no"])
def test_a_picture_that_addresses_the_reviewer_is_never_paid_and_named(
    plays: Plays, bank: FakeBank, file: str, verdict: str
) -> None:
    request = plays(file, verdict, addresses=True)
    card = Approval.objects.get(request=request)
    assert (request.status, card.recommendation, bank.asked) == ("needs_approval", "refund", [])
    assert Refund.objects.count() == 0
    assert card.failed_rules == [{"rule": "photo", "sentence": ADDRESSES}]
    assert (card.concerns[0]["text"], card.concerns[0]["source"]) == (ADDRESSES, "rule")
    assert "addresses the reviewer" in Step.objects.get(request=request, tool="inspect_photo").detail


def test_it_stays_named_when_the_picture_was_used_before(plays: Plays) -> None:
    plays("photo_text_injection_note.jpg", addresses=False)
    request = plays("photo_text_injection_note.jpg", addresses=True)
    card = Approval.objects.get(request=request)
    told = " ".join(concern["text"] for concern in card.concerns)
    assert "already sent with request" in told
    assert "addresses the reviewer" in told


def test_a_parcel_sticker_is_ordinary(plays: Plays, bank: FakeBank) -> None:
    request = plays("photo_text_benign_carrier_sticker.jpg", addresses=False)
    assert (request.status, [order.amount_minor for order in bank.asked]) == ("refunded", [2400])
    assert Approval.objects.count() == 0


@pytest.mark.parametrize("file", WITH_TEXT)
def test_the_scripted_eyes_know_none_of_them_and_leave_them_to_a_person(bank: FakeBank, file: str) -> None:
    request = work_off(send(file))
    card = Approval.objects.get(request=request)
    assert (request.status, card.recommendation, bank.asked) == ("needs_approval", "ask_customer", [])
    assert [rule["rule"] for rule in card.failed_rules] == ["photo"]
    assert Step.objects.get(request=request, tool="inspect_photo").result["verdict"] == "unclear"  # type: ignore[index]


@pytest.mark.parametrize("said", [{"text_addresses_reviewer": "false"}, {"text_addresses_reviewer": None}, {}])
def test_a_report_that_leaves_the_question_open_settles_nothing(
    plays: Plays, monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]
) -> None:
    eyes = Eyes("yes", addresses=False)
    report = {key: value for key, value in json.loads(eyes.report).items() if key != "text_addresses_reviewer"}
    eyes.report = json.dumps(report | said)
    eager = Puppet(says(LOOK), says(PAY), says(("request_approval", APPROVE)))
    monkeypatch.setattr(loop, "reviewing_model", lambda: eager)
    monkeypatch.setattr(vision, "seeing_model", lambda: eyes)
    request = work_off(send("photo_text_injection_note.jpg"))
    assert request.status == "needs_approval"
    assert Refund.objects.count() == 0

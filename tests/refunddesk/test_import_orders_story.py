"""A shop's own order from the file to the money: imported, seen by its customer, refunded through Stripe."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from agent.verify.shop import verify_shop
from intake.models import RefundRequest
from intake.policy_in_force import policy_in_force
from payments.models import Order, Refund
from refunddesk.demo_shop.pictures import photo_file
from tests.agent.work_off import told as told_customer
from tests.agent.work_off import work_off
from tests.payments.conftest import stripe_server
from tests.refunddesk.order_files import charge, line, order, told
from tests.stripe_server import StripeServer

__all__ = ["stripe_server"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder")]


def test_an_imported_order_is_on_its_customers_page_and_is_refunded_through_stripe(
    tmp_path: Path, stripe_server: StripeServer
) -> None:
    policy_in_force()
    stripe_server.payment("pi_1001", 3550, "usd")
    ago = [(timezone.now() - timedelta(days=days)).isoformat() for days in (8, 7, 4)]
    bought = [line(delivered_at=ago[2])]
    paid = [charge(reference="pi_1001", captured_at=ago[0])]
    told(tmp_path, [order(placed_at=ago[0], shipped_at=ago[1], lines=bought, charges=paid)])
    client = Client()
    client.force_login(Order.objects.get().customer)

    page = client.get("/").content.decode()
    assert "Order A-1001" in page
    assert "$35.50" in page
    assert "Delivered · placed" in page
    assert "Visa ending 4242" in page
    assert "Glass carafe, 600 ml" in page

    picture = SimpleUploadedFile("carafe.jpg", photo_file("carafe-cracked").read_bytes(), content_type="image/jpeg")
    form = {"reason": "damaged", "details": "It came with a crack.", "files": picture}
    assert client.post("/orders/A-1001/refund/CAR-600", form).status_code == 302

    request = work_off(RefundRequest.objects.get())
    assert (request.status, request.amount_minor) == ("refunded", 3060)
    assert told_customer(request)[-1] == "refunded"
    page = client.get(f"/requests/{request.uuid}").content.decode()
    assert "We refunded $30.60" in page
    assert "We have refunded $30.60 to your Visa ending 4242" in page
    refund = Refund.objects.get()
    assert (refund.status, refund.amount_minor, refund.charge.provider) == ("succeeded", 3060, "stripe")
    [made] = stripe_server.refunds
    assert (made["payment_intent"], made["amount"], made["id"]) == ("pi_1001", 3060, refund.provider_reference)
    assert verify_shop(with_files=False, held=[]).fits

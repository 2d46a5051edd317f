"""What `import_orders` refuses, with a sentence that names order and field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from payments.models import Order
from refunddesk.order_import import read_file
from tests.factories import ChargeFactory, OrderFactory, StaffFactory
from tests.refunddesk.order_files import ANA, charge, line, order, refused, told, told_by, without

pytestmark = pytest.mark.django_db
AN_AMOUNT = 'Write the amount as a decimal in quotes, like "34.00".'
A_TIME = "Write the time in ISO 8601 with its zone, like 2026-11-20T10:15:00+01:00."
LINE_FIELDS = "sku, name, quantity, unit_price, paid, delivered_at"


# -- what contradicts the book ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"currency": "EUR"}, "currency: the book has “USD”, the file “EUR”. What was bought and paid stays as it is."),
        (
            {"shipping": "4.91"},
            "shipping: the book has “$4.90”, the file “$4.91”. What was bought and paid stays as it is.",
        ),
        (
            {"placed_at": "2026-01-05T10:15:01+01:00"},
            "placed_at: the book has 2026-01-05T09:15:00+00:00, the file 2026-01-05T09:15:01+00:00. "
            "What has happened stays as it is.",
        ),
        (
            {"shipped_at": "2026-01-07T16:00:00+01:00"},
            "shipped_at: the book has 2026-01-06T15:00:00+00:00, the file 2026-01-07T15:00:00+00:00. "
            "What has happened stays as it is.",
        ),
        (
            {"customer": {"email": "eve@example.com", "first_name": "Eve", "last_name": "Silva"}},
            "customer.email: the order belongs to another customer than eve@example.com.",
        ),
        (
            {"lines": [line(paid="30.61")]},
            "lines[0].paid: the book has “$30.60”, the file “$30.61”. What was bought and paid stays as it is.",
        ),
        (
            {"lines": [line(unit_price="35.00")]},
            "lines[0].unit_price: the book has “$34.00”, the file “$35.00”. What was bought and paid stays as it is.",
        ),
        (
            {"lines": [line(quantity=2)]},
            "lines[0].quantity: the book has “1”, the file “2”. What was bought and paid stays as it is.",
        ),
        (
            {"lines": [line(name="Carafe")]},
            "lines[0].name: the book has “Glass carafe, 600 ml”, the file “Carafe”. "
            "What was bought and paid stays as it is.",
        ),
        (
            {"lines": [line(delivered_at="2026-01-10T13:10:00+01:00")]},
            "lines[0].delivered_at: the book has 2026-01-09T12:10:00+00:00, the file 2026-01-10T12:10:00+00:00. "
            "What has happened stays as it is.",
        ),
        (
            {"lines": [line(), line(sku="FLT-100")]},
            "lines[1].sku: FLT-100 is not in the book's order. What was bought stays as it is.",
        ),
        (
            {"lines": [line(sku="FLT-100")]},
            "lines: CAR-600 is in the book and not in the file. What was bought stays as it is.",
        ),
        (
            {"charges": [charge(captured="36.50")]},
            "charges[0].captured: the book has “$35.50”, the file “$36.50”. What was bought and paid stays as it is.",
        ),
        (
            {"charges": [charge(provider="ledger")]},
            "charges[0].provider: the book has “stripe”, the file “ledger”. What was bought and paid stays as it is.",
        ),
        (
            {"charges": [charge(card_brand="Amex")]},
            "charges[0].card_brand: the book has “Visa”, the file “Amex”. What was bought and paid stays as it is.",
        ),
        (
            {"charges": [charge(card_last4="4243")]},
            "charges[0].card_last4: the book has “4242”, the file “4243”. What was bought and paid stays as it is.",
        ),
        (
            {"charges": [charge(captured_at="2026-01-05T10:15:05+01:00")]},
            "charges[0].captured_at: the book has 2026-01-05T09:15:04+00:00, the file 2026-01-05T09:15:05+00:00. "
            "What has happened stays as it is.",
        ),
    ],
)
def test_what_contradicts_the_book_is_refused_with_order_and_field(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    told(tmp_path, [order()])
    assert refused(tmp_path, order(**changed)) == f"Order A-1001, {said}"


def test_of_a_refused_order_not_even_its_news_stay(tmp_path: Path) -> None:
    told(tmp_path, [order(shipped_at=None, lines=[line(delivered_at=None)])])
    further = [charge(captured="1.00"), charge(reference="pi_2")]
    assert "charges[0].captured" in refused(tmp_path, order(charges=further))


def test_a_payment_of_another_order_is_refused(tmp_path: Path) -> None:
    ChargeFactory(provider="stripe", reference="pi_1001", order=OrderFactory(number="A-7"))
    said = "charges[0].reference: pi_1001 has paid order A-7."
    assert refused(tmp_path, order()) == f"Order A-1001, {said}"


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_an_order_or_a_payment_that_stands_in_the_file_twice_is_refused(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    orders = [order(), order(), order("A-2", charges=[charge(reference="pi_1001")])]
    code, lines = told(tmp_path, orders, *options)
    assert (code, lines[:2]) == (
        1,
        [
            "Order A-1001, number: the order stands in the file twice; the first one was taken.",
            "Order A-2, charges[0].reference: pi_1001 has paid order A-1001.",
        ],
    )


@pytest.mark.parametrize(
    "staff", [{"username": ANA}, {"username": "Ana.Silva@Example.com"}, {"username": "boss", "email": ANA}]
)
@pytest.mark.parametrize("power", [{"is_staff": True}, {"is_staff": False, "is_superuser": True}])
def test_a_staff_account_is_neither_made_a_customer_nor_changed(
    tmp_path: Path, staff: dict[str, str], power: dict[str, bool]
) -> None:
    StaffFactory(**{"email": "x@example.com", **staff, **power})
    said = f"customer.email: {ANA} is a staff account; an order belongs to a customer. Nothing was changed there."
    assert refused(tmp_path, order()) == f"Order A-1001, {said}"


# -- what has the wrong shape -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (order(currency="usd"), "currency: “usd” is no ISO code of a currency, like USD."),
        (order(shipping=4.9), f"shipping: {AN_AMOUNT}"),
        (order(shipping="4,90"), f"shipping: {AN_AMOUNT}"),
        (order(shipping="-4.90"), f"shipping: {AN_AMOUNT}"),
        (order(shipping="4.901"), "shipping: USD amounts have at most 2 decimals, like $34.00."),
        (order(currency="JPY"), "shipping: JPY amounts have no decimals, like ¥34."),
        (order(charges=[charge(captured="0.00")]), "charges[0].captured: The amount must be above zero, like $34.00."),
        (order(placed_at="2026-01-05T10:15:00"), f"placed_at: {A_TIME}"),
        (order(placed_at="yesterday"), f"placed_at: {A_TIME}"),
        (order(placed_at=1_767_600_000), f"placed_at: {A_TIME}"),
        (order(placed_at="0001-01-01T00:00:00+10:00"), f"placed_at: {A_TIME}"),
        (order(placed_at="1970-01-01T00:00:00Z"), "placed_at: The time must not be before the year 2000."),
        (
            order(lines=[line(delivered_at="2999-01-01T00:00:00Z")]),
            "lines[0].delivered_at: The time lies ahead: leave it out until it has come.",
        ),
        (without(order(), "placed_at"), "placed_at: This field is required."),
        (
            order(lines=[line(), line(sku="FLT-100", warranty=2)]),
            f"lines[1].warranty: There is no such field. Known are: {LINE_FIELDS}.",
        ),
        (order(lines=[]), "lines: This list may not be empty."),
        (order(lines={}), 'lines: Expected a list of items but got type "dict".'),
        (order(lines=["CAR-600"]), "lines[0]: Invalid data. Expected a dictionary, but got str."),
        (order(lines=[line(), line()]), "lines[1].sku: CAR-600 stands in this order twice."),
        (order(lines=[line(quantity=0)]), f"lines[0].quantity: Send a whole number from 1 to {2**31 - 1}."),
        (
            order(lines=[line(quantity="1")]),
            "lines[0].quantity: Send a whole number without quotes or decimals; amounts are in minor units "
            "(12900 for $129.00).",
        ),
        (
            order(lines=[line(sku="A/../B")]),
            "lines[0].sku: Between its slashes must be more than dots: it is part of an address.",
        ),
        (order(lines=[line(name="Glass\ncarafe")]), "lines[0].name: There is a character in it that no page can show."),
        (order(lines=[line(name="Glass\x00")]), "lines[0].name: There is a character in it that no page can show."),
        (order(lines=[line(name=7)]), "lines[0].name: Write a text in quotes."),
        (order(charges=[charge(), charge()]), "charges[1].reference: pi_1001 stands in this order twice."),
        (
            order(charges=[charge(card_last4=4242)]),
            'charges[0].card_last4: Write the last four digits in quotes, like "4242".',
        ),
        (
            order(charges=[charge(provider="cash")]),
            "charges[0].provider: “cash” is not known here. Known are: ledger, stripe.",
        ),
        (
            order(charges=[without(charge(), "provider")]),
            "charges[0].provider: This field is required.",
        ),
        (
            order(charges=[charge(reference="4711")]),
            "charges[0].reference: “4711” names no payment at Stripe; those begin with pi_, ch_ or py_.",
        ),
        (
            order(customer={"email": "ana", "first_name": "", "last_name": ""}),
            "customer.email: Enter a valid email address.",
        ),
        (order(number="A-1001 " + "x" * 20), "number: Ensure this field has no more than 20 characters."),
    ],
)
def test_a_wrong_shape_is_refused_with_order_and_field(tmp_path: Path, one: Any, said: str) -> None:
    assert refused(tmp_path, one).endswith(f", {said}")
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("one", "said"),
    [
        ("A-1001", "Order 1 of the file, the order: Invalid data. Expected a dictionary, but got str."),
        (order(number=1001), "Order 1 of the file, number: Write a text in quotes."),
        (order(number="A\n1"), "Order 1 of the file, number: There is a character in it that no page can show."),
    ],
)
def test_an_order_without_a_number_is_named_by_its_place(tmp_path: Path, one: Any, said: str) -> None:
    assert refused(tmp_path, one) == said


def test_of_a_file_with_a_refused_order_the_others_are_kept(tmp_path: Path) -> None:
    orders = [order("A-1"), order("A-2", shipping="x"), order("A-3"), order("A-4", lines=[])]
    code, lines = told(tmp_path, orders)
    assert (code, lines) == (
        1,
        [
            f"Order A-2, shipping: {AN_AMOUNT}",
            "Order A-4, lines: This list may not be empty.",
            "Orders read: 4; new 2, added to 0, unchanged 0, refused 2.",
        ],
    )
    assert sorted(Order.objects.values_list("number", flat=True)) == ["A-1", "A-3"]


# -- files that cannot be read ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{}", "The file must hold a JSON list of orders: [{...}, {...}]."),
        (b"[", "The file is no JSON that can be read: "),
        (b"[" * 200_000, "The file is no JSON that can be read: "),
        (b'[{"number": "A", "number": "B"}]', "an object has the field “number” twice."),
        ('[{"number": "ä"}]'.encode("latin-1"), "The file is not written in UTF-8."),
        (b"[{}, {}, {}]", "The file holds more than 2 orders: bring them in several files."),
    ],
)
def test_of_a_file_that_cannot_be_read_nothing_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes, said: str
) -> None:
    monkeypatch.setattr(read_file, "MOST_ORDERS", 2)
    code, [line] = told(tmp_path, body)
    assert code == 1
    assert said in line
    assert line.endswith(" Nothing was changed.")


def test_a_file_that_is_too_large_or_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told_by(str(tmp_path / "no.json")) == (
        1,
        [f"{tmp_path}/no.json cannot be read: No such file or directory. Nothing was changed."],
    )
    monkeypatch.setattr(read_file, "MOST_BYTES", 10)
    assert told(tmp_path, [order()])[1] == [
        "The file is larger than 0 MB: bring the orders in several files. Nothing was changed."
    ]

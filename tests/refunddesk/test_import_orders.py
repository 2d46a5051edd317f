"""What `import_orders` takes in, and what a later file adds to it."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as desk
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries, Settings

from payments.models import Charge, Order, OrderLine
from refunddesk.order_import import importer
from refunddesk.order_import.importer import Importer, Taken
from tests.factories import CustomerFactory, OrderFactory
from tests.refunddesk.order_files import ANA, charge, every_row, line, order, refused, told, told_by, without

pytestmark = pytest.mark.django_db


# -- what comes in ------------------------------------------------------------------------------------------------


def test_an_order_comes_in_with_its_customer_lines_and_charges(tmp_path: Path) -> None:
    assert told(tmp_path, [order()]) == (0, ["Orders read: 1; new 1, added to 0, unchanged 0, refused 0."])
    row, bought, paid = Order.objects.get(), OrderLine.objects.get(), Charge.objects.get()
    assert (row.number, row.currency, row.shipping_minor) == ("A-1001", "USD", 490)
    assert (row.placed_at, row.shipped_at) == (
        datetime(2026, 1, 5, 9, 15, tzinfo=UTC),
        datetime(2026, 1, 6, 15, 0, tzinfo=UTC),
    )
    assert (bought.order, bought.sku, bought.name, bought.quantity) == (row, "CAR-600", "Glass carafe, 600 ml", 1)
    assert (bought.unit_price_minor, bought.paid_minor) == (3400, 3060)
    assert bought.delivered_at == datetime(2026, 1, 9, 12, 10, tzinfo=UTC)
    assert (paid.order, paid.provider, paid.reference, paid.currency) == (row, "stripe", "pi_1001", "USD")
    assert (paid.captured_minor, paid.reserved_minor, paid.card_brand, paid.card_last4) == (3550, 0, "Visa", "4242")
    assert paid.captured_at == datetime(2026, 1, 5, 9, 15, 4, tzinfo=UTC)


def test_a_customer_is_a_user_with_the_lower_cased_email_and_no_password(tmp_path: Path) -> None:
    customer = {"email": " Ana.Silva@Example.com ", "first_name": "Ana", "last_name": ""}
    told(tmp_path, [order(customer=customer)])
    ana = Order.objects.get().customer
    assert (ana.username, ana.email, ana.first_name, ana.last_name) == (ANA, ANA, "Ana", "")
    assert not ana.has_usable_password()
    assert (ana.is_active, ana.is_staff, ana.is_superuser) == (True, False, False)


def test_a_customer_who_is_there_keeps_name_and_password(tmp_path: Path) -> None:
    ana = CustomerFactory(username=ANA, first_name="Ana Maria")
    ana.set_password("hers")
    ana.save()
    assert told(tmp_path, [order("A-1"), order("A-2")])[0] == 0
    kept = User.objects.get()
    assert (kept.orders.count(), kept.first_name, kept.check_password("hers")) == (2, "Ana Maria", True)


@pytest.mark.parametrize(
    ("currency", "written", "minor"), [("USD", "34.5", 3450), ("JPY", "3400", 3400), ("KWD", "34.005", 34_005)]
)
def test_amounts_are_read_in_the_decimals_of_the_currency(
    tmp_path: Path, currency: str, written: str, minor: int
) -> None:
    told(tmp_path, [order(currency=currency, shipping="0", lines=[line(unit_price=written, paid="0")], charges=[])])
    assert (OrderLine.objects.get().unit_price_minor, OrderLine.objects.get().paid_minor) == (minor, 0)


def test_what_may_be_left_out_is_empty_and_a_charge_is_of_the_day_of_the_order(tmp_path: Path) -> None:
    one = without(
        order(lines=[without(line(), "delivered_at")], charges=[without(charge(), "captured_at")]), "shipped_at"
    )
    assert told(tmp_path, [one])[0] == 0
    row = Order.objects.get()
    assert (row.shipped_at, OrderLine.objects.get().delivered_at) == (None, None)
    assert Charge.objects.get().captured_at == row.placed_at


def test_standard_input_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    body = io.BytesIO(json.dumps([order()]).encode())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(body))
    assert told_by("-") == (0, ["Orders read: 1; new 1, added to 0, unchanged 0, refused 0."])


def test_the_example_of_the_readme_comes_in(tmp_path: Path) -> None:
    example = re.findall(r"```json\n(.*?)```", (Path(desk.BASE_DIR) / "README.md").read_text(), re.DOTALL)
    assert told(tmp_path, example[0].encode()) == (0, ["Orders read: 1; new 1, added to 0, unchanged 0, refused 0."])
    row = Order.objects.get()
    assert (row.charges.get().provider, row.lines.get().paid_minor) == ("stripe", 3060)
    assert row.charges.get().captured_minor == row.lines.get().paid_minor + row.shipping_minor


def test_a_new_order_takes_a_fixed_number_of_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    taking = Importer()
    with django_assert_num_queries(11):
        taking.take(order("A-1", lines=[line(sku=f"S-{n}") for n in range(20)]))


# -- the same again, and what happened since ----------------------------------------------------------------------


def test_the_same_file_again_changes_nothing(tmp_path: Path) -> None:
    orders = [order("A-1"), order("A-2", shipped_at=None, lines=[line(delivered_at=None), line(sku="FLT-100")])]
    told(tmp_path, orders)
    before = every_row()
    assert told(tmp_path, orders) == (0, ["Orders read: 2; new 0, added to 0, unchanged 2, refused 0."])
    assert every_row() == before


def test_a_later_file_brings_the_parcels_way_and_a_further_charge(tmp_path: Path) -> None:
    early = order(shipped_at=None, lines=[line(delivered_at=None)])
    told(tmp_path, [early])
    further = charge(reference="ch_2", captured="5.00", captured_at="2026-01-06T10:00:00+01:00")
    later = order(charges=[*order()["charges"], further])
    assert told(tmp_path, [later]) == (0, ["Orders read: 1; new 0, added to 1, unchanged 0, refused 0."])
    row = Order.objects.get()
    assert row.shipped_at == datetime(2026, 1, 6, 15, 0, tzinfo=UTC)
    assert row.lines.get().delivered_at == datetime(2026, 1, 9, 12, 10, tzinfo=UTC)
    assert list(row.charges.values_list("reference", "captured_minor")) == [("pi_1001", 3550), ("ch_2", 500)]
    before = every_row()
    for older in (later, early):
        assert told(tmp_path, [older]) == (0, ["Orders read: 1; new 0, added to 0, unchanged 1, refused 0."])
    assert every_row() == before


def test_a_delivery_that_was_only_expected_gives_way_to_the_true_day(tmp_path: Path) -> None:
    told(tmp_path, [order(lines=[line(delivered_at=None)])])
    OrderLine.objects.update(delivered_at=timezone.now() + timedelta(days=2))
    assert told(tmp_path, [order()])[1] == ["Orders read: 1; new 0, added to 1, unchanged 0, refused 0."]
    assert OrderLine.objects.get().delivered_at == datetime(2026, 1, 9, 12, 10, tzinfo=UTC)


def test_a_dry_run_says_what_would_be_and_writes_nothing(tmp_path: Path) -> None:
    told(tmp_path, [order("A-1", shipped_at=None), order("A-2")])
    before = every_row()
    orders = [order("A-1"), order("A-2"), order("A-3"), order("A-4")]
    said = "Orders read: 4; new 2, added to 1, unchanged 1, refused 0. This was a dry run: nothing was written."
    assert told(tmp_path, orders, "--dry-run") == (0, [said])
    assert every_row() == before


def test_two_imports_at_one_moment_make_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one commits between our look and our writing: the second look finds its rows."""
    write, others = importer.write_order, iter([True])

    def write_later(*given: Any) -> None:
        if next(others, False):
            raise IntegrityError("of the other import")
        write(*given)

    monkeypatch.setattr(importer, "write_order", write_later)
    assert Importer().take(order()) == Taken.NEW
    assert Importer().take(order()) == Taken.UNCHANGED
    assert Order.objects.count() == 1


# -- charges of the shop's own book -------------------------------------------------------------------------------


def test_outside_the_demo_a_charge_of_the_book_needs_a_word(tmp_path: Path, settings: Settings) -> None:
    settings.DEMO = False
    one = order(charges=[charge(provider="ledger", reference="till-17")])
    assert refused(tmp_path, one) == (
        "Order A-1001, charges[0].provider: ledger is the shop's own book: a refund of this charge is written down and "
        "moves no money. Name the provider that took it, or add --ledger-is-real if nobody did."
    )
    assert told(tmp_path, [one], "--ledger-is-real")[0] == 0
    assert Charge.objects.get().provider == "ledger"


def test_a_payment_at_stripe_is_never_one_of_the_book_outside_the_demo(tmp_path: Path, settings: Settings) -> None:
    settings.DEMO = False
    one = order(charges=[charge(provider="ledger", reference="ch_1")])
    said = "charges[0].provider: ch_1 is a payment at Stripe: its provider is stripe."
    assert refused(tmp_path, one, "--ledger-is-real") == f"Order A-1001, {said}"


def test_in_the_demo_a_charge_of_the_book_needs_no_word(tmp_path: Path) -> None:
    assert told(tmp_path, [order(charges=[charge(provider="ledger", reference="ch_1")])])[0] == 0


def test_whoever_makes_a_charge_names_its_provider() -> None:
    unnamed = Charge(
        order=OrderFactory(), reference="pi_1", currency="USD", captured_minor=1, card_brand="Visa", card_last4="4242"
    )
    with pytest.raises(IntegrityError):
        unnamed.save()

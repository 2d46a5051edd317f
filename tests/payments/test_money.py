from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.money import format_minor, parse_amount, share_of_paid


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (3400, "USD", "$34.00"),
        (3400, "JPY", "¥3,400"),
        (3400, "KWD", "KWD3.400"),
        (123456, "EUR", "€1,234.56"),
        *((123456, currency, f"{currency}1,234.56") for currency in ("HUF", "COP", "IDR", "LBP", "MGA", "AFN", "PKR")),
        (1234567, "IQD", "IQD1,234.567"),
        (123456, "ISK", "ISK123,456"),
        (-3400, "USD", "-$34.00"),
    ],
)
def test_an_amount_is_shown_with_the_decimals_of_its_currency(amount: int, currency: str, text: str) -> None:
    assert format_minor(amount, currency) == text


@pytest.mark.parametrize(
    ("text", "currency", "amount"),
    [
        ("34", "USD", 3400),
        ("$1,234.50", "USD", 123450),
        ("3400", "JPY", 3400),
        ("0.01", "USD", 1),
        ("1.234", "KWD", 1234),
        ("USD 34.00", "USD", 3400),
        ("€5", "EUR", 500),
        ("¥3,400", "JPY", 3400),
        ("KWD3.400", "KWD", 3400),
        ("12,345,678.90", "USD", 1_234_567_890),
    ],
)
def test_a_typed_amount_becomes_minor_units(text: str, currency: str, amount: int) -> None:
    assert parse_amount(text, currency) == amount


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        *((text, "USD") for text in ("", "abc", "0", "-5", "1.005", "NaN", "1e3", "1e999999", "Infinity")),
        *((text, "USD") for text in ("0,50", "0,5", "34,00", "1,0", "1,23,456", "1_0", "€5", "EUR 5", "5 USD", "٣٤")),
        ("34.5", "JPY"),
        ("1.000", "JPY"),
        ("1.0", "JPY"),
        ("1.200", "USD"),
        ("$5", "EUR"),
    ],
)
def test_what_is_no_amount_is_refused_with_an_example(text: str, currency: str) -> None:
    with pytest.raises(ValueError, match=r"like|at most"):
        parse_amount(text, currency)


@given(st.text(max_size=60))
def test_whatever_is_typed_is_an_amount_or_gets_a_sentence(text: str) -> None:
    try:
        assert 0 < parse_amount(text, "USD") <= 2**53
    except ValueError as refused:
        assert str(refused).endswith(".")  # noqa: PT017 - either outcome is right


@given(amount=st.integers(1, 2**53), currency=st.sampled_from(["USD", "EUR", "JPY", "KWD", "HUF", "IQD", "CLF"]))
def test_what_is_shown_can_be_typed(amount: int, currency: str) -> None:
    assert parse_amount(format_minor(amount, currency), currency) == amount


@given(paid=st.integers(1, 10**9), quantity=st.integers(1, 50), data=st.data())
def test_units_refunded_in_any_split_add_up_to_what_was_paid(paid: int, quantity: int, data: st.DataObject) -> None:
    shares, before = [], 0
    while before < quantity:
        units = data.draw(st.integers(1, quantity - before))
        shares.append(share_of_paid(paid, quantity, units, before))
        before += units
    assert sum(shares) == paid
    assert all(share >= 0 for share in shares)


@pytest.mark.parametrize(("units", "before"), [(0, 0), (4, 0), (1, 3), (1, -1)])
def test_units_that_are_not_left_have_no_price(units: int, before: int) -> None:
    with pytest.raises(ValueError, match="not left"):
        share_of_paid(2999, 3, units, before)

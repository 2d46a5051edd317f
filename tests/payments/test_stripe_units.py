from __future__ import annotations

import pytest

from payments.providers.stripe_units import NotCountable, from_stripe, to_stripe


@pytest.mark.parametrize(
    ("minor", "currency", "at_stripe"),
    [
        (3400, "USD", 3400),
        (3400, "JPY", 3400),
        (3400, "KWD", 3400),
        (34, "ISK", 3400),
        (3400, "HUF", 3400),
        (3400, "MGA", 34),
        (3400, "TWD", 3400),
        (5800, "KRW", 5800),
    ],
)
def test_an_amount_is_said_in_stripes_units_and_read_back(minor: int, currency: str, at_stripe: int) -> None:
    assert to_stripe(minor, currency) == at_stripe
    assert from_stripe(at_stripe, currency) == minor


@pytest.mark.parametrize("currency", ["BHD", "JOD", "KWD", "OMR", "TND"])
def test_three_decimals_go_only_with_a_zero_at_the_end(currency: str) -> None:
    assert to_stripe(1230, currency) == 1230
    with pytest.raises(NotCountable, match=rf"{currency}1\.230 or {currency}1\.240 but not {currency}1\.234"):
        to_stripe(1234, currency)


def test_less_than_a_step_names_only_the_amount_above() -> None:
    with pytest.raises(NotCountable, match=r"so KWD0\.010 but not KWD0\.004"):
        to_stripe(4, "KWD")


def test_a_currency_that_stripe_counts_in_two_ways_is_left_to_people() -> None:
    with pytest.raises(NotCountable, match="dashboard"):
        to_stripe(3400, "UGX")
    with pytest.raises(NotCountable, match="dashboard"):
        from_stripe(3400, "UGX")


def test_parts_of_a_unit_that_the_currency_does_not_have_are_refused() -> None:
    with pytest.raises(NotCountable, match="no whole amount of ISK"):
        from_stripe(3401, "ISK")

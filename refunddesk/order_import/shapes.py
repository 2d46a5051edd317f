"""The shape of an order in the file. It guesses nothing: no unknown field, no number for a text, no time without zone.

Nor does it take a time to come: a day of delivery that is only expected would stand in the way of the true one.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.validators import validate_email
from django.utils import timezone
from rest_framework import serializers

from intake.strict_shapes import KnownFields, WholeNumber

MOST_LINES, MOST_CHARGES = 500, 100
MOST_UNITS = 2**31 - 1
PLAIN_AMOUNT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,4})?")
LAST_FOUR = re.compile(r"[0-9A-Za-z]{4}")
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
CLOCKS_APART = timedelta(minutes=5)
# Control characters and line ends: a name of one line holds none.
UNPRINTED = frozenset({"Cc", "Cs", "Zl", "Zp"})


class Text(serializers.CharField):
    """A text of one line, in quotes."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Write a text in quotes.")
        text = str(super().to_internal_value(data))
        if any(unicodedata.category(char) in UNPRINTED for char in text):
            raise serializers.ValidationError("There is a character in it that no page can show.")
        return text


class Name(Text):
    """An order's number or a SKU: it stands in addresses of pages too."""

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if any(not part.strip(".") for part in name.split("/")):
            raise serializers.ValidationError("Between its slashes must be more than dots: it is part of an address.")
        return name


class Amount(Text):
    """A decimal in quotes; how many decimals it may have is the currency's matter."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or not PLAIN_AMOUNT.fullmatch(data):
            raise serializers.ValidationError('Write the amount as a decimal in quotes, like "34.00".')
        return data


class Email(Text):
    """In lower case: it is the customer's username."""

    def to_internal_value(self, data: Any) -> str:
        email = super().to_internal_value(data).lower()
        validate_email(email)
        return email


class LastFour(Text):
    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or not LAST_FOUR.fullmatch(data):
            raise serializers.ValidationError('Write the last four digits in quotes, like "4242".')
        return data


class Moment(serializers.Field[datetime, Any, Any, Any]):
    def to_internal_value(self, data: Any) -> datetime:
        try:
            moment = datetime.fromisoformat(data).astimezone(UTC) if _has_zone(data) else None
        except (ValueError, OverflowError):
            moment = None
        if moment is None:
            sentence = "Write the time in ISO 8601 with its zone, like 2026-11-20T10:15:00+01:00."
            raise serializers.ValidationError(sentence)
        if moment < EARLIEST:
            raise serializers.ValidationError(f"The time must not be before the year {EARLIEST.year}.")
        if moment > timezone.now() + CLOCKS_APART:
            raise serializers.ValidationError("The time lies ahead: leave it out until it has come.")
        return moment


def _has_zone(data: Any) -> bool:
    return isinstance(data, str) and datetime.fromisoformat(data).tzinfo is not None


class CustomerShape(KnownFields):
    email = Email(max_length=150)
    first_name = Text(max_length=150, allow_blank=True)
    last_name = Text(max_length=150, allow_blank=True)


class LineShape(KnownFields):
    sku = Name(max_length=40)
    name = Text(max_length=200)
    quantity = WholeNumber(least=1, most=MOST_UNITS)
    unit_price = Amount()
    paid = Amount()
    delivered_at = Moment(required=False, allow_null=True, default=None)


class ChargeShape(KnownFields):
    provider = Text(max_length=20)
    reference = Text(max_length=120)
    captured = Amount()
    card_brand = Text(max_length=20)
    card_last4 = LastFour()
    captured_at = Moment(required=False, allow_null=True, default=None)


class OrderShape(KnownFields):
    number = Name(max_length=20)
    customer = CustomerShape()
    currency = Text()
    shipping = Amount()
    placed_at = Moment()
    shipped_at = Moment(required=False, allow_null=True, default=None)
    lines = serializers.ListField(child=LineShape(), allow_empty=False, max_length=MOST_LINES)
    charges = serializers.ListField(child=ChargeShape(), max_length=MOST_CHARGES)

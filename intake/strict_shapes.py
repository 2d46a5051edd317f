"""Shapes of the HTTP API that guess nothing: no field nobody knows, no number that is written as something else.

A misspelt `unit` would ask for all units, and `"129.00"` read as 129 would pay $1.29.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

NO_WHOLE_NUMBER = "Send a whole number without quotes or decimals; amounts are in minor units (12900 for $129.00)."


class WholeNumber(serializers.IntegerField):
    """A JSON integer and nothing else; `least` and `most` are the smallest and the largest one taken."""

    def __init__(self, *, least: int, most: int = 2**53, **options: Any) -> None:
        self.least, self.most = least, most
        super().__init__(min_value=least, max_value=most, **options)

    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int:
            raise serializers.ValidationError(NO_WHOLE_NUMBER)
        if not self.least <= data <= self.most:
            raise serializers.ValidationError(f"Send a whole number from {self.least} to {self.most}.")
        return data


class KnownFields(serializers.Serializer[Any]):
    """Refuses what it does not name."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            for name in data:
                if name not in self.fields:
                    known = ", ".join(self.fields)
                    raise serializers.ValidationError({str(name)[:40]: f"There is no such field. Known are: {known}."})
        return super().to_internal_value(data)

"""Reads the JSON bodies of the HTTP API, which are small; a large one is refused before it is held in memory.

A name that stands there twice is refused too: which of two amounts was meant is not guessed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import JSONParser
from rest_framework.utils.json import strict_constant

from intake.names_once import NameTwice, each_once

MAX_BYTES = 256 * 1024


class SmallJSONParser(JSONParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        body = stream.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            raise ParseError
        encoding = (parser_context or {}).get("encoding", settings.DEFAULT_CHARSET)
        try:
            given: dict[str, Any] = json.loads(
                body.decode(encoding), object_pairs_hook=each_once, parse_constant=strict_constant
            )
        except NameTwice as twice:
            raise ValidationError({twice.name: "This name stands there twice. Send it once."}) from None
        except (ValueError, LookupError, RecursionError):
            raise ParseError from None
        return given

"""Reads the file of orders: one JSON list, as a whole, because a later order of it may spoil nothing of an earlier."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, BinaryIO

from intake.names_once import each_once

MOST_ORDERS = 50_000
MOST_BYTES = 128 * 1024 * 1024
STANDARD_INPUT = "-"


class UnreadableFile(Exception):
    """A sentence on why nothing of the file can be taken."""


def read_orders(name: str) -> list[Any]:
    """The orders as they stand there, unchecked; `-` is standard input. Raises UnreadableFile."""
    try:
        if name == STANDARD_INPUT:
            return _orders_in(_read(sys.stdin.buffer))
        with Path(name).open("rb") as file:
            return _orders_in(_read(file))
    except OSError as error:
        raise UnreadableFile(f"{name} cannot be read: {error.strerror}.") from error


def _read(file: BinaryIO) -> bytes:
    body = file.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise UnreadableFile(f"The file is larger than {MOST_BYTES // 1024**2} MB: bring the orders in several files.")
    return body


def _orders_in(body: bytes) -> list[Any]:
    try:
        orders = json.loads(body.decode("utf-8-sig"), object_pairs_hook=each_once)
    except UnicodeDecodeError as error:
        raise UnreadableFile("The file is not written in UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"The file is no JSON that can be read: {error}.") from error
    if not isinstance(orders, list):
        raise UnreadableFile("The file must hold a JSON list of orders: [{...}, {...}].")
    if len(orders) > MOST_ORDERS:
        raise UnreadableFile(f"The file holds more than {MOST_ORDERS:,} orders: bring them in several files.")
    return orders

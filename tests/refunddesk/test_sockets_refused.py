"""Websockets that lead nowhere: refused, and nobody stumbles."""

from __future__ import annotations

import asyncio

import pytest

from tests.desk.sockets import Socket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("path", ["/", "/ws/", "/ws/nowhere/", "/ws/requests/not-a-uuid", "/ws/desk/cases/"])
def test_an_unknown_address_is_refused(path: str) -> None:
    assert is_accepted(path, b"http://localhost") is False


@pytest.mark.parametrize(
    "origin", [b"http://[", b"http://localhost:99999", b"http://localhost:abc", b"\xff\xfe", b"null"]
)
def test_an_origin_that_is_no_address_is_refused(origin: bytes) -> None:
    assert is_accepted("/ws/desk/", origin) is False


def is_accepted(path: str, origin: bytes) -> bool:
    async def ask() -> bool:
        return await Socket(path, b"", origin).accepted()

    return asyncio.run(ask())

from __future__ import annotations

import json
from collections.abc import Callable

import httpx2
import pytest

from refunddesk.demo_shop.people import MAYA, PRIYA
from refunddesk.tour.door import Door, NotReached, Refused

Handler = Callable[[httpx2.Request], httpx2.Response]


def door_to(handler: Handler) -> Door:
    return Door("http://demo.test", "secret", transport=httpx2.MockTransport(handler))


def test_each_person_signs_in_once_and_carries_their_own_token() -> None:
    seen: list[tuple[str, str]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append((request.url.path, request.headers.get("authorization", "")))
        if request.url.path == "/api/v1/token":
            body = json.loads(request.content)
            assert body["password"] == "secret"
            return httpx2.Response(200, json={"token": body["email"].split(".")[0]})
        return httpx2.Response(200, json=[])

    with door_to(answer) as door:
        door.get(PRIYA, "orders")
        door.get(PRIYA, "orders")
        door.get(MAYA, "queue/all")
    assert seen == [
        ("/api/v1/token", ""),
        ("/api/v1/orders", "Token priya"),
        ("/api/v1/orders", "Token priya"),
        ("/api/v1/token", ""),
        ("/api/v1/queue/all", "Token maya"),
    ]


def test_an_error_of_the_api_carries_its_code_and_sentence() -> None:
    body = {"error": "request_exists", "message": "You already asked for this."}
    with door_to(lambda request: httpx2.Response(409, json=body)) as door, pytest.raises(Refused) as refused:
        door.get(PRIYA, "orders")
    assert (refused.value.status, refused.value.code) == (409, "request_exists")
    assert "You already asked for this." in str(refused.value)


def test_an_error_page_is_refused_as_well() -> None:
    with door_to(lambda request: httpx2.Response(500, text="<h1>oh</h1>")) as door, pytest.raises(Refused) as refused:
        door.get(PRIYA, "orders")
    assert refused.value.status == 500


def test_a_demo_that_is_not_there_is_named_with_what_to_do() -> None:
    def nobody(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    with door_to(nobody) as door, pytest.raises(NotReached, match=r"Nothing answers at http://demo\.test.*make demo"):
        door.health()

"""The customers' HTTP API, exactly as DESIGN section 10 writes it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from rest_framework.test import APIClient

from intake.models import Photo, Question, RefundRequest, Reply, Return, Step
from payments.models import OrderLine
from tests.factories import LineFactory, OrderFactory, RequestFactory
from tests.intake.conftest import api_client, picture_file

pytestmark = pytest.mark.django_db

WISH = {"order": "PH-20388", "sku": "KTL-09", "reason": "changed_mind", "details": "I do not need it."}


def test_orders_are_given_as_written(priyas_api: APIClient, kettle: OrderLine) -> None:
    (order,) = priyas_api.get("/api/v1/orders").json()
    (line,) = order["lines"]
    assert set(order) == {"number", "placed_at", "status", "currency", "total", "card", "lines"}
    assert (order["number"], order["status"], order["currency"], order["total"]) == (
        "PH-20388",
        "delivered",
        "USD",
        12_900,
    )
    assert order["card"] == {"brand": "Visa", "last4": "4242"}
    assert line | {"delivered_at": 0} == {
        "sku": "KTL-09",
        "name": "Gooseneck kettle, 0.9 L",
        "quantity": 1,
        "unit_price": 12_900,
        "paid": 12_900,
        "delivered_at": 0,
        "refundable_units": 1,
        "reason_not": None,
        "reason_not_message": None,
        "request": None,
    }
    for moment in (order["placed_at"], line["delivered_at"]):
        parsed = parse_datetime(moment)
        assert parsed is not None
        assert parsed.utcoffset() is not None


def test_a_line_says_why_nothing_can_be_asked_for(priyas_api: APIClient, kettle: OrderLine) -> None:
    request = RequestFactory(line=kettle, status="working")
    other = LineFactory(order=kettle.order, delivered_at=None)
    asked, coming = priyas_api.get("/api/v1/orders").json()[0]["lines"]
    assert (asked["refundable_units"], asked["reason_not"]) == (0, "request_exists")
    assert asked["request"] == {"id": str(request.uuid), "number": request.number, "status": "working"}
    assert (coming["sku"], coming["refundable_units"], coming["reason_not"]) == (other.sku, 0, "not_delivered")
    assert coming["reason_not_message"].endswith(".")


def test_an_order_without_a_card_and_one_on_its_way_are_given_too(priyas_api: APIClient, priya: User) -> None:
    LineFactory(order=OrderFactory(customer=priya, shipped_at=timezone.now()), delivered_at=None)
    LineFactory(order=OrderFactory(customer=priya, placed_at=timezone.now()), delivered_at=None)
    orders = priyas_api.get("/api/v1/orders").json()
    assert [(order["status"], order["card"]) for order in orders] == [("placed", None), ("shipped", None)]


@pytest.mark.parametrize("page", ["0", "-1", "x", "1001", "9" * 5000])
def test_a_page_that_cannot_be_is_refused(priyas_api: APIClient, page: str) -> None:
    assert priyas_api.get("/api/v1/orders", {"page": page}).json()["field"] == "page"


def test_a_page_beyond_the_last_is_empty(priyas_api: APIClient, kettle: OrderLine) -> None:
    assert priyas_api.get("/api/v1/orders", {"page": 2}).json() == []


def test_a_photo_and_a_request_with_it(priyas_api: APIClient, kettle: OrderLine) -> None:
    photo = priyas_api.post("/api/v1/photos", {"file": picture_file()}, format="multipart")
    assert photo.status_code == 201
    assert photo.json() == {"id": str(Photo.objects.get().pk), "width": 640, "height": 480}
    wish = WISH | {"reason": "damaged", "photos": [photo.json()["id"]]}
    answer = priyas_api.post("/api/v1/requests", wish, format="json")
    request = RefundRequest.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {"id": str(request.uuid), "number": request.number, "status": "submitted"}
    assert (request.source, request.units, request.photos.count()) == ("api", 1, 1)


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"order": "PH-1"}, 404, "order_not_found"),
        ({"sku": "NONE"}, 404, "item_not_found"),
        ({"reason": "bored"}, 400, "invalid_input"),
        ({"reason": None}, 400, "invalid_input"),
        ({"details": ""}, 400, "invalid_input"),
        ({"details": "x" * 1001}, 400, "invalid_input"),
        ({"details": "x" * 100_000}, 400, "invalid_input"),
        ({"details": "a\u0000b"}, 400, "invalid_input"),
        ({"units": 2}, 400, "invalid_input"),
        ({"units": 10**30}, 400, "invalid_input"),
        ({"units": "many"}, 400, "invalid_input"),
        ({"units": "1"}, 400, "invalid_input"),
        ({"units": 1.0}, 400, "invalid_input"),
        ({"unit": 1}, 400, "invalid_input"),
        ({"reason": "damaged"}, 422, "photo_required"),
        ({"photos": [str(uuid.uuid4())]}, 404, "photo_not_found"),
        ({"photos": ["../../etc/passwd"]}, 404, "photo_not_found"),
        ({"photos": "x"}, 400, "invalid_input"),
        ({"photos": [str(uuid.uuid4()) for _ in range(6)]}, 400, "invalid_input"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_code_and_sentence(
    priyas_api: APIClient, kettle: OrderLine, changes: dict[str, Any], status: int, code: str
) -> None:
    answer = priyas_api.post("/api/v1/requests", WISH | changes, format="json")
    assert (answer.status_code, answer.json()["error"]) == (status, code)
    assert answer.json()["message"].endswith(".")
    assert not RefundRequest.objects.exists()


def test_a_line_asked_for_twice_names_the_first_request(priyas_api: APIClient, kettle: OrderLine) -> None:
    first = priyas_api.post("/api/v1/requests", WISH, format="json").json()
    again = priyas_api.post("/api/v1/requests", WISH, format="json")
    assert again.status_code == 409
    assert {key: again.json()[key] for key in ("error", "id", "number")} == {
        "error": "request_exists",
        "id": first["id"],
        "number": first["number"],
    }


@pytest.mark.parametrize(
    "body", ["", "{", "[]", '"x"', "null", "[" * 200_000, '{"order": "' + "x" * 300_000 + '"}', '{"a": NaN}']
)
def test_a_body_that_is_no_object_is_refused(priyas_api: APIClient, kettle: OrderLine, body: str) -> None:
    answer = priyas_api.generic("POST", "/api/v1/requests", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")


@pytest.mark.parametrize(
    "body", ['{"units": 1, "units": 3}', '{"units": 1, "\\u0075nits": 3}', '{"a": [{"b": 1, "b": 1}]}']
)
def test_a_name_that_stands_there_twice_is_refused(priyas_api: APIClient, kettle: OrderLine, body: str) -> None:
    answer = priyas_api.generic("POST", "/api/v1/requests", body, content_type="application/json")
    name = "b" if "b" in body else "units"
    said = {"error": "invalid_input", "message": f"{name}: This name stands there twice. Send it once.", "field": name}
    assert (answer.status_code, answer.json()) == (400, said)


@pytest.mark.parametrize("charset", ["utf-16", "bz2_codec", "no-such-one"])
def test_a_body_in_another_writing_is_no_error_of_ours(priyas_api: APIClient, charset: str) -> None:
    kind = f"application/json; charset={charset}"
    answer = priyas_api.generic("POST", "/api/v1/requests", "{}", content_type=kind)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")


@pytest.mark.parametrize("path", ["orders", "requests/0b9a2c1e-5a53-4a0e-9d0f-2f1f0a6f7c11", "nothing"])
def test_no_answer_is_kept_on_its_way(priyas_api: APIClient, path: str) -> None:
    assert "no-store" in priyas_api.get(f"/api/v1/{path}")["Cache-Control"]


def test_more_files_than_a_form_may_hold_are_refused_in_the_apis_shape(priyas_api: APIClient) -> None:
    many = {f"file{n}": picture_file("one_pixel.png") for n in range(101)}
    answer = priyas_api.post("/api/v1/photos", many, format="multipart")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")
    assert not Photo.objects.exists()


def test_another_content_type_is_refused(priyas_api: APIClient) -> None:
    answer = priyas_api.generic("POST", "/api/v1/requests", "a=b", content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")


def test_a_request_is_given_as_written_with_customer_steps_only(
    priyas_api: APIClient, kettle: OrderLine, daniel: User
) -> None:
    priyas_api.post("/api/v1/requests", WISH, format="json")
    request = RefundRequest.objects.get()
    told(request, 2, "agent", "A person is looking", for_customer=True)
    told(request, 3, "agent", "limit: $129.00 is above the $50.00 limit", for_customer=False)
    told(request, 4, "staff", "We have a question", for_customer=True, actor_user=daniel)
    answer = priyas_api.get(f"/api/v1/requests/{request.uuid}").json()
    assert answer | {"steps": 0} == {
        "id": str(request.uuid),
        "number": request.number,
        "status": "submitted",
        "amount": 12_900,
        "currency": "USD",
        "units": 1,
        "reason": "changed_mind",
        "question": None,
        "return": None,
        "steps": 0,
    }
    assert [set(step) for step in answer["steps"]] == [{"rev", "kind", "actor_name", "title", "detail", "at"}] * 3
    assert [(step["rev"], step["actor_name"], step["title"]) for step in answer["steps"]] == [
        (1, "Priya Raman", "You asked for a refund"),
        (2, "Refund agent", "A person is looking"),
        (4, "Pourhaven", "We have a question"),
    ]


def told(request: RefundRequest, rev: int, actor: str, title: str, **fields: Any) -> Step:
    return Step.objects.create(
        request=request, rev=rev, position=rev, kind="message", actor=actor, title=title, **fields
    )


def test_an_open_question_and_a_return_are_given(priyas_api: APIClient, kettle: OrderLine, daniel: User) -> None:
    request = RequestFactory(line=kettle, status="needs_customer")
    now = timezone.now()
    until = now + timedelta(days=14)
    Question.objects.create(request=request, text="Does it tip over?", asked_by=daniel, reply_by=until)
    Return.objects.create(request=request, code="RMA-7KQ2MX", amount_minor=12_900, ship_by=until, check_at=until)
    answer = priyas_api.get(f"/api/v1/requests/{request.uuid}").json()
    assert answer["question"] == "Does it tip over?"
    assert set(answer["return"]) == {"code", "ship_by", "check_at"}
    assert answer["return"]["code"] == "RMA-7KQ2MX"
    RefundRequest.objects.update(status="needs_approval")
    Return.objects.update(status="withdrawn")
    later = priyas_api.get(f"/api/v1/requests/{request.uuid}").json()
    assert (later["question"], later["return"]) == (None, None)


def test_a_reply_is_taken_once(priyas_api: APIClient, kettle: OrderLine, daniel: User) -> None:
    request = RequestFactory(line=kettle, status="needs_customer")
    Question.objects.create(request=request, text="Does it?", asked_by=daniel, reply_by=timezone.now())
    photo = priyas_api.post("/api/v1/photos", {"file": picture_file()}, format="multipart").json()["id"]
    given = {"message": "Yes, it does.", "photos": [photo]}
    answer = priyas_api.post(f"/api/v1/requests/{request.uuid}/replies", given, format="json")
    assert (answer.status_code, answer.json()) == (201, {"id": str(Reply.objects.get().pk)})
    again = priyas_api.post(f"/api/v1/requests/{request.uuid}/replies", {"message": "Again."}, format="json")
    assert (again.status_code, again.json()["error"]) == (409, "not_waiting_for_reply")
    assert Reply.objects.get().photos.count() == 1


def test_an_unknown_address_and_a_wrong_method_answer_in_the_same_shape(priyas_api: APIClient) -> None:
    assert priyas_api.get("/api/v1/nothing").json()["error"] == "not_found"
    assert Client().get("/api/v1/orders/").json()["error"] == "not_found"
    assert priyas_api.delete("/api/v1/orders").json()["error"] == "method_not_allowed"


def test_the_schema_documents_every_call(db: None) -> None:
    answer = APIClient().get("/api/v1/schema", HTTP_ACCEPT="application/json")
    paths = answer.json()["paths"]
    documented = {
        (path.removeprefix("/api/v1/"), method): set(call["responses"])
        for path, calls in paths.items()
        for method, call in calls.items()
    }
    assert documented[("requests", "post")] == {"201", "400", "401", "403", "404", "409", "422", "429"}
    for call in (("token", "post"), ("orders", "get"), ("photos", "post"), ("requests/{uuid}", "get")):
        assert {"401"} < documented[call]
    assert ("requests/{uuid}/replies", "post") in documented
    (page,) = paths["/api/v1/orders"]["get"]["parameters"]
    assert page["schema"] == {"type": "integer", "minimum": 1, "maximum": 1000}


def test_someone_elses_things_answer_like_missing_ones(
    kettle: OrderLine, aiko: User, new_photo: Callable[[User], Photo]
) -> None:
    request = RequestFactory(line=kettle, status="needs_customer")
    photo = new_photo(kettle.order.customer)
    theirs, missing = api_client(aiko), str(uuid.uuid4())
    for path, body in (("requests/{}", None), ("requests/{}/replies", {"message": "Hi."}), ("requests/{}/replies", {})):
        answers = [
            theirs.get(f"/api/v1/{path.format(given)}")
            if body is None
            else theirs.post(f"/api/v1/{path.format(given)}", body, format="json")
            for given in (str(request.uuid), missing, str(request.number), str(request.pk))
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.content for answer in answers}) == 1
    wishes = [WISH, WISH | {"order": "PH-1"}]
    assert len({theirs.post("/api/v1/requests", wish, format="json").content for wish in wishes}) == 1
    own = LineFactory(order=OrderFactory(customer=aiko))
    damaged = {"order": own.order.number, "sku": own.sku, "reason": "damaged", "details": "Broken."}
    for given in (str(photo.pk), missing):
        answer = theirs.post("/api/v1/requests", damaged | {"photos": [given]}, format="json")
        assert answer.json()["error"] == "photo_not_found"
    assert theirs.get("/api/v1/orders").json()[0]["number"] == own.order.number

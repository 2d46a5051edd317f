"""The customers' HTTP API (DESIGN section 10). Thin: each view reads, calls one verb, answers."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from intake import serializers as shapes
from intake.api_answers import order_json, request_json
from intake.api_tokens import token_for
from intake.case_access import request_of
from intake.models import RefundRequest
from intake.orders_page import orders_of
from intake.photos import keep_photo
from intake.refusals import Refusal
from intake.sign_in_guard import sign_in
from intake.small_json import SmallJSONParser
from intake.submit_reply import submit_reply
from intake.submit_request import submit_request

ORDERS_PER_PAGE = 100
PAGES = frozenset(map(str, range(1, 1001)))
PAGE_SHAPE = {"type": "integer", "minimum": 1, "maximum": len(PAGES)}
WRONG_INPUT = {400: shapes.ErrorSerializer}
NEEDS_TOKEN = {401: shapes.ErrorSerializer, 403: shapes.ErrorSerializer}
NOT_FOUND = {404: shapes.ErrorSerializer}
TOO_MANY = {429: shapes.ErrorSerializer}
STORE_AWAY = {503: shapes.ErrorSerializer}


@method_decorator(never_cache, name="dispatch")
class NeverKept(APIView):
    pass


class JsonView(NeverKept):
    parser_classes = [SmallJSONParser]


class TokenView(JsonView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="token",
        summary="Exchange e-mail and password for a token",
        request=shapes.CredentialsSerializer,
        responses={200: shapes.TokenSerializer, 401: shapes.ErrorSerializer, **WRONG_INPUT, **TOO_MANY},
    )
    def post(self, request: Request) -> Response:
        given = _read(shapes.CredentialsSerializer, request)
        user = sign_in(request._request, email=given["email"], password=given["password"])
        return Response({"token": token_for(user)})


class OrdersView(JsonView):
    @extend_schema(
        operation_id="orders",
        summary="Your orders, newest first, at most 100 a page",
        parameters=[OpenApiParameter("page", PAGE_SHAPE, description="From 1.")],
        responses={200: shapes.OrderSerializer(many=True), **NEEDS_TOKEN, **WRONG_INPUT},
    )
    def get(self, request: Request) -> Response:
        start = (_page(request) - 1) * ORDERS_PER_PAGE
        orders = orders_of(_customer(request), start=start, stop=start + ORDERS_PER_PAGE)
        return Response(shapes.OrderSerializer([order_json(order) for order in orders], many=True).data)


class PhotosView(NeverKept):
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="upload_photo",
        summary="Upload one photo, to be named in a request or a reply",
        request={"multipart/form-data": shapes.PhotoUploadSerializer},
        responses={201: shapes.PhotoSerializer, **WRONG_INPUT, **NEEDS_TOKEN, **TOO_MANY, **STORE_AWAY},
    )
    def post(self, request: Request) -> Response:
        uploads = request.FILES.getlist("file")
        if len(uploads) != 1:
            raise Refusal("invalid_input", "Send one photo as the field `file` of a multipart form.", field="file")
        photo = keep_photo(_customer(request), uploads[0])
        return Response({"id": str(photo.pk), "width": photo.width, "height": photo.height}, status=201)


class RequestsView(JsonView):
    @extend_schema(
        operation_id="submit_request",
        summary="Ask for a refund",
        request=shapes.NewRequestSerializer,
        responses={
            201: shapes.CreatedRequestSerializer,
            409: shapes.RequestExistsSerializer,
            422: shapes.ErrorSerializer,
            **WRONG_INPUT,
            **NEEDS_TOKEN,
            **NOT_FOUND,
            **TOO_MANY,
        },
    )
    def post(self, request: Request) -> Response:
        given = _read(shapes.NewRequestSerializer, request)
        made = submit_request(
            customer=_customer(request),
            order_number=given["order"],
            sku=given["sku"],
            reason=given["reason"],
            details=given["details"],
            units=given.get("units"),
            photo_ids=given.get("photos", []),
            source=RefundRequest.Source.API,
        )
        return Response({"id": str(made.uuid), "number": made.number, "status": made.status}, status=201)


class RequestView(JsonView):
    @extend_schema(
        operation_id="request",
        summary="One of your requests with its updates",
        responses={200: shapes.RequestSerializer, **NEEDS_TOKEN, **NOT_FOUND},
    )
    def get(self, request: Request, uuid: str) -> Response:
        found = request_of(_customer(request), uuid)
        return Response(shapes.RequestSerializer(request_json(found)).data)


class RepliesView(JsonView):
    @extend_schema(
        operation_id="submit_reply",
        summary="Answer the open question",
        request=shapes.NewReplySerializer,
        responses={
            201: shapes.CreatedSerializer,
            409: shapes.ErrorSerializer,
            **WRONG_INPUT,
            **NEEDS_TOKEN,
            **NOT_FOUND,
        },
    )
    def post(self, request: Request, uuid: str) -> Response:
        customer = _customer(request)
        request_of(customer, uuid)  # a request that is not theirs answers before the body is looked at
        given = _read(shapes.NewReplySerializer, request)
        reply = submit_reply(
            customer=customer,
            request_uuid=uuid,
            message=given["message"],
            photo_ids=given.get("photos", []),
            source=RefundRequest.Source.API,
        )
        return Response({"id": str(reply.pk)}, status=201)


class NothingHere(JsonView):
    """Answers every other address under the API in the API's own shape."""

    permission_classes = [AllowAny]
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound


def _read(shape: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    given = shape(data=request.data)
    given.is_valid(raise_exception=True)
    return given.validated_data


def _customer(request: Request) -> User:
    """The signed-in user; the permission classes let nobody else through."""
    if not isinstance(request.user, User):
        raise Refusal("not_authenticated", "Sign in first.")
    return request.user


def _page(request: Request) -> int:
    given = request.query_params.get("page", "1")
    if given not in PAGES:
        raise Refusal("invalid_input", f"A page is a number from 1 to {len(PAGES)}.", field="page")
    return int(given)

"""The shapes of the HTTP API (DESIGN section 10): amounts in minor units, times ISO 8601 with offset."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from intake.models import RefundRequest, Return
from intake.statuses import Status
from intake.strict_shapes import KnownFields, WholeNumber

SERVER_LIMIT = 20_000  # the verbs refuse sooner, with a sentence; this only bounds what is read


class ErrorSerializer(serializers.Serializer[Any]):
    error = serializers.CharField(help_text="A code, as in the table of errors.")
    message = serializers.CharField(help_text="A sentence that says what is wrong and what to do.")
    field = serializers.CharField(required=False, help_text="The field it is about, where it is about one.")


class RequestExistsSerializer(ErrorSerializer):
    id = serializers.UUIDField(help_text="The line's newest request.")
    number = serializers.IntegerField()


class CredentialsSerializer(serializers.Serializer[Any]):
    email = serializers.CharField(max_length=254)
    password = serializers.CharField(max_length=1000, trim_whitespace=False)


class TokenSerializer(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="Send it as `Authorization: Token <token>`.")


class CardSerializer(serializers.Serializer[Any]):
    brand = serializers.CharField()
    last4 = serializers.CharField()


class LineRequestSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    status = serializers.ChoiceField(choices=Status.choices)


class LineSerializer(serializers.Serializer[Any]):
    sku = serializers.CharField()
    name = serializers.CharField()
    quantity = serializers.IntegerField()
    unit_price = serializers.IntegerField()
    paid = serializers.IntegerField(help_text="For all units, after discount and tax.")
    delivered_at = serializers.DateTimeField(allow_null=True)
    refundable_units = serializers.IntegerField(help_text="Units a request made now may ask for.")
    reason_not = serializers.CharField(allow_null=True, help_text="The code of what stands in the way, or null.")
    reason_not_message = serializers.CharField(allow_null=True, help_text="The same as a sentence.")
    request = LineRequestSerializer(allow_null=True, help_text="The newest request of the line.")


class OrderSerializer(serializers.Serializer[Any]):
    number = serializers.CharField()
    placed_at = serializers.DateTimeField()
    status = serializers.CharField(help_text="placed, shipped or delivered.")
    currency = serializers.CharField()
    total = serializers.IntegerField(help_text="All lines and the shipping.")
    card = CardSerializer(allow_null=True)
    lines = LineSerializer(many=True)


class PhotoUploadSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(help_text="JPEG, PNG, WebP or HEIC, at most 5 MB and 50 megapixels.")


class PhotoSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    width = serializers.IntegerField()
    height = serializers.IntegerField()


class NewRequestSerializer(KnownFields):
    order = serializers.CharField(max_length=100)
    sku = serializers.CharField(max_length=100)
    reason = serializers.ChoiceField(
        choices=RefundRequest.Reason.choices,
        error_messages={"invalid_choice": f"Choose one of {', '.join(RefundRequest.Reason.values)}."},
    )
    details = serializers.CharField(max_length=SERVER_LIMIT, allow_blank=True)
    units = WholeNumber(least=1, required=False, allow_null=True, help_text="All that are left when not given.")
    photos = serializers.ListField(child=serializers.CharField(max_length=100), required=False, max_length=100)


class CreatedRequestSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    status = serializers.ChoiceField(choices=Status.choices)


class NewReplySerializer(KnownFields):
    message = serializers.CharField(max_length=SERVER_LIMIT, allow_blank=True)
    photos = serializers.ListField(child=serializers.CharField(max_length=100), required=False, max_length=100)


class CreatedSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()


class ReturnSerializer(serializers.ModelSerializer[Return]):
    class Meta:
        model = Return
        fields = ["code", "ship_by", "check_at"]


class StepSerializer(serializers.Serializer[Any]):
    rev = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=["trigger", "tool", "action", "message", "error", "finish"])
    actor_name = serializers.CharField()
    title = serializers.CharField()
    detail = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()


RequestSerializer = type(
    "RequestSerializer",
    (serializers.Serializer,),
    {
        "id": serializers.UUIDField(),
        "number": serializers.IntegerField(),
        "status": serializers.ChoiceField(choices=Status.choices),
        "amount": serializers.IntegerField(),
        "currency": serializers.CharField(),
        "units": serializers.IntegerField(),
        "reason": serializers.ChoiceField(choices=RefundRequest.Reason.choices),
        "question": serializers.CharField(allow_null=True, help_text="The open question, or null."),
        "return": ReturnSerializer(allow_null=True),  # a word of Python, so no class body can hold it
        "steps": StepSerializer(many=True, help_text="Those the customer may read, oldest first."),
    },
)

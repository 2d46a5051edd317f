from typing import Any

from django.urls import path

from intake.consumers import RequestConsumer

websocket_urlpatterns: list[Any] = [path("ws/requests/<uuid:uuid>", RequestConsumer.as_asgi())]

"""Websocket addresses of the desk."""

from __future__ import annotations

from typing import Any

from django.urls import path

from desk.consumers import QueueConsumer, StaffCaseConsumer

websocket_urlpatterns: list[Any] = [
    path("ws/desk/cases/<uuid:uuid>/", StaffCaseConsumer.as_asgi()),
    path("ws/desk/", QueueConsumer.as_asgi()),
]

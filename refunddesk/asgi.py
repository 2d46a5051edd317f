"""The way in for HTTP and websockets. Refused before anything is read: a body that says it is too large, and a
websocket from another site's page."""

from __future__ import annotations

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application
from django.urls import re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "refunddesk.settings")
http = get_asgi_application()

from desk.routing import websocket_urlpatterns as desk_routes  # noqa: E402 - needs the loaded applications
from intake.routing import websocket_urlpatterns as intake_routes  # noqa: E402
from refunddesk.bounded_body import BoundedBody  # noqa: E402
from refunddesk.sockets_refused import NoSuchAddress, ReadableOrigin  # noqa: E402

routes = [*intake_routes, *desk_routes, re_path("", NoSuchAddress.as_asgi())]
application = ProtocolTypeRouter(
    {
        "http": BoundedBody(http),
        "websocket": ReadableOrigin(AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(routes)))),
    }
)

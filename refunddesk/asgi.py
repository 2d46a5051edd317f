"""The way in for HTTP and websockets. A websocket from another site's page is refused before anything is read."""

from __future__ import annotations

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "refunddesk.settings")
http = get_asgi_application()

from desk.routing import websocket_urlpatterns as desk_routes  # noqa: E402 - needs the loaded applications
from intake.routing import websocket_urlpatterns as intake_routes  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter([*intake_routes, *desk_routes]))),
    }
)

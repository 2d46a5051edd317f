"""Asks the running demo over HTTP what works in it."""

from __future__ import annotations

import http.client
import json

ANSWER_SECONDS = 4.0


def health_at(port: int) -> dict[str, str]:
    """What `/healthz` on the loopback says of each part; empty while nobody answers there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return dict(json.loads(connection.getresponse().read()))
    except (OSError, ValueError, http.client.HTTPException):
        return {}
    finally:
        connection.close()

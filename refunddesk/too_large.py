"""What is said to whoever sends too much: a page for people, JSON for programs."""

from __future__ import annotations

import json

from csp.utils import build_policy
from django.template.loader import render_to_string

FOR_PROGRAMS = ("/api/", "/webhooks/")
MIB = 1024 * 1024


def headers_and_page(path: str, most: int) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """The answer as it travels. `path` is where it was sent to; `most`: bytes."""
    sentence = f"It is larger than {most // MIB} MB, so nothing of it was kept."
    if path.startswith(FOR_PROGRAMS):
        kind, page = b"application/json", json.dumps({"error": "too_large", "message": f"{sentence} Send less."})
    else:
        kind, page = b"text/html; charset=utf-8", render_to_string("refunddesk/too_large.html", {"sentence": sentence})
    body = page.encode()
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-security-policy", build_policy().encode()),
    ]
    return headers, body

"""A Stripe on this machine: it speaks enough of Stripe's HTTP for refunds, keeps its own books, and stumbles as told.

    python -m tests.stripe_server --port 9200 --webhook http://127.0.0.1:8000/webhooks/stripe pi_demo=3400usd

Then STRIPE_API_BASE, STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET as it prints them run the whole product through the
real SDK.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import stripe

from tests.stripe_book import ApiError, Asked, Json, StripeBook, Stumble

SECRET_KEY = "sk_test_local"
WEBHOOK_SECRET = "whsec_local"


class StripeServer(StripeBook):
    """`with StripeServer() as server:` serves at `server.url` until the block ends; port 0 takes any free one.

    `webhook`: where it sends `refund.created` for each refund made through the API; empty: nowhere.
    """

    def __init__(self, port: int = 0, *, webhook: str = "") -> None:
        super().__init__()
        self.webhook = webhook
        self._http = _Http(self, port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def made(self, refund: Json) -> None:
        if self.webhook:
            threading.Thread(target=self.send, args=[self.event("refund.created", refund)], daemon=True).start()

    def event(self, kind: str, about: Json, *, event_id: str = "", created: int | None = None) -> Json:
        return {
            "id": event_id or f"evt_{next(self._numbers)}",
            "object": "event",
            "type": kind,
            "created": int(time.time()) if created is None else created,
            "livemode": False,
            "data": {"object": dict(about)},
        }

    def send(self, event: Json, url: str = "") -> int:
        """Sends a signed message over HTTP; returns the status of the answer."""
        body, headers = signed(event)
        request = urllib.request.Request(url or self.webhook, data=body, headers=headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            return refused.code

    def serve_forever(self) -> None:
        self._http.serve_forever(poll_interval=0.05)

    def __enter__(self) -> StripeServer:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()


def signed(event: Json, *, secret: str = WEBHOOK_SECRET, at: int | None = None) -> tuple[bytes, dict[str, str]]:
    """The bytes of a message and the headers Stripe sends with them."""
    body = json.dumps(event, indent=1)
    signature = stripe.WebhookSignature.generate_signature_header(body, secret, at)
    return body.encode(), {"Content-Type": "application/json; charset=utf-8", "Stripe-Signature": signature}


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: StripeServer, port: int) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        self._answer("GET", path, dict(urllib.parse.parse_qsl(query)))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        self._answer("POST", self.path, dict(urllib.parse.parse_qsl(raw.decode())))

    def _answer(self, method: str, path: str, values: dict[str, str]) -> None:
        key = self.headers.get("Idempotency-Key", "") if method == "POST" else ""
        owner = self.server.owner
        owner.asked.append(Asked(f"{method} {path}", values, key))
        stumble = Stumble()
        try:
            self._check_door()
            if (method, path) == ("POST", "/v1/refunds"):
                status, body, stumble = owner.create(values, key)
            else:
                status, body = 200, self._look(method, path, values)
        except ApiError as error:
            status, body = error.status, error.body
        if stumble.cut:
            self.close_connection = True
            self.connection.close()
            return
        self._send(status, body)

    def _look(self, method: str, path: str, values: dict[str, str]) -> Json:
        if (method, path) == ("GET", "/v1/refunds"):
            return self.server.owner.list_refunds(values)
        if method == "GET" and path.startswith("/v1/refunds/"):
            return self.server.owner.retrieve(path.rpartition("/")[2])
        raise ApiError(404, f"Unrecognized request URL ({method}: {path}).")

    def _check_door(self) -> None:
        if self.server.owner.down:
            raise ApiError(503, "Stripe is down.", type="api_error")
        if self.headers.get("Authorization") != f"Bearer {SECRET_KEY}":
            raise ApiError(401, "Invalid API Key provided.")

    def _send(self, status: int, body: Json) -> None:
        raw = body["html"].encode() if "html" in body else json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.send_header("request-id", "req_local")
            self.end_headers()
            self.wfile.write(raw)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=9200)
    parser.add_argument("--webhook", default="", help="where refund.created is sent to")
    parser.add_argument("payments", nargs="*", help="pi_demo=3400usd: a payment and what it took, in Stripe's units")
    options = parser.parse_args()
    server = StripeServer(options.port, webhook=options.webhook)
    for payment in options.payments:
        reference, _, amount = payment.partition("=")
        server.payment(reference, int(amount[:-3]), amount[-3:])
    print(
        f"STRIPE_API_BASE={server.url} STRIPE_SECRET_KEY={SECRET_KEY} STRIPE_WEBHOOK_SECRET={WEBHOOK_SECRET}",
        flush=True,
    )
    server.serve_forever()


if __name__ == "__main__":
    main()

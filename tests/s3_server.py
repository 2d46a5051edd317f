"""A store that speaks S3 on this machine: it keeps objects, or refuses, hangs, breaks off, as a test wishes."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from botocore.config import Config
from storages.backends.s3 import S3Storage

TIME_OUT_SECONDS = 0.3
WORKS, HANGS, BREAKS_OFF = "works", "hangs", "breaks off"


class S3Server:
    """`with S3Server() as server:`; `server.does` is WORKS, HANGS, BREAKS_OFF (in the middle of an object), or the
    status it answers everything with."""

    def __init__(self) -> None:
        self.does: str | int = WORKS
        self.objects: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.let_go = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"store": self}))
        self._http.daemon_threads = True

    def __enter__(self) -> S3Server:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.let_go.set()
        self.close()

    def close(self) -> None:
        """From here on connections are refused."""
        self._http.shutdown()
        self._http.server_close()

    def storage(self) -> S3Storage:
        """Django's storage in front of it, as the shop's settings make it, with short time-outs."""
        return S3Storage(
            bucket_name="photos",
            endpoint_url=f"http://127.0.0.1:{self._http.server_address[1]}",
            access_key="key",
            secret_key="secret",
            region_name="us-east-1",
            default_acl="private",
            querystring_auth=True,
            client_config=Config(
                connect_timeout=TIME_OUT_SECONDS,
                read_timeout=TIME_OUT_SECONDS,
                retries={"total_max_attempts": 1},
                s3={"addressing_style": "path"},
                proxies={},
            ),
        )


class _Handler(BaseHTTPRequestHandler):
    store: S3Server
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self._may_go_on():
            self.store.objects[self.path] = body
            self._answer(200)

    def do_DELETE(self) -> None:
        if self._may_go_on():
            self.store.objects.pop(self.path, None)
            self._answer(204)

    def do_HEAD(self) -> None:
        if self._may_go_on():
            found = self.store.objects.get(self.path)
            self._answer(404 if found is None else 200, found or b"")

    do_GET = do_HEAD

    def _may_go_on(self) -> bool:
        self.store.asked.append(f"{self.command} {self.path}")
        if self.store.does == HANGS:
            self.store.let_go.wait(20)
            self.close_connection = True
            return False
        if isinstance(self.store.does, int):
            self._answer(self.store.does)
            return False
        return True

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Connection", "close")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"0"')
        self.send_header("Last-Modified", "Thu, 12 Mar 2026 10:00:00 GMT")
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.store.does == BREAKS_OFF:
            body, self.close_connection = body[: len(body) // 2], True
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass

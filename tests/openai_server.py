"""An OpenAI-compatible chat endpoint on this machine, with the scripted model and its eyes behind it.

    python -m tests.openai_server --port 9100

Then `LLM_BASE_URL=http://127.0.0.1:9100/v1 LLM_API_KEY=any` runs the whole product through the real SDK. In tests it
also serves canned answers, in order, before it falls back to the scripted model, and keeps what it was asked.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import django
from django.apps import apps

if not apps.ready:  # started by itself, as above
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "refunddesk.settings")
    django.setup()

from agent.llm.base import Reply, ToolSpec
from agent.llm.scripted import ScriptedModel

MODEL = "scripted/model-1"
JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Canned:
    """One answer as it goes out. `body`: bytes or text as they are, None for what the scripted model says, anything
    else as JSON. `wait_seconds` before the first byte; `drip_seconds` between the bytes."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: dict(JSON))
    wait_seconds: float = 0.0
    drip_seconds: float = 0.0

    def as_bytes(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass(frozen=True)
class Asked:
    """One call as it came in; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class OpenAIServer:
    """`with OpenAIServer() as server:` serves at `server.url` until the block ends; port 0 takes any free one."""

    def __init__(self, port: int = 0, *, delay_seconds: float = 0.0) -> None:
        self.canned: deque[Canned] = deque()
        self.always: Canned | None = None
        self.asked: list[Asked] = []
        self.model = ScriptedModel(delay_seconds=delay_seconds)
        self._http = _Http(self, port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def next_answer(self, asked: Asked) -> Canned:
        self.asked.append(asked)
        canned = self.canned.popleft() if self.canned else self.always
        if canned is None or canned.body is None:
            return Canned(self._scripted(asked.body))
        return canned

    def serve_forever(self) -> None:
        self._http.serve_forever(poll_interval=0.05)

    def __enter__(self) -> OpenAIServer:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _scripted(self, body: dict[str, Any]) -> dict[str, Any]:
        functions = [tool["function"] for tool in body.get("tools", [])]
        tools = [ToolSpec(each["name"], each["description"], each["parameters"]) for each in functions]
        return completion(self.model.complete(body["messages"], tools, deadline=float("inf")))


def completion(reply: Reply) -> dict[str, Any]:
    """A reply as the body of an OpenAI chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.tool_calls
        ]
    finish = "tool_calls" if reply.tool_calls else "stop"
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 800, "completion_tokens": 40, "total_tokens": 840},
    }


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # many calls at once are not made to knock twice

    def __init__(self, owner: OpenAIServer, port: int) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes; the second must not wait for an answer
    server: _Http

    def do_GET(self) -> None:
        known = self.path.rstrip("/").endswith("/models")
        body = {"object": "list", "data": [{"id": MODEL, "object": "model"}]} if known else {"error": "not found"}
        self._send(Canned(body, status=200 if known else 404))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not self.path.endswith("/chat/completions"):
            self._send(Canned({"error": {"message": "not found"}}, status=404))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.owner.next_answer(Asked(self.path, headers, json.loads(raw))))

    def _send(self, canned: Canned) -> None:
        time.sleep(canned.wait_seconds)
        body = canned.as_bytes()
        self.send_response(canned.status)
        for name, value in canned.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self._write(body, canned.drip_seconds)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _write(self, body: bytes, drip_seconds: float) -> None:
        if not drip_seconds:
            self.wfile.write(body)
            return
        for position in range(len(body)):
            self.wfile.write(body[position : position + 1])
            self.wfile.flush()
            time.sleep(drip_seconds)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=9100)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    server = OpenAIServer(options.port, delay_seconds=options.delay)
    print(f"LLM_BASE_URL={server.url} LLM_API_KEY=any-key", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

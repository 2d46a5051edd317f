"""A provider in front of the chain that answers as a scenario lists: a real server on this machine, asked over HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agent.llm.base import Reply, ToolSpec
from agent.llm.scripted import ScriptedModel

NAME, MODEL = "troubled", "troubled-model"
# Longer than a call may take while a troubled provider is asked.
SLOW_SECONDS = 2.0
STATUSES: dict[str, tuple[int, Any]] = {
    "refuses_key": (401, {"error": {"message": "Invalid key.", "code": 401}}),
    "busy": (503, {"error": {"message": "Overloaded.", "code": 503}}),
    "refuses_content": (400, {"error": {"message": "Flagged.", "code": "content_filter"}}),
}


class TroubledProvider:
    """`with TroubledProvider(answers) as provider:` serves at `provider.url`; the last answer goes on for ever."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._http = _Http(self)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def answer(self, asked: dict[str, Any]) -> tuple[int, bytes]:
        """Status and body of the next answer."""
        with self._lock:
            name = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if name == "times_out":
            self._ended.wait(SLOW_SECONDS)
        if name == "garbage":
            return 200, b"The kettle is on, please hold the line."
        if name == "no_tool_call":
            return 200, _as_bytes(_completion(Reply(text="I would rather talk about coffee.")))
        if name in STATUSES:
            status, body = STATUSES[name]
            return status, _as_bytes(body)
        return 200, _as_bytes(_completion(_scripted(asked)))

    def __enter__(self) -> TroubledProvider:
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ended.set()
        self._http.shutdown()
        self._http.server_close()


def _scripted(asked: dict[str, Any]) -> Reply:
    functions = [tool["function"] for tool in asked.get("tools", [])]
    tools = [ToolSpec(each["name"], each["description"], each["parameters"]) for each in functions]
    return ScriptedModel().complete(asked["messages"], tools, deadline=float("inf"))


def _completion(reply: Reply) -> dict[str, Any]:
    """A reply as the body of a chat completion; nothing in it is worth a token."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.tool_calls
        ]
    return {
        "id": "chatcmpl-troubled",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if reply.tool_calls else "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _as_bytes(body: Any) -> bytes:
    return json.dumps(body).encode()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: TroubledProvider) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        status, body = self.server.owner.answer(asked)
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):  # whoever asked did not wait
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass

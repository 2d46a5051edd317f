"""The HTTP API as the people of the demo use it: each signs in once and carries a token."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2

from refunddesk.demo_shop.people import Person

CALL_SECONDS = 30.0


class Refused(Exception):
    """The API said no: `status`, its error `code`, its `sentence` and whatever else the answer held (`body`)."""

    def __init__(self, call: str, status: int, body: dict[str, Any]) -> None:
        self.call = call
        self.status = status
        self.body = body
        self.code = str(body.get("error", ""))
        self.sentence = str(body.get("message", ""))
        super().__init__(f"{call} answered {status}: {self.sentence or self.code or 'no reason given'}")


class NotReached(Exception):
    """Nobody answers at the demo's address."""


class Door:
    """`base_url` without the path of the API. Raises NotReached when nothing answers, Refused for every error."""

    def __init__(self, base_url: str, password: str, transport: httpx2.BaseTransport | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._password = password
        self._client = httpx2.Client(base_url=self.base_url, timeout=CALL_SECONDS, trust_env=False, transport=transport)
        self._tokens: dict[Person, str] = {}

    def __enter__(self) -> Door:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def health(self) -> tuple[int, dict[str, str]]:
        """The status and parts of `/healthz`."""
        answer = self._send("GET", "/healthz")
        return answer.status_code, _json_object(answer)

    def get(self, person: Person, path: str) -> Any:
        return self._call(person, "GET", path)

    def post(self, person: Person, path: str, body: dict[str, Any]) -> Any:
        return self._call(person, "POST", path, json=body)

    def upload(self, person: Person, photo: Path) -> str:
        """Sends a picture and returns its id."""
        files = {"file": (photo.name, photo.read_bytes(), "image/jpeg")}
        return str(self._call(person, "POST", "photos", files=files)["id"])

    def _call(self, person: Person, method: str, path: str, **content: Any) -> Any:
        headers = {"Authorization": f"Token {self._token_of(person)}"}
        return self._answer(method, path, headers=headers, **content)

    def _token_of(self, person: Person) -> str:
        if person not in self._tokens:
            body = {"email": person.email, "password": self._password}
            self._tokens[person] = str(self._answer("POST", "token", json=body)["token"])
        return self._tokens[person]

    def _answer(self, method: str, path: str, **content: Any) -> Any:
        answer = self._send(method, f"/api/v1/{path}", **content)
        if answer.is_error:
            raise Refused(f"{method} {path}", answer.status_code, _json_object(answer))
        return answer.json()

    def _send(self, method: str, path: str, **content: Any) -> httpx2.Response:
        try:
            return self._client.request(method, path, **content)
        except httpx2.TransportError as error:
            raise NotReached(
                f"Nothing answers at {self.base_url} ({error}). Start the demo first: make demo. If it runs, give "
                "the tour the same DATA_DIR or PORT."
            ) from error


def _json_object(answer: httpx2.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}

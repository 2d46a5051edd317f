"""Who else has the same request open. Nothing is stored: open pages tell each other through the request's group."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.template.loader import render_to_string

from desk.names import full_name, initials
from intake.consumers import CaseConsumer
from intake.live_consumer import Fragment


@dataclass(frozen=True)
class Person:
    """Somebody at the request; `writing`: with a decision's form open."""

    user_id: int
    name: str
    initials: str
    writing: bool


class PresentConsumer(CaseConsumer):
    """Says who is here when a page opens, when they begin or end writing, and at every look; silence means gone.

    Browser to server, beside `hello`: `{"type": "writing", "writing": true}`. Server to browser: news with the one
    fragment `who-<uuid>`, the others at this request.
    """

    stays_seconds: ClassVar[float] = 50.0
    says_seconds: ClassVar[float] = 20.0

    async def connect(self) -> None:
        self.others: dict[str, tuple[Person, float]] = {}
        self.shown: tuple[Person, ...] = ()
        self.writing, self.said_at = False, 0.0
        await super().connect()
        if self.teller is not None:
            await self._say("case.here", asks=True)

    async def disconnect(self, code: int) -> None:
        if getattr(self, "teller", None) is not None:
            await self._say("case.gone")
        await super().disconnect(code)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        writing = _writing_of(text_data) if text_data is not None and len(text_data) <= self.max_frame else None
        if writing is None:
            await super().receive(text_data, bytes_data)
        elif writing != self.writing:
            self.writing = writing
            await self._say("case.here")

    async def case_here(self, note: dict[str, Any]) -> None:
        if note["channel"] == self.channel_name:
            return
        self.others[note["channel"]] = (Person(**note["person"]), time.monotonic())
        if note["asks"]:
            await self._say("case.here")
        await self._show()

    async def case_gone(self, note: dict[str, Any]) -> None:
        if self.others.pop(note["channel"], None):
            await self._show()

    async def _tell_once(self) -> bool:
        goes_on = await super()._tell_once()
        if goes_on and time.monotonic() - self.said_at > self.says_seconds:
            await self._say("case.here")
            await self._show()
        return goes_on

    async def _say(self, kind: str, *, asks: bool = False) -> None:
        self.said_at = time.monotonic()
        person = asdict(_person(self.user, self.writing))
        note = {"type": kind, "channel": self.channel_name, "person": person, "asks": asks}
        for group in self.groups:
            await self.channel_layer.group_send(group, note)

    async def _show(self) -> None:
        """Tells the browser who is here when that has changed; one person with two pages is one person."""
        oldest = time.monotonic() - self.stays_seconds
        self.others = {channel: seen for channel, seen in self.others.items() if seen[1] > oldest}
        here: dict[int, Person] = {}
        for person, _ in self.others.values():
            if person.user_id != self.user.pk and not (person.user_id in here and here[person.user_id].writing):
                here[person.user_id] = person
        people = tuple(sorted(here.values(), key=lambda person: person.name))
        if people != self.shown:
            self.shown = people
            html = render_to_string("desk/case/who.html", {"people": people, "request_uuid": self.request_uuid})
            fragment = Fragment(f"who-{self.request_uuid}", html)
            await self._send_json({"type": "news", "rev": self.rev, "fragments": [asdict(fragment)]})


def _person(user: User, writing: bool) -> Person:
    return Person(user.pk, full_name(user), initials(user), writing)


def _writing_of(text: str) -> bool | None:
    """What a `writing` frame says; None for every other frame."""
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(frame, dict) or frame.get("type") != "writing":
        return None
    return frame.get("writing") is True

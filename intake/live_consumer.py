"""The part of a websocket that every live page shares: who may listen, no gap, no double, no harm from bad frames."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

# Reads of all sockets of this process share a few threads, and so a few database connections.
_readers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="live-reader")

CLOSE_BAD_FRAMES = 4400
CLOSE_SIGNED_OUT = 4401
CLOSE_NOT_FOUND = 4404
CLOSE_ERROR = 1011
MAY_LISTEN = 0

Result = TypeVar("Result")


@dataclass(frozen=True)
class Fragment:
    """Rendered HTML of one element with this `id`. It replaces the element that has the id; if there is none, it is
    put `at` the "start" or "end" of the element with the id `into` (left out when `into` is empty)."""

    id: str
    html: str
    into: str = ""
    at: str = "start"


@dataclass(frozen=True)
class News:
    """What is newer than the browser knows, and the `rev` it knows once it has shown that. `reload`: too much to
    send, or the browser knows more than there is; it fetches the page again."""

    rev: int
    fragments: tuple[Fragment, ...] = field(default=())
    reload: bool = False


class LiveConsumer(AsyncWebsocketConsumer):
    """A page's websocket. Subclasses say who may listen, to which groups, and what is newer than a `rev`.

    The order is: check origin, session and permission; join the groups; accept; wait for the browser to say the rev
    it has; read what is newer and send it. After that each note of a group, and every `check_seconds` without one,
    checks session and permission again and reads again, so a lost note costs seconds and never an update. Notes only
    count: reading happens in one task, one read for all notes waiting. Past `unread_limit` waiting notes (a browser
    that reads slowly) further ones are dropped and counted, and the next read brings the gap from the database.

    Browser to server, text frames with JSON of at most 4,096 characters:
        {"type": "hello", "rev": 12}   what the page shows; first frame after opening, may be repeated
    Server to browser:
        {"type": "news", "rev": 14, "fragments": [{"id", "html", "into", "at"}], "reload": false}
        {"type": "alive", "rev": 14}   nothing is newer; at least every `check_seconds`
        {"type": "error", "message": sentence}   a frame that could not be read; the socket stays
    Closed with 4400 (binary, too long, or ten bad frames), 4401 (session over), 4404 (not found or no permission any
    more). Before accepting, every refusal looks the same (HTTP 403), so nothing tells what exists.
    """

    check_seconds: ClassVar[float] = 20.0
    hello_seconds: ClassVar[float] = 20.0
    unread_limit: ClassVar[int] = 100
    max_frame: ClassVar[int] = 4096
    max_bad_frames: ClassVar[int] = 10

    # -- what a subclass says; `may_listen` and `news_since` run in a thread and may use the database ----------------

    def may_listen(self, user: User) -> bool:
        """Whether the signed-in user may see this page now; asked again before every read. `self.scope` has the
        URL's arguments."""
        raise NotImplementedError

    def group_names(self) -> list[str]:
        """The groups whose notes concern this page; asked once, after `may_listen` was True."""
        raise NotImplementedError

    def news_since(self, user: User, rev: int) -> News:
        """What is newer than `rev`; without anything newer `News(rev=<the present rev>)`."""
        raise NotImplementedError

    # -- opening and closing -----------------------------------------------------------------------------------------

    async def connect(self) -> None:
        self.rev, self.closed = 0, False
        self.unread = self.dropped = self.bad_frames = 0
        self.hello, self.wake = asyncio.Event(), asyncio.Event()
        self.teller: asyncio.Task[None] | None = None
        if not self._same_origin() or await self._in_reader(self._refusal_to_listen) != MAY_LISTEN:
            await self.close()
            return
        self.groups = self.group_names()
        for group in self.groups:
            await self.channel_layer.group_add(group, self.channel_name)
        await self.accept()
        self.teller = asyncio.create_task(self._tell_until_closed())

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        """Once: frames that came before the browser heard of it, and the task that tells, may find another reason."""
        if not self.closed:
            self.closed = True
            await super().close(code, reason)

    async def disconnect(self, code: int) -> None:
        self.closed = True
        teller = getattr(self, "teller", None)
        if teller is not None:
            teller.cancel()
            with suppress(asyncio.CancelledError):
                await teller

    # -- notes of the groups -----------------------------------------------------------------------------------------

    async def case_news(self, note: dict[str, Any]) -> None:
        self._note()

    async def desk_news(self, note: dict[str, Any]) -> None:
        self._note()

    def _note(self) -> None:
        if self.unread >= self.unread_limit:
            self.dropped += 1
        else:
            self.unread += 1
        self.wake.set()

    # -- frames of the browser ---------------------------------------------------------------------------------------

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.closed:
            return
        if text_data is None or len(text_data) > self.max_frame:
            await self.close(CLOSE_BAD_FRAMES)
            return
        rev = _rev_of_hello(text_data)
        if rev is None:
            await self._refuse_frame()
            return
        self.rev = rev
        self.hello.set()
        self.wake.set()

    async def _refuse_frame(self) -> None:
        self.bad_frames += 1
        if self.bad_frames >= self.max_bad_frames:
            await self.close(CLOSE_BAD_FRAMES)
            return
        await self._send_json({"type": "error", "message": 'Send {"type": "hello", "rev": <number>}.'})

    # -- telling -----------------------------------------------------------------------------------------------------

    async def _tell_until_closed(self) -> None:
        try:
            await asyncio.wait_for(self.hello.wait(), self.hello_seconds)
            # Python 3.11 loses a cancellation that comes in the moment in which `wait_for` is woken.
            while not self.closed and await self._tell_once():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.wake.wait(), self.check_seconds)
        except TimeoutError:
            await self.close(CLOSE_BAD_FRAMES)
        except OSError:
            logger.info("a live page went away while it was told something")
        except Exception:
            logger.exception("a live page was closed by an error; it asks again by itself")
            await self.close(CLOSE_ERROR)

    async def _tell_once(self) -> bool:
        """Checks who is there, reads and sends what is newer. False when the socket was closed."""
        if self.dropped:
            logger.warning("a live page reads slowly: %s notes dropped, its gap is read again", self.dropped)
        self.unread = self.dropped = 0
        self.wake.clear()
        since = self.rev
        news = await self._in_reader(self._read, since)
        if isinstance(news, int):
            await self.close(news)
            return False
        if news == News(since):
            await self._send_json({"type": "alive", "rev": since})
            return True
        await self._send_json({"type": "news", **asdict(news)})
        if self.rev == since:  # else the browser said another rev meanwhile, and is answered next
            self.rev = news.rev
        return True

    async def _send_json(self, frame: dict[str, Any]) -> None:
        if not self.closed:
            await self.send(text_data=json.dumps(frame))

    # -- who is there, in a reader's thread --------------------------------------------------------------------------

    def _read(self, since: int) -> News | int:
        """What is newer than `since`, or the code to close with."""
        return self._refusal_to_listen() or self.news_since(self.user, since)

    def _refusal_to_listen(self) -> int:
        """Reads session and user again and asks the subclass; MAY_LISTEN, or the code to close with."""
        user = _user_of_session(self.scope["session"].session_key)
        if user is None:
            return CLOSE_SIGNED_OUT
        self.user = user
        return MAY_LISTEN if self.may_listen(user) else CLOSE_NOT_FOUND

    async def _in_reader(self, function: Callable[..., Result], *arguments: Any) -> Result:
        call = database_sync_to_async(function, thread_sensitive=False, executor=_readers)
        result: Result = await call(*arguments)
        return result

    def _same_origin(self) -> bool:
        """A browser names the page's origin; another site's page, no origin and `null` are refused."""
        headers = dict(self.scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin1").lower()
        if origin in {trusted.lower() for trusted in settings.CSRF_TRUSTED_ORIGINS}:
            return True
        host = headers.get(b"host", b"").decode("latin1").lower()
        return bool(host) and urlsplit(origin).scheme in {"http", "https"} and urlsplit(origin).netloc == host


def _user_of_session(session_key: str | None) -> User | None:
    """The active user who is signed in under the key as the database has it now."""
    if not session_key:
        return None
    request = HttpRequest()
    request.session = import_string(f"{settings.SESSION_ENGINE}.SessionStore")(session_key)
    user = get_user(request)
    return user if isinstance(user, User) else None


def _rev_of_hello(text: str) -> int | None:
    """The rev a hello frame names; None for every other frame."""
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(frame, dict) or frame.get("type") != "hello":
        return None
    rev = frame.get("rev")
    return rev if type(rev) is int and 0 <= rev < 2**31 else None

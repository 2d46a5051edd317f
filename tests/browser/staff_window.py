"""A staff member's window on a desk that this process serves; the test says what its websockets tell and when."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from playwright.sync_api import Page, Route, WebSocketRoute, expect, sync_playwright

from desk.case import find_request
from desk.frame import frame_for
from desk.news import case_news, counts_and_brake
from intake.live_consumer import News
from intake.models import RefundRequest
from tests.desk.rows import member_of

PASSWORD = "a-good-long-one"
PATIENCE_MS = 30_000
LOOK_AGAIN_MS = 20


@dataclass
class StaffWindow:
    page: Page
    user: User
    sockets: dict[str, WebSocketRoute] = field(default_factory=dict)

    def sign_in(self) -> None:
        self.page.goto("/desk/login/")
        self.page.fill("input[name=username]", self.user.username)
        self.page.fill("input[name=password]", PASSWORD)
        self.page.click("button[type=submit]")
        self.page.wait_for_url("**/queue/needs-approval/")

    def open_queue(self, slug: str = "needs-approval") -> None:
        self.page.goto(f"/desk/queue/{slug}/")
        self._until(lambda: "/ws/desk/" in self.sockets)

    def open_case(self, request: RefundRequest) -> None:
        self.page.goto(f"/desk/queue/needs-approval/{request.uuid}/")
        self._until(lambda: _path_of(request) in self.sockets)

    def tell_desk(self) -> None:
        """Counts and brake as they stand in the rows."""
        self._tell("/ws/desk/", News(1, counts_and_brake(frame_for(self.user))))

    def tell_case(self, request: RefundRequest, rev: int) -> None:
        """What a page at `rev` lacks."""
        self._tell(_path_of(request), case_news(find_request(request.uuid), rev))

    def hold(self, address: str | re.Pattern[str]) -> HeldAnswers:
        held = HeldAnswers(self)
        self.page.route(address, held.take)
        return held

    def _tell(self, path: str, news: News) -> None:
        self.sockets[path].send(json.dumps({"type": "news", **asdict(news)}))

    def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self.page.wait_for_timeout(LOOK_AGAIN_MS)


@dataclass
class HeldAnswers:
    """Requests of the page that get no answer until they are let go."""

    window: StaffWindow
    routes: list[Route] = field(default_factory=list)
    open: bool = False

    def take(self, route: Route) -> None:
        if self.open:
            route.continue_()
        else:
            self.routes.append(route)

    def wait_for(self, count: int = 1) -> None:
        self.window._until(lambda: len(self.routes) >= count)

    def fail(self) -> None:
        for route in self.routes:
            route.fulfill(status=503)
        self.routes.clear()

    def let_go(self) -> None:
        self.open = True
        for route in self.routes:
            route.continue_()
        self.routes.clear()


@contextmanager
def staff_window(chromium_path: str, address: str, group: str = "lead") -> Iterator[StaffWindow]:
    """Signed in. The driver's event loop runs in this thread, in which the tests also read rows: they have to allow
    it with DJANGO_ALLOW_ASYNC_UNSAFE."""
    user = member_of(group)
    user.set_password(PASSWORD)
    user.save()
    errors: list[str] = []
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=arguments)
        page = browser.new_context(base_url=address, viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: errors.append(message.text) if _is_violation(message.text) else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        window = StaffWindow(page, user)
        page.route_web_socket(re.compile("/ws/desk/"), lambda socket: _take(window, socket))
        window.sign_in()
        yield window
        browser.close()
    assert errors == []


def _take(window: StaffWindow, socket: WebSocketRoute) -> None:
    window.sockets[urlsplit(socket.url).path] = socket


def _path_of(request: RefundRequest) -> str:
    return f"/ws/desk/cases/{request.uuid}/"


def _is_violation(text: str) -> bool:
    return "Content Security Policy" in text

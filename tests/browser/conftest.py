"""A whole desk with a model that takes a moment to think, and Chromium windows on it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.window import Window
from tests.whole_desk import WholeDesk, whole_desk

THINKS_SECONDS = "0.8"
PATIENCE_MS = 30_000


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeDesk]:
    folder = tmp_path_factory.mktemp("browser")
    with whole_desk(folder, more_env={"SCRIPTED_MODEL_DELAY_SECONDS": THINKS_SECONDS}) as desk:
        yield desk


@pytest.fixture(scope="module")
def chromium(chromium_path: str) -> Iterator[Browser]:
    """Closed after the module: while it is open this thread has a running event loop, and Django reads no rows."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def priya(desk: WholeDesk, chromium: Browser) -> Iterator[Window]:
    yield from _window(desk, chromium, "priya.raman@example.com", "/sign-in")


@pytest.fixture
def maya(desk: WholeDesk, chromium: Browser) -> Iterator[Window]:
    yield from _window(desk, chromium, "maya.okafor@example.com", "/desk/login/")


def _window(desk: WholeDesk, chromium: Browser, email: str, sign_in: str) -> Iterator[Window]:
    context = chromium.new_context(base_url=desk.address, viewport={"width": 1360, "height": 860})
    context.set_default_timeout(PATIENCE_MS)
    window = Window(context.new_page())
    window.sign_in(sign_in, email)
    yield window
    # A page that still asks for news must not be answered by a test that is over.
    window.page.unroute_all(behavior="ignoreErrors")
    context.close()
    assert window.complaints == []

"""One person's browser window: what they do in it, and what it shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from playwright.sync_api import ConsoleMessage, Page, expect

from refunddesk.demo_shop.pictures import photo_file

PASSWORD = "pourhaven-demo-2026"
# Notes when each step was first seen, by the id of its element.
WATCH_STEPS = """() => {
  window.seenSteps = {};
  const look = () => {
    for (const step of document.querySelectorAll("li[id^=step-]")) window.seenSteps[step.id] ??= Date.now();
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  look();
}"""
# What a server that is being started again makes the browser say.
OUTAGE = re.compile(
    r"WebSocket connection to|ERR_(CONNECTION_REFUSED|EMPTY_RESPONSE|CONNECTION_RESET)|htmx:(after|send)"
)


@dataclass
class Window:
    page: Page
    complaints: list[str] = field(default_factory=list)
    loads: int = 0

    def __post_init__(self) -> None:
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("load", self._count_load)

    def sign_in(self, address: str, email: str) -> None:
        self.page.goto(address)
        self.page.get_by_label("E-mail").or_(self.page.locator("#id_username")).first.fill(email)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").last.click()
        self.page.wait_for_url(re.compile(r"^(?!.*(sign-in|login)).*$"))

    def ask_for(self, item: str, reason: str, details: str, photo: str) -> str:
        """Fills the form of an order line and sends it; returns the address of the request's page."""
        page = self.page
        page.goto("/")
        page.get_by_role("link", name=f"Ask for a refund for {item}").click()
        page.locator(f"input[name=reason][value={reason}]").check()
        page.get_by_label("What happened?").fill(details)
        page.locator("input[type=file]").set_input_files(photo_file(photo))
        expect(page.locator("[data-photo-list] li:not(.sending) input[name=photo]")).to_have_count(1)
        page.locator("form[data-draft] button[type=submit]").last.click()
        page.wait_for_url(re.compile(r"/requests/[0-9a-f-]{36}$"))
        self.page.evaluate(WATCH_STEPS)
        return page.url

    def open_case(self, request_address: str) -> None:
        """The staff page of that request, once it listens."""
        uuid = request_address.rstrip("/").rsplit("/", 1)[1]
        self.page.goto(f"/desk/queue/all/{uuid}/")
        expect(self.page.locator("#live-sign")).to_have_attribute("data-state", "on")
        self.page.evaluate(WATCH_STEPS)

    def steps(self) -> list[str]:
        """The ids of the steps as they stand on the page, oldest first on the desk, newest first for customers."""
        return list(self.page.locator("li[id^=step-]").evaluate_all("steps => steps.map((step) => step.id)"))

    def step_texts(self) -> list[str]:
        return list(self.page.locator("li[id^=step-] b, li[id^=step-] .update-title").all_text_contents())

    def seen_at(self) -> dict[str, int]:
        """Step id -> when it was first on the page, in milliseconds since 1970."""
        return dict(self.page.evaluate("window.seenSteps"))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not OUTAGE.search(message.text):
            self.complaints.append(message.text)

    def _count_load(self, _: Page) -> None:
        self.loads += 1

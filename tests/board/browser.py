# SPDX-License-Identifier: MIT
"""A real browser for the board, without a window: Chromium of the system, driven by playwright."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.needs import TOOLS, browser, needs
from tests.waiting import AT_MOST

if t.TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE = AT_MOST * 1000
"""Milliseconds for anything that the page is to show: a deadline, not a wait."""


needs_browser = needs("playwright", "chromium")
"""For tests, or as `pytestmark`."""


def missing() -> str:
    """Which tool for a browser is not installed, and where it comes from; empty if all are."""
    return next((TOOLS[name].reason() for name in needs_browser.args if not TOOLS[name].is_there()), "")


@contextmanager
def started() -> Iterator[Browser]:
    """A browser. It has no sandbox, because root cannot have one; it opens only our pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=browser(), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield chromium
        finally:
            chromium.close()


class Visit:
    """A page in the browser, and everything that it complained about or asked for."""

    def __init__(
        self, browser: Browser, file: Path, *, width: int = 1400, height: int = 900, dark: bool = False
    ) -> None:
        self.file = file
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, fragment: str = "#view=checks") -> Page:
        """Goes to the page from disk, and comes back when it has been put together.

        An empty `fragment`: the page opens with what it chooses.
        """
        self.page.goto(self.file.as_uri() + fragment)
        self.page.wait_for_selector("html[data-ready=yes]")
        return self.page

    def close(self) -> None:
        self._context.close()

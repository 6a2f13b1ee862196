"""A real Chromium for the tests of pages, and all that a page does while it is looked at."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Dialog,
        Page,
        Playwright,
        Request,
        WebError,
    )

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--disable-dev-shm-usage",  # what a container has of it is too small for a large page
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no test leaves the machine
)


def executable(env: Mapping[str, str]) -> str | None:
    """The Chromium that ``CTXLOG_BROWSER`` names, else the first that is on the path, or none."""
    named = env.get("CTXLOG_BROWSER")
    found = (shutil.which(name, path=env.get("PATH")) for name in ([named] if named else NAMES))
    return next(filter(None, found), None)


def lacking(env: Mapping[str, str]) -> str | None:
    """What has to be installed before a page can be looked at; none where all is there."""
    if find_spec("playwright") is None:
        return "the tests of pages need Playwright: pip install -e '.[e2e]'"
    if executable(env) is not None:
        return None
    if named := env.get("CTXLOG_BROWSER"):
        return f"CTXLOG_BROWSER names no program: {named}"
    return "the tests of pages need Chromium: apt-get install chromium, or set CTXLOG_BROWSER to it"


def launched(playwright: Playwright, env: Mapping[str, str]) -> Browser:
    """Chromium without a window; without its sandbox, which neither root nor a container has."""
    return playwright.chromium.launch(
        executable_path=executable(env), args=list(ARGUMENTS), chromium_sandbox=False
    )


def reader(
    browser: Browser,
    *,
    width: int = 1280,
    height: int = 900,
    dark: bool = False,
    reduced_motion: bool = True,
    offline: bool = True,
    **more: Any,
) -> BrowserContext:
    """One who was never here before; ``more`` is what Playwright's ``new_context`` takes."""
    return browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce" if reduced_motion else "no-preference",
        offline=offline,
        locale="en-US",
        timezone_id="UTC",
        **more,
    )


VIOLATIONS = """addEventListener("securitypolicyviolation", (event) =>
  ctxlogViolation(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`.trim()), true)
"""


@dataclass
class Seen:
    """What pages have done. What a test does not take of the wrong things fails it at its end."""

    requests: list[str] = field(default_factory=list)
    """Every address that was asked for, the page's own among them; not wrong by itself."""
    console: list[str] = field(default_factory=list)
    """Every line of the console, behind its level: ``log: loaded``; not wrong by itself."""
    foreign: list[str] = field(default_factory=list)
    """Wrong: what was asked for beside the page's own file, or its own server."""
    complaints: list[str] = field(default_factory=list)
    """Wrong: the errors of the console; Chromium puts its own there too."""
    errors: list[str] = field(default_factory=list)
    """Wrong: what was thrown and not caught, and a page that crashed."""
    dialogs: list[str] = field(default_factory=list)
    """Wrong: each is dismissed."""
    popups: list[str] = field(default_factory=list)
    """Wrong: the addresses of pages that a page opened."""
    violations: list[str] = field(default_factory=list)
    """Wrong: what the content security policy forbade: ``directive what``."""
    own: set[str] = field(default_factory=set)
    """The files and servers whose requests are a page's own: the first that each reader opened."""
    _new: list[BrowserContext] = field(default_factory=list)

    WRONG = ("foreign", "complaints", "errors", "dialogs", "popups", "violations")

    def take(self, kind: str) -> list[str]:
        """All of one kind, which from now on is as expected."""
        taken: list[str] = getattr(self, kind)
        setattr(self, kind, [])
        return taken

    def wrong(self) -> list[str]:
        """All that nobody expected, behind its kind."""
        return [f"{kind}: {what}" for kind in self.WRONG for what in getattr(self, kind)]

    def watch(self, context: BrowserContext) -> None:
        """Note all that the pages of ``context`` do; before the first of them is made."""
        self._new.append(context)
        context.expose_binding("ctxlogViolation", lambda _, text: self.violations.append(text))
        context.add_init_script(VIOLATIONS)
        context.on("request", lambda request: self._asked(request, context))
        context.on("console", self._said)
        context.on("weberror", self._thrown)
        context.on("dialog", self._dismissed)
        context.on("page", self._appeared)

    def _asked(self, request: Request, context: BrowserContext) -> None:
        self.requests.append(request.url)
        if request.url.startswith(("data:", "blob:", "about:")):
            return
        if context in self._new and request.is_navigation_request():
            self._new.remove(context)
            self.own.add(_place(request.url))
        if _place(request.url) not in self.own:
            self.foreign.append(request.url)

    def _said(self, message: ConsoleMessage) -> None:
        self.console.append(f"{message.type}: {message.text}")
        if message.type == "error":
            self.complaints.append(message.text)

    def _thrown(self, error: WebError) -> None:
        self.errors.append(str(error.error))

    def _dismissed(self, dialog: Dialog) -> None:
        self.dialogs.append(f"{dialog.type}: {dialog.message}")
        dialog.dismiss()

    def _appeared(self, page: Page) -> None:
        page.on("popup", lambda opened: self.popups.append(opened.url))
        page.on("crash", lambda crashed: self.errors.append(f"crashed: {crashed.url}"))


def _place(address: str) -> str:
    """A file is its own place; a server's addresses are all one."""
    parts = urlsplit(address)
    if parts.scheme in ("http", "https", "ws", "wss"):
        return parts.netloc
    return urldefrag(address).url.partition("?")[0]


def settle(context: BrowserContext) -> None:
    """Wait until what the pages have done so far has been told; no longer than Playwright waits
    anywhere, since a page without scripts would never answer."""
    for page in context.pages:
        page.wait_for_function("() => new Promise((done) => setTimeout(() => done(true)))")

"""Pages in a real Chromium. A test fails at its end if a page did what no test expected of it.

A test takes ``page``, or ``new_page`` where it needs several or other ones, and ``seen``, which has
all that they did; what is wrong and meant is taken from there: ``seen.take("dialogs")``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import Seen, lacking, launched, reader, settle

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


class Unbrowsed(pytest.Module):
    """A file of tests that cannot run here: it may import what is not installed."""

    def collect(self) -> list[pytest.Item]:
        reason = lacking(os.environ)
        assert reason is not None
        if os.environ.get("CTXLOG_BROWSER_TESTS") == "required":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason, allow_module_level=True)


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Skip every file here where there is no browser; fail where the tests are required."""
    if lacking(os.environ) is None:
        return None
    return Unbrowsed.from_parent(parent, path=module_path)


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """Chromium, and the event loop of what drives it."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)  # ms; of a busy machine, on which five seconds are too few
    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        browser = launched(playwright, os.environ)
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture
def browser(chromium: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """One Chromium for all tests of a process.

    Playwright leaves its event loop marked as the running one, and no other test of this process
    could run one of its own: the mark is there only during a test that has a browser.
    """
    started, loop = chromium
    asyncio._set_running_loop(loop)
    yield started
    asyncio._set_running_loop(None)


@pytest.fixture
def seen() -> Seen:
    """What the pages of this test do."""
    return Seen()


@pytest.fixture
def new_page(browser: Browser, seen: Seen) -> Iterator[Callable[..., Page]]:
    """Make a page, each with nothing kept from before; takes the parameters of ``reader``."""
    contexts: list[BrowserContext] = []

    def made(**how: Any) -> Page:
        context = reader(browser, **how)
        contexts.append(context)
        seen.watch(context)
        return context.new_page()

    yield made
    try:
        for context in contexts:
            settle(context)
    finally:
        for context in contexts:
            context.close()
    assert not seen.wrong(), "\n".join(seen.wrong())


@pytest.fixture
def page(new_page: Callable[..., Page], request: pytest.FixtureRequest) -> Page:
    """A page, offline, 1280 wide and light; parametrize it (``indirect``) for another."""
    return new_page(**getattr(request, "param", {}))

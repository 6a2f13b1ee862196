"""The page of ``serve`` in a browser, while others write to the log that it shows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from browsing import Seen
from playwright.sync_api import Page, expect
from running import environment
from small_log import answered, called, said

from cli.report.served_log import ServedLog
from cli.report.server import Server
from eventlog.events import SessionStarted
from projections import Live, open_log

# Each waits for a look at the log, and for a session that is made anew.
expect.set_options(timeout=30_000)

KEY = "ann/bot/growing"
TURNS = 30
LONG = "It goes on like this. " * 40


def turn(live: Live, number: int) -> None:
    """A question, a call and its answer."""
    at = live.log.version(KEY) + 2
    question = said("user", f"Question {number}. {LONG}")
    answer = said("assistant", f"Answer {number}", call=at)
    live.append(KEY, question, called(), answer, answered(at, 10 * number))


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """The log as who writes to it has it."""
    with open_log(tmp_path / "growing.db", durability="normal") as writer:
        writer.append(KEY, SessionStarted(title="Growing"))
        for number in range(1, TURNS + 1):
            turn(writer, number)
        yield writer


@pytest.fixture
def server(live: Live) -> Iterator[Server]:
    with (
        open_log(live.log.path, read_only=True) as reader,
        closing(Server(ServedLog(reader, []))) as made,
    ):
        made.start()
        yield made


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    return new_page(offline=False)


def mark(page: Page) -> str:
    return page.locator("#top .live").inner_text()


def see(page: Page, server: Server, place: str) -> None:
    page.goto(f"{server.url}#{place}")
    page.wait_for_selector("html.ready")


class TestFollowing:
    """Who watches an agent sees what it does; who reads is not taken away from it."""

    def test_at_the_last_call_and_the_end_it_goes_on(
        self, page: Page, live: Live, server: Server
    ) -> None:
        see(page, server, "1/transcript")
        expect(page.locator(".callname")).to_have_text(f"c{TURNS}")
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(page.locator(".row", has_text=f"Answer {TURNS}")).to_be_in_viewport()
        turn(live, TURNS + 1)
        expect(page.locator(".callname")).to_have_text(f"c{TURNS + 1}")
        expect(page.locator(".row", has_text=f"Answer {TURNS + 1}")).to_be_in_viewport()

    def test_elsewhere_all_stays_as_it_is(self, page: Page, live: Live, server: Server) -> None:
        see(page, server, "1/c20")
        row = page.locator(".row", has_text="Question 19.")
        row.locator("button.line, .line button").first.click()
        text = row.locator("pre").first
        expect(text).to_contain_text("It goes on like this.")
        before = row.bounding_box()
        turn(live, TURNS + 1)
        expect(page.locator("input[type=range]")).to_have_attribute("max", str(TURNS + 1))
        expect(page.locator(".callname")).to_have_text("c20")
        expect(text).to_contain_text("It goes on like this.")
        assert row.bounding_box() == before
        assert (
            page.evaluate("document.activeElement.closest('.row')?.textContent").find(
                "Question 19."
            )
            > 0
        )
        assert page.evaluate("location.hash") == "#1/c20"

    def test_texts_that_are_there_are_not_asked_for_again(
        self, page: Page, live: Live, server: Server, seen: Seen
    ) -> None:
        for number in range(300):
            live.append(KEY, said("user", f"{number} {LONG}"))
        see(page, server, "1/2")
        expect(page.locator(".row.open pre").first).to_contain_text("Question 1.")
        (chunk,) = [each for each in seen.requests if "/chunk-" in each]
        turn(live, TURNS + 1)
        expect(page.locator("input[type=range]")).to_have_attribute("max", str(TURNS + 1))
        expect(page.locator(".row.open pre").first).to_contain_text("Question 1.")
        assert [each for each in seen.requests if "/chunk-" in each] == [chunk]

    def test_what_is_selected_stays_selected(self, page: Page, live: Live, server: Server) -> None:
        see(page, server, "1/overview")
        page.evaluate("getSelection().selectAllChildren(document.querySelector('#view h2'))")
        turn(live, TURNS + 1)
        expect(page.locator("#top .live")).to_have_class("live waiting")
        assert page.evaluate("getSelection().toString()")
        page.evaluate("getSelection().removeAllRanges()")
        expect(page.locator("#view .figures")).to_contain_text(str(TURNS + 1))

    def test_paused_it_asks_for_nothing(
        self, page: Page, live: Live, server: Server, seen: Seen
    ) -> None:
        page.clock.install()
        see(page, server, "1/overview")
        page.locator("#top .live").click()
        assert "paused" in mark(page)
        turn(live, TURNS + 1)
        asked = len(seen.requests)
        page.clock.run_for(60_000)
        assert len(seen.requests) == asked
        page.locator("#top .live").click()
        page.clock.run_for(1_000)
        expect(page.locator("#view .figures")).to_contain_text(str(TURNS + 1))


class TestTheList:
    def test_a_new_session_appears_in_it_and_leads_to_itself(
        self, page: Page, live: Live, server: Server
    ) -> None:
        see(page, server, "")
        expect(page.locator("tbody tr")).to_have_count(1)
        live.append("ann/bot/other", said("user", "<b>Another</b> one"))
        expect(page.locator("tbody tr")).to_have_count(2)
        page.get_by_role("searchbox").fill("another")
        expect(page.locator("tbody tr")).to_have_count(1)
        page.get_by_text("<b>Another</b> one").click()
        expect(page.locator("#top .title")).to_have_text("<b>Another</b> one")
        page.get_by_text("all sessions").click()
        expect(page.locator("tbody tr")).to_have_count(2)


class TestWhatGoes:
    """A page that is silent about it would be taken for one where nothing happens."""

    def test_the_server(self, page: Page, live: Live, tmp_path: Path, seen: Seen) -> None:
        command = [sys.executable, "-m", "cli.main", "serve", "--db", str(live.log.path)]
        with subprocess.Popen(
            command, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as running:
            assert running.stdout is not None
            page.goto(f"{running.stdout.readline().decode().strip()}#1/transcript")
            page.wait_for_selector("html.ready")
            running.kill()
        expect(page.locator("#top .live")).to_have_text("✖the server is gone")
        page.keyboard.press("[")
        expect(page.locator(".callname")).to_have_text(f"c{TURNS - 1}")
        assert all("net::ERR" in each for each in seen.take("complaints"))

    def test_the_log(self, page: Page, live: Live, server: Server, seen: Seen) -> None:
        see(page, server, "1/overview")
        away = live.log.path.rename(live.log.path.with_name("away.db"))
        expect(page.locator("#top .live")).to_contain_text("no log at")
        page.reload()
        page.wait_for_selector("html.ready")
        expect(page.locator("#view")).to_contain_text("no log at")
        away.rename(live.log.path)
        page.get_by_role("button", name="try again").click()
        expect(page.locator("#top .title")).to_have_text("Growing")
        assert all("503" in each for each in seen.take("complaints"))

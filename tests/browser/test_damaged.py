"""A page that is not whole says so, wherever somebody looks at what is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from reported import reported
from small_log import KEY, answered, called, said

from eventlog.events import SessionStarted
from projections import open_log


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A session of a few calls, with texts long enough for chunks."""
    folder = tmp_path_factory.mktemp("damaged")
    with open_log(folder / "whole.db") as live:
        live.append(KEY, SessionStarted(title="Damaged"), said("user", "long words " * 400))
        live.append(KEY, called(), said("assistant", "I see.", call=3), answered(3, 9))
    reported(folder / "whole.db", folder, KEY)
    return (folder / "whole.html").read_text()


def damaged(html: str, table: str) -> str:
    """With the middle of a chunk gone."""
    return re.sub(
        rf'(id="{table}-0-0">.{{40}}).*?(.{{9}}</script>)', r"\1\2", html, count=1, flags=re.S
    )


def opened(page: Page, folder: Path, html: str, place: str) -> None:
    (folder / "page.html").write_text(html)
    page.goto((folder / "page.html").as_uri() + place)
    page.wait_for_selector("html.ready")


class TestDamaged:
    """Without these what cannot be read looks like what is not there."""

    @pytest.mark.parametrize("table", ["requests", "texts"])
    def test_a_request_that_cannot_be_read_says_so(
        self, page: Page, html: str, tmp_path: Path, table: str
    ) -> None:
        opened(page, tmp_path, damaged(html, table), "#c1")
        page.locator("details.request summary").click()
        told = "this request could not be read: a part of this file is damaged"
        expect(page.locator("details.request pre")).to_have_text(told)

    def test_a_chunk_that_is_missing_is_told_too(
        self, page: Page, html: str, tmp_path: Path
    ) -> None:
        without = re.sub(r'<script [^>]*id="requests-0-0">.*?</script>', "", html, flags=re.S)
        opened(page, tmp_path, without, "#c1")
        page.locator("details.request summary").click()
        expect(page.locator("details.request pre")).to_contain_text("it is not whole")

    def test_search_says_what_it_could_not_look_at(
        self, page: Page, html: str, tmp_path: Path
    ) -> None:
        opened(page, tmp_path, damaged(html, "texts"), "#transcript")
        page.keyboard.press("/")
        page.keyboard.type("words")
        expect(page.locator(".search p[role=status]")).to_contain_text(
            "of the texts cannot be read, since this file is damaged"
        )

    def test_a_file_that_ends_before_its_script_says_so(
        self, page: Page, html: str, tmp_path: Path
    ) -> None:
        (tmp_path / "page.html").write_text(html[: html.index('id="session-0"') + 500])
        page.goto((tmp_path / "page.html").as_uri())
        expect(page.locator("main")).to_have_text(
            "This page is not whole, or its script did not run."
        )
        opened(page, tmp_path, html, "")
        expect(page.locator("main")).not_to_contain_text("not whole")

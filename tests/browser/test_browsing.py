"""What a page does beside being looked at is noticed, whatever the test itself asserts."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from shutil import copy
from urllib.parse import quote

import pytest
from browsing import Seen, executable, lacking, settle
from playwright.sync_api import Page

ALLOWED = "document.title='ran'"
DIGEST = b64encode(sha256(ALLOWED.encode()).digest()).decode()
CSP = f"default-src 'none'; script-src 'sha256-{DIGEST}'"


def written(folder: Path, body: str, policy: str = CSP) -> str:
    """The address of a page with ``body``."""
    file = folder / "page.html"
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    file.write_text(f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>')
    return file.as_uri()


class TestAQuietPage:
    def test_it_runs_what_its_policy_allows_and_nothing_is_wrong(
        self, page: Page, seen: Seen, tmp_path: Path
    ) -> None:
        address = written(tmp_path, f"<p id=c3>so<script>{ALLOWED}</script>")
        page.goto(f"{address}#c3")
        assert page.title() == "ran"
        assert seen.requests == [address]

    @pytest.mark.parametrize("page", [{"width": 420, "dark": True}], indirect=True)
    def test_its_reader_is_as_asked_for(self, page: Page, tmp_path: Path) -> None:
        page.goto(written(tmp_path, "<p>so"))
        asked = ("(width: 420px)", "(prefers-color-scheme: dark)", "(prefers-reduced-motion)")
        assert [page.evaluate(f"matchMedia('{query}').matches") for query in asked] == [True] * 3
        assert not page.evaluate("navigator.onLine")

    def test_each_reader_has_a_file_of_its_own(
        self, new_page: Callable[..., Page], tmp_path: Path
    ) -> None:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            new_page().goto(written(tmp_path / name, f"<p>{name}"))


WRONG = {
    "violations": ("<p onclick='alert(1)'>so", CSP),
    "complaints": ("<script>console.error('no')</script>", ""),
    "errors": ("<script>throw Error('no')</script>", ""),
    "dialogs": ("<script>alert('no')</script>", ""),
    "popups": ("<script>open('about:blank')</script>", ""),
    "foreign": ("<img src='https://example.org/a.png'>", ""),
}


class TestANoisyPage:
    """A test that forgets to look would pass on a page that runs what a log holds."""

    @pytest.mark.parametrize("kind", WRONG)
    def test_each_wrong_thing_is_noticed(
        self, kind: str, page: Page, seen: Seen, tmp_path: Path
    ) -> None:
        page.goto(written(tmp_path, *WRONG[kind]))
        settle(page.context)
        assert seen.take(kind)
        if kind in ("violations", "foreign"):  # of which the console tells too
            assert seen.take("complaints")
        assert seen.wrong() == []

    def test_a_file_beside_it_is_foreign_and_what_it_holds_itself_is_not(
        self, page: Page, seen: Seen, tmp_path: Path
    ) -> None:
        beside = tmp_path / "beside.svg"
        beside.write_text(picture := '<svg xmlns="http://www.w3.org/2000/svg"/>')
        held = f"data:image/svg+xml,{quote(picture)}"
        page.goto(written(tmp_path, f"<img src='{held}'><img src='beside.svg'>", policy=""))
        assert seen.take("foreign") == [beside.as_uri()]

    def test_it_fails_a_test_that_does_not_look(self, tmp_path: Path) -> None:
        """In a run of its own: each of these passes until its page is closed."""
        here = Path(__file__).parent
        copy(here / "conftest.py", tmp_path)
        for kind, wrong in WRONG.items():
            (tmp_path / kind).mkdir()
            written(tmp_path / kind, *wrong)
        (tmp_path / "test_inner.py").write_text(
            "import pathlib, pytest\n"
            f"@pytest.mark.parametrize('kind', {list(WRONG)})\n"
            "def test_it(page, kind):\n"
            "    page.goto(pathlib.Path(__file__).with_name(kind).as_uri() + '/page.html')\n"
        )
        done = run(tmp_path, PYTHONPATH=str(here))
        assert done.returncode == 1, done.stdout
        assert f"{len(WRONG)} passed, {len(WRONG)} errors" in done.stdout

    def test_the_next_test_can_run_an_event_loop(self, chromium: object) -> None:
        asyncio.run(asyncio.sleep(0))


def run(folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder in a process of their own."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "."],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **more},
        capture_output=True,
        text=True,
    )


class TestWithoutABrowser:
    """A gate that skips in silence is open."""

    @pytest.mark.parametrize(
        ("required", "code", "said"), [("", 5, "1 skipped"), ("required", 2, "1 error")]
    )
    def test_the_tests_are_skipped_or_fail_where_they_are_required(
        self, required: str, code: int, said: str, tmp_path: Path
    ) -> None:
        here = Path(__file__).parent
        copy(here / "conftest.py", tmp_path)
        (tmp_path / "test_inner.py").write_text("import something_not_installed\n")
        done = run(
            tmp_path,
            PYTHONPATH=str(here),
            CTXLOG_BROWSER="no-such-browser",
            CTXLOG_BROWSER_TESTS=required,
        )
        assert "CTXLOG_BROWSER names no program: no-such-browser" in done.stdout
        assert (done.returncode, said in done.stdout) == (code, True), done.stdout

    def test_what_to_install_is_said(self, tmp_path: Path) -> None:
        assert "apt-get install chromium" in str(lacking({"PATH": str(tmp_path)}))

    def test_a_browser_is_found_by_its_name_and_by_its_path(self, tmp_path: Path) -> None:
        program = tmp_path / "google-chrome"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        assert executable({"PATH": str(tmp_path)}) == str(program)
        assert executable({"PATH": "", "CTXLOG_BROWSER": str(program)}) == str(program)
        assert lacking({"PATH": str(tmp_path)}) is None

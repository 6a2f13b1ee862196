"""What a session holds is shown as text, whatever it is: nothing of it runs, nothing breaks."""

from __future__ import annotations

import pytest
from hostile import PIECES, RAN, hostile_log
from playwright.sync_api import Page, expect
from reported import reported
from small_log import KEY


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Its report."""
    folder = tmp_path_factory.mktemp("hostile")
    return reported(hostile_log(folder), folder, KEY)


def shown(piece: str) -> str:
    """As the page writes out what would not be seen, or would turn around what is."""
    return "".join(
        f"\\u{{{ord(char):x}}}"
        if (ord(char) < 32 and char not in "\t\n")
        or 0x2028 <= ord(char) <= 0x202E
        or 0x2066 <= ord(char) <= 0x206F
        or 0xD800 <= ord(char) <= 0xDFFF
        else char
        for char in piece
    )


class TestAHostileSession:
    """The fixture ``page`` fails for errors, requests, dialogs and violations of the policy."""

    @pytest.mark.parametrize("width", [1280, 420])
    def test_nothing_of_it_runs_in_any_view(self, width: int, page: Page, address: str) -> None:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address)
        page.wait_for_selector("html.ready")
        views = page.locator("#tabs a").evaluate_all("(all) => all.map((each) => each.hash)")
        places = [f"#{name}" for name in ("c1", "c2", "c3", "c4", "k1", "3", "5", "9", "11", "12")]
        for place in [*views, *places]:
            page.evaluate("(hash) => { location.hash = hash; }", place)
            page.wait_for_timeout(100)
            for summary in page.locator("details:not([open]) > summary:visible").all():
                summary.click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, place
        assert page.evaluate(f"typeof window.{RAN}") == "undefined"
        assert page.evaluate("({}).polluted") is None
        assert page.locator("img, iframe, object, main script, form[action]").count() == 0
        links = page.locator("a").evaluate_all(
            "(all) => all.map((each) => each.getAttribute('href'))"
        )
        assert all(link.startswith("#") for link in links)

    def test_every_piece_of_it_is_shown_as_text(self, page: Page, address: str) -> None:
        page.goto(f"{address}#9")
        page.wait_for_selector("html.ready")
        opened = page.locator(".row.target .full")
        expect(opened).to_contain_text("call arguments: ")
        for field in ("answer", "call name", "call arguments", "label"):
            expect(opened).to_contain_text(f"{field}: {shown(PIECES[0])}")
        text = opened.locator("pre").first.text_content() or ""
        for piece in PIECES:
            assert shown(piece) in text

    def test_it_can_be_searched_filtered_and_printed(self, page: Page, address: str) -> None:
        page.goto(address)
        page.wait_for_selector("html.ready")
        page.keyboard.press("/")
        page.keyboard.type("<img src=x onerror=")
        expect(page.locator(".hits mark").first).to_have_text("<img src=x onerror=")
        page.keyboard.press("Enter")
        expect(page.locator(".row.target")).to_be_visible()
        page.get_by_label("filter by words").fill("[click](javascript:")
        expect(page.locator(".long .row")).not_to_have_count(0)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(f"typeof window.{RAN}") == "undefined"

    def test_its_title_is_text(self, page: Page, address: str) -> None:
        page.goto(address)
        page.wait_for_selector("html.ready")
        assert page.title().startswith("title: </script><script>")
        expect(page.get_by_role("heading", level=1)).to_contain_text("title: </script>")

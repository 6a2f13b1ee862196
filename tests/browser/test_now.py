"""A session without a recorded call: its transcript shows the context as it stands now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from reported import reported

from eventlog import StreamKey
from eventlog.events import ContextCompacted, MessageAppended, NewMessage
from projections import open_log

KEY = StreamKey("ann", "my-agent", "monday")


def said(role: str, text: str) -> MessageAppended:
    source = "human" if role == "user" else "model"
    message = {"role": role, "content": text}
    return MessageAppended(dialect="openai_chat", source=source, message=message)


def folded(path: Path) -> Path:
    """Two messages, a summary of both, and one more."""
    summary = {"role": "user", "content": "Summary: we talked about rules."}
    with open_log(path) as live:
        live.append(KEY, said("user", "Never touch migrations."), said("assistant", "Understood."))
        live.append(
            KEY,
            ContextCompacted(
                covered=("1-2",), messages=(NewMessage(dialect="openai_chat", message=summary),)
            ),
        )
        live.append(KEY, said("user", "Go on."))
    return path


def test_what_was_folded_does_not_stand_as_seen(page: Page, tmp_path: Path) -> None:
    page.goto(f"{reported(folded(tmp_path / 'm.db'), tmp_path)}#transcript")
    page.wait_for_selector("html.ready")
    signs = page.locator(".row .line .gutter")
    expect(signs).to_have_text(["Σ", "Σ", "●", "●"])
    assert (
        signs.first.get_attribute("aria-label")
        == "left: a summary stands for it (summarised by k1)"
    )
    expect(page.locator(".slider-bar")).to_contain_text("as it stands now · 2 items · ≈18 tokens")
    page.get_by_role("button", name="only 2 items left: a summary stands for it").click()
    expect(page.locator(".row a.id")).to_have_text(["1", "2"])


def test_a_phone_is_told_that_it_is_the_context_as_it_stands_now(
    new_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = new_page(width=420)
    page.goto(f"{reported(folded(tmp_path / 'm.db'), tmp_path)}#transcript")
    page.wait_for_selector("html.ready")
    expect(page.get_by_text("as it stands now", exact=True)).to_be_visible()


def test_the_largest_context_is_the_one_that_stands(page: Page, tmp_path: Path) -> None:
    page.goto(f"{reported(folded(tmp_path / 'm.db'), tmp_path)}#overview")
    page.wait_for_selector("html.ready")
    expect(page.get_by_label("figures", exact=True)).to_contain_text("≈18largest context")

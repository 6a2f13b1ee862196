"""Titles that are how a first message begins: what was cut says so. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from projections.titles import TITLE_LENGTH, clean, title_of, without_reminders


def may_be_cut(title: str) -> bool:
    """Whether a title is as long as one that was cut; behind a blank one character less."""
    return len(title) >= TITLE_LENGTH - 1


def with_end(title: str, messages: Iterable[str], most: int) -> str:
    """A title with more of the message that it begins, up to so many characters and ``…``.

    One that was given, and stands in front of no message, stays as it is.
    """
    for said in messages:
        if title_of(said) == title:
            whole = clean(" ".join(without_reminders(said).split()))
            return whole if len(whole) <= most else f"{whole[:most].rstrip()}…"
    return title

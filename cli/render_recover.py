"""Recovered originals as Markdown, ready to paste. Pure.

All text of the log stands in fences or in code, so nothing in it is markup, and what is copied out
is what was said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cli.exports import code, fenced, inline
from cli.models_reasons import RecoverData, RecoveredItem, RecoveredSentence
from cli.saying import ERASED_SUMMARY, SEALED
from cli.style import Style

_USERS = 4
"""Later items that are named."""


def render_recover(data: RecoverData, style: Style) -> Iterator[str]:
    """A line that says where it is from, then the originals, or the literals in their sentences."""
    if not data.items and not data.sentences:
        return
    name = code(data.key)
    if data.lost_with is not None:
        if data.lost_how == "compacted":
            yield f"Recovered from before the compaction {data.lost_with} of {name}:\n"
        else:
            yield f"Recovered from what {data.lost_with} {data.lost_how} in {name}:\n"
        if data.sealed:
            yield f"(What follows may not be lost: {SEALED}.)\n"
        if data.summary_erased:
            yield f"(What follows may not be lost: {ERASED_SUMMARY}.)\n"
    elif data.query is not None:
        yield f"What holds {code(data.query)} in {name}:\n"
    else:
        yield f"Recovered from {name}:\n"
    for sentence in data.sentences:
        yield from _sentence(sentence)
    for item in data.items:
        yield _head(item)
        yield fenced(item.text if item.excerpt is None else item.excerpt)


def _sentence(sentence: RecoveredSentence) -> Iterator[str]:
    literals = ", ".join(code(one.text) for one in sentence.literals)
    used = dict.fromkeys(user for one in sentence.literals for user in one.used_by)
    where = f"{sentence.item}, {inline(sentence.who)}"
    found = dict.fromkeys(finder for one in sentence.literals for finder in one.found_in)
    if used:
        where += f"; came up again in {_some(used)}"
    elif found:
        where += f"; found again in {_some(found)}"
    if any(one.in_other_words for one in sentence.literals):
        where += "; said again in other words"
    if [_bare(one.text) for one in sentence.literals] == [_bare(sentence.text)]:
        yield f"- {code(sentence.text)} ({where})"
        return
    yield f"- {literals} ({where})"
    yield f"  {code(sentence.text)}"


def _some(items: Collection[str]) -> str:
    more = f" and {len(items) - _USERS} more" if len(items) > _USERS else ""
    return ", ".join(list(items)[:_USERS]) + more


def _bare(text: str) -> str:
    """The words alone, without the mark of a list in front and of a sentence behind."""
    return text.strip(" .!?;:,-*•")


def _head(item: RecoveredItem) -> str:
    words = [item.item, inline(item.who)]
    if item.taken_by:
        gone = "in another form since" if item.state in ("context", "placeholder") else "left with"
        words.append(f"{gone} {item.taken_by}")
    if item.literals:
        words.append(", ".join(map(code, item.literals[:_USERS])))
    return "### " + " · ".join(words) + "\n"

"""What stands in the context after a compaction of Codex, found by content.

A ``compacted`` record holds the whole history that replaced the old one, as copies without any
reference. A copy that is the very item that stands in the context is that item, moved or not; every
other one is a new message. Where several are alike, the newest was kept, since Codex keeps from the
end.

Older versions wrote only the summary and built the history themselves: the initial context, the
newest messages of the user up to 20,000 tokens, the summary. That is done again here, and so it is
inferred. Source: Codex's ``compact`` and ``truncate``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.importers.standing import Standing, runs

USER_TOKENS = 20_000
"""Of the user's messages that a compaction keeps, in Codex's own count: four bytes are a token."""

ALIKE = 64
"""Items with the same end that are looked at for one copy."""

NO_SUMMARY = "(no summary available)"

Digest = bytes


def digest(item: Any) -> Digest:
    """What two items have in common that are the same in every field."""
    text = json.dumps(item, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


@dataclass(slots=True)
class Contents:
    """What the standing items are, as far as a compaction needs to know it."""

    digests: dict[int, tuple[Digest, ...]] = field(default_factory=dict)
    """By an item's number: of each of the items that it is made of."""
    ids: dict[str, Digest] = field(default_factory=dict)
    """By a provider's id: the last item that had it."""
    texts: dict[int, str] = field(default_factory=dict)
    """By an item's number: what a user said."""
    labels: dict[int, str] = field(default_factory=dict)
    """By an item's number: what kind of injected message it is."""


History = list[tuple[Digest, Mapping[str, Any]]]
"""The items of a replacement history, without what is never sent."""


def history_of(payload: Mapping[str, Any], contents: Contents) -> History | None:
    """The replacement history of a record; None where it has none, as in old versions.

    Newer ones may name an item that is on record already by its id.
    """
    found = payload.get("replacement_history")
    if isinstance(found, list):
        return [(digest(item), item) for item in found if _is_sent(item)]
    entries = payload.get("replacement_history_entries")
    if not isinstance(entries, list):
        return None
    history: History = []
    for entry in entries:
        entry = entry if isinstance(entry, dict) else {}
        named = entry.get("item_id")
        if isinstance(named, str):
            item = {"type": "item_reference", "id": named}
            history.append((contents.ids.get(named) or digest(item), item))
        elif _is_sent(entry.get("item")):
            history.append((digest(entry["item"]), entry["item"]))
    return history


def _is_sent(item: object) -> bool:
    return isinstance(item, dict) and item.get("type") != "ghost_snapshot"


@dataclass(frozen=True, slots=True)
class Layout:
    """The whole context after a compaction: standing items, and new messages by their number."""

    entries: tuple[Standing | int, ...]
    messages: tuple[Mapping[str, Any], ...]

    @property
    def kept(self) -> list[Standing]:
        """The items that stay."""
        return [entry for entry in self.entries if isinstance(entry, Standing)]

    def names(self) -> tuple[str, ...]:
        """As an event names it; the slots of the items must be filled."""
        found: list[str] = []
        row: list[Standing] = []
        for entry in (*self.entries, None):
            if isinstance(entry, Standing):
                row.append(entry)
                continue
            found += runs(row)
            row.clear()
            if entry is not None:
                found.append(f"m{entry}")
        return tuple(found)


def replaced(
    first: Sequence[Standing],
    history: History,
    items: Sequence[Standing],
    contents: Contents,
) -> Layout:
    """The context that a replacement history is, behind ``first``, which is no part of it."""
    ends: dict[Digest, list[Standing]] = {}
    taken = {item.number for item in first}
    for item in items:
        held = contents.digests.get(item.number)
        if held and item.number not in taken:
            ends.setdefault(held[-1], []).append(item)
    wanted = [wanted for wanted, _ in history]
    found: list[Standing | Mapping[str, Any]] = []
    at = len(wanted)
    while at:
        match = _newest(ends.get(wanted[at - 1], []), wanted, at, contents)
        found.append(match if match is not None else history[at - 1][1])
        at -= len(contents.digests[match.number]) if match is not None else 1
    entries: list[Standing | int] = [*first]
    messages: list[Mapping[str, Any]] = []
    for each in reversed(found):
        if isinstance(each, Standing):
            entries.append(each)
        else:
            entries.append(len(messages))
            messages.append(each)
    return Layout(tuple(entries), tuple(messages))


def _newest(
    candidates: list[Standing], wanted: Sequence[Digest], end: int, contents: Contents
) -> Standing | None:
    """The last of the items whose pieces are what is wanted up to ``end``; it is used up."""
    for index in range(len(candidates) - 1, max(len(candidates) - ALIKE, 0) - 1, -1):
        held = contents.digests[candidates[index].number]
        if len(held) <= end and tuple(wanted[end - len(held) : end]) == held:
            return candidates.pop(index)
    return None


def rebuilt(
    first: Sequence[Standing], summary: str, items: Sequence[Standing], contents: Contents
) -> Layout:
    """The context that a version made which wrote only the summary."""
    initial: dict[str, Standing] = {}
    users: list[Standing] = []
    for item in items:
        label = contents.labels.get(item.number, "")
        if label in ("developer", "agents_md", "environment_context"):
            initial.pop(label, None)
            initial[label] = item
        elif item.number in contents.texts:
            users.append(item)
    messages: list[Mapping[str, Any]] = []
    kept: list[Standing | int] = []
    left = USER_TOKENS
    for item in reversed(users):
        text = contents.texts[item.number]
        size = -(-len(text.encode("utf-8", "surrogatepass")) // 4)
        if size <= left:
            kept.append(item)
            left -= size
            continue
        if left:
            kept.append(len(messages))
            messages.append(_user_message(shortened(text, left)))
        break
    kept.reverse()
    entries = [*first, *initial.values(), *kept, len(messages)]
    messages.append(_user_message(summary or NO_SUMMARY))
    return Layout(tuple(entries), tuple(messages))


def _user_message(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    }


def shortened(text: str, tokens: int) -> str:
    """The beginning and the end of a text, with a mark between."""
    raw = text.encode("utf-8", "surrogatepass")
    room = tokens * 4
    head = raw[: room // 2].decode("utf-8", "ignore")
    tail = raw[len(raw) - (room - room // 2) :].decode("utf-8", "ignore")
    gone = -(-(len(raw) - room) // 4)
    return f"{head}…{gone} tokens truncated…{tail}"

"""Words of real transcripts are found exactly where a plain look at the stored bytes finds them."""

from __future__ import annotations

import contextlib
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_search_query import naively

from eventlog import RecordedEvent
from harness.importers.importing import import_path
from projections import open_log
from projections.live import Live
from projections.search import Place, Search, Wanted
from projections.search_index import SearchIndex
from projections.search_query import Term, parse

ROOT = Path(__file__).parents[3] / "shared" / "samples"
FILES = sorted(
    path for folder in ("claude-code", "openai-chat") for path in (ROOT / folder).rglob("*.jsonl")
)
FEW, MANY = 8, 40
"""Words of a file of megabytes, which a plain look takes long for, and of others."""

_FIELDS = ("message", "messages", "native", "content", "patch", "inserted", "definitions")
_NO_TEXT = frozenset(
    {"type", "role", "signature", "data", "source", "dialect", "label", "cache_control"}
)

_BLOCKS = frozenset({"text", "thinking", "tool_use", "tool_result", "function", "image"})
"""Of others all is read, the names of fields too."""


def leaves(node: Any, *, inside: bool = False) -> Iterator[str]:
    """Everything in a message that a person could have read; ``inside`` arguments all of it."""
    if isinstance(node, dict):
        unknown = node.get("type", "text") not in _BLOCKS and "role" not in node
        inside = inside or unknown
        for name, child in node.items():
            if inside:
                yield name
            if inside or name not in _NO_TEXT:
                whole = inside or name in ("input", "definitions", "function")
                yield from leaves(child, inside=whole)
    elif isinstance(node, list):
        for child in node:
            yield from leaves(child, inside=inside)
    elif isinstance(node, str):
        yield node
        if node.lstrip()[:1] in ("{", "["):
            with contextlib.suppress(ValueError):
                yield from leaves(json.loads(node), inside=True)
    elif inside and node is not None:
        yield json.dumps(node)


def texts(event: RecordedEvent) -> list[str]:
    payload = json.loads(event.payload)
    found = [payload.get(name, "") for name in ("tool_call_id", "title", "error")]
    for name in _FIELDS:
        found += leaves(payload.get(name), inside=name == "definitions")
    return [text for text in found if text]


def plainly(live: Live, term: Term) -> set[tuple[str, str]]:
    """The sessions, and the items or events in them, whose stored bytes hold a term."""
    found = set()
    for event in live.log.read_all():
        if event.type == "record_unrecognized":
            continue
        if not any(naively(term, text) for text in texts(event)):
            continue
        if event.type in ("placeholder_substituted", "message_revised"):
            found.add((str(event.stream), str(event.data["item"]).partition(".")[0]))
        else:
            found.add((str(event.stream), str(event.position)))
    return found


def searched(live: Live, index: SearchIndex, query: str) -> set[tuple[str, str]]:
    places = [
        Place(info.key, live.log.version(info.key), inherited=False) for info in live.log.streams()
    ]
    hits = Search(live, index, Wanted(parse(query)), places).hits()
    return {(str(hit.stream), str(hit.event.position)) for hit in hits}


@pytest.mark.skipif(not FILES, reason="the sample transcripts are not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_same_items_hold_a_word(path: Path, tmp_path: Path) -> None:
    choose = random.Random(path.name)
    raw = path.read_text(encoding="utf-8")
    words = sorted(set(re.findall(r"[A-Za-z][\w./:-]{3,30}\w|[\u4e00-\u9fff]{2}|\d{3,}", raw)))
    with open_log(tmp_path / "log.db", durability="normal") as live:
        import_path(live.log, path)
        index = SearchIndex(live)
        list(index.catch_up())
        hits = 0
        for word in choose.sample(words, min(FEW if len(raw) > 600_000 else MANY, len(words))):
            query = choose.choice([word, word.upper(), f"{word[:-1]}*", f"*{word[1:-1]}*"])
            [term] = parse(query).terms
            expected = plainly(live, term)
            assert searched(live, index, query) == expected, query
            hits += len(expected)
        assert hits > 2

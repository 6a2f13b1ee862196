"""The demo: a bundled session, before and after a compaction, and what was gone with it."""

from __future__ import annotations

import os
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

from cli.bringing import bring
from cli.models import DemoData, LostData, WindowData
from cli.naming import place, short_names
from cli.opening import opened
from cli.options import Settings
from cli.output import Output
from cli.paths import cache_folder, home, shown
from cli.render_log import legend, render_log
from cli.render_sessions import render_sessions
from cli.style import Style, pad, plural, tokens
from cli.timeline import timeline
from cli.windows import context_at
from eventlog import StreamKey
from harness.importers.importing import Options
from projections import Live
from projections.anchors import Anchor, item_anchors, lost
from projections.items import Item
from projections.sessions import list_sessions

NAME = "refund-rounding.jsonl"
_AROUND = 6
"""Rows that are shown before and behind the compaction."""


def demonstrate(settings: Settings, out: Output) -> None:
    """Import the bundled session into a log of its own and show it."""
    path = settings.db or str(_database())
    with opened(replace(settings, db=path), create=True) as live:
        with as_file(files("cli") / "demo" / NAME) as transcript:
            imported = bring(live.log, [str(transcript)], Options())
        key = StreamKey.parse(imported.files[0].sessions[0].key)
        data = _collected(live, key, path, imported.new)
        if out.as_json:
            out.show(data, "")
            return
        out.write("\n".join(_told(live, key, data, out.style)))


def _database() -> Path:
    """In the cache folder, since it can be made again; in a temporary one where that is closed."""
    folder = cache_folder(os.environ, home()) / "demo"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder / "ctxlog.db"
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="ctxlog-demo-")) / "ctxlog.db"


def _collected(live: Live, key: StreamKey, path: str, new: int) -> DemoData:
    return DemoData(
        database=path,
        key=str(key),
        new=new,
        before=_window(live, f"{key}@k1^"),
        after=_window(live, f"{key}@k1"),
        lost=list(_lost(live, key)),
    )


def _window(live: Live, reference: str) -> WindowData:
    found = context_at(live, place(live, reference))
    first = found.items[0].preview if found.items else ""
    return WindowData(ref=found.ref, items=len(found.items), tokens=found.tokens, first=first)


def _lost(live: Live, key: StreamKey) -> Iterator[LostData]:
    """What a person had said, that left with k1 word for word, and that came up again."""
    at = live.position(key, "k", 1)
    before, after = live.items(key, at - 1), [item.text for item in live.items(key, at)]
    later = [i for i in live.items(key) if i.kind != "summary" and int(i.id.split(".")[0]) > at]
    from_people: dict[Anchor, str] = {}
    for item in before:
        if item.is_human:
            for anchor in item_anchors(item):
                from_people.setdefault(anchor, item.id)
    kept = " ".join(" ".join(after).casefold().split())
    for anchor in lost(from_people, after):
        if anchor.kind == "rule" and _opening(anchor.text) in kept:
            continue  # said again in other words
        again = _again(anchor, later)
        if again is not None or anchor.kind == "rule":
            yield LostData(
                kind=anchor.kind, text=anchor.text, item=from_people[anchor], again=again
            )


def _again(anchor: Anchor, later: Sequence[Item]) -> str | None:
    return next((item.id for item in later if not lost([anchor], [item.text])), None)


def _opening(rule: str) -> str:
    return " ".join(rule.casefold().split()[:3]).rstrip(".,;:")


def _told(live: Live, key: StreamKey, data: DemoData, style: Style) -> Iterator[str]:
    name = key.session[:8]
    at = live.position(key, "k", 1)
    yield _step(style, "A transcript of a coding agent, imported. Nothing is ever changed in it.")
    yield _typed(style, f"ctxlog import {NAME}")
    yield style.line(f"{data.key}: {data.new} new events", style.width)
    yield _step(style, "The sessions of this log.")
    yield _typed(style, "ctxlog sessions")
    listed = list_sessions(live)
    yield from render_sessions(listed, style, short_names(row.key for row in listed))
    yield _step(style, "What happened, and what the model still sees at the end.")
    yield _typed(style, f"ctxlog log {name}")
    rows = timeline(live, key, at=live.log.version(key))
    middle = next(index for index, row in enumerate(rows.rows) if row.position == at)
    total = len(rows.rows)
    rows.rows = rows.rows[middle - _AROUND : middle + _AROUND + 2]
    yield from render_log(rows, style)
    yield style.paint(wrapped(f"({len(rows.rows)} of {total} rows) {legend()}", style), "dim")
    yield _step(style, "Just before the compaction k1 the model had all of it.")
    yield _typed(style, f"ctxlog replay {name}@k1^")
    yield from _size(data.before, style)
    yield _step(style, "After it, this is all there was: one summary.")
    yield _typed(style, f"ctxlog replay {name}@k1")
    yield from _size(data.after, style)
    yield _step(style, "What a person had said that is gone with k1, and where it came up again.")
    for gone in data.lost:
        where = f"{gone.item} → {gone.again}" if gone.again else f"{gone.item}"
        start = f"  {pad(where, 11)} {pad(gone.kind, 7)} "
        yield start + style.line(gone.text, style.width - len(start))
    yield _step(style, "Try it on this log:")
    where = shown(Path(data.database), home())
    yield style.block(f"  export CTXLOG_DB={where}")
    for line, meaning in (
        (f"ctxlog show {name}@3", "the first message, in full"),
        (f"ctxlog show {name}@c35 --context", "what call 35 was given, when it used curl"),
        (f"ctxlog log {name} --at k1^", "the same session, seen from before k1"),
    ):
        yield wrapped(f"  {pad(line, 34)} {meaning}", style)
    yield wrapped("And on your own sessions, without that variable: ctxlog import --all", style)


def _size(window: WindowData, style: Style) -> Iterator[str]:
    yield f"{plural(window.items, 'item')}, {tokens(window.tokens)} tokens, beginning with"
    yield "  " + style.line(window.first, style.width - 2)


def wrapped(text: str, style: Style) -> str:
    """Our own prose, in the width of the terminal."""
    return textwrap.fill(text, style.width, subsequent_indent="    ")


def _step(style: Style, text: str) -> str:
    return "\n" + style.paint(wrapped(text, style), "bold")


def _typed(style: Style, text: str) -> str:
    return style.paint(f"$ {text}", "cyan")

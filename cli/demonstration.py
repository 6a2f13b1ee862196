"""The demo: a bundled session, before and after a compaction, what was gone with it, and why."""

from __future__ import annotations

import json
import os
import tempfile
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

from cli.audits import audited
from cli.bringing import bring
from cli.demo_data import DemoData, WindowData
from cli.diffs import sides_under, versus
from cli.files import new_file
from cli.item_places import item_place
from cli.memories_learned import learned_from
from cli.models_audit import AuditData, FindingData
from cli.models_reasons import RecoverData, WhyData
from cli.models_whatif import DiffData
from cli.naming import place, short_names
from cli.opening import opened
from cli.options import Settings
from cli.output import Output
from cli.paths import cache_folder, current_program, home, nearest
from cli.recovering import lost_with
from cli.render_audit import render_audit
from cli.render_diff import render_diff
from cli.render_keep import render_import
from cli.render_log import legend, render_log
from cli.render_recover import render_recover
from cli.render_replay import render_items
from cli.render_sessions import render_sessions
from cli.render_show import render_context
from cli.render_why import render_why
from cli.replays import replay
from cli.report.lanes import Wanted
from cli.report.report import report
from cli.report.written import is_report
from cli.style import Style, pad, plural, typed
from cli.summaries import Summaries
from cli.timeline import timeline
from cli.whys import why
from cli.windows import context_at
from eventlog import StreamKey
from harness.importers.job import Options
from harness.memory import UserMemory
from projections import Live
from projections.sessions import listed

NAME = "refund-rounding.jsonl"
_AROUND = 6
"""Rows that are shown before and behind the compaction."""

LEFT, RIGHT = "truncate:turns=5", "compress:keep_recent=6"
"""Two strategies that are held against each other."""

_PLANTED = 2
"""Of each kind, how many of the literals that the session was made for are shown."""

_BEGIN = 8
"""Lines that are shown of what is longer."""

EXPLAINED = "3@c35"
"""An item, and the call that did what a rule in it forbids."""


class _Reasons(NamedTuple):
    """What the commands say that explain a loss and bring it back."""

    audit: AuditData
    why: WhyData
    recovered: RecoverData


def demonstrate(settings: Settings, out: Output) -> None:
    """Import the bundled session into a log of its own and show it."""
    path = settings.db or str(_database())
    with opened(replace(settings, db=path), create=True) as live:
        with as_file(files("cli") / "demo" / NAME) as transcript:
            imported = bring(live.log, [str(transcript)], Options())
            bundled = nearest(transcript)
        key = StreamKey.parse(imported.files[0].sessions[0].key)
        summaries = Summaries(live, "extractive")
        sides = sides_under(live, place(live, str(key)), LEFT, RIGHT, summaries)
        held = versus(live, *sides, summaries)
        name = short_names(live, [str(key)])[str(key)]
        reasons = _Reasons(
            audited(live, [key], (), "warning", {str(key): name}),
            why(live, item_place(live, str(key), EXPLAINED)),
            lost_with(live, key, "k1"),
        )
        page = _page(live, key, name, _beside(path))
        data = _collected(live, key, path, imported.new, held, reasons, page)
        if out.as_json:
            out.show(data, "")
            return
        shown = render_import(imported, out.style)
        out.write("\n".join(_told(live, data, held, reasons, shown, bundled, out.style)))


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


def _beside(log: str) -> Path:
    """Where the page of a demo's log stands."""
    return Path(log).with_suffix(".html")


def _page(live: Live, key: StreamKey, name: str, file: Path) -> str:
    """Write the page of the session beside its log; nothing is written over that is no such page,
    or where nothing may be written."""
    if file.exists() and not is_report(file):
        return ""
    made = report(live, [key], {str(key): name}, comparing=_strategies(live))
    try:
        with new_file(str(file), force=True) as stream:
            stream.write(made.html())
    except OSError:
        return ""
    return str(file)


def _strategies(live: Live) -> Wanted:
    return Wanted([LEFT, RIGHT], Summaries(live, "extractive"))


def _collected(
    live: Live,
    key: StreamKey,
    path: str,
    new: int,
    held: DiffData,
    reasons: _Reasons,
    page: str,
) -> DemoData:
    planted = _planted()
    return DemoData(
        database=path,
        key=str(key),
        new=new,
        before=_window(live, f"{key}@k1^"),
        after=_window(live, f"{key}@k1"),
        left=LEFT,
        right=RIGHT,
        strategies_lost=[
            one
            for one in held.lost
            if any(one.kind == k and text in one.text for k, text in planted)
        ],
        findings=list(_planted_in(reasons.audit.findings, planted)),
        why=reasons.why,
        report=page,
        recovered=reasons.recovered.sentences,
    )


def _planted() -> list[tuple[str, str]]:
    """The literals that the session was made for: kind and text."""
    text = (files("cli") / "demo" / "anchors.json").read_text("utf-8")
    return [(one["kind"], one["text"]) for one in json.loads(text)]


def _planted_in(
    findings: Iterable[FindingData], planted: Sequence[tuple[str, str]]
) -> Iterator[FindingData]:
    """The findings that name one of the planted literals, and of their literals only these."""
    for finding in findings:
        named = [a for a in finding.anchors if any(a.kind == k and t in a.text for k, t in planted)]
        if named:
            yield finding.model_copy(update={"anchors": named})


def _window(live: Live, reference: str) -> WindowData:
    found = context_at(live, place(live, reference))
    first = found.items[0].preview if found.items else ""
    return WindowData(ref=found.ref, items=len(found.items), tokens=found.tokens, first=first)


def _told(
    live: Live,
    data: DemoData,
    held: DiffData,
    reasons: _Reasons,
    imported: Iterable[str],
    bundled: str,
    style: Style,
) -> Iterator[str]:
    """What the commands that are shown print; where it is cut, that is said."""
    key = StreamKey.parse(data.key)
    sessions = listed(live)
    names = short_names(live, [row.key for row in sessions])
    name, program = typed(names[data.key]), current_program()

    def type_(command: str) -> str:
        return style.paint(style.block(f"$ {program} {command}"), "cyan")

    variable = style.block(f"export CTXLOG_DB={nearest(Path(data.database))}")
    yield wrapped("The demo has a log of its own. So that what follows can be typed:", style)
    yield style.paint(f"$ {variable}", "cyan")
    yield _step(style, "A transcript of a coding agent, imported. Nothing is ever changed in it.")
    yield type_(f"import {bundled}")
    yield from imported
    yield _step(style, "The sessions of this log.")
    yield type_("sessions")
    yield from render_sessions(sessions, style, names)
    yield _step(style, f"What happened, and what the model still sees at the end: {legend()}.")
    yield type_(f"log {name}")
    rows = timeline(live, key, at=live.log.version(key))
    k1 = next(i for i, row in enumerate(rows.rows) if row.ref == "k1")
    yield from _cut(list(render_log(rows, style)), k1 + 1 - _AROUND, k1 + 3 + _AROUND, style, "row")
    yield _step(style, "Just before the compaction k1 the model had all of it.")
    yield type_(f"show {name}@k1^ --context")
    window = context_at(live, place(live, f"{key}@k1^"))
    yield from _cut(list(render_context(window, style)), 0, _BEGIN, style, "row")
    yield _step(style, "After it, this is all there was: one summary.")
    yield type_(f"replay {name}@k1 --format text")
    replayed, _ = replay(live, place(live, f"{key}@k1"), "text")
    text = "\n".join(render_items(replayed, style)).splitlines()
    yield from _cut(text, 0, _BEGIN, style, "line")
    yield _step(
        style,
        "The same recording under two other strategies: what truncation would have lost (<), "
        "what a summary would have lost (>), and what both (x).",
    )
    yield type_(f"diff {name} --left {data.left} --right {data.right} --anchors")
    lines = list(render_diff(held, style, anchors=True))
    yield from _some(lines, _telling(lines), style, "line")
    yield _step(style, "What an audit of the session finds of it, with the command to type next.")
    yield type_(f"audit {name}")
    names_ = {data.key: names[data.key]}
    lines = list(render_audit(reasons.audit, style, names_, program, every=False))
    yield from _some(lines, _found(lines), style, "line")
    yield _step(style, "Why call 35 could not know better: the rule stood in item 3.")
    yield type_(f"why {name} {EXPLAINED}")
    yield from render_why(reasons.why, style, program)
    yield _step(style, "Nothing of it is gone from the log: ready to paste, in the words it had.")
    yield type_(f"recover {name} --lost k1")
    lines = "\n".join(render_recover(reasons.recovered, style)).rstrip("\n").splitlines()
    yield from _cut(lines, 0, _BEGIN, style, "line")
    yield _step(style, "Try it on this log:")
    yield f"  {variable}"
    tries = (
        (f"show {name}@c35 --context", "what call 35 was given, when it used curl"),
        (f"search ORD-77120 {name}", "where it stands, and what became of each place"),
        (f"log {name} --at k1^", "the same session, seen from before k1"),
        (f"diff {name}@k1 --anchors", "everything that k1 lost"),
        (f"recover {name} 3 --into-context --dry-run", "the rule, in a context again"),
        (f"compare {name}", "what six strategies would have cost and lost"),
        (f"memory add --from {name} --dry-run", _learned(live, data.key)),
    )
    width = max(len(line) for line, _ in tries)
    for line, meaning in tries:
        yield style.block(f"  {program} {pad(line, width)}  # {meaning}")
    yield wrapped("And on your own sessions, without that variable:", style)
    yield "  unset CTXLOG_DB"
    yield style.block(f"  {program} import --all")
    if data.report:
        yield wrapped("The same as a page to look at, in a browser:", style)
        yield style.block(f"  {nearest(Path(data.report))}")
    else:
        page = nearest(_beside(data.database))
        yield wrapped(f"No page was written: {page} cannot be, or is no page of ours.", style)


def _learned(live: Live, key: str) -> str:
    """How much of the session would be known in later ones."""
    found = learned_from(UserMemory(live), key, dry_run=True, force=False)
    return f"{plural(len(found.learned) + found.known, 'thing')} of it to know in later sessions"


def _cut(lines: list[str], first: int, last: int, style: Style, unit: str) -> Iterator[str]:
    """Some lines of an output and its head; how many are left out in front and behind."""
    first, last = max(first, 1), min(last, len(lines))
    yield lines[0]
    if first > 1:
        yield _left_out(first - 1, unit, style)
    yield from lines[first:last]
    if last < len(lines):
        yield _left_out(len(lines) - last, unit, style)


def _telling(lines: Sequence[str]) -> set[int]:
    """The head and the totals, and under each kind the first lines with what was planted."""
    shown = set(range(lines.index("") if "" in lines else len(lines)))
    title, found = 0, 0
    for number, line in enumerate(lines):
        if not line.startswith(" ") and " lost" in line and number not in shown:
            title, found = number, 0
        elif title and found < _PLANTED and any(text in line for _, text in _planted()):
            shown |= {title, number}
            found += 1
    return shown


def _found(lines: Sequence[str]) -> set[int]:
    """The head, and the first warnings with what was planted: of one rule no more than two."""
    starts = [n for n, line in enumerate(lines) if line[:6].rstrip() in _LEVELS]
    ends = [*starts[1:], len(lines)]
    shown, of = {0, 1, len(lines) - 1}, Counter[str]()
    for start, end in zip(starts, ends, strict=True):
        level, rule = lines[start].split()[:2]
        text = " ".join(lines[start:end])
        planted = any(literal in text for _, literal in _planted())
        if level == "WARN" and planted and of[rule] < _PLANTED:
            of[rule] += 1
            shown |= set(range(start, end))
    return shown


_LEVELS = ("ERROR", "WARN", "info")


def _some(lines: Sequence[str], shown: Collection[int], style: Style, unit: str) -> Iterator[str]:
    """Some lines of an output, and how many are left out between them."""
    gap = 0
    for number, line in enumerate(lines):
        if number not in shown:
            gap += 1
            continue
        if gap:
            yield _left_out(gap, unit, style)
        yield line
        gap = 0
    if gap:
        yield _left_out(gap, unit, style)


def _left_out(count: int, unit: str, style: Style) -> str:
    return style.paint(style.block(f"… {plural(count, unit)} more"), "dim")


def wrapped(text: str, style: Style) -> str:
    """Our own prose, in the width of the terminal."""
    return textwrap.fill(text, style.width)


def _step(style: Style, text: str) -> str:
    return "\n" + style.paint(wrapped(style.block(text), style), "bold")

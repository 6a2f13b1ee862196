"""One memory whole, as text. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cli.models_memory import (
    MemoryChangeData,
    MemoryShowData,
    MemoryShownData,
    MemorySourceData,
)
from cli.render_memory import age, line, standing, value_text
from cli.style import Style, pad, plural
from cli.wrapping import wrapped
from eventlog.events import Experience, SessionSummary

_LABEL = 11
"""Columns of what a line is about."""

_MOST = 20
"""Lines of one kind; more are counted."""


_Part = tuple[str, str, Iterable[str]]


def render_memory(data: MemoryShowData, style: Style) -> Iterator[str]:
    """What it says, and part by part what is known of it."""
    row = data.memory
    yield style.paint(f"{row.name}  {row.kind}  {standing(row)}", "bold")
    text = row.text if row.standing != "erased" else "(its text was erased)"
    yield from _block(text, style, style.width)
    for label, value, below in _parts(data, style):
        room = style.width - _LABEL - 1
        yield f"{style.paint(pad(label, _LABEL), 'dim')} {style.line(value, room)}".rstrip()
        yield from (f"{' ' * _LABEL} {each}".rstrip() for each in below)


def _parts(data: MemoryShowData, style: Style) -> Iterator[_Part]:
    row = data.memory
    inner = style.width - _LABEL - 1

    def fit(texts: Iterable[str]) -> Iterator[str]:
        some = list(texts)
        yield from (style.line(text, inner) for text in some[:_MOST])
        if len(some) > _MOST:
            yield _more(len(some))

    said = "a person said so" if row.is_explicit else "inferred"
    yield "known", f"{said}, by {data.by}" if data.by else said, ()
    yield "importance", _importance(data), fit(data.scored)
    if row.subject:
        yield "subject", row.subject, ()
    if data.area:
        yield "area", data.area, ()
    if row.values:
        values = [f"{name} = {value_text(value)}" for name, value in row.values.items()]
        yield "says", plural(len(values), "value"), fit(values)
    said, until = _life(data)
    yield "life", said, fit(until)
    if data.superseded_by is not None:
        yield "gave way to", line(data.superseded_by, style), ()
    if data.supersedes:
        rows = [line(each, style, "", each.text) for each in data.supersedes]
        yield "replaced", plural(len(rows), "memory", "memories"), fit(rows)
    if data.experience is not None:
        yield "experience", "", fit(_experience(data.experience))
    if data.summary is not None:
        yield "summary", "", fit(_summary(data.summary))
    if data.entities:
        named = (f"{each.name} ({each.kind})" if each.kind else each.name for each in data.entities)
        yield "speaks of", ", ".join(named), ()
    if data.relations:
        yield "relations", "", fit(f"{r.subject} {r.predicate} {r.object}" for r in data.relations)
    yield "history", plural(len(data.history), "event"), _history(data, style, inner)
    if data.sources:
        events = plural(len(data.sources), "source")
        yield "comes from", events, fit(map(_source, data.sources))
    else:
        yield "comes from", "no event: it was written down", ()
    yield "stood", _stood(data.shown), fit(map(_shown, data.shown))


def _more(count: int) -> str:
    return f"and {count - _MOST:,} more (--json has them)"


def _importance(data: MemoryShowData) -> str:
    row = data.memory
    times = plural(row.recalled, "time")
    if row.importance == data.given_importance:
        return f"{row.importance:.2f}, recalled {times}"
    return f"{row.importance:.2f}: {data.given_importance:.2f}, and recalled {times}"


def _life(data: MemoryShowData) -> tuple[str, list[str]]:
    row, life = data.memory, data.life
    old = age(row.age_days)
    said = f"{row.status}, {old} old (since {_when(row.refreshed_at)}), {row.kind} lives "
    said += plural(int(life.days), "day") if life.days == int(life.days) else f"{life.days:g} days"
    until = (
        f"active until {_when(life.active_until)}",
        f"stale until {_when(life.stale_until)}",
        f"archived until {_when(life.archived_until)}, then expired",
    )
    return said, list(until)


def _when(moment: str) -> str:
    return moment[:16].replace("T", " ")


def _block(text: str, style: Style, room: int, indent: str = "") -> Iterator[str]:
    for piece in style.block(text.rstrip("\n")).splitlines():
        yield from (f"{indent}{line}" for line in wrapped(piece, room - len(indent)))


def _history(data: MemoryShowData, style: Style, room: int) -> Iterator[str]:
    """Each event; below it the text that it brought, whole, where that no longer stands."""
    for each in data.history[:_MOST]:
        yield style.line(_change(each), room)
        if each.text is not None and each.text != data.memory.text:
            yield from _block(each.text, style, room, "  ")
    if len(data.history) > _MOST:
        yield _more(len(data.history))


def _change(each: MemoryChangeData) -> str:
    name = each.rendition or str(each.position)
    said = f"{name}  {each.what} {_when(each.at)}"
    said += f" by {each.by}" if each.by else ""
    if each.rule and each.rule != "asked":
        said += f" ({each.rule})"
    if each.reason:
        said += f" ({each.reason})"
    if each.is_erased:
        return f"{said}: erased"
    other = [name for name in each.changed if name not in ("text", "is_explicit")]
    if other:
        said += f", {', '.join(other)} changed"
    return said


def _experience(of: Experience) -> Iterator[str]:
    yield f"situation: {of.situation}"
    yield f"action: {of.action}"
    if of.outcome:
        yield f"outcome: {of.outcome}"
    if of.success is not None:
        yield "it worked" if of.success else "it did not work"


def _summary(of: SessionSummary) -> Iterator[str]:
    if of.goal:
        yield f"goal: {of.goal}"
    for name in ("decisions", "tasks", "errors", "open_points", "next_steps"):
        for text in getattr(of, name):
            yield f"{name.replace('_', ' ')}: {text}"


_ABSENT = {
    "erased": "erased",
    "missing": "not in this log",
    "elsewhere": "in another log",
}


def _source(each: MemorySourceData) -> str:
    where = each.session if each.position is None else f"{each.session}@{each.position}"
    if each.state != "there":
        return f"{where}  {_ABSENT[each.state]}"
    said = ": ".join(filter(None, (each.who, each.text)))
    return f"{where}  {said}".rstrip()


def _stood(shown: list[MemoryShownData]) -> str:
    here = [each for each in shown if not each.is_elsewhere]
    told = []
    if here:
        calls = sum(len(each.calls) for each in here)
        sessions = len({each.session for each in here})
        told.append(f"in {plural(calls, 'call')} of {plural(sessions, 'session')}")
    if len(here) < len(shown):
        sessions = len({each.session for each in shown if each.is_elsewhere})
        told.append(f"in {plural(sessions, 'session')} of another log")
    return "; ".join(told) or "before no model yet"


def _shown(each: MemoryShownData) -> str:
    if each.is_elsewhere:
        where = f"{each.session or 'a session'}, in another log"
    else:
        where = f"{each.session}  {', '.join(call.call for call in each.calls) or 'no call yet'}"
    return f"{where}: item {each.item}, as {each.rendition}"

"""One memory whole, as text. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cli.models_memory import (
    MemoryChangeData,
    MemoryShowData,
    MemoryShownData,
    MemorySourceData,
)
from cli.render_memory import age, line, standing, value_text
from cli.style import Style, pad, plural, ranges
from cli.wrapping import flowed, wrapped
from eventlog.events import Experience, SessionSummary
from projections.memory.stream import TYPED

_LABEL = 11
"""Columns of what a line is about."""

_MOST = 20
"""Things of one kind; more are counted."""

_LINES, _QUOTE = 4, 2
"""Lines of one thing, and of what an event says from which it came."""


_Part = tuple[str, str, Iterable[str]]


def render_memory(data: MemoryShowData, style: Style, places: Mapping[str, str]) -> Iterator[str]:
    """What it says, and part by part what is known of it; ``places`` are the names of sessions."""
    row = data.memory
    yield style.paint(f"{row.name}  {row.kind}  {standing(row)}", "bold")
    text = row.text if row.standing != "erased" else "(its text was erased)"
    yield from _block(text, style, style.width)
    for label, value, below in _parts(data, style, places):
        first, *rest = flowed(value, style, style.width - _LABEL - 1)
        yield f"{style.paint(pad(label, _LABEL), 'dim')} {first}".rstrip()
        yield from (f"{' ' * _LABEL} {each}".rstrip() for each in (*rest, *below))


def _parts(data: MemoryShowData, style: Style, places: Mapping[str, str]) -> Iterator[_Part]:
    row = data.memory
    inner = style.width - _LABEL - 1

    def fit(texts: Iterable[str], lines: int = _LINES) -> Iterator[str]:
        some = list(texts)
        for text in some[:_MOST]:
            yield from flowed(text, style, inner, hang="  ", lines=lines)
        if len(some) > _MOST:
            yield _more(len(some))

    said = "a person said so" if row.is_explicit else "inferred"
    yield "known", f"{said}, {_by(data.by)}" if data.by else said, ()
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
        yield "gave way to", line(data.superseded_by, style, indent=_LABEL + 1), ()
    if data.supersedes:
        rows = [line(each, style, "", each.text, _LABEL + 1) for each in data.supersedes]
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
        yield "comes from", events, fit((_source(each, places) for each in data.sources), _QUOTE)
    else:
        is_typed = data.by.startswith(TYPED)
        yield "comes from", f"no event: {data.by if is_typed else 'it was written down'}", ()
    yield "stood", _stood(data.shown), fit(_shown(each, places) for each in data.shown)
    if data.left_out:
        left = ((places.get(each.session, each.session), each.item) for each in data.left_out)
        said_of = (f"of {session} item {item}: no room" for session, item in left)
        yield "left out", plural(len(data.left_out), "time"), fit(said_of)


def _more(count: int) -> str:
    return f"and {count - _MOST:,} more (--json has them)"


def _by(by: str) -> str:
    return by if by.startswith(TYPED) else f"by {by}"


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
        yield from flowed(_change(each), style, room, hang="  ", lines=_LINES)
        if each.text is not None and each.text != data.memory.text:
            yield from _block(each.text, style, room, "  ")
    if len(data.history) > _MOST:
        yield _more(len(data.history))


def _change(each: MemoryChangeData) -> str:
    name = each.rendition or str(each.position)
    said = f"{name}  {each.what} {_when(each.at)}"
    said += f" {_by(each.by)}" if each.by else ""
    if each.rule and each.rule != "asked":
        said += f" ({each.rule})"
    if each.reason:
        said += f" ({each.reason})"
    said += f", imported from {each.imported_from}" if each.imported_from else ""
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


def _source(each: MemorySourceData, places: Mapping[str, str]) -> str:
    session = places.get(each.session, each.session) if each.state != "elsewhere" else each.session
    where = session if each.position is None else f"{session}@{each.position}"
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


def _shown(each: MemoryShownData, places: Mapping[str, str]) -> str:
    if each.is_elsewhere:
        where = f"{each.session or 'a session'}, in another log"
    else:
        session = places.get(each.session, each.session)
        where = f"{session}  {ranges(call.call for call in each.calls) or 'no call yet'}"
    said = f"{where}: item {each.item}, as {each.rendition}"
    if each.gone_before:
        because = f", {each.gone_because}" if each.gone_because else ""
        said += f"; gone before {each.gone_before}{because}"
    elif each.gone_because:
        said += f"; {each.gone_because}"
    return said

"""A report of some sessions, made ready to be written into a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cli.models_whatif import CompareData
from cli.report.bodies import requests_data
from cli.report.chunks import Chunks
from cli.report.lanes import Lanes, Wanted, lanes
from cli.report.model import HeadData, MaskedData, NamedSession, SessionData
from cli.report.page import page
from cli.report.plain import plain
from cli.report.requests import Bodies, bodies
from cli.report.session import Reading, read, session_data
from cli.report.texts import Packed, Texts
from cli.safetext import one_line
from eventlog import StreamKey
from eventlog.jsonvalue import dumps
from projections import Live
from projections.masking import Masker
from projections.memory.past import Pasts

SIZE = 14_500_000
"""Bytes of a file, unless all of every text is asked for."""

_LEAST = 1_000_000
"""Bytes that texts get in any case."""


class Made(NamedTuple):
    """One session, as it stands in a page."""

    data: SessionData
    json: str
    texts: Packed
    pieces: Chunks
    mask: Callable[[str], str]
    """What masks the secrets of the session."""

    @property
    def secrets(self) -> int:
        """How many were masked."""
        return sum(self.data.masked.counts.values())

    def blocks(self, number: int) -> Iterator[tuple[str, str]]:
        """What is decoded when somebody looks."""
        yield from ((f"texts-{number}-{n}", t) for n, t in enumerate(self.texts.chunks.texts))
        yield from ((f"requests-{number}-{n}", t) for n, t in enumerate(self.pieces.texts))


@dataclass(frozen=True, slots=True)
class Report:
    """What stands in a page."""

    head: HeadData
    sessions: list[Made]
    compared: CompareData | None = None

    def html(self) -> str:
        """The page, as one file."""
        blocks = [("head", dumps(self.head.model_dump(mode="json")))]
        later: list[tuple[str, str]] = []
        for number, made in enumerate(self.sessions):
            (later if number else blocks).append((f"session-{number}", made.json))
            later += made.blocks(number)
        if self.compared is not None:
            later.append(("compare", dumps(self.compared.model_dump(mode="json"))))
        titles = ", ".join(one_line(each.title or each.name, 60) for each in self.head.sessions)
        told = "\n\n".join(plain(made.data) for made in self.sessions)
        return page(f"{titles} · ctxlog", blocks, later, noscript=told)


def report(
    live: Live,
    keys: Sequence[StreamKey],
    names: Mapping[str, str],
    *,
    full: bool = False,
    with_secrets: bool = False,
    progress: Callable[[int, int], None] | None = None,
    comparing: Wanted | None = None,
) -> Report:
    """Read sessions; ``names`` are what people type for them, ``comparing`` the strategies to try.

    With ``full`` no text is cut, and the request of every call is there; ``with_secrets`` nothing
    is masked. Raises StreamNotFound, CriticalUnknown, InputRefused.
    """
    pasts = Pasts(live)
    found: Lanes | None = None
    readings: Iterable[Reading] = (read(live, key, pasts, progress) for key in keys)
    if comparing is not None:  # a comparison is one of all sessions
        readings = [*readings]
        found = lanes(readings, comparing)
    made = [
        _made(reading, names[str(reading.key)], found, full=full, with_secrets=with_secrets)
        for reading in readings
    ]
    if not full:
        room = SIZE - len(page("", ())) - sum(len(one.json) + one.pieces.size for one in made)
        wanted = sum(one.texts.chunks.size for one in made)
        if wanted > room:
            for one in made:
                one.texts.cut_to(max(_LEAST, room * one.texts.chunks.size // wanted))
    finished = [_finished(one) for one in made]
    named = [_named(one.data) for one in finished]
    compared = _compared(found.data, finished) if found is not None else None
    return Report(HeadData(sessions=named), finished, compared)


def _made(
    reading: Reading, name: str, found: Lanes | None, *, full: bool, with_secrets: bool
) -> Made:
    texts = Texts()
    data = session_data(reading, texts, name)
    if found is not None:
        found.put(data, reading, texts)
    requests = bodies(reading.live, reading.key, texts.add, every=full)
    mask, masked = _as_it_is, MaskedData(is_on=not with_secrets)
    if not with_secrets:
        masker = Masker()
        short = _strings(data.model_dump(mode="json", exclude_defaults=True))
        for text in (*short, *texts.all, *_own(requests)):
            masker.look(text)
        mask, masked.counts = masker.mask, masker.counts
    table = texts.packed(mask)
    data.requests, pieces = requests_data(requests, mask)
    if not with_secrets:
        data = SessionData.model_validate(_masked(data.model_dump(), mask))
    data.masked = masked
    return Made(data, _json(data), table, pieces, mask)


def _as_it_is(text: str) -> str:
    return text


def _finished(made: Made) -> Made:
    """With what is known of its texts by now."""
    made.data.texts = made.texts.data
    return made._replace(json=_json(made.data))


def _json(data: SessionData) -> str:
    return dumps(data.model_dump(mode="json", exclude_defaults=True))


def _compared(data: CompareData, made: Sequence[Made]) -> CompareData:
    """The table with the literals masked that a session masks."""
    masks = dict(zip(data.sessions, (one.mask for one in made), strict=True))
    needed = [one.model_copy(update={"text": masks[one.session](one.text)}) for one in data.needed]
    return data.model_copy(update={"needed": needed})


def _named(data: SessionData) -> NamedSession:
    return NamedSession(key=data.key, name=data.name, title=data.title)


def _own(requests: Bodies) -> Iterator[str]:
    """The text that stands in pieces themselves."""
    for piece in requests.pieces:
        if not isinstance(piece, int):
            yield from (part for part in piece if isinstance(part, str))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)


def _masked(value: Any, mask: Callable[[str], str]) -> Any:
    """The same value with all its strings masked; names of fields stay."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {name: _masked(each, mask) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each, mask) for each in value]
    return value

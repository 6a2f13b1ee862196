"""A report of some sessions, made ready to be written into a page."""

from __future__ import annotations

import contextlib
import gc
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

MOST = 15_000_000
"""Bytes of a file, unless all of every text is asked for, or what is no text needs more."""

SIZE = MOST - 500_000
"""Bytes that are aimed at."""

_LEAST = 1_000_000
"""Bytes that texts get in any case."""

_SHOWN = (4_000, 1_000, 250)
"""Characters that are kept of what is long and stands in no table of texts: an error, a title, the
name of a model. Fewer where all of it takes more than half of a file."""


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


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Nearly all that is made stands until the page is written: looking for rubbish among it again
    and again takes a seventh of the time of 7,000 messages, and finds none."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


@_uncollected()
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
        _fit(made)
    finished = [_finished(one) for one in made]
    named = [_named(one.data) for one in finished]
    compared = _compared(found.data, finished) if found is not None else None
    return Report(HeadData(sessions=named), finished, compared)


def _fit(made: list[Made]) -> None:
    """Shorten what is long, until all of it fits into a file."""
    for most in _SHOWN:
        made[:] = [_with_short(one, most) for one in made]
        if sum(len(one.json) for one in made) <= SIZE // 2:
            break
    room = SIZE - len(page("", ())) - sum(len(one.json) + one.pieces.size for one in made)
    wanted = sum(one.texts.chunks.size for one in made)
    if wanted and wanted > room:
        for one in made:
            one.texts.cut_to(max(_LEAST, room * one.texts.chunks.size // wanted))


def _with_short(made: Made, most: int) -> Made:
    """Without more than so many characters of what stands in no table."""
    longest = max(map(len, _strings(made.data.model_dump(exclude_defaults=True))), default=0)
    if longest <= most:
        return made
    name = made.data.name

    def cut(text: str) -> str:
        left = len(text) - most
        told = f"… ({left:,} more characters; ctxlog show {name[:100]})"
        return text if left <= len(told) else text[:most] + told

    data = SessionData.model_validate(_masked(made.data.model_dump(), cut))
    return made._replace(data=data, json=_json(data))


def _made(
    reading: Reading, name: str, found: Lanes | None, *, full: bool, with_secrets: bool
) -> Made:
    texts = Texts()
    data = session_data(reading, texts, name)
    if found is not None:
        found.put(data, reading, texts)
    requests = bodies(reading.live, reading.key, texts.add, every=full)
    mask, short, masked = _as_it_is, _as_it_is, MaskedData(is_on=not with_secrets)
    if not with_secrets:
        masker = Masker()
        shown = _strings(data.model_dump(mode="json", exclude_defaults=True))
        # Also whole what stands here in part only: a secret that was cut is found by no shape.
        recorded = _strings([event.data for event in reading.live.log.read(reading.key)])
        for text in dict.fromkeys((*shown, *texts.all, *_own(requests), *recorded)):
            masker.look(text)
        mask, short, masked.counts = masker.mask, masker.mask_shortened, masker.counts
    table = texts.packed(mask, short, _shortened_in(data))
    data.requests, pieces = requests_data(requests, short)
    if not with_secrets:
        data = SessionData.model_validate(_masked(data.model_dump(), short))
    data.masked = masked
    return Made(data, _json(data), table, pieces, short)


def _shortened_in(data: SessionData) -> set[int]:
    """The numbers of the texts that were made of others."""
    rows = (*data.rows, *(row for lane in data.lanes for row in lane.rows))
    made = (row for row in rows if row.form != "original")
    return {text for row in made for _, _, text, _ in row.parts if isinstance(text, int)}


def _as_it_is(text: str) -> str:
    return text


def _finished(made: Made) -> Made:
    """With what is known of its texts by now."""
    made.data.texts = made.texts.data
    return made._replace(json=_json(made.data))


def _json(data: SessionData) -> str:
    return dumps(data.model_dump(mode="json", exclude_defaults=True))


def _compared(data: CompareData, made: Sequence[Made]) -> CompareData:
    """The table with everything masked that is masked in a session of it."""

    def mask(text: str) -> str:
        for one in made:
            text = one.mask(text)
        return text

    return CompareData.model_validate(_masked(data.model_dump(), mask))


def _named(data: SessionData) -> NamedSession:
    return NamedSession(key=data.key, name=data.name, title=data.title)


def _own(requests: Bodies) -> Iterator[str]:
    """The text that stands in pieces themselves."""
    for piece in requests.pieces:
        if not isinstance(piece, int):
            yield from (part for part in piece if isinstance(part, str))


def without_secrets(value: Any, beside: Iterable[str] = ()) -> Any:
    """JSON data with the secrets of its strings masked, and of ``beside`` what stands in it."""
    masker = Masker()
    for text in dict.fromkeys((*_strings(value), *beside)):
        masker.look(text)
    return _masked(value, masker.mask_shortened)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            if isinstance(name, str):
                yield name
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

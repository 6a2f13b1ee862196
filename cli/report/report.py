"""A report of some sessions, made ready to be written into a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cli.models_whatif import CompareData
from cli.report.lanes import Lanes, Wanted, lanes
from cli.report.model import HeadData, MaskedData, NamedSession, SessionData
from cli.report.page import page
from cli.report.session import Reading, read, session_data
from cli.report.texts import BUDGET, Packed, Texts
from eventlog import StreamKey
from projections import Live
from projections.memory.past import Pasts


@dataclass(frozen=True, slots=True)
class Report:
    """What stands in a page."""

    head: HeadData
    sessions: list[SessionData]
    packed: list[Packed]
    compared: CompareData | None = None

    def html(self) -> str:
        """The page, as one file."""
        blocks = [("head", self.head.model_dump_json())]
        later: list[tuple[str, str]] = []
        for number, (session, packed) in enumerate(zip(self.sessions, self.packed, strict=True)):
            data = f"session-{number}", session.model_dump_json(exclude_defaults=True)
            (later if number else blocks).append(data)
            later += [(f"chunk-{number}-{n}", chunk) for n, chunk in enumerate(packed.chunks)]
        if self.compared is not None:
            later.append(("compare", self.compared.model_dump_json()))
        titles = ", ".join(each.title or each.name for each in self.head.sessions)
        return page(f"{titles} · ctxlog", blocks, later)


def report(
    live: Live,
    keys: Sequence[StreamKey],
    names: Mapping[str, str],
    *,
    full: bool = False,
    progress: Callable[[int, int], None] | None = None,
    wanted: Wanted | None = None,
) -> Report:
    """Read sessions; ``names`` are what people type for them, ``wanted`` the strategies.

    With ``full`` no text is cut. Raises StreamNotFound, CriticalUnknown, InputRefused.
    """
    pasts, sessions, packed = Pasts(live), [], []
    found: Lanes | None = None
    readings: Iterable[Reading] = (read(live, key, pasts, progress) for key in keys)
    if wanted is not None:  # a comparison is one of all sessions
        readings = [*readings]
        found = lanes(readings, wanted)
    for key, reading in zip(keys, readings, strict=True):
        texts = Texts()
        data = session_data(reading, texts, names[str(key)])
        if found is not None:
            found.put(data, reading, texts)
        table = texts.packed(lambda text: text, None if full else BUDGET // len(keys))
        data.texts, data.masked = table.data, MaskedData(is_on=False)
        sessions.append(data)
        packed.append(table)
    named = [NamedSession(key=each.key, name=each.name, title=each.title) for each in sessions]
    compared = found.data if found is not None else None
    return Report(HeadData(sessions=named), sessions, packed, compared)

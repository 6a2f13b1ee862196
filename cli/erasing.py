"""Redactions for the command line: what would be erased, and erasing it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from cli.models import RedactData, RedactedTarget
from cli.naming import place, session_key
from eventlog import StreamKey
from eventlog.errors import InputRefused
from eventlog.outputs import Outputs
from eventlog.redaction import Target, erase_outputs, find_bytes
from eventlog.scrub import scrub
from projections import Live, erasure, references, tokens
from projections.carriers import family
from projections.context import ITEM_TYPES
from projections.erasure import ErasurePlan
from projections.findings import (
    Finding,
    Look,
    ThoseWith,
    find,
    for_pattern,
    for_secrets,
    standing,
    those_with_texts,
)
from projections.kept import kept
from projections.memory import is_memory_stream
from projections.memory.naming import named
from projections.places import LEAST, Place, is_word

MANY = 20
"""Copies that go without their number being named."""

NEEDLES = 50
"""Texts for which the bytes of the file are searched; what is left of the log, for all of them."""

_FEW = 5
"""Copies that are few in however short a session."""

_PART = 20
"""One in so many events of a session, and more than a few, are many copies."""


class CommonData(BaseModel):
    """Lines of what is erased that stand in other events for reasons of their own."""

    lines: int
    events: int


class KeptData(BaseModel):
    """A place in which a text that was looked for stays."""

    key: str
    position: int
    """0 for the name of the session."""
    type: str
    field: str
    why: str


class RedactionData(RedactData):
    """``redact``, with what is no copy"""

    common: CommonData
    """Not erased, not listed: boilerplate, or what stood there before the item came."""
    kept: list[KeptData]
    """Where what was looked for stays, since something needs it."""
    perhaps: list[str]
    """``user/_/memory@2``: memories that came from a session as a whole that holds something of it.
    They may hold some too, and are not erased."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person wants to be erased."""

    session: str | None
    items: Sequence[str] = ()
    pattern: str = ""
    secrets: bool = False
    everywhere: bool = False
    """Look for copies in sessions that are not linked with this one too."""


@dataclass(frozen=True, slots=True)
class Doing:
    """How it is done."""

    with_copies: bool = False
    copies: int | None = None
    """How many copies are meant, where that was said."""
    forget_source: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """What would be erased, and what it rests on where it was looked for."""

    plans: Sequence[ErasurePlan]
    findings: Sequence[Finding] = ()
    those_with: ThoseWith | None = None
    """Tells where it stands; None where nothing was looked for."""
    streams: Sequence[StreamKey] = ()
    """In which it was looked for."""

    @property
    def texts(self) -> list[str]:
        """The texts that were found and are long enough to be told from others by their bytes."""
        texts = dict.fromkeys(text for finding in self.findings for text in finding.texts)
        return [text for text in texts if len(text) >= LEAST]

    def holds(self, text: str) -> bool:
        """Whether a text holds something of what was looked for."""
        return self.those_with is not None and bool(self.those_with([Place((), text)]))


def planned(live: Live, asked: Asked) -> Planned:
    """The plans, one a session.

    Raises InputRefused, StreamNotFound, ItemNotFound, Ambiguous.
    """
    kinds = sum((bool(asked.items), bool(asked.pattern), asked.secrets))
    if asked.items and asked.session is None:
        raise InputRefused("items belong to a session: name it first")
    one = _place(live, asked) if not kinds else None
    if kinds != 1 and one is None:
        raise InputRefused("name items, or a --pattern, or say --secrets; one of them")
    if one is not None or asked.items:
        key, items, positions = one or _items(live, asked)
        plan = erasure.plan(live, key, items, positions=positions, everywhere=asked.everywhere)
        return Planned([plan])
    every = [info.key for info in live.log.streams()]
    streams = every
    if asked.session is not None:
        streams = family(live, session_key(live, asked.session))
    look = _look(asked)
    found = find(live, look, streams)
    elsewhere = standing(live, found, [key for key in every if key not in streams])
    if asked.everywhere:
        found, elsewhere = [*found, *elsewhere], []
    plans = erasure.plans(live, found, elsewhere=elsewhere)
    return Planned(plans, found, look.and_literally(found), streams)


Chosen = tuple[StreamKey, Sequence[str], Sequence[int]]
"""A stream, items of it, and positions of events that carry none."""


def _items(live: Live, asked: Asked) -> Chosen:
    """The items that are named, in a stream of memories those, and what else stands in it."""
    key = session_key(live, asked.session or "")
    if is_memory_stream(key):
        return key, *named(live, key, asked.items)
    return key, references.items(live, key, asked.items), ()


def _place(live: Live, asked: Asked) -> Chosen | None:
    """What stands at the one place that is named, as ``S@12``; None where none is."""
    where = place(live, asked.session) if asked.session else None
    if where is None or where.kind in ("now", "before_compaction"):
        return None
    key, at = where.stream, where.position + (where.kind == "call")
    if where.item:
        return key, [where.item], ()
    if is_memory_stream(key):
        return key, *named(live, key, [str(at)])
    event = live.log.at(key, [at])[at]
    return (key, [str(at)], ()) if event.type in ITEM_TYPES else (key, (), [at])


def _look(asked: Asked) -> Look:
    if asked.secrets:
        return for_secrets()
    try:
        return for_pattern(re.compile(asked.pattern))
    except (re.error, OverflowError) as error:
        raise InputRefused(f"--pattern is no regular expression: {error}") from None


def too_many(live: Live, plans: Sequence[ErasurePlan], doing: Doing) -> int:
    """How many copies would go, where that is many and was not said; else 0.

    Raises InputRefused when another number was said.
    """
    if not doing.with_copies:
        return 0
    number = sum(len(plan.copies) for plan in plans)
    if doing.copies is not None:
        if doing.copies != number:
            raise InputRefused(f"--copies says {doing.copies:,}, but there are {number:,} copies")
        return 0
    events = sum(live.log.version(plan.stream) for plan in plans)
    if number > MANY or (number > _FEW and number * _PART > events):
        return number
    return 0


def redact_data(live: Live, planned: Planned, doing: Doing) -> RedactionData:
    """What the plans would do.

    Raises InputRefused when the reason, which stays, holds what is to go.
    """
    if planned.holds(doing.reason):
        raise InputRefused("--reason stays in the log, and it holds what is to be erased")
    plans = planned.plans
    why = {Target(f.stream, f.position): (f.rule, f.preview) for f in planned.findings}
    erased: list[RedactedTarget] = []
    copies: list[RedactedTarget] = []
    for plan in plans:
        for target in plan.targets:
            rule, preview = why.get(target, ("item", ""))
            erased.append(_target(live, target, rule, preview))
        for copy in plan.copies:
            into = erased if doing.with_copies else copies
            words = f"{copy.how} of {copy.item}" if copy.item else copy.how
            into.append(_target(live, copy.target, words, copy.shown))
    return RedactionData(
        dry_run=True,
        sessions=[str(plan.stream) for plan in plans],
        positions=[],
        erased=erased,
        copies=copies,
        calls=list(dict.fromkeys(f"{c.stream}@c{c.number}" for plan in plans for c in plan.calls)),
        sources=[str(source) for plan in plans for source in plan.sources],
        forgotten=[],
        scrubbed=False,
        residue=[],
        common=CommonData(
            lines=sum(plan.common.lines for plan in plans),
            events=sum(plan.common.events for plan in plans),
        ),
        kept=_kept(live, planned, doing, going=True),
        perhaps=[f"{each.stream}@{each.position}" for plan in plans for each in plan.perhaps],
        outputs=Outputs(live.log).holding(planned.holds) if planned.those_with else 0,
    )


def streams_of(data: RedactionData) -> set[str]:
    """The streams that are named in it."""
    places = {each.key for each in (*data.erased, *data.copies)} | {each.key for each in data.kept}
    return places | set(data.sessions) | {call.rpartition("@")[0] for call in data.calls}


def done(live: Live, planned: Planned, data: RedactionData, doing: Doing) -> None:
    """Erase what the plans name, and note in the data what became of it."""
    data.dry_run, data.scrubbed = False, True
    if data.outputs:
        erase_outputs(live.log, planned.holds)
        if not planned.plans:
            data.scrubbed = scrub(live.log, derived=[live.views]).complete
    # The bytes of the file are read once, when all is done.
    needles = planned.texts[:NEEDLES]
    for number, plan in enumerate(planned.plans, 1):
        made = erasure.apply(
            live,
            plan,
            reason=doing.reason,
            by="ctxlog redact",
            with_copies=doing.with_copies,
            forget_source=doing.forget_source,
            needles=needles if number == len(planned.plans) else (),
            holds=planned.holds if planned.those_with is not None else None,
        )
        if made.redaction.position is not None:
            data.positions.append(f"{plan.stream}@{made.redaction.position}")
        data.forgotten += [str(source) for source in made.forgotten]
        data.scrubbed &= made.scrub.complete
        if not (made.scrub.copies or made.scrub.named):
            data.residue += [f"{found.file} ({found.form})" for found in made.scrub.found]
    data.kept = _kept(live, planned, doing, going=False)
    if needles:
        data.kept += _unexplained(live, planned, doing, data)


def _kept(live: Live, planned: Planned, doing: Doing, *, going: bool) -> list[KeptData]:
    """Where what was looked for stays, before it is done and after."""
    if planned.those_with is None:
        return []
    targets = {target for plan in planned.plans for target in plan.targets}
    copies = {copy.target for plan in planned.plans for copy in plan.copies}
    gone = (targets | copies if doing.with_copies else targets) if going else set()
    besides = set() if doing.with_copies else copies
    found = kept(live, planned.streams, planned.those_with, going=gone, besides=besides)
    others = [info.key for info in live.log.streams() if info.key not in planned.streams]
    if planned.texts:
        literally = those_with_texts(planned.findings)
        found += kept(live, others, literally, going=gone, besides=besides)
    return [
        KeptData(key=str(k.stream), position=k.position, type=k.type, field=k.field, why=k.why)
        for k in found
    ]


def _unexplained(live: Live, planned: Planned, doing: Doing, data: RedactionData) -> list[KeptData]:
    """Events whose bytes hold a text that was found, and that nothing else told of."""
    told = {(each.key, each.position) for each in data.kept}
    if not doing.with_copies:
        told |= {(str(c.stream), c.position) for plan in planned.plans for c in plan.copies}
    left: dict[tuple[str, int], KeptData] = {}
    for text in planned.texts[:NEEDLES]:
        if is_word(text):  # it is one of the format itself, such as "function"
            continue
        for copy in find_bytes(live.log, text):
            place = str(copy.stream), copy.position
            if place not in told and not (copy.type == "redacted" and data.kept):
                why = "which no field shows as a text"
                left[place] = KeptData(
                    key=place[0], position=place[1], type=copy.type, field="bytes", why=why
                )
    return list(left.values())


def _target(live: Live, target: Target, why: str, preview: str) -> RedactedTarget:
    event = live.log.at(target.stream, [target.position])[target.position]
    return RedactedTarget(
        key=str(target.stream),
        position=target.position,
        type=event.type,
        why=why,
        preview=preview,
        tokens=erasure.text_tokens(live, event, tokens.counter()),
    )

"""Redactions for the command line: what would be erased, and erasing it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from cli.models import RedactData, RedactedTarget
from cli.naming import session_key
from eventlog.errors import InputRefused
from eventlog.redaction import Target
from projections import Live, erasure, references
from projections.carriers import family
from projections.erasure import ErasurePlan
from projections.findings import Finding, matching, secrets, standing

MANY = 20
"""Copies that go without their number being named."""

_FEW = 5
"""Copies that are few in however short a session."""

_PART = 20
"""One in so many events of a session, and more than a few, are many copies."""


class CommonData(BaseModel):
    """Lines of what is erased that stand in other events for reasons of their own."""

    lines: int
    events: int


class RedactionData(RedactData):
    """``redact``, with what is no copy"""

    common: CommonData
    """Not erased, not listed: boilerplate, or what stood there before the item came."""


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


def planned(live: Live, asked: Asked) -> tuple[list[ErasurePlan], list[Finding]]:
    """The plans, one a session, and what they rest on where it was looked for.

    Raises InputRefused, StreamNotFound, ItemNotFound, Ambiguous.
    """
    kinds = sum((bool(asked.items), bool(asked.pattern), asked.secrets))
    if kinds != 1:
        raise InputRefused("name items, or a --pattern, or say --secrets; one of them")
    if asked.items:
        if asked.session is None:
            raise InputRefused("items belong to a session: name it first")
        key = session_key(live, asked.session)
        items = references.items(live, key, asked.items)
        return [erasure.plan(live, key, items, everywhere=asked.everywhere)], []
    streams = None
    if asked.session is not None:
        streams = family(live, session_key(live, asked.session))
    if asked.secrets:
        found = secrets(live, streams)
    else:
        try:
            expression = re.compile(asked.pattern)
        except (re.error, OverflowError) as error:
            raise InputRefused(f"--pattern is no regular expression: {error}") from None
        found = matching(live, expression, streams)
    if streams is None:
        return erasure.plans(live, found), found
    others = [info.key for info in live.log.streams() if info.key not in streams]
    elsewhere = standing(live, found, others)
    if asked.everywhere:
        return erasure.plans(live, [*found, *elsewhere]), [*found, *elsewhere]
    return erasure.plans(live, found, elsewhere=elsewhere), found


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


def redact_data(
    live: Live, plans: Sequence[ErasurePlan], findings: Sequence[Finding], doing: Doing
) -> RedactionData:
    """What the plans would do."""
    why = {Target(f.stream, f.position): (f.rule, f.preview) for f in findings}
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
        calls=[f"{call.stream}@c{call.number}" for plan in plans for call in plan.calls],
        sources=[str(source) for plan in plans for source in plan.sources],
        forgotten=[],
        scrubbed=False,
        residue=[],
        common=CommonData(
            lines=sum(plan.common.lines for plan in plans),
            events=sum(plan.common.events for plan in plans),
        ),
    )


def done(live: Live, plans: Sequence[ErasurePlan], data: RedactData, doing: Doing) -> None:
    """Erase what the plans name, and note in the data what became of it."""
    data.dry_run, data.scrubbed = False, True
    for plan in plans:
        made = erasure.apply(
            live,
            plan,
            reason=doing.reason,
            by="ctxlog redact",
            with_copies=doing.with_copies,
            forget_source=doing.forget_source,
        )
        if made.redaction.position is not None:
            data.positions.append(f"{plan.stream}@{made.redaction.position}")
        data.forgotten += [str(source) for source in made.forgotten]
        data.scrubbed &= made.scrub.complete
        data.residue += [f"{found.file} ({found.form})" for found in made.scrub.found]


def _target(live: Live, target: Target, why: str, preview: str) -> RedactedTarget:
    event = live.log.at(target.stream, [target.position])[target.position]
    return RedactedTarget(
        key=str(target.stream),
        position=target.position,
        type=event.type,
        why=why,
        preview=preview,
    )

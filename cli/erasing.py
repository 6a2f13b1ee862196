"""Redactions for the command line: what would be erased, and erasing it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cli.models import RedactData, RedactedTarget
from cli.naming import session_key
from eventlog.errors import InputRefused
from eventlog.redaction import Target
from projections import Live, erasure, references
from projections.erasure import ErasurePlan
from projections.findings import Finding, matching, secrets


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
    streams = None if asked.session is None else [session_key(live, asked.session)]
    if asked.secrets:
        found = secrets(live, streams)
    else:
        try:
            expression = re.compile(asked.pattern)
        except (re.error, OverflowError) as error:
            raise InputRefused(f"--pattern is no regular expression: {error}") from None
        found = matching(live, expression, streams)
    return erasure.plans(live, found, everywhere=asked.everywhere), found


def redact_data(
    live: Live, plans: Sequence[ErasurePlan], findings: Sequence[Finding], doing: Doing
) -> RedactData:
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
    return RedactData(
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

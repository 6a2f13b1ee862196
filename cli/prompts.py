"""Which prompts a command means: ``--prompts``, else ``CTXLOG_PROMPTS``, else ``./prompts``, else
those that come with this program.

Prompts are data: a folder that somebody else made may hold some, and nothing in it is ever run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cli.models_prompt import (
    PromptListData,
    PromptProblem,
    PromptRenderData,
    PromptRow,
    PromptShowData,
)
from eventlog.errors import InputRefused
from harness.prompts import Prompts
from projections.prompts import PromptMissing, PromptUnreadable, Template
from projections.prompts.faults import listed, near_misses, short
from projections.prompts.template import PARTS, Part

BUNDLED = "bundled"
"""What is typed for the prompts of this program where there are others."""

FOLDER = "prompts"
VARIABLE = "CTXLOG_PROMPTS"

MOST_BYTES = 1 << 24
"""Of the value of one variable."""


def prompts(given: str | None) -> Prompts:
    """The prompts of this process, by the option, the environment and the folder it runs in."""
    return found(given, os.environ, Path())


def found(given: str | None, environment: Mapping[str, str], here: Path) -> Prompts:
    """The prompts that are meant; whether they can be read is seen when they are."""
    named = given or environment.get(VARIABLE, "")
    if named == BUNDLED:
        return Prompts.bundled()
    if named:
        return Prompts(Path(named).expanduser())
    folder = here / FOLDER
    return Prompts(folder) if folder.is_dir() else Prompts.bundled()


def beside(given: str | None) -> tuple[Prompts, ...]:
    """The prompts that a chat knows: those that are meant and, where no option names them, those
    of this program behind them."""
    own, bundled = prompts(given), Prompts.bundled()
    return (own,) if given or own.path == bundled.path else (own, bundled)


def chosen_beside(of: Sequence[Prompts], name: str) -> Template:
    """The template of ``NAME``, or of ``NAME/ROLE``, in the first of these that has it.

    Raises PromptMissing with those of all of them that may be meant, PromptUnreadable.
    """
    for each in of:
        try:
            return chosen(each, name)
        except PromptMissing:
            if _has(each, name):  # only its role is not there
                raise
    known = list(dict.fromkeys(file for each in of for file in each.files()))
    near = near_misses(name, known)
    hint = f"is {near[0]!r} meant?" if near else f"there are {listed(known) or 'none'}"
    raise PromptMissing(name, f"no prompt {short(name)}; {hint}", near=near)


def _has(of: Prompts, name: str) -> bool:
    """Whether there is a file of the name, or of what stands in front of its role."""
    known = of.files()
    return name in known or name.rpartition("/")[0] in known


def chosen(of: Prompts, name: str, role: str = "") -> Template:
    """The template of ``NAME``, or of ``NAME/ROLE``. Raises PromptMissing, PromptUnreadable.

    A file of the whole name comes first.
    """
    front, slash, last = name.rpartition("/")
    if role or not slash or name in of.files() or front not in of.files():
        return of.get(name, role)
    return of.get(front, last)


def listing(of: Prompts, place: str) -> PromptListData:
    """All of them; a file that is none is told and hides no other. Raises PromptMissing."""
    rows: list[PromptRow] = []
    problems: list[PromptProblem] = []
    for name in of.files():
        try:
            rows += [_row(template) for template in of.roles(name).values()]
        except PromptMissing:  # it went since the folder was looked at
            continue
        except PromptUnreadable as error:
            problems.append(PromptProblem(name=name, message=str(error)))
    bundled = of.path == Prompts.bundled().path
    return PromptListData(
        place=BUNDLED if bundled else place, bundled=bundled, prompts=rows, problems=problems
    )


def shown(of: Prompts, template: Template) -> PromptShowData:
    """One of them whole."""
    return PromptShowData(
        **_row(template).model_dump(),
        file=of.file_of(template.name),
        declared=template.declared is not None,
        system=template.system,
        user=template.user,
    )


def rendered(template: Template, values: Mapping[str, str], part: Part | None) -> PromptRenderData:
    """One of them filled in, or one part of it. Raises VariablesRefused, PromptMissing."""
    made = (template.only(part) if part else template).render(**values)
    return PromptRenderData(
        name=template.name,
        role=template.role,
        version=template.version,
        variables=dict(values),
        messages=made.messages(),
    )


def values_of(typed: Sequence[str], files: Sequence[str]) -> dict[str, str]:
    """``name=text`` and ``name=file`` as values. Raises InputRefused."""
    values: dict[str, str] = {}
    for name, text in (*_pairs(typed, "--var"), *_read(_pairs(files, "--var-file"))):
        if name in values:
            raise InputRefused(f"the variable {name!r} is given twice")
        values[name] = text
    return values


def _pairs(typed: Sequence[str], option: str) -> Iterator[tuple[str, str]]:
    for each in typed:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise InputRefused(f"{option} takes NAME=…, and {each[:60]!r} is none")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InputRefused(f"{option}: the value of {name!r} is no UTF-8") from None
        yield name, value


def _read(pairs: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    import sys

    for name, path in pairs:
        if path == "-":
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            file = Path(path).expanduser()
            if not file.is_file():
                raise InputRefused(f"--var-file: {path} is no file")
            with file.open("rb") as stream:
                data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise InputRefused(f"--var-file: {path} has over {MOST_BYTES >> 20} MiB")
        try:
            yield name, data.decode("utf-8")
        except UnicodeDecodeError:
            raise InputRefused(f"--var-file: {path} is no UTF-8") from None


def _row(template: Template) -> PromptRow:
    return PromptRow(
        name=template.name,
        role=template.role,
        version=template.version,
        variables=sorted(template.variables),
        parts=[part for part in PARTS if template.part(part)],
        description=template.description,
    )


def complete_names(given: str | None, incomplete: str) -> Iterator[str]:
    """What can be typed for a prompt."""
    yield from names_of((prompts(given),), incomplete)


def names_of(of: Sequence[Prompts], incomplete: str = "") -> Iterator[str]:
    """All that can be typed for prompts of these folders; what cannot be read is left out."""
    first: dict[str, Prompts] = {}  # the one of a folder before it is meant
    for place in of:
        first |= {name: place for name in place.files() if name not in first}
    for name, place in first.items():
        try:
            roles = place.roles(name)
        except (PromptMissing, PromptUnreadable):
            continue
        for template in roles.values():
            if template.label.startswith(incomplete):
                yield template.label

"""What is remembered of a person as Markdown: for people, and for the instructions of an agent.

The profile and the memories that stand, a section each kind, an entry each memory. It is text and
nothing else: what would begin a heading, a list or a fence at the front of a line is escaped, as is
HTML, a picture, a link or its definition, an entity, and ``@path``, by which agents read a file
into their instructions. A person who reads it on a terminal needs the escapes of that terminal
besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from eventlog.events import MemoryKind
from eventlog.jsonvalue import dumps
from harness.memory.checked import KINDS
from harness.memory.user_memory import UserMemory
from projections.memory.profile import SECTIONS

_TITLES: dict[MemoryKind, str] = {
    "preference": "Preferences",
    "project": "Project",
    "code": "Code",
    "error_fix": "Errors and fixes",
    "conversation": "Conversations",
    "experience": "Experience",
    "session_summary": "Sessions",
    "fact": "Facts",
}

_THIN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\ufeff"
"""What has no width, and may stand before what is looked for."""
_LEADING = re.compile(rf"^([\s{_THIN}]*)(?=[#>*+=~`|-]|(?:_[ \t]*){{3}})")
_NUMBERED = re.compile(rf"^([\s{_THIN}]*\d{{1,9}})([.)])")
_ACTING = re.compile(
    rf"<(?=[{_THIN}]*[!/?a-zA-Z])|\[|!(?=`)|&(?=#?\w{{1,40}};)|\\(?=[!-/:-@\[-`{{-~]|$)"
)
"""What begins HTML, a link, a picture, an order to an agent's shell, an entity, and an escape."""
_MENTION = re.compile(r"(?<![A-Za-z0-9_.+])@(?=\S)")
"""By the name of a file; not the ``@`` of an address of mail."""


def export_markdown(memory: UserMemory) -> str:
    """The profile and the memories that stand as Markdown, a line feed at the end.

    It says what is known now, and no more: ``export_memories`` keeps the history.
    """
    lines = [f"# What is remembered of {_line(memory.user)}", ""]
    profile = memory.profile
    known = [each for section in SECTIONS for each in profile.known if each.section == section]
    if known:
        lines += ["## Profile", ""]
        lines += [f"* {_line(each.name)}: {_value(each.value.value)}" for each in known]
        lines += [""]
    by_kind: dict[str, list[str]] = {}
    for each in memory.all():
        entry = by_kind.setdefault(each.kind, [])
        entry += _entry(each.text)
        if each.values:
            told = "; ".join(f"{_line(n)}: {_value(value)}" for n, value in each.values.items())
            entry += [f"  ({told})"]
    for kind in KINDS:
        if kind in by_kind:
            lines += [f"## {_TITLES[kind]}", "", *by_kind[kind], ""]
    return "\n".join(lines[:-1]) + "\n"


def _entry(text: str) -> Iterator[str]:
    """The lines of a list entry; those behind the first are indented into it."""
    lines = [line.strip() for line in _clean(text).splitlines()]
    for number, line in enumerate(line for line in lines if line):
        yield ("  " if number else "* ") + _escaped(line)
    if not any(lines):
        yield "*"


def _line(text: str) -> str:
    return _escaped(" ".join(_clean(text).split()))


def _value(value: object) -> str:
    return _line(value if isinstance(value, str) else dumps(value))


def _escaped(line: str) -> str:
    line = _MENTION.sub(r"\\@", _ACTING.sub(r"\\\g<0>", line))
    return _LEADING.sub(r"\1\\", _NUMBERED.sub(r"\1\\\2", line))


def _clean(text: str) -> str:
    """Text that can be written as UTF-8."""
    return text.encode("utf-8", "replace").decode()

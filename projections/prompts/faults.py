"""What goes wrong with prompts, each with what is near it.

InputRefused
└── PromptFault
    ├── PromptUnreadable   a file that is no prompt: what, and in which line
    ├── PromptMissing      no prompt, role or part of that name (a NotFound too)
    ├── VariablesRefused   a variable without a value, a value without a variable
    ├── ValueRefused       a value that is neither a text nor JSON
    └── SectionRefused     a section, or its heading, that a built prompt cannot have
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from eventlog.errors import InputRefused, NotFound

_LONGEST = 200
"""Characters of a name beside which others are looked for: it costs more than the product."""

_BEGINNING = 60

_NAMED = 8
"""Names that one message tells."""


class PromptFault(InputRefused):
    """Something about a prompt that cannot be taken as it is."""


class PromptUnreadable(PromptFault):
    """A file, or a text, that is no prompt."""

    def __init__(self, where: str, detail: str, line: int | None = None) -> None:
        self.where, self.detail, self.line = where, detail, line
        at = f", line {line}" if line is not None else ""
        super().__init__(f"{where}{at}: {detail}")


class PromptMissing(NotFound, PromptFault):
    """There is no such prompt, it has no such role, or the part that is asked for is empty."""

    def __init__(self, name: str, detail: str, *, role: str = "", near: Sequence[str] = ()) -> None:
        self.name, self.role, self.detail, self.near = name, role, detail, tuple(near)
        super().__init__(detail)


class VariablesRefused(PromptFault):
    """Values that do not fit the variables of a template."""

    def __init__(
        self,
        template: str,
        *,
        missing: Sequence[str] = (),
        unused: Sequence[str] = (),
        hints: Sequence[str] = (),
    ) -> None:
        self.template = template
        self.missing, self.unused = tuple(missing), tuple(unused)
        said = []
        if missing:
            said.append(f"no value for {listed(missing)}")
        if unused:
            said.append(f"no variable {listed(unused)} in it")
        super().__init__("; ".join([f"the prompt {template}: {' and '.join(said)}", *hints]))


class ValueRefused(PromptFault):
    """A value that is neither a text nor JSON."""

    def __init__(self, where: str, variable: str, detail: str) -> None:
        self.where, self.variable, self.detail = where, variable, detail
        super().__init__(f"{where}: the value of {short(variable)} {detail}")


class SectionRefused(PromptFault):
    """A section that a built prompt cannot have so."""


def short(name: str) -> str:
    """A name in quotes; the beginning of one that nobody meant to be read."""
    return repr(name if len(name) <= _LONGEST else name[:_BEGINNING] + "…")


def listed(names: Iterable[str]) -> str:
    """Names in quotes, with commas between; the first few of many."""
    found = list(names)
    shown = ", ".join(map(short, found[:_NAMED]))
    return shown + (f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else "")


def near_misses(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Those of the known names that may have been meant."""
    if len(name) > _LONGEST:
        return []
    return get_close_matches(name, [each for each in known if len(each) <= _LONGEST], most)

"""What a rule forbids, as far as that can be seen in a tool call: a program, a path, an option.

"Use httpie, not curl" forbids to run curl; "never touch migrations/" forbids to write under it;
"不要用 npm" forbids npm. Only what stands right behind the word that forbids is taken, and only
where it has the shape of one of the three: a rule that nothing can be taken from forbids nothing
here.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Literal

from eventlog.messages import Part
from projections.anchor_commands import is_program
from projections.metrics.actions import action, commands

_FORBIDS = re.compile(
    r"(?:\b(?:not|never|don['’]t|avoid|without|instead\s+of|rather\s+than|no)\b"
    r"|不要|不得|不能|不许|禁止|别|勿|而不是)\s*"
    r"(?:(?:ever|to|the|any|directly)\s+|(?:直接|再)\s*)*"
    r"(?P<verb>(?:use|using|run|running|call|calling|touch|touching|edit|editing|modify|modifying"
    r"|change|changing|write\s+(?:to|in|into)|delete|deleting|remove|removing|pass|passing)\b"
    r"|使用|用|运行|执行|修改|改动|改|碰|动|编辑|删除|删|写入)?\s*"
    r"(?P<what>[^,.;:!?()。,;:!?()\n]{1,80}(?:\.[^\s,;:!?()。,;]{1,20})?)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./~+@-]+", re.ASCII)
_PATH = re.compile(r"(?=[\w.~/@+-]*[/.])(?![\d.]+$)[\w~./@+-]{3,200}", re.ASCII)
_OPTION = re.compile(r"--?[A-Za-z][\w-]{0,40}")
_TO_WRITE = re.compile(
    r"touch|edit|modify|chang|writ|delet|remov|修改|改|碰|动|编辑|删|写", re.IGNORECASE
)
_MOST = 3
"""Words behind the one that forbids that are looked at: "not curl or wget"."""


@dataclass(frozen=True, slots=True)
class Target:
    """What must not be used."""

    kind: Literal["program", "path", "option"]
    text: str
    """Of a path: as it stands between slashes, whatever lies above it or below."""


def done_by(part: Part, deepest: int) -> dict[Target, str]:
    """Every target that a call breaks, with what of the call does it; of several the first.

    So a call is read once, however many rules there are. ``deepest`` is how many names the longest
    path has that may be forbidden.
    """
    found: dict[Target, str] = {}
    for path in action(part).writes:
        names = path.strip("/").split("/")
        for first in range(len(names)):
            for last in range(first + 1, min(first + deepest, len(names)) + 1):
                found.setdefault(Target("path", "/".join(names[first:last])), path)
    for words in commands(part):
        whole = " ".join(words)
        found.setdefault(Target("program", words[0].rpartition("/")[2]), whole)
        for word in words[1:]:
            if _OPTION.fullmatch(word):
                found.setdefault(Target("option", word), whole)
    return found


def targets(rule: str) -> tuple[Target, ...]:
    """What a rule forbids, each once, in its order."""
    found: dict[Target, None] = {}
    for match in _FORBIDS.finditer(rule):
        verb = match["verb"] or ""
        for word in _WORD.findall(match["what"])[:_MOST]:
            target = _target(word.rstrip("."), bool(_TO_WRITE.match(verb)))
            if target is not None:
                found[target] = None
    return tuple(found)


def _target(word: str, to_write: bool) -> Target | None:
    if _OPTION.fullmatch(word):
        return Target("option", word)
    if to_write:
        if not _PATH.fullmatch(word):
            return None
        return Target("path", posixpath.normpath(word).strip("/"))
    return Target("program", word) if is_program(word) else None

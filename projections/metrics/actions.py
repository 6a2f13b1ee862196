"""What the tool calls of a session did to files, read from their names and arguments alone.

Tools of many agents name the same things differently, so this goes by common words: a tool whose
name says that it writes writes the file that its arguments name. A shell command writes where it
redirects, and with the usual programs; what ``make`` or a script writes is not known.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from dataclasses import dataclass
from typing import Any

from eventlog.messages import Part
from projections.metrics.mentions import leaves
from projections.metrics.todos import open_entries

_PATH_KEYS = frozenset(
    {
        *("file_path", "filepath", "path", "filename", "file_name", "file", "notebook_path"),
        *("target_file", "absolute_path", "absolutepath", "relative_path", "uri"),
    }
)
_WRITES = re.compile(
    r"write|edit|create|patch|insert|replace|append|delete|remove|move|rename|save|undo"
)
_READS = re.compile(r"read|view|open|cat|get|show|fetch|load|grep|search|glob|find|list|ls")
_SHELLS = re.compile(r"bash|shell|exec|terminal|command|run|ipython")
_STATE = re.compile(r"todo|plan")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,500})$", re.MULTILINE)
_REDIRECT = re.compile(r"(?<![<>&\d=-])>{1,2}\s*([^\s;|&<>()]{1,500})")
_SEGMENT = re.compile(r"&&|\|\||[;|\n]")
_READERS = frozenset({"cat", "head", "tail", "less", "nl", "sed", "wc", "bat", "more"})
_WRITERS = frozenset({"tee", "rm", "mv", "cp", "touch", "truncate", "unlink"})


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call."""

    tool: str
    key: str
    """Equal for calls of the same tool with the same arguments, however those are written."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    is_state: bool = False
    """A to-do list or a plan: it is about the work, and about no file."""
    open: tuple[str, ...] | None = None
    """What is not finished in the list; None where the call wrote none."""


def action(part: Part) -> Action:
    """What a call part does."""
    name = part.name.lower().rpartition("__")[2]
    try:
        arguments: Any = json.loads(part.text)
    except (ValueError, RecursionError):
        arguments = part.text
    normal = _normal(arguments, 0)
    key = f"{part.name}\n{json.dumps(normal, sort_keys=True)}"
    if _STATE.search(name):
        return Action(part.name, key, is_state=True, open=open_entries(part.text))
    if "apply_patch" in name:
        patched = _PATCHED.findall("\n".join(leaves(part.text)))
        return Action(part.name, key, writes=_unique(patched))
    fields = arguments if isinstance(arguments, dict) else {}
    paths = _unique(
        [v for k, v in fields.items() if k.lower() in _PATH_KEYS and isinstance(v, str) and v]
    )
    command = _command(fields)
    if paths:
        words = command or name  # ``str_replace_editor`` says what it does in ``command``
        if _WRITES.search(words) and not _READS.fullmatch(words.split("_")[0]):
            return Action(part.name, key, writes=paths)
        return Action(part.name, key, reads=paths)
    if command and _SHELLS.search(name):
        reads, writes = shell(command)
        return Action(part.name, key, reads, writes)
    return Action(part.name, key)


def _command(fields: dict[str, Any]) -> str:
    for name in ("command", "cmd"):
        value = fields.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return " ".join(value)
    return ""


def commands(part: Part) -> tuple[tuple[str, ...], ...]:
    """The commands that a call of a shell runs, each as its words, the program first."""
    try:
        arguments: Any = json.loads(part.text)
    except (ValueError, RecursionError):
        return ()
    given = _command(arguments) if isinstance(arguments, dict) else ""
    if not given or not _SHELLS.search(part.name.lower()):
        return ()
    found = (_program(_words(segment)) for segment in _SEGMENT.split(given))
    return tuple(tuple(words) for words in found if words)


def _program(words: list[str]) -> list[str]:
    """The words of a command without what stands in front of its program."""
    while words and (words[0] == "sudo" or re.match(r"[A-Za-z_]\w*=", words[0])):
        words = words[1:]
    return words


def shell(command: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that a shell command reads and those that it writes, as far as it says so."""
    patched = _PATCHED.findall(command)
    if patched:
        return (), _unique(patched)
    writes = [target for target in _REDIRECT.findall(command) if target != "/dev/null"]
    reads: list[str] = []
    for segment in _SEGMENT.split(_REDIRECT.sub(" ", command)):
        words = _program(_words(segment))
        if not words:
            continue
        program = words[0].rpartition("/")[2]
        given = [word for word in words[1:] if not word.startswith("-")]
        if program == "sed":  # the first is its script
            given = given[1:]
        named = [word for word in given if _is_path(word)]
        if program in _WRITERS or (program == "sed" and any(w.startswith("-i") for w in words)):
            writes += named
        elif program in _READERS:
            reads += named
    return _unique(reads), _unique(writes)


def _words(segment: str) -> list[str]:
    try:
        return shlex.split(segment)
    except ValueError:  # a quote that is not closed: the segment ends inside a string
        return segment.split()


def _is_path(word: str) -> bool:
    named = "/" in word or re.search(r"\w\.\w{1,8}$", word) is not None
    return named and re.fullmatch(r"[\w.~/@+-]{2,500}", word) is not None


def _unique(paths: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(posixpath.normpath(path.strip()) for path in paths))


def _normal(value: Any, depth: int) -> Any:
    if isinstance(value, dict) and depth < 50:
        return {
            k: posixpath.normpath(v)
            if k.lower() in _PATH_KEYS and isinstance(v, str) and v
            else _normal(v, depth + 1)
            for k, v in value.items()
        }
    if isinstance(value, list) and depth < 50:
        return [_normal(each, depth + 1) for each in value]
    return " ".join(value.split()) if isinstance(value, str) else repr(value)

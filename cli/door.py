"""The one door through which every error leaves: a line on stderr and an exit code, no traceback.

| code | meaning |
|---|---|
| 0 | fine |
| 1 | findings |
| 2 | usage: an option, a reference or an input that cannot be taken |
| 3 | not found, or ambiguous (the candidates are listed) |
| 4 | integrity: stored bytes do not hold |
| 5 | the database, the disk, the system, or this program |
| 6 | a model or another service |
| 130 | interrupted |

``CTXLOG_DEBUG=1`` lets the traceback through, for whoever mends the program.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import Any

from typer.exceptions import Abort, TyperException

from cli.options import Settings
from cli.output import complain
from cli.safetext import safe_text

FINE, FINDINGS, USAGE, NOT_FOUND, INTEGRITY, DATABASE, UPSTREAM = range(7)
INTERRUPTED = 130

_BY_NAME = {
    "InputRefused": USAGE,
    "EventInvalid": USAGE,
    "EventTooLarge": USAGE,
    "NotFound": NOT_FOUND,
    "NoContext": NOT_FOUND,
    "IntegrityFault": INTEGRITY,
    "UpstreamFault": UPSTREAM,
    "VectorsRefused": UPSTREAM,
    "AppendRefused": DATABASE,
    "OutcomeUnknown": DATABASE,
    "DatabaseFault": DATABASE,
    "CriticalUnknown": DATABASE,
}
"""Names, not classes: importing them would cost every ``--help`` a tenth of a second."""


def guarded(work: Callable[[], Any], settings: Settings) -> int:
    """Run a command line and give its exit code, whatever happens inside."""
    stdout = sys.stdout
    try:
        result = work()
        return result if isinstance(result, int) else FINE
    except SystemExit as stop:
        if sys.stdout is not stdout:  # typer saw a reader go away, which is no failure of ours
            return FINE
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Abort:
        complain("stopped; nothing was changed", settings, FINDINGS, {"type": "aborted"})
        return FINDINGS
    except BaseException as error:
        if os.environ.get("CTXLOG_DEBUG", "0") not in ("", "0"):
            raise
        return _told(error, settings)


def _told(error: BaseException, settings: Settings) -> int:
    code = exit_code(error)
    try:
        text = message(error)
        body = {"type": _snake(type(error).__name__), "message": safe_text(text), **_data(error)}
        shown = safe_text(text, newlines=False)
        if not settings.as_json:
            shown = "\n  ".join([shown, *_notes(error)])
        complain(shown, settings, code, body)
    except Exception:  # no memory, no stack: say what little can be said
        complain(type(error).__name__, Settings(), code, {})
    return code


def exit_code(error: BaseException) -> int:
    """The exit code of an error."""
    if isinstance(error, TyperException):
        return error.exit_code
    for kind in type(error).__mro__:
        if kind.__name__ in _BY_NAME and _is_ours(kind):
            return _BY_NAME[kind.__name__]
    return NOT_FOUND if isinstance(error, FileNotFoundError) else DATABASE


def message(error: BaseException) -> str:
    """What went wrong, for a person."""
    if isinstance(error, TyperException):
        text = error.format_message().replace(": Value error, ", ": ")  # pydantic's words
        if type(error).__name__ == "NoSuchOption":
            text += "; a text that begins with - goes behind --"
        context = getattr(error, "ctx", None)
        if text.startswith("Got unexpected extra argument"):
            text += _taken(context)
        hint = f" (try: {context.command_path} --help)" if context is not None else ""
        return text + hint
    if any(_is_ours(kind) for kind in type(error).__mro__):
        if getattr(error, "reason", "") == _NOT_WRITABLE:
            return f"{getattr(error, 'path', '')} cannot be written by you; {_WRITABLE}"
        return _plain(str(error))
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename is not None else ""
        # Some are raised by Python itself, with a sentence and without a number.
        told = error.strerror or ("" if error.filename is not None else str(error))
        return f"{told or ', '.join(map(str, error.args)) or type(error).__name__}{where}"
    if isinstance(error, UnicodeError):
        return (
            f"text that cannot be read or written: {error.reason}"
            if hasattr(error, "reason")
            else f"text that cannot be read or written: {error}"
        )
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if isinstance(error, RecursionError):
        return "the data is nested too deeply"
    return (
        f"internal error: {type(error).__name__}: {error} "
        "(CTXLOG_DEBUG=1 shows where; please report it)"
    )


def _taken(context: Any) -> str:
    """What a command takes beside its options; of one thing alone also what that is."""
    command = getattr(context, "command", None)
    found = [p for p in getattr(command, "params", ()) if p.param_type_name == "argument"]
    names = " ".join(piece for param in found for piece in param.get_usage_pieces(context))
    about = getattr(found[0], "help", None) or "" if len(found) == 1 else ""
    names = names.replace("{", "").replace("}", "")
    return f"; it takes {names or 'nothing but options'}" + (
        f": {about.rstrip('.')}" if about else ""
    )


_NOT_WRITABLE = "the file is not writable; open it read-only"
"""What the library advises, to a program."""

_WRITABLE = "commands that only look work all the same, for others name another log with --db"
_SYSTEM = re.compile(r"\[Errno -?\d+\] ([^:\n]+)(?:: '([^'\n]*)')?")


def _plain(text: str) -> str:
    """A message without the system's numbers, and with a path that it names twice only once."""

    def said(found: re.Match[str]) -> str:
        what, path = found.groups()
        return what if path is None or f"{path} " in text[: found.start()] else f"{what}: {path}"

    return _SYSTEM.sub(said, text)


def _is_ours(kind: type) -> bool:
    base = getattr(sys.modules.get("eventlog.errors"), "CtxlogError", None)
    return base is not None and issubclass(kind, base) and kind is not base


def _notes(error: BaseException) -> list[str]:
    """Lines that belong to the message: the sessions that an ambiguous name could mean."""
    notes = getattr(error, "__notes__", ())
    return [safe_text(str(note), newlines=False) for note in notes]


def _data(error: BaseException) -> dict[str, Any]:
    """The error's own attributes, those that are plain."""
    found: dict[str, Any] = {}
    if not any(_is_ours(kind) for kind in type(error).__mro__):
        return found
    for name, value in vars(error).items():
        if name == "__notes__":
            continue
        if isinstance(value, str | int | float | bool | None):
            found[name] = value
        elif isinstance(value, tuple | list) and all(isinstance(v, str) for v in value):
            found[name] = list(value)
    return found


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()

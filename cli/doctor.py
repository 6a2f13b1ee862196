"""Whether this program and the log can be used here: what surrounds the file, then the file.

Nothing is written, and no look raises: whoever asks has something that does not work.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cli.bringing import places
from cli.config import config
from cli.models_upkeep import CheckData, DoctorData
from cli.paths import cache_folder, config_file, home, located, shown
from eventlog import schema
from eventlog.checkup import Check, checkup
from eventlog.errors import CtxlogError

_PACKAGES = ("sqlite-utils", "pydantic", "openai", "typer", "detect-secrets", "genai-prices")
_SAFE_SQLITE = (3, 51, 3)
"""From here on a commit and a checkpoint that meet cannot damage the file (sqlite.org/wal.html)."""

_MOST = 10_000
"""Transcripts that are counted."""


def doctor(given: str | None) -> DoctorData:
    """All checks; ``given`` is what ``--db`` said."""
    path, why = located(given)
    checks = [Check("log", "ok", f"{shown(path, home())} ({why})")]
    for look in (_config, _cache, _transcripts, _versions, _sqlite, lambda: checkup(path)):
        checks += _safely(look)
    return DoctorData(
        log=str(path),
        why=why,
        checks=[CheckData(**check._asdict()) for check in checks],
        warnings=sum(check.state == "warning" for check in checks),
        problems=sum(check.state == "problem" for check in checks),
    )


def _safely(look: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """What a look finds, and of one that cannot go on why."""
    try:
        yield from look()
    except (OSError, sqlite3.Error, CtxlogError) as error:
        yield Check("look", "problem", f"a look could not be ended: {error}")


# -- around the log -------------------------------------------------------------------------------


def _config() -> Iterator[Check]:
    file = config_file()
    name = shown(file, home())
    if not file.exists():
        yield Check("config", "ok", f"none ({name} would be it)")
        return
    try:
        config(file)
    except CtxlogError as error:
        yield Check("config", "problem", str(error), f"mend or remove {name}")
    else:
        yield Check("config", "ok", name)


def _cache() -> Iterator[Check]:
    folder = cache_folder(os.environ, home())
    name = shown(folder, home())
    if folder.exists() and not os.access(folder, os.W_OK):
        yield Check("cache", "warning", f"{name} cannot be written", f"chmod u+w {name}")
    else:
        yield Check("cache", "ok", name if folder.exists() else f"none yet ({name} would be it)")


def _transcripts() -> Iterator[Check]:
    found = places()
    if not found:
        yield Check("transcripts", "ok", "no folder of a known agent; name files to import")
    for place in found:
        count = _count(Path(place))
        more = "more than " if count >= _MOST else ""
        name = shown(Path(place), home())
        yield Check("transcripts", "ok", f"{name}, {more}{count:,} files", f"ctxlog import {name}")


def _count(folder: Path) -> int:
    count = 0
    for _, _, names in os.walk(folder):
        count += sum(name.endswith((".jsonl", ".json")) for name in names)
        if count >= _MOST:
            return _MOST
    return count


# -- the program ----------------------------------------------------------------------------------


def _versions() -> Iterator[Check]:
    own = _version("agent-ctxlog") or "(not installed)"
    names = [(name, _version(name)) for name in _PACKAGES]
    said = f"ctxlog {own} (writes format {schema.FORMAT}), Python {platform.python_version()}, "
    yield Check("versions", "ok", said + ", ".join(f"{n} {v}" for n, v in names if v))
    missing = [name for name, found in names if not found]
    if missing:
        advice = "install ctxlog anew, with all that it needs"
        yield Check("versions", "problem", f"missing: {', '.join(missing)}", advice)


def _version(name: str) -> str:
    with contextlib.suppress(PackageNotFoundError):
        return version(name)
    return ""


def _sqlite() -> Iterator[Check]:
    number = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < _SAFE_SQLITE:
        said = (
            f"{number}: before 3.51.3 a commit and a checkpoint of two programs can damage a file; "
            "ctxlog's own lock keeps its writers apart"
        )
        yield Check("SQLite", "warning", said, "let no other program write to the log")
    else:
        yield Check("SQLite", "ok", number)
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("create virtual table words using fts5 (text)")
        except sqlite3.OperationalError:
            advice = "use a Python whose SQLite has FTS5; all else works without"
            yield Check("full text", "warning", "this SQLite has no FTS5: no search", advice)
        else:
            yield Check("full text", "ok", "FTS5")

"""Where the log is.

It is looked for in this order: ``--db``, the variable ``CTXLOG_DB``, a folder ``.ctxlog`` here
or above, the user's data folder. Nothing from inside a log ever becomes a path.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cli.style import typed

FOLDER = ".ctxlog"
FILE = "ctxlog.db"
CONFIG = "config.toml"


class Located(NamedTuple):
    """A path, and why it is that one."""

    path: Path
    why: str


def database(given: str | None, environment: Mapping[str, str], here: Path, home: Path) -> Located:
    """Where the log is, whether or not there is a file yet."""
    if given:
        return Located(Path(given), "the option --db")
    named = environment.get("CTXLOG_DB", "")
    if named:
        return Located(Path(named).expanduser(), "the variable CTXLOG_DB")
    folder, why = _folder(environment, here, home)
    return Located(folder / FILE, why)


def _folder(environment: Mapping[str, str], here: Path, home: Path) -> Located:
    for folder in (here, *here.parents):
        if (folder / FOLDER).is_dir():
            why = "a folder .ctxlog here" if folder == here else "a folder .ctxlog above"
            return Located(folder / FOLDER, why)
    return Located(data_folder(environment, home), "your own data folder")


def config_file() -> Path:
    """The config of this process, whether or not there is one: it stands in the folder, not beside
    a log that was named apart."""
    return _folder(os.environ, _here(), home()).path / CONFIG


def data_folder(environment: Mapping[str, str], home: Path) -> Path:
    """The user's own folder for this program (XDG base directory specification)."""
    return _xdg(environment.get("XDG_DATA_HOME", ""), home / ".local" / "share")


def cache_folder(environment: Mapping[str, str], home: Path) -> Path:
    """The user's folder for what can be made again."""
    return _xdg(environment.get("XDG_CACHE_HOME", ""), home / ".cache")


def _xdg(named: str, default: Path) -> Path:
    # The specification: a relative path is to be ignored.
    return (Path(named) if named.startswith("/") else default) / "ctxlog"


def current_database(given: str | None) -> Path:
    """The path of the log for this process."""
    return located(given).path


def located(given: str | None) -> Located:
    """The path of the log for this process, and why it is that one."""
    return database(given, os.environ, _here(), home())


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:  # the folder was removed while we stood in it
        return Path("/")


def home() -> Path:
    """The home folder; the root where the user has none."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def shown(path: Path, home: Path) -> str:
    """The path as a person writes it: with ``~`` for the home folder."""
    try:
        return "~/" + str(path.relative_to(home)) if home != Path("/") else str(path)
    except ValueError:
        return str(path)


def program(started: str, search: str, here: Path, home: Path) -> str:
    """This program as it can be typed here: by its name only where a shell would find that.

    ``started`` is how it was started, ``search`` the PATH.
    """
    if shutil.which("ctxlog", path=search) is not None:
        return "ctxlog"
    own = Path(started)
    if own.name == "ctxlog" and own.is_file():
        return _way(own, here, home)
    return f"{_way(Path(sys.executable), here, home)} -m cli.main"


def current_program() -> str:
    """This program as it can be typed now."""
    return program(sys.argv[0], os.environ.get("PATH", ""), _here(), home())


def nearest(path: Path) -> str:
    """The path as it can be typed here."""
    return _way(path, _here(), home())


def _way(path: Path, here: Path, home: Path) -> str:
    whole = Path(os.path.abspath(path))  # not resolved: in an environment it is a link
    if whole.is_relative_to(here):
        near = str(whole.relative_to(here))
        return typed(near if "/" in near else f"./{near}")
    far = shown(whole, home)
    return far if far.startswith("~/") and typed(far[2:]) == far[2:] else typed(str(whole))

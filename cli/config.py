"""The config: ``config.toml`` in the nearest ``.ctxlog``, else in the user's data folder.

A folder that somebody else made may hold one, so nothing in it runs code, names a file to be
written, or says where a session is sent: it only gives names to specs, prices and sizes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli.paths import config_file
from eventlog.errors import InputRefused

MOST_BYTES = 1 << 20
"""Of a config: a folder that somebody else made may hold anything."""


@dataclass(frozen=True, slots=True)
class Config:
    """A config as it was read; empty where there is no file."""

    path: Path
    whole: Mapping[str, Any] = field(default_factory=dict)

    def table(self, name: str, holds: str) -> Mapping[str, Any]:
        """One of its tables, empty where it has none. Raises InputRefused for what is no table.

        ``holds`` says what belongs there, for the error.
        """
        found = self.whole.get(name, {})
        if not isinstance(found, dict):
            raise InputRefused(f"{self.path}: [{name}] is no table of {holds}")
        return found


def config(path: Path | None = None) -> Config:
    """The config of this process, or the one at a path. Raises InputRefused."""
    path = path or config_file()
    try:
        if path.exists() and (not path.is_file() or path.stat().st_size > MOST_BYTES):
            raise InputRefused(f"{path} is no file of at most {MOST_BYTES >> 10} KB")
        return Config(path, tomllib.loads(path.read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return Config(path)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError, too
        raise InputRefused(f"{path} is no TOML: {error}") from None
    except OSError as error:
        raise InputRefused(f"{path} cannot be read: {error.strerror}") from None

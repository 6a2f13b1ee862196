"""SQL of other people over the log: it reads, whatever it says.

Three bolts, each of which would do: the file is opened for reading, ``query_only`` is on, and an
authorizer lets through what reads and nothing else, so that no statement attaches another file,
loads code, or changes a setting. An endless query ends by a time limit or an interrupt.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from eventlog.codec import MAX_PAYLOAD
from eventlog.connection import reading_uri, translate
from eventlog.errors import InputRefused

Value = None | int | float | str | bytes

_READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_TELLS = frozenset(
    {
        "table_info",
        "table_xinfo",
        "table_list",
        "index_list",
        "index_info",
        "index_xinfo",
        "foreign_key_list",
        "integrity_check",
        "quick_check",
    }
)
"""Pragmas that change nothing, whatever they are given."""

_SHOWS = frozenset(
    {
        "application_id",
        "user_version",
        "schema_version",
        "data_version",
        "page_count",
        "page_size",
        "freelist_count",
        "encoding",
        "journal_mode",
        "compile_options",
        "function_list",
        "module_list",
        "pragma_list",
        "collation_list",
        "database_list",
    }
)
"""Pragmas that change nothing as long as they are given nothing."""

_FORBIDDEN = frozenset({"load_extension", "fts3_tokenizer", "writefile", "edit"})

LONGEST = 2 * MAX_PAYLOAD
"""Bytes of the longest value, in between and in the answer; a payload is at most half as long."""

_STEPS = 10_000
"""Instructions of SQLite between two looks at the clock."""


class TooLong(InputRefused):
    """A query did not end within its time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"the query did not end within {seconds:g} s")


class Answer(NamedTuple):
    """What a query gives, while it gives it."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Value, ...]]
    """Text that is not UTF-8, or holds lone surrogates, comes with surrogates or replaced."""


@contextlib.contextmanager
def asked(
    path: Path,
    sql: str,
    values: Mapping[str, Value] | None = None,
    seconds: float | None = None,
    *,
    still: bool = False,
) -> Iterator[Answer]:
    """Run one reading statement over a log whose path was checked.

    ``values`` are for ``:name`` in it; ``seconds`` limit the whole answer; ``still`` is the log's
    ``is_still``. Raises InputRefused for
    a statement that is wrong or does more than read, TooLong, KeyboardInterrupt, Busy, DamagedLog.
    """
    uri = reading_uri(path, still=still)
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    connection.text_factory = _text
    until = time.monotonic() + seconds if seconds is not None else None
    with contextlib.closing(connection), _told(path, until, seconds):
        # Not trusted_schema=off: with it SQLite 3.40 refuses its own json_extract in a view. The
        # authorizer looks at what views do as well, and this connection has no function of ours.
        for pragma in ("query_only=on", "cell_size_check=on", "mmap_size=0"):
            connection.execute(f"pragma {pragma}")
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        # One call of printf or zeroblob makes a gigabyte, and no time limit ends it.
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        connection.set_authorizer(_may)
        # Without one an interrupt would wait until the statement ends.
        connection.set_progress_handler(lambda: int(until is not None and _now() > until), _STEPS)
        try:
            cursor = connection.execute(sql, values or {})
        except UnicodeEncodeError:
            raise InputRefused("the statement, or a value for it, is not UTF-8") from None
        if cursor.description is None:
            raise InputRefused("the statement gives nothing: a query begins with select or with")
        columns = tuple(column[0] for column in cursor.description)
        yield Answer(columns, cursor)


_now = time.monotonic


def _may(action: int, name: str | None, given: str | None, *_: str | None) -> int:
    allowed = action in _READS
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = (given or "").lower() not in _FORBIDDEN
    elif action == sqlite3.SQLITE_PRAGMA:
        pragma = (name or "").lower()
        allowed = pragma in _TELLS or (pragma in _SHOWS and given is None)
    elif action == sqlite3.SQLITE_UPDATE:  # so a virtual table tells SQLite what it looks like
        allowed = name in ("sqlite_master", "sqlite_schema")
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _text(value: bytes) -> str:
    """Text as it stands there; half of a surrogate pair is what some messages hold."""
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return value.decode("utf-8", "replace")


_OF_THE_FILE = (
    "SQLITE_BUSY",
    "SQLITE_CANTOPEN",
    "SQLITE_CORRUPT",
    "SQLITE_FULL",
    "SQLITE_IOERR",
    "SQLITE_LOCKED",
    "SQLITE_NOTADB",
    "SQLITE_PERM",
    "SQLITE_PROTOCOL",
)
"""What SQLite says of the file or the disk. All else is about the query, such as the mismatch of
``limit 'x'``."""

_SAID = 300
"""Characters of SQLite's message that are told: it repeats names of the query at any length."""


@contextlib.contextmanager
def _told(path: Path, until: float | None, seconds: float | None) -> Iterator[None]:
    """SQLite's errors, told apart: the caller's, the clock's, and those of the file."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        name = getattr(error, "sqlite_errorname", None) or ""
        if name == "SQLITE_INTERRUPT":
            if until is not None and _now() > until:
                raise TooLong(seconds or 0) from None
            raise KeyboardInterrupt from None  # SQLite swallowed it in the progress handler
        text = " ".join(str(error).split())
        text = text if len(text) <= _SAID else text[:_SAID] + "…"
        denied = any(words in text for words in ("not authorized", "authorization denied"))
        if denied or name == "SQLITE_AUTH" or name.startswith("SQLITE_READONLY"):
            raise InputRefused(f"only reading is possible here ({text})") from None
        if name.startswith(_OF_THE_FILE):
            raise translate(error, path) from error  # type: ignore[arg-type]
        raise InputRefused(f"SQL: {text}") from None

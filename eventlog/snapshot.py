"""One unchanging picture of the file, for whoever reads all of it: a verifier and an export.

It has its own connection, so appends go on meanwhile, and it gives text as bytes: in a damaged file
a text column may hold what is not UTF-8, or not text at all, and that must be seen, not raised.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from eventlog.connection import reading_uri
from eventlog.reading import Reading


class Text(bytes):
    """The bytes of a text value; a blob comes as plain ``bytes``."""

    __slots__ = ()


@contextlib.contextmanager
def snapshot(log: Reading) -> Iterator[sqlite3.Connection]:
    """A read-only connection inside one read transaction.

    Raises LogClosed for a closed log, and whatever SQLite raises: nothing is translated here.
    """
    log._ready()
    uri = reading_uri(log.path, still=log.is_still)
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    try:
        connection.text_factory = Text
        connection.execute("pragma query_only=on")
        connection.execute("pragma trusted_schema=off")
        connection.execute("pragma cell_size_check=on")
        connection.execute("pragma mmap_size=0")
        connection.execute("begin")
        yield connection
    finally:
        connection.close()

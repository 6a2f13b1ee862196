"""What the tests of the log start from: keys, messages, plain connections, child processes."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from eventlog import EventLog, StreamKey, schema
from eventlog.events import MessageAppended
from eventlog.recorded import RecordedEvent

KEY = StreamKey("ann", "coder", "s1")
OTHER = StreamKey("ann", "coder", "s2")
REPOSITORY = Path(__file__).parents[2]


def said(content: object = "hello", role: str = "user") -> MessageAppended:
    """A chat message."""
    source = "human" if role == "user" else "model"
    message = {"role": role, "content": content}
    return MessageAppended(dialect="openai_chat", source=source, message=message)


def texts(events: Iterator[RecordedEvent]) -> list[str]:
    """The contents of messages, in order."""
    return [event.data["message"]["content"] for event in events if "message" in event.data]


@contextlib.contextmanager
def plain(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection as anybody's program would open it: nothing set, autocommit."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def made_older(path: Path, version: int) -> None:
    """Take from a closed file what formats behind this one brought, and changed."""
    with plain(path) as db:
        was = schema.expected(version)
        new = {name for name, sql in schema.expected().items() if was.get(name) != sql}
        for kind in ("trigger", "view", "index", "table"):
            rows = db.execute("select name from sqlite_schema where type = ?", [kind]).fetchall()
            for (name,) in rows:
                if name in new:
                    db.execute(f"drop {kind} {name}")
        for name in new & was.keys():
            db.execute(was[name])
        db.execute("delete from _sqlite_migrations where name > ?", [f"m{version + 1:03}"])
        db.execute(f"pragma user_version = {version}")
        assert schema.definitions(db) == schema.expected(version)


def in_child(work: Callable[[], object]) -> int:
    """Run in a forked child; its exit code: 0, or 1 after an exception."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # everything has to reach _exit, or pytest runs twice
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def as_nobody(work: Callable[[], object]) -> int:
    """Run in a child without the rights of root, which no file mode stops."""

    def dropped() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        work()

    return in_child(dropped)


def program(code: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    """Another Python process that has the packages on its path."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        text=True,
        **options,  # type: ignore[call-overload]
    )


def dump(log: EventLog) -> list[tuple[object, ...]]:
    """All that the log says of its events, to compare two reads."""
    return [
        (e.stream, e.position, e.sequence, e.id, e.type, e.occurred_at, e.chain, e.payload)
        for e in log.read_all()
    ]

"""What a log of recorded calls says of them."""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cli.main import app
from eventlog import StreamKey, integrity
from eventlog.connection import lock_path
from eventlog.recorded import RecordedEvent
from projections import open_log
from projections.judging import judge_all
from projections.sent import Requests
from projections.verdicts import Verdict
from projections.wire import as_sent, whole_of


class Told:
    """A log, read after its recorder was closed."""

    def __init__(self, path: Path) -> None:
        self.verdicts: list[Verdict] = []
        self.bodies: list[dict[str, Any]] = []
        self.wires: list[tuple[bytes, bool]] = []
        self.events: dict[str, list[RecordedEvent]] = {}
        with open_log(path) as live:
            assert not integrity.verify(live.log).problems
            for info in live.log.streams():
                key = info.key
                own = list(live.log.read(key, info.base))
                self.events[key.session] = own
                calls = [e for e in own if e.type == "model_called"]
                self.verdicts += judge_all(live, key, calls)
                salts = live.log.salts(key, [call.position for call in calls])
                for call in calls:
                    body = Requests(live).sent(key, call).body
                    self.bodies.append(body)
                    salt = salts.get(call.position)
                    whole = whole_of(body, call.data)
                    self.wires.append(as_sent(whole, call.data, salt))

    def types(self) -> Counter[str]:
        """How many events of each type there are."""
        return Counter(e.type for found in self.events.values() for e in found)

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """The events of a type, in all sessions."""
        return [e.data for found in self.events.values() for e in found if e.type == kind]

    def check(self, sent: list[dict[str, Any]], *, unknown: int = 0) -> None:
        """Every request that the server got is in the log, exact, and nothing else is."""
        wrong = [v for v in self.verdicts if v.name != "exact"]
        assert not wrong, wrong
        assert Counter(map(canonical, self.bodies)) == Counter(map(canonical, sent))
        assert sum(v.outcome_unknown for v in self.verdicts) == unknown
        assert all(proved for _, proved in self.wires), [w for w, p in self.wires if not p]

    def check_bytes(self, sent: list[bytes]) -> None:
        """What is written again of each call is to the byte what the server got."""
        assert Counter(written for written, _ in self.wires) == Counter(sent)


def ctxlog(path: Path, *arguments: str) -> str:
    """What a command prints of a log."""
    done = CliRunner().invoke(app, ["--db", str(path), *arguments])
    assert done.exit_code in (0, 1), done.output
    return done.output


@contextmanager
def held(path: Path) -> Iterator[None]:
    """The lock of the log, as another process holds it."""
    descriptor = os.open(lock_path(path), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def canonical(body: Mapping[str, Any]) -> str:
    return json.dumps(body, sort_keys=True)


KEY = StreamKey("local", "recorded", "s")

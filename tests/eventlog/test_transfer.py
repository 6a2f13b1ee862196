"""A log goes out and comes back as it was, or it does not come in at all."""

from __future__ import annotations

import base64
import io
import json
import os
import random
import sqlite3
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from examples import BARE, FULL
from given import KEY, OTHER, dump, program, said
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eventlog import Draft, EventLog, Json, StreamKey, chain
from eventlog.codec import UnknownEvent
from eventlog.errors import (
    CtxlogError,
    DamagedLog,
    EventIdConflict,
    InputRefused,
    IntegrityFault,
    StreamNotFound,
)
from eventlog.events import MessageAppended, Redacted, SessionForked, SessionStarted
from eventlog.integrity import head, verify
from eventlog.redaction import Target, redact
from eventlog.scrub import is_pending, scrub
from eventlog.transfer import DamagedExport, StreamDiffers, export, import_export

CHILD = StreamKey("ann", "coder", "child/of s1")
GRANDCHILD = StreamKey("ann", "coder", "grandchild")


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[list[EventLog]]:
    """Three empty logs."""
    made = [EventLog(tmp_path / f"{n}.db", durability="normal") for n in range(3)]
    yield made
    for log in made:
        log.close()


@pytest.fixture
def log(logs: list[EventLog]) -> EventLog:
    """Forks, a picture twice, an erased event, a source, an unknown type."""
    log = logs[0]
    picture = base64.b64encode(random.Random(1).randbytes(30_000)).decode()
    message = {"role": "user", "content": [{"type": "image", "data": picture}]}
    pictured = MessageAppended(dialect="anthropic", source="human", message=message)
    log.append(KEY, SessionStarted(title="s1"), said("naïve \ud83d \x00 \u2028 \U0001f600"))
    log.append(OTHER, SessionStarted(title="s2"), pictured, import_key=b"k" * 32)
    log.append(KEY, Draft(said("three"), occurred_at="2026-01-01T00:00:00+01:00"), pictured)
    log.fork(CHILD, KEY, 3)
    log.append(CHILD, said("five"))
    log.fork(GRANDCHILD, CHILD, 2)
    log.append(GRANDCHILD, said("four"))
    redact(log, [Target(GRANDCHILD, 2)], stream=GRANDCHILD, reason="why")
    log.append(KEY, *[e for e in (*FULL, *BARE) if not isinstance(e, Redacted | SessionForked)])
    foreign(log, OTHER, "dream_had", '{"of": "sheep", "n": 1.0}')
    return log


def foreign(log: EventLog, key: StreamKey, kind: str, payload: str, shape: int = 3) -> None:
    """Append an event of a type that this program does not know, as a later one would."""
    with log.writing() as db:
        info = log.stream(key)
        version = log._version(db, info)
        previous, salt = log._chain_at(db, info, version), b"s" * 16
        identity, digest = uuid.uuid4().bytes, chain.digest(salt, payload.encode())
        link = chain.link(
            previous, info.id, version + 1, identity, kind, shape, True, None, -5, digest
        )
        row = (log._sequence + 1, info.row, version + 1, identity, kind, shape, True, None, -5)
        db.execute(
            "insert into events values (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (*row, salt, link, None, payload),
        )
        log._data_version = -1


def exported(log: EventLog, *streams: StreamKey) -> list[str]:
    file = io.StringIO()
    export(log, file, streams or None)
    return file.getvalue().splitlines(keepends=True)


def rows(log: EventLog) -> dict[str, list[Any]]:
    """Everything that the tables hold, without what belongs to the file."""
    db = log._ready()
    tables = {
        table: db.execute(f"select * from {table} order by 1, 2").fetchall()
        for table in ("streams", "events", "redactions", "blobs", "blob_references", "sources")
    }
    tables["events"] = [row[:13] for row in tables["events"]]
    return tables


class TestAnExport:
    """A log that cannot leave its file whole belongs to the file, not to its owner."""

    def test_into_an_empty_log_gives_the_same_log(
        self, logs: list[EventLog], log: EventLog
    ) -> None:
        lines = exported(log)
        imported = import_export(logs[1], lines)
        assert (imported.streams, imported.known, imported.erased) == (4, 0, 0)
        assert imported.events == log.last_sequence()
        assert rows(logs[1]) == rows(log)
        assert head(logs[1]) == head(log)
        assert verify(logs[1]).ok
        assert dump(logs[1]) == dump(log)
        assert exported(logs[1]) == lines

    def test_says_what_it_holds(self, log: EventLog) -> None:
        file = io.StringIO()
        said_so = export(log, file)
        assert said_so.head == head(log)
        assert (said_so.streams, said_so.events) == (4, log.last_sequence())

    def test_is_ascii_with_one_record_a_line(self, log: EventLog) -> None:
        text = "".join(exported(log))
        assert text.isascii()
        records = [json.loads(line) for line in text.split("\n")[:-1]]
        assert records[0] == {"kind": "header", "ctxlog_export": 1}
        assert [r["kind"] for r in records].count("blob") == 1
        assert records[-1]["kind"] == "end"

    def test_carries_no_text_of_an_erased_event(self, log: EventLog) -> None:
        assert "na\\\\u00efve \\\\\\\\ud83d" not in "".join(exported(log))
        [line] = [line for line in exported(log) if '"erased"' in line]
        assert '"payload"' not in line
        assert '"salt"' not in line

    def test_an_unknown_type_survives_byte_for_byte(
        self, logs: list[EventLog], log: EventLog
    ) -> None:
        import_export(logs[1], exported(log))
        [event] = [e for e in logs[1].read(OTHER) if e.type == "dream_had"]
        assert event.payload == '{"of": "sheep", "n": 1.0}'
        assert isinstance(event.event, UnknownEvent)
        assert (event.schema_version, event.critical, event.recorded_at) == (3, True, -5)

    def test_of_some_streams_takes_ancestors_and_redactions_along(
        self, logs: list[EventLog], log: EventLog
    ) -> None:
        import_export(logs[1], exported(log, CHILD))
        # The main session is its ancestor, and an event of that was erased from the grandchild.
        assert {info.key for info in logs[1].streams()} == {KEY, CHILD, GRANDCHILD}
        assert verify(logs[1]).ok
        import_export(logs[2], exported(log, OTHER))
        assert [info.key for info in logs[2].streams()] == [OTHER]
        assert [e.payload for e in logs[2].read(OTHER)] == [e.payload for e in log.read(OTHER)]

    def test_of_an_unknown_stream_is_refused(self, log: EventLog) -> None:
        with pytest.raises(StreamNotFound):
            exported(log, StreamKey("no", "such", "one"))

    def test_shows_one_picture_while_appends_go_on(self, log: EventLog) -> None:
        class Appending(io.StringIO):
            def write(self, text: str, /) -> int:
                if '"position":2,' in text:
                    log.append(KEY, said("meanwhile"))
                return super().write(text)

        file, events = Appending(), log.last_sequence()
        assert export(log, file).events == events
        assert log.last_sequence() > events

    def test_of_a_damaged_log_is_refused(self, log: EventLog) -> None:
        db = sqlite3.connect(log.path)
        db.execute("drop trigger events_update")
        db.execute("update events set salt = x'00' where sequence = 3")
        db.commit()
        db.close()
        with pytest.raises(DamagedLog, match="salt"):
            exported(log)

    def test_keeps_import_keys_so_that_a_source_is_not_imported_twice(
        self, logs: list[EventLog], log: EventLog
    ) -> None:
        log.append(KEY.__class__("a", "b", "c"), said("x"), import_key=b"q" * 32)
        log.forget_source("a/b/c")
        import_export(logs[1], exported(log))
        assert logs[1].import_key(OTHER) == b"k" * 32
        with pytest.raises(InputRefused, match="forgotten"):
            logs[1].import_key("a/b/c")
        assert logs[1].import_key(KEY) is None


class TestAnImport:
    """Importing twice, or more, or less, must never make two truths of one session."""

    def test_a_second_time_adds_nothing(self, logs: list[EventLog], log: EventLog) -> None:
        import_export(logs[1], exported(log))
        before = rows(logs[1])
        again = import_export(logs[1], exported(log))
        assert (again.streams, again.events, again.blobs) == (0, 0, 0)
        assert again.known == log.last_sequence()
        assert rows(logs[1]) == before

    def test_into_the_log_that_it_came_from_adds_nothing(self, log: EventLog) -> None:
        before = rows(log)
        import_export(log, exported(log))
        assert rows(log) == before

    def test_of_a_longer_version_adds_the_rest(self, logs: list[EventLog], log: EventLog) -> None:
        import_export(logs[1], exported(log))
        logs[1].append(StreamKey("bob", "b", "own"), said("of the other log"))
        log.append(KEY, said("later"))
        log.fork(StreamKey("ann", "coder", "late"), KEY, 4)
        imported = import_export(logs[1], exported(log))
        assert (imported.streams, imported.events) == (1, 2)
        assert [e.chain for e in logs[1].read(KEY)] == [e.chain for e in log.read(KEY)]
        assert verify(logs[1]).ok

    def test_of_a_shorter_version_takes_nothing_away(
        self, logs: list[EventLog], log: EventLog
    ) -> None:
        early = exported(log)
        import_export(logs[1], early)
        logs[1].append(KEY, said("later"))
        before = rows(logs[1])
        import_export(logs[1], early)
        assert rows(logs[1]) == before

    def test_appends_go_on_after_it(self, logs: list[EventLog], log: EventLog) -> None:
        logs[1].append(StreamKey("bob", "b", "own"), said("before"))
        import_export(logs[1], exported(log))
        where = logs[1].append(KEY, said("after"), expected_version=log.version(KEY))
        assert where.first == log.version(KEY) + 1
        logs[1].append(StreamKey("bob", "b", "own"), said("after"))
        assert verify(logs[1]).ok

    def test_of_another_session_of_that_name_is_refused_by_name(
        self, logs: list[EventLog], log: EventLog
    ) -> None:
        logs[1].append(OTHER, SessionStarted(title="someone else's"))
        before = rows(logs[1])
        with pytest.raises(StreamDiffers) as refused:
            import_export(logs[1], exported(log))
        assert refused.value.stream == str(OTHER)
        assert isinstance(refused.value, InputRefused)
        assert rows(logs[1]) == before
        assert not logs[1].exists(KEY)

    def test_of_a_session_that_went_on_otherwise_is_refused_with_the_place(
        self, logs: list[EventLog], log: EventLog
    ) -> None:
        import_export(logs[1], exported(log))
        end = log.version(KEY)
        log.append(KEY, said("here"))
        logs[1].append(KEY, said("there"))
        with pytest.raises(StreamDiffers) as refused:
            import_export(logs[1], exported(log))
        assert (refused.value.stream, refused.value.position) == (str(KEY), end + 1)

    def test_of_an_event_that_stands_elsewhere_is_refused(self, logs: list[EventLog]) -> None:
        draft = Draft(said("one"), id=uuid.uuid4())
        logs[0].append(KEY, draft)
        logs[1].append(OTHER, draft)
        with pytest.raises(EventIdConflict) as refused:
            import_export(logs[1], exported(logs[0]))
        assert refused.value.stream == str(OTHER)

    def test_keeps_the_addresses_of_another_logs_pictures(
        self, logs: list[EventLog], log: EventLog
    ) -> None:
        assert log.log_key != logs[1].log_key
        import_export(logs[1], exported(log))
        assert next(logs[1].read(OTHER, after=1)).data == next(log.read(OTHER, after=1)).data
        assert verify(logs[1]).ok
        import_export(logs[2], exported(logs[1]))
        assert verify(logs[2]).ok
        assert head(logs[2]) == head(log)

    def test_lets_an_append_with_the_same_picture_be_repeated(self, logs: list[EventLog]) -> None:
        picture = base64.b64encode(os.urandom(30_000)).decode()
        shown = {"role": "user", "content": [{"type": "image", "source": {"data": picture}}]}
        event = MessageAppended(dialect="anthropic", source="human", message=shown)
        draft = Draft(event, id=uuid.uuid4())
        logs[0].append(KEY, draft)
        import_export(logs[1], exported(logs[0]))
        assert logs[1].append(KEY, draft).repeated
        other = event.model_copy(update={"message": Json({**shown, "role": "assistant"})})
        with pytest.raises(EventIdConflict):
            logs[1].append(KEY, Draft(other, id=draft.id))

    def test_brings_derived_tables_along(self, tmp_path: Path, log: EventLog) -> None:
        class Counting:
            name = "counting"
            version = 1

            def __init__(self) -> None:
                self.seen: list[int] = []

            def create(self, connection: sqlite3.Connection) -> None:
                self.seen.clear()

            def apply(self, connection: sqlite3.Connection, events: Any) -> bool:
                self.seen += [event.sequence for event in events]
                return True

            def forget(self) -> None:
                """The list is the table."""

        table = Counting()
        with EventLog(tmp_path / "derived.db", derived=[table]) as target:
            target.append(StreamKey("bob", "b", "own"), said("before"))
            import_export(target, exported(log))
            target.append(StreamKey("bob", "b", "own"), said("after"))
            assert table.seen == list(range(1, target.last_sequence() + 1))


class TestErased:
    """What was erased on one side must not come back from the other."""

    def test_there_is_erased_here_too(self, logs: list[EventLog]) -> None:
        log, target = logs[0], logs[1]
        log.append(KEY, SessionStarted(), said("a secret"), said("three"))
        import_export(target, exported(log))
        redact(log, [Target(KEY, 2)], stream=KEY)
        imported = import_export(target, exported(log))
        assert (imported.events, imported.erased) == (1, 1)
        assert next(target.read(KEY, after=1)).erased
        assert is_pending(target)
        assert scrub(target, ["a secret"]).found == ()
        assert verify(target).ok
        assert head(target) == head(log)

    def test_here_stays_erased(self, logs: list[EventLog]) -> None:
        log, target = logs[0], logs[1]
        log.append(KEY, SessionStarted(), said("a secret"))
        early = exported(log)
        import_export(target, early)
        redact(target, [Target(KEY, 2)], stream=KEY)
        imported = import_export(target, early)
        assert (imported.events, imported.erased) == (0, 0)
        assert next(target.read(KEY, after=1)).erased
        assert verify(target).ok

    def test_here_before_it_ever_came_in_is_erased_on_arrival(self, logs: list[EventLog]) -> None:
        log, target = logs[0], logs[1]
        log.append(KEY, SessionStarted(), said("a secret"))
        log.append(OTHER, SessionStarted())
        early = exported(log, KEY)
        redact(log, [Target(KEY, 2)], stream=OTHER)
        import_export(target, exported(log, OTHER))
        import_export(target, early)
        assert next(target.read(KEY, after=1)).erased
        assert verify(target).ok
        import_export(logs[2], exported(target))  # here the redaction stands before what it erased
        assert verify(logs[2]).ok
        assert head(logs[2]) == head(log)

    def test_a_file_cannot_erase_what_it_does_not_carry(self, logs: list[EventLog]) -> None:
        victim, attacker = logs[0], logs[1]
        where = victim.append(KEY, SessionStarted(), Draft(said("kept"), id=uuid.UUID(int=7)))
        assert where.last == 2
        attacker.append(OTHER, Draft(said("decoy"), id=uuid.UUID(int=7)))
        other = StreamKey("eve", "e", "e")
        attacker.append(other, said("x"))
        redact(attacker, [Target(OTHER, 1)], stream=other)
        with pytest.raises(DamagedExport, match="not erased in the file"):
            import_export(victim, exported(attacker, other))
        assert next(victim.read(KEY, after=1)).data["message"]["content"] == "kept"


class TestADamagedLine:
    """A file that was changed on its way is refused, with the line, and leaves no trace."""

    @pytest.fixture
    def lines(self, log: EventLog) -> list[str]:
        return exported(log)

    def refused(self, target: EventLog, lines: list[Any]) -> DamagedExport:
        with pytest.raises(DamagedExport) as refused:
            import_export(target, lines)
        assert isinstance(refused.value, IntegrityFault)
        assert target.streams() == []
        assert target.last_sequence() == 0
        assert rows(target)["blobs"] == []
        return refused.value

    @pytest.mark.parametrize(
        "field",
        [
            "id",
            "type",
            "schema_version",
            "critical",
            "occurred_at",
            "recorded_at",
            "salt",
            "chain",
            "payload",
            "position",
        ],
    )
    def test_in_any_field_of_an_event_is_refused_with_its_number(
        self, logs: list[EventLog], lines: list[str], field: str
    ) -> None:
        number = next(n for n, line in enumerate(lines) if '"three"' in line or "three" in line)
        record = json.loads(lines[number])
        value = record[field]
        if isinstance(value, bool):
            record[field] = not value
        elif isinstance(value, int):
            record[field] = value + 1
        else:
            changed = "1" if value[-1:] != "1" else "2"
            record[field] = (
                value.replace("three", "thr33") if "three" in value else (value[:-1] + changed)
            )
        lines[number] = json.dumps(record)
        assert self.refused(logs[1], lines).line == number + 1

    def test_in_a_streams_line_is_refused(self, logs: list[EventLog], lines: list[str]) -> None:
        for field, value in (("id", "00" * 16), ("key", ["eve", "coder", "s1"]), ("base", 1)):
            changed = [json.loads(line) for line in lines]
            changed[1][field] = value
            self.refused(logs[1], [json.dumps(record) for record in changed])

    def test_missing_anywhere_is_refused(self, logs: list[EventLog], lines: list[str]) -> None:
        for missing in range(len(lines)):
            self.refused(logs[1], lines[:missing] + lines[missing + 1 :])

    def test_twice_or_swapped_is_refused(self, logs: list[EventLog], lines: list[str]) -> None:
        for n, line in enumerate(lines):
            if json.loads(line)["kind"] != "blob":  # which is the same part, once more
                self.refused(logs[1], [*lines[: n + 1], line, *lines[n + 1 :]])
        events = [n for n, line in enumerate(lines) if '"kind":"event","stream":1' in line]
        first, second = events[0], events[1]
        lines[first], lines[second] = lines[second], lines[first]
        self.refused(logs[1], lines)

    def test_cut_off_after_any_line_is_refused(
        self, logs: list[EventLog], lines: list[str]
    ) -> None:
        for end in range(len(lines)):
            assert "cut off" in str(self.refused(logs[1], lines[:end])) or end == 0

    def test_of_another_kind_is_refused(self, logs: list[EventLog], lines: list[str]) -> None:
        for bad in (
            "",
            "{}",
            "null",
            '{"kind":"event"}',
            "[" * 5000,
            '{"kind":"end","streams":1e999,"events":0,"head":""}',
            '{"kind":"stream","stream":1,"id":"\\ud800"}',
            b"\xff\xfe",
            "\ud800",
            lines[0],
            '{"kind":"header","ctxlog_export":2}',
        ):
            assert self.refused(logs[1], [*lines[:3], bad]).line == 4
        assert self.refused(logs[1], ['{"kind":"header","ctxlog_export":2}']).line == 1

    def test_that_is_not_text_is_refused(self, logs: list[EventLog], tmp_path: Path) -> None:
        path = tmp_path / "export.jsonl"
        path.write_bytes(b'{"kind":"header","ctxlog_export":1}\n\xff\n')
        with path.open(encoding="utf-8") as file:
            self.refused(logs[1], file)  # type: ignore[arg-type]

    def test_a_changed_picture_is_refused(self, logs: list[EventLog], lines: list[str]) -> None:
        number = next(n for n, line in enumerate(lines) if '"kind":"blob"' in line)
        record = json.loads(lines[number])
        record["data"] = base64.b64encode(b"another").decode()
        lines[number] = json.dumps(record)
        assert self.refused(logs[1], lines).line == number + 1

    def test_a_valid_chain_over_what_cannot_be_read_is_refused(self, logs: list[EventLog]) -> None:
        for number, (kind, shape, payload) in enumerate(
            (
                ("message_appended", 1, "{}"),
                ("message_appended", 1, "not json"),
                ("message_appended", 3, "not json"),
                ("item_pinned", 1, '{"item":"1","blobs":3}'),
                ("item_pinned", 1, '{"item":"1","blobs":[[["item"],"00",""]]}'),
                ("dream_had", 1, "[" * 200 + "]" * 200),
                ("dream_had", 1, "nan"),
                ("redacted", 1, '{"targets":3}'),
            )
        ):
            with EventLog(logs[0].path.with_name(f"bad{number}.db"), durability="normal") as bad:
                bad.append(KEY, said("one"))
                foreign(bad, KEY, kind, payload, shape)
                assert not verify(bad).ok or kind == "dream_had"
                self.refused(logs[1], exported(bad))

    def test_nothing_of_a_refused_file_stays_in_the_way(
        self, logs: list[EventLog], lines: list[str]
    ) -> None:
        self.refused(logs[1], lines[:-1])
        import_export(logs[1], lines)
        assert verify(logs[1]).ok

    def test_random_mutations_never_give_a_traceback(
        self, logs: list[EventLog], lines: list[str]
    ) -> None:
        generator = random.Random(5)
        small = [n for n, line in enumerate(lines) if len(line) < 5000]
        import_export(logs[2], lines)
        for _ in range(400):
            number = generator.choice(small)
            line = list(lines[number])
            for _ in range(generator.randrange(1, 4)):
                line[generator.randrange(len(line))] = generator.choice('09af"{}[]:,\\u\x00é ')
            try:
                import_export(logs[1], [*lines[:number], "".join(line), *lines[number + 1 :]])
            except CtxlogError:
                continue
            # What a chain does not cover: when a stream was created, an import key, white space.
            streams, ours = rows(logs[1])["streams"], rows(logs[2])["streams"]
            assert [row[:7] for row in streams] == [row[:7] for row in ours]
            assert rows(logs[1])["events"] == rows(logs[2])["events"]
            logs[1].close()
            logs[1] = EventLog(logs[1].path.with_name(f"{number}-{len(streams)}.db"))


class TestExactness:
    """Whatever was said comes back in the same bytes, with the same head."""

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(texts=st.lists(st.text(st.characters(codec=None)), min_size=1, max_size=6))
    def test_any_text_survives(self, tmp_path: Path, texts: list[str]) -> None:
        folder = tmp_path / uuid.uuid4().hex
        with (
            EventLog(folder / "a.db", durability="normal") as source,
            EventLog(folder / "b.db", durability="normal") as target,
        ):
            source.append(KEY, *[said(text) for text in texts])
            import_export(target, exported(source))
            assert rows(target)["events"] == rows(source)["events"]
            assert head(target) == head(source)
            read = [event.data["message"]["content"] for event in target.read(KEY)]
            assert read == texts


IMPORTER = """
import resource, sys
from eventlog import EventLog
from eventlog.transfer import export, import_export
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with EventLog(sys.argv[2], durability="normal") as log:
    with open(sys.argv[1], encoding="ascii") as lines:
        import_export(log, lines)
    with open(sys.argv[1] + ".again", "w", encoding="ascii") as file:
        export(log, file)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


class TestMemory:
    """A log of gigabytes has to pass through a small machine."""

    def test_does_not_grow_with_the_file(self, logs: list[EventLog], tmp_path: Path) -> None:
        text = "x" * 10_000
        for _ in range(10):
            logs[0].append(KEY, *[said(text) for _ in range(1000)])
        path = tmp_path / "big.jsonl"
        with path.open("w", encoding="ascii") as file:
            export(logs[0], file)
        assert path.stat().st_size > 100_000_000
        child = program(IMPORTER, path, tmp_path / "big.db", stdout=subprocess.PIPE)
        output, _ = child.communicate()
        assert child.returncode == 0
        assert int(output) * 1024 < 40_000_000
        assert Path(f"{path}.again").read_bytes() == path.read_bytes()

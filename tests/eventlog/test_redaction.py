"""What was redacted is gone from every byte of the file, and nothing else is."""

from __future__ import annotations

import base64
import io
import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from examples import BARE, FULL
from given import KEY, OTHER, REPOSITORY, said

from eventlog import Draft, EventLog, StreamKey, chain, codec, messages
from eventlog.errors import (
    Busy,
    EventInvalid,
    InputRefused,
    PositionNotFound,
    ReadOnlyLog,
    StreamNotFound,
)
from eventlog.events import (
    Event,
    MessageAppended,
    MessageRevised,
    Redacted,
    SessionForked,
    SessionStarted,
    ToolResultRecorded,
    ToolsDeclared,
)
from eventlog.integrity import head, verify
from eventlog.jsonvalue import Json, dumps, loads
from eventlog.needles import forms
from eventlog.recorded import RecordedEvent
from eventlog.redaction import Target, find_bytes, redact
from eventlog.scrub import Residue, finish_pending, is_pending, scrub
from eventlog.skeleton import REDACTED, skeleton
from eventlog.transfer import export

# Quotes, a newline and an accent: JSON writes it in several ways.
SECRET = 'pässwört "hunter2"\nof the house'
CANARY = "CANARY"
CHILD = StreamKey("ann", "coder", "child")


@pytest.fixture
def log(tmp_path: Path) -> EventLog:
    log = EventLog(tmp_path / "log.db", durability="normal")
    log.append(KEY, SessionStarted(title="s1"), said("one"), said(SECRET), said("three"))
    return log


def residue(log: EventLog, needle: str = SECRET) -> set[str]:
    """Where any form of a text still is: looked for without the code under test."""
    secret = needle.encode()
    once = json.dumps(needle, ensure_ascii=False)[1:-1].encode()
    plain = {secret, once, json.dumps(needle)[1:-1].encode(), json.dumps(once.decode()).encode()}
    found = set()
    for suffix in ("", "-wal", "-shm"):
        path = log.path.with_name(log.path.name + suffix)
        # In another process: a descriptor of the open file, closed here, would drop SQLite's locks.
        data = subprocess.run(["cat", str(path)], capture_output=True).stdout
        if any(form in data for form in plain):
            found.add("plain" + suffix)
        for shift in range(3):
            text = base64.b64encode(b"x" * shift + secret)[4:-4]
            if text in data:
                found.add("base64" + suffix)
    return found


class TestRedact:
    """Erasing is the one change that the log allows, and it must leave everything else standing."""

    def test_the_event_reads_as_its_skeleton_and_the_rest_as_before(self, log: EventLog) -> None:
        before = list(log.read(KEY))
        result = redact(log, [Target(KEY, 3)], stream=KEY, item="3", reason="a secret", by="ann")
        after = list(log.read(KEY))
        assert result.position == 5
        assert result.erased == (Target(KEY, 3),)
        assert [e.payload for e in after[:2]] == [e.payload for e in before[:2]]
        assert after[2].erased
        assert after[2].data["message"] == {"role": "user", "content": REDACTED}
        assert [e.chain for e in after[:4]] == [e.chain for e in before]

    def test_the_event_that_says_so_holds_who_and_why_and_the_skeleton(self, log: EventLog) -> None:
        [erased] = [e for e in log.read(KEY) if e.position == 3]
        hashes = {Target(KEY, 3): {"9": "0d"}}
        redact(log, [Target(KEY, 3)], stream=KEY, reason="r", by="ann", entry_hashes=hashes)
        event = list(log.read(KEY))[-1].event
        assert isinstance(event, Redacted)
        assert (event.reason, event.by) == ("r", "ann")
        [target] = event.targets
        assert (target.position, target.stream) == (3, "")
        assert target.event_id == erased.event_id.hex()
        assert target.entry_hashes == Json({"9": "0d"})

    def test_the_head_changes_by_the_appended_event_alone(self, log: EventLog) -> None:
        redact(log, [Target(KEY, 3)], stream=KEY)
        assert verify(log).ok
        last = list(log.read(KEY))[-1]
        assert head(log) == chain.head([(KEY, 5, last.chain)])

    def test_of_an_inherited_event_erases_it_in_every_fork(self, log: EventLog) -> None:
        log.fork(CHILD, KEY, 3)
        result = redact(log, [Target(CHILD, 3)], stream=CHILD)
        assert result.erased == (Target(KEY, 3),)
        for stream in (KEY, CHILD):
            assert next(log.read(stream, after=2)).erased
        event = list(log.read(CHILD))[-1].event
        assert isinstance(event, Redacted)
        assert event.targets[0].stream == str(KEY)
        assert verify(log).ok

    def test_a_second_time_changes_nothing_and_says_so(self, log: EventLog) -> None:
        redact(log, [Target(KEY, 3)], stream=KEY)
        before = head(log)
        result = redact(log, [Target(KEY, 3), Target(KEY, 3)], stream=KEY)
        assert (result.position, result.erased) == (None, ())
        assert result.already == (Target(KEY, 3),)
        assert head(log) == before

    def test_one_event_named_by_two_streams_is_erased_once(self, log: EventLog) -> None:
        log.fork(CHILD, KEY, 4)
        result = redact(log, [Target(KEY, 3), Target(CHILD, 3), Target(KEY, 4)], stream=KEY)
        assert result.erased == (Target(KEY, 3), Target(KEY, 4))
        assert verify(log).ok

    def test_is_all_or_nothing(self, log: EventLog) -> None:
        before = head(log)
        with pytest.raises(PositionNotFound):
            redact(log, [Target(KEY, 3), Target(KEY, 9)], stream=KEY)
        with pytest.raises(StreamNotFound):
            redact(log, [Target(KEY, 3)], stream=OTHER)
        assert head(log) == before
        assert not any(e.erased for e in log.read(KEY))
        assert not is_pending(log)

    def test_of_a_redaction_or_of_a_forks_beginning_is_refused(self, log: EventLog) -> None:
        log.fork(CHILD, KEY, 2)
        redact(log, [Target(KEY, 3)], stream=KEY)
        for target in (Target(CHILD, 3), Target(KEY, 5)):
            with pytest.raises(InputRefused, match="cannot be read without it"):
                redact(log, [target], stream=KEY)

    def test_on_a_log_that_is_open_for_reading_is_refused(self, log: EventLog) -> None:
        with EventLog(log.path, read_only=True) as reader, pytest.raises(ReadOnlyLog):
            redact(reader, [Target(KEY, 3)], stream=KEY)

    def test_a_picture_goes_with_its_last_reference(self, log: EventLog) -> None:
        data = base64.b64encode(random.Random(1).randbytes(30_000)).decode()
        source = {"type": "base64", "media_type": "image/png", "data": data}
        message = {"role": "user", "content": [{"type": "image", "source": source}]}
        picture = MessageAppended(dialect="anthropic", source="human", message=message)
        log.append(KEY, picture, picture)
        assert redact(log, [Target(KEY, 5)], stream=KEY).blobs == 0
        assert next(log.read(KEY, after=5)).data["message"] == message
        assert redact(log, [Target(KEY, 6)], stream=KEY).blobs == 1
        assert verify(log).ok

    def test_an_append_repeated_after_it_stays_erased(self, log: EventLog) -> None:

        draft = Draft(said(SECRET), id=uuid.uuid4())
        where = log.append(OTHER, draft)
        redact(log, [Target(OTHER, where.first)], stream=OTHER)
        assert log.append(OTHER, draft).repeated
        assert next(log.read(OTHER)).erased


class Texts:
    """A derived table that holds text, as a full-text index does."""

    name = "texts"
    version = 1

    def create(self, connection: sqlite3.Connection) -> None:
        connection.execute("drop table if exists texts_kept")
        connection.execute("create virtual table texts_kept using fts5 (text)")

    def apply(self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]) -> bool:
        connection.executemany("insert into texts_kept values (?)", [(e.payload,) for e in events])
        return True

    def forget(self) -> None:
        """Nothing is kept in memory."""


class Elsewhere(Texts):
    """The same, with a table whose name says nothing of whose it is."""

    name = "elsewhere"


class TestScrub:
    """Redaction that leaves the bytes in the file is a lie: they come back from a stale page."""

    def test_leaves_no_form_of_the_text_in_any_file(self, log: EventLog) -> None:
        wrapped = [base64.b64encode(b"x" * n + SECRET.encode()).decode() for n in range(3)]
        call = {"id": "c", "type": "function", "function": {"name": "f"}}
        call["function"]["arguments"] = json.dumps({"text": SECRET})  # type: ignore[index]
        log.append(
            KEY,
            *[said(text) for text in wrapped],
            said(json.dumps(json.dumps(SECRET))),
            MessageAppended(
                dialect="openai_chat",
                source="model",
                message={"role": "assistant", "content": None, "tool_calls": [call]},
            ),
        )
        assert residue(log) == {"plain", "base64"} or residue(log) == {"plain-wal", "base64-wal"}
        copies = find_bytes(log, SECRET)
        assert [copy.position for copy in copies] == [3, 5, 6, 7, 8, 9]
        redact(log, [Target(c.stream, c.position) for c in copies], stream=KEY)
        assert residue(log) != set()  # what a redaction alone leaves behind
        result = scrub(log, [SECRET])
        assert (result.complete, result.found, result.copies) == (True, (), ())
        assert residue(log) == set()
        assert find_bytes(log, SECRET) == []
        assert verify(log).ok
        file = io.StringIO()
        export(log, file)
        assert not any(form.decode() in file.getvalue() for form in forms(SECRET))

    def test_removes_what_lies_in_free_pages(self, log: EventLog) -> None:
        careless = sqlite3.connect(log.path, isolation_level=None)
        careless.execute("pragma secure_delete = off")
        careless.execute("create table notes (text text)")
        careless.execute("insert into notes values (?)", (SECRET * 200,))
        careless.execute("drop table notes")
        careless.execute("pragma wal_checkpoint(truncate)")
        careless.close()
        redact(log, [Target(KEY, 3)], stream=KEY)
        assert "plain" in residue(log)
        assert scrub(log, [SECRET]).complete
        assert residue(log) == set()

    def test_is_pending_from_the_redaction_until_it_is_done(self, log: EventLog) -> None:
        assert not is_pending(log)
        redact(log, [Target(KEY, 3)], stream=KEY)
        assert is_pending(log)
        assert scrub(log).complete
        assert not is_pending(log)

    def test_names_where_a_text_still_is_and_which_events_hold_it(self, log: EventLog) -> None:
        log.append(KEY, said(f"you said {SECRET}"))
        redact(log, [Target(KEY, 3)], stream=KEY)
        result = scrub(log, [SECRET])
        assert result.found == (Residue("log.db", "json"),)
        assert [copy.position for copy in result.copies] == [5]
        assert result.complete  # no scrub removes what events hold

    def test_stays_pending_when_bytes_are_left_that_no_event_holds(self, log: EventLog) -> None:
        with log.writing() as db:
            db.execute("create table notes (text text)")
            db.execute("insert into notes values (?)", (SECRET,))
        redact(log, [Target(KEY, 3)], stream=KEY)
        result = scrub(log, [SECRET])
        assert not result.complete
        assert result.found == (Residue("log.db", "text"),)
        assert is_pending(log)

    def test_of_an_empty_text_is_refused_before_anything_is_done(self, log: EventLog) -> None:
        with pytest.raises(InputRefused, match="empty"):
            scrub(log, [""])

    def test_says_busy_while_a_reader_holds_the_old_pages(self, log: EventLog) -> None:
        redact(log, [Target(KEY, 3)], stream=KEY)
        reader = sqlite3.connect(log.path, isolation_level=None)
        reader.execute("begin")
        reader.execute("select count(*) from events").fetchone()
        log._ready().execute("pragma busy_timeout = 50")
        log.append(KEY, said("later"))
        with pytest.raises(Busy):
            scrub(log)
        assert is_pending(log)
        reader.close()
        assert scrub(log).complete

    def test_makes_derived_tables_anew(self, tmp_path: Path) -> None:
        with EventLog(tmp_path / "log.db", derived=[Texts()], durability="normal") as log:
            log.append(KEY, said("one"), said(SECRET))
            redact(log, [Target(KEY, 2)], stream=KEY)
            assert "hunter2" in str(log._ready().execute("select * from texts_kept").fetchall())
            scrub(log)
            assert residue(log, "hunter2") == set()
            log.append(KEY, said("two"))
            rows = log._ready().execute("select text from texts_kept").fetchall()
            assert len(rows) == 4
            assert rows[1][0] == list(log.read(KEY))[1].payload

    def test_a_table_that_is_behind_is_brought_up_before_the_text_goes(
        self, tmp_path: Path
    ) -> None:
        with EventLog(tmp_path / "log.db", durability="normal") as log:
            log.append(KEY, said("one"), said(SECRET))
        with EventLog(tmp_path / "log.db", derived=[Texts()]) as log:
            redact(log, [Target(KEY, 2)], stream=KEY)
            assert len(log._ready().execute("select * from texts_kept").fetchall()) == 3

    def test_finds_the_tables_of_one_that_is_not_open_by_their_name(self, tmp_path: Path) -> None:
        with EventLog(tmp_path / "log.db", derived=[Texts()], durability="normal") as log:
            log.append(KEY, said("one"), said(SECRET))
        with EventLog(tmp_path / "log.db") as log:
            redact(log, [Target(KEY, 2)], stream=KEY)
            assert scrub(log).complete
            assert residue(log, "hunter2") == set()
        with EventLog(tmp_path / "log.db", derived=[Texts()]) as log:
            log.append(KEY, said("two"))
            assert len(log._ready().execute("select * from texts_kept").fetchall()) == 4

    def test_leaves_a_table_that_it_cannot_find_to_who_knows_it(self, tmp_path: Path) -> None:
        with EventLog(tmp_path / "log.db", derived=[Elsewhere()], durability="normal") as log:
            log.append(KEY, said("one"), said(SECRET))
        with EventLog(tmp_path / "log.db") as log:
            redact(log, [Target(KEY, 2)], stream=KEY)
            result = scrub(log)
            assert (result.complete, result.unknown) == (False, ("elsewhere",))
            assert not finish_pending(log)
            assert finish_pending(log, derived=[Elsewhere()])
            assert residue(log, "hunter2") == set()


class TestFinishPending:
    """A scrub that was killed must not be forgotten."""

    def test_does_nothing_when_nothing_is_pending(self, log: EventLog) -> None:
        before = log.data_version()
        assert finish_pending(log)
        assert log.data_version() == before

    def test_finishes_what_was_left(self, log: EventLog) -> None:
        redact(log, [Target(KEY, 3)], stream=KEY)
        log.close()
        with EventLog(log.path) as again:
            assert finish_pending(again)
            assert residue(again) == set()
            assert not is_pending(again)

    def test_never_fails_and_hardly_waits(self, log: EventLog) -> None:
        redact(log, [Target(KEY, 3)], stream=KEY)
        with EventLog(log.path, read_only=True) as reader:
            assert not finish_pending(reader)
        holder = sqlite3.connect(log.path, isolation_level=None)
        holder.execute("begin")
        holder.execute("select count(*) from events").fetchone()
        log.append(KEY, said("later"))
        began = time.monotonic()
        assert not finish_pending(log)
        assert time.monotonic() - began < 25
        holder.close()
        assert finish_pending(log)


VICTIM = """
import sys
from eventlog import EventLog, StreamKey
from eventlog.redaction import Target, redact
from eventlog.scrub import scrub
key = StreamKey("ann", "coder", "s1")
log = EventLog(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
redact(log, [Target(key, n) for n in range(2, 40)], stream=key, reason="r")
scrub(log)
"""


class TestKilledInTheMiddle:
    """kill -9 at any instant: the text is there as before, or erased; the next open finishes."""

    def trials(self, folder: Path, count: int, seed: int) -> dict[bool, int]:
        generator = random.Random(seed)
        outcomes = {True: 0, False: 0}
        for number in range(count):
            path = folder / f"{number}.db"
            with EventLog(path, durability="normal") as log:
                log.append(KEY, SessionStarted(), *[said(SECRET * 50)] * 38, *[said("kept")] * 22)
                before = [event.payload for event in log.read(KEY)]
            child = subprocess.Popen(
                [sys.executable, "-c", VICTIM, str(path)],
                cwd=REPOSITORY,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert child.stdout is not None
            assert child.stdin is not None
            with child:
                assert child.stdout.readline() == b"ready\n"
                child.stdin.write(b"\n")
                child.stdin.flush()
                time.sleep(generator.uniform(0, 0.05))
                child.send_signal(signal.SIGKILL)
            with EventLog(path) as log:
                assert verify(log).ok
                erased = [event.position for event in log.read(KEY) if event.erased]
                said_so = [event.position for event in log.read(KEY, types=["redacted"])]
                assert (erased, said_so) in (([], []), (list(range(2, 40)), [62]))
                assert finish_pending(log)
                assert not is_pending(log)
                if erased:
                    assert residue(log) == set()
                else:
                    assert [event.payload for event in log.read(KEY)] == before
                outcomes[bool(erased)] += 1
        return outcomes

    def test_it_is_all_or_nothing(self, tmp_path: Path) -> None:
        self.trials(tmp_path, 8, seed=3)

    @pytest.mark.slow
    def test_it_is_all_or_nothing_fifty_times(self, tmp_path: Path) -> None:
        outcomes = self.trials(tmp_path, 50, seed=4)
        assert min(outcomes.values()) > 0  # or the kills came too early, or too late


class TestFindBytes:
    """Erasing one place is little use when the text was quoted elsewhere."""

    def test_finds_each_form_and_nothing_else(self, log: EventLog) -> None:
        log.append(
            OTHER,
            said("password of the house"),
            said(base64.urlsafe_b64encode(b"??>" + SECRET.encode()).decode()),
            ToolResultRecorded(tool_call_id="c", dialect="openai_chat", content=f"> {SECRET} <"),
        )
        found = find_bytes(log, SECRET)
        assert [(c.stream, c.position, c.type) for c in found] == [
            (KEY, 3, "message_appended"),
            (OTHER, 2, "message_appended"),
            (OTHER, 3, "tool_result_recorded"),
        ]

    def test_finds_it_inside_a_binary_part(self, log: EventLog) -> None:
        document = base64.b64encode(b"text " * 5000 + SECRET.encode()).decode()
        message = {"role": "user", "content": [{"type": "document", "data": document}]}
        log.append(OTHER, MessageAppended(dialect="anthropic", source="human", message=message))
        assert (OTHER, 1, "message_appended") in find_bytes(log, SECRET)

    def test_does_not_find_erased_text(self, log: EventLog) -> None:
        redact(log, [Target(KEY, 3)], stream=KEY)
        assert find_bytes(log, SECRET) == []


class TestForms:
    """A form that is not looked for is a copy that is not found."""

    @pytest.mark.parametrize("length", range(5, 12))
    @pytest.mark.parametrize("before", range(3))
    @pytest.mark.parametrize("behind", range(3))
    def test_base64_is_found_at_every_alignment(
        self, length: int, before: int, behind: int
    ) -> None:
        needle = "secret-token"[:length]
        text = base64.b64encode(b"\xff" * before + needle.encode() + b"\xfe" * behind)
        assert any(form in text for form in forms(needle))

    def test_ascii_text_has_few_forms(self) -> None:
        assert {name for name in forms("hunter2").values()} == {"text", "base64 of text"}


# What stays of an event: names, ids, references and numbers. Everything else is text.
KEPT = {
    "ownership parent_session parent_call format importer_version foreign_session_id cleared",
    "dialect source label call after tool_call_id name is_error duration_ms item kind pass_id",
    "implied inferred covered layout by trigger pre_tokens post_tokens summarizer fell_back_from",
    "opaque result target task_type to model tools strategy server_edited request_digest manifest",
    "response_id finish_reason status rule dropped renamed call_ids calls_missed file line offset",
    "usage origin inserted messages items kept reply_id outcome mode verdict has_effects groups",
    "how size modified_ns is_whole template role version importance is_explicit area sources",
    "supersedes memory section of of_id memories profile asked embedder dimension left_out",
    "is_renewed",
}
KEPT_FIELDS = {name for line in KEPT for name in line.split()}
DEEP = {
    "by": {"name"},
    "summarizer": {"model", "shown", "usage"},
    "origin": {"records"},
    "usage": {"input", "cached", "cache_write", "output", "reasoning"},
}
ERASABLE = [e for e in (*FULL, *BARE) if not isinstance(e, Redacted | SessionForked)]


def filled(value: Any) -> Any:
    """A canary in every text and every key inside a value."""
    if isinstance(value, str):
        return CANARY + value
    if isinstance(value, dict):
        kept = {name: value[name] for name in ("role", "type") if name in value}
        return {**{CANARY + k: filled(v) for k, v in value.items() if k not in kept}, **kept}
    if isinstance(value, list):
        return [*map(filled, value), CANARY]
    return value


def _said(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return [CANARY] if isinstance(value, list) else CANARY


def canaried(event: Event) -> Event:
    """The event with a canary in all of its text fields."""
    payload = loads(codec.encode(event).payload)
    for name, value in payload.items():
        if name == "reason" and event.type == "compaction_declined":
            continue
        if name == "tasks":
            payload[name] = [{**t, "title": CANARY, "note": CANARY} for t in value]
        elif name in ("entities", "relations"):
            payload[name] = [dict.fromkeys(each, CANARY) for each in value]
        elif name in ("experience", "summary"):
            payload[name] = {key: _said(held) for key, held in value.items()}
        elif name == "partial":
            value["message"] = filled(value["message"])
        elif name not in KEPT_FIELDS:
            payload[name] = filled(value)
        elif name in DEEP and isinstance(value, dict):
            for inner in value.keys() - DEEP[name]:
                value[inner] = filled(value[inner])
            if "usage" in value:
                value["usage"]["provider"] = {CANARY: CANARY}
    for each in payload.get("messages", ()):
        each["message"] = filled(each["message"])
    for each in payload.get("inserted", ()):
        each["message"]["message"] = filled(each["message"]["message"])
    decoded = codec.decode(event.type, event.schema_version, event.critical, dumps(payload))
    return decoded  # type: ignore[return-value]


class TestSkeleton:
    """What is left must fold, count and render as the event did, and say none of its text."""

    def test_every_type_is_among_the_examples(self) -> None:
        assert {type(event) for event in (*FULL, *BARE)} == set(codec.CLASSES.values())

    @pytest.mark.parametrize("event", ERASABLE, ids=lambda e: e.type)
    def test_decodes_as_its_own_type_and_keeps_no_text(self, event: Event) -> None:
        changed = canaried(event)
        left = skeleton(changed)
        assert CANARY not in dumps(left)
        decoded = codec.decode(event.type, event.schema_version, event.critical, dumps(left))
        assert type(decoded) is type(event)
        assert skeleton(decoded) == left  # type: ignore[arg-type]

    @pytest.mark.parametrize("event", ERASABLE, ids=lambda e: e.type)
    def test_keeps_what_a_fold_a_manifest_and_a_count_read(self, event: Event) -> None:
        payload, left = loads(codec.encode(event).payload), skeleton(event)
        deep = {*DEEP, "inserted", "messages"}
        for name in payload.keys() & KEPT_FIELDS - deep:
            assert left[name] == payload[name], name
        for name in payload.keys() & DEEP.keys():
            if not isinstance(payload[name], dict):
                continue  # who gave a title is a name of a person
            for inner in payload[name].keys() & DEEP[name] - {"usage"}:
                assert left[name][inner] == payload[name][inner]
        for name in ("inserted", "messages"):
            assert len(left.get(name, ())) == len(payload.get(name, ()))

    def test_an_example_was_really_filled(self) -> None:
        assert all(
            CANARY in codec.encode(canaried(e)).payload
            for e in FULL
            if isinstance(e, MessageAppended | ToolsDeclared | MessageRevised)
        )

    def test_of_a_redaction_or_a_forks_beginning_does_not_exist(self) -> None:
        for event in (*FULL, *BARE):
            if isinstance(event, Redacted | SessionForked):
                with pytest.raises(EventInvalid):
                    skeleton(event)

    def test_of_an_unknown_type_is_empty(self) -> None:
        unknown = codec.UnknownEvent("dream_had", 1, False, '{"text":"x"}')
        assert skeleton(unknown) == {}


ANSWERS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": (
        "openai_chat",
        {
            "role": "assistant",
            "content": CANARY,
            "reasoning_content": CANARY,
            "audio": {"id": "a", "data": CANARY},
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": CANARY}},
                {"id": "c2", "type": "custom", "custom": {"name": "g", "input": CANARY}},
            ],
        },
    ),
    "chat without text": (
        "openai_chat",
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
    ),
    "chat in parts": (
        "openai_chat",
        {
            "role": "user",
            "name": CANARY,
            "content": [
                {"type": "text", "text": CANARY},
                {"type": "image_url", "image_url": {"url": CANARY}},
            ],
        },
    ),
    "chat, old": (
        "openai_chat",
        {"role": "assistant", "function_call": {"name": "f", "arguments": CANARY}},
    ),
    "chat tool": (
        "openai_chat",
        {"role": "tool", "tool_call_id": "c1", "name": "f", "content": CANARY},
    ),
    "anthropic": (
        "anthropic",
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": CANARY, "signature": CANARY},
                {"type": "text", "text": CANARY, "citations": [CANARY]},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {CANARY: CANARY}},
            ],
        },
    ),
    "anthropic results": (
        "anthropic",
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "is_error": True,
                    "content": [{"type": "text", "text": CANARY}],
                },
                {"type": "text", "text": CANARY},
                CANARY,
            ],
        },
    ),
    "anthropic text": ("anthropic", {"role": "system", "content": CANARY}),
    "responses": (
        "openai_responses",
        {
            "items": [
                {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": CANARY},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": CANARY, "annotations": [CANARY]}],
                },
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": CANARY},
                {"type": "custom_tool_call", "call_id": "c2", "name": "g", "input": CANARY},
                {"type": "tool_search_call", "call_id": "c3", "arguments": {"query": CANARY}},
                {"type": "web_search_call", "id": "ws", "action": {"query": CANARY}},
            ]
        },
    ),
    "responses question": (
        "openai_responses",
        {"role": "developer", "content": [{"type": "input_text", "text": CANARY}]},
    ),
    "responses shell": (
        "openai_responses",
        {
            "type": "local_shell_call",
            "id": "i",
            "call_id": "c1",
            "status": "completed",
            "action": {"type": "exec", "command": [CANARY], "env": {}},
        },
    ),
    "responses other agent": (
        "openai_responses",
        {"type": "agent_message", "content": [{"type": "input_text", "text": CANARY}]},
    ),
    "responses result": (
        "openai_responses",
        {"type": "function_call_output", "call_id": "c1", "output": CANARY},
    ),
}


class TestASkeletonsMessage:
    """A context with an erased message in it must still be one that the provider accepts."""

    @pytest.mark.parametrize("name", ANSWERS)
    def test_keeps_its_role_its_parts_and_its_calls(self, name: str) -> None:
        dialect, message = ANSWERS[name]
        event = MessageAppended(dialect=dialect, source="model", message=Json(message))  # type: ignore[arg-type]
        left = skeleton(event)["message"]
        assert CANARY not in dumps(left)
        assert messages.role(dialect, left) == messages.role(dialect, message)
        before, after = messages.parts(dialect, message), messages.parts(dialect, left)
        assert len(after) == len(before)
        named = ("call", "result")
        for old, new in zip(before, after, strict=True):
            assert (new.kind in named) == (old.kind in named)
            if old.kind in named:
                assert (new.id, new.name, new.is_error) == (old.id, old.name, old.is_error)
            assert not new.signed

    def test_arguments_stay_readable_as_arguments(self) -> None:
        for name in ("chat", "responses"):
            dialect, message = ANSWERS[name]
            event = MessageAppended(dialect=dialect, source="model", message=Json(message))  # type: ignore[arg-type]
            calls = messages.calls(dialect, skeleton(event)["message"])
            assert json.loads(calls[0].arguments) == {}

    @pytest.mark.parametrize(
        ("dialect", "native"),
        [
            ("anthropic", {"type": "tool_result", "tool_use_id": "t", "content": CANARY}),
            ("openai_responses", {"type": "x_output", "call_id": "t", "output": [CANARY]}),
            ("openai_chat", {"role": "tool", "tool_call_id": "t", "content": CANARY}),
        ],
    )
    def test_a_native_result_keeps_the_call_that_it_answers(
        self, dialect: Any, native: dict[str, Any]
    ) -> None:
        event = ToolResultRecorded(tool_call_id="t", dialect=dialect, native=Json(native))
        left = skeleton(event)["native"]
        [part] = messages.result_parts(dialect, left)
        assert (part.kind, part.id, part.text) == ("result", "t", REDACTED)

    def test_a_patch_changes_no_more_than_it_did(self) -> None:
        for patch in ({"x": CANARY}, {"content": CANARY}, {"content": None, "role": "user"}):
            left = skeleton(MessageRevised(item="2", patch=Json(patch)))["patch"]
            assert left.keys() <= patch.keys()
            assert CANARY not in dumps(left)

    @pytest.mark.parametrize(
        ("dialect", "tools", "left"),
        [
            (
                "openai_chat",
                [{"type": "function", "function": {"name": "f", "description": CANARY}}],
                [{"type": "function", "function": {"name": "f"}}],
            ),
            (
                "anthropic",
                [{"name": "f", "description": CANARY, "input_schema": {"type": CANARY}}],
                [{"name": "f", "input_schema": {"type": "object", "properties": {}}}],
            ),
            (
                "anthropic",
                [{"type": "bash_20250124", "name": "bash"}],
                [{"type": "bash_20250124", "name": "bash"}],
            ),
            (
                "openai_responses",
                [{"type": "function", "name": "f", "parameters": {CANARY: 1}}, {"type": "web"}],
                [
                    {
                        "type": "function",
                        "name": "f",
                        "parameters": {"type": "object", "properties": {}},
                    },
                    {"type": "web"},
                ],
            ),
        ],
    )
    def test_tools_keep_their_names(self, dialect: Any, tools: Any, left: Any) -> None:
        event = ToolsDeclared(dialect=dialect, definitions=Json(tools))
        assert skeleton(event)["definitions"] == left

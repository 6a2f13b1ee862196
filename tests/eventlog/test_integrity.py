"""Whatever happens to the file, verify finds it and says where, or it was harmless."""

from __future__ import annotations

import base64
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eventlog import EventLog, StreamKey, chain, schema
from eventlog.errors import CtxlogError, NotALog, StreamNotFound
from eventlog.events import MessageAppended, SessionStarted, SessionTitled, ToolResultRecorded
from eventlog.integrity import Problem, Verification, head, verify, verify_file
from eventlog.redaction import Target, redact

MAIN = StreamKey("ann", "coder", "main")
CHILD = StreamKey("ann", "coder", "child")
GRANDCHILD = StreamKey("ann", "coder", "grandchild")
OTHER = StreamKey("bob", "coder", "other")

PICTURE = random.Random(1).randbytes(20_000)


def said(text: str) -> MessageAppended:
    message = {"role": "user", "content": text}
    return MessageAppended(dialect="openai_chat", source="human", message=message)


def pictured() -> MessageAppended:
    data = base64.b64encode(PICTURE).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    message = {"role": "user", "content": [{"type": "image", "source": source}]}
    return MessageAppended(dialect="anthropic", source="human", message=message)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions, a fork, a fork of it, an erased event, a picture; closed, in one file."""
    path = tmp_path_factory.mktemp("integrity") / "log.db"
    with EventLog(path, durability="normal") as log:
        log.append(MAIN, SessionStarted(title="main"), said("one"), said("a secret"), said("two"))
        log.append(OTHER, SessionStarted(title="other"), said("elsewhere"), import_key=b"k" * 32)
        log.append(MAIN, pictured())
        log.fork(CHILD, MAIN, 4)
        log.append(CHILD, said("three"), said("four"))
        log.append(MAIN, ToolResultRecorded(tool_call_id="c", dialect="openai_chat", content="x"))
        log.fork(GRANDCHILD, CHILD, 3)
        log.append(GRANDCHILD, said("five"))
        log.append(OTHER, SessionTitled(title="titled"))
        redact(log, [Target(MAIN, 3)], stream=MAIN, reason="a secret")
    return path


@pytest.fixture
def path(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(original, tmp_path / "log.db"))


def verified(path: Path, **options: Any) -> Verification:
    return verify_file(path, **options)


def change(path: Path, *statements: str, values: tuple[Any, ...] = ()) -> None:
    """Write as the owner of the file can: without triggers, and put them back."""
    db = sqlite3.connect(path)
    triggers = db.execute("select name, sql from sqlite_schema where type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"drop trigger {name}")
    for statement in statements:
        db.execute(statement, values if "?" in statement else ())
    for _, sql in triggers:
        db.execute(sql)
    db.commit()
    db.close()


def force(path: Path, statement: str, values: tuple[Any, ...]) -> None:
    """The same past every constraint: through a table definition without any."""
    db = sqlite3.connect(path)
    db.execute("pragma writable_schema = on")
    [(sql,)] = db.execute("select sql from sqlite_schema where name = 'events'").fetchall()
    loose = sql.replace(" strict", "")
    for check in (" check (length(id) = 16)", " check (length(chain) = 32)", " not null"):
        loose = loose.replace(check, "")
    loose = loose.replace(" check (length(erased) = 32)", "")
    triggers = db.execute("select * from sqlite_schema where type = 'trigger'").fetchall()
    db.execute("delete from sqlite_schema where type = 'trigger'")
    db.execute("update sqlite_schema set sql = ? where name = 'events'", (loose,))
    db.commit()
    db.close()
    db = sqlite3.connect(path)
    db.execute(statement, values)
    db.execute("pragma writable_schema = on")
    db.execute("update sqlite_schema set sql = ? where name = 'events'", (sql,))
    db.executemany("insert into sqlite_schema values (?, ?, ?, ?, ?)", triggers)
    db.commit()
    db.close()


def kinds(found: Verification) -> set[str]:
    return {problem.kind for problem in found.problems}


class TestAnUntouchedLog:
    """Without this, a verifier that cries wolf is switched off."""

    def test_has_no_problem_and_counts_what_is_there(self, path: Path) -> None:
        found = verified(path)
        assert found.problems == ()
        assert (found.events, found.streams, found.redactions) == (15, 4, 1)

    def test_has_the_head_that_verify_gives(self, path: Path) -> None:
        with EventLog(path, read_only=True) as log:
            assert verify(log).head == head(log)
            assert verify(log, head=head(log).upper() + "\n").ok

    def test_verifies_while_it_is_open_for_writing_and_written_to(self, path: Path) -> None:
        with EventLog(path) as log:
            seen: list[int] = []

            def write(done: int, total: int) -> None:
                seen.append(done)
                log.append(MAIN, said("meanwhile"))

            assert verify(log, progress=write).ok
            assert seen == [15]
            assert verify(log).events == 16

    def test_of_one_stream_reads_that_stream_and_its_ancestors(self, path: Path) -> None:
        found = verified(path, stream=GRANDCHILD)
        assert found.problems == ()
        # 1-3 are the main session's, 4 the grandchild's own beginning, 5 what was said in it.
        assert (found.events, found.streams) == (5, 3)

    def test_of_one_stream_needs_the_stream(self, path: Path) -> None:
        with pytest.raises(StreamNotFound):
            verified(path, stream="no/such/stream")

    def test_an_empty_log_verifies(self, tmp_path: Path) -> None:
        with EventLog(tmp_path / "empty.db") as log:
            assert verify(log) == Verification(head(log), 0, 0, 0, ())

    def test_the_known_definitions_are_those_of_a_new_file(self, path: Path) -> None:
        db = sqlite3.connect(path)
        assert schema.definitions(db) == schema.expected()
        db.close()


TEXT, BLOB, NUMBER = "text", "blob", "number"

COLUMNS = {
    "sequence": NUMBER,
    "stream": NUMBER,
    "position": NUMBER,
    "id": BLOB,
    "type": TEXT,
    "schema_version": NUMBER,
    "critical": NUMBER,
    "occurred_at": TEXT,
    "recorded_at": NUMBER,
    "salt": BLOB,
    "chain": BLOB,
    "erased": BLOB,
    "payload": TEXT,
}


VALUES = (None, "text", b"bytes", 2**62, -1, -(2**63), 1.5, "\x00", b"", "")
OTHER_VALUES = [
    (column, value)
    for column in COLUMNS
    for value in VALUES
    if column != "sequence" or isinstance(value, int)  # a row's number is nothing else
]


def flipped(kind: str, value: Any, bit: int) -> Any:
    if kind == NUMBER:
        return value ^ (1 << bit % 31)
    data = bytearray(value.encode() if isinstance(value, str) else value)
    data[bit // 8 % len(data)] ^= 1 << (bit % 7)
    return bytes(data) if kind == BLOB else data.decode(errors="surrogateescape")


class TestOneBitOfAnEvent:
    """The promise of the log: no byte of any column of any row changes without being found."""

    @pytest.mark.parametrize("column", COLUMNS)
    def test_is_found_in_every_column(self, path: Path, tmp_path: Path, column: str) -> None:
        db = sqlite3.connect(path)
        rows = db.execute(f"select sequence, {column} from events order by sequence").fetchall()
        db.close()
        generator = random.Random(column)
        for sequence, value in generator.sample(rows, 6):
            stored = (b"\0" * 32 if COLUMNS[column] == BLOB else "2026") if value is None else value
            new = flipped(COLUMNS[column], stored, generator.randrange(256))
            if column in ("sequence", "stream", "position"):  # to a free one: the file has keys
                new = value + 2 ** generator.randrange(5, 40)
            copy = Path(shutil.copy(path, tmp_path / "copy.db"))
            force(copy, f"update events set {column} = ? where sequence = ?", (new, sequence))
            found = verified(copy)
            assert found.problems, (column, sequence, value, new)

    @pytest.mark.parametrize(("column", "value"), OTHER_VALUES, ids=repr)
    def test_a_value_of_another_kind_is_a_problem_and_no_traceback(
        self, path: Path, column: str, value: Any
    ) -> None:
        force(path, f"update or ignore events set {column} = ? where sequence = 4", (value,))
        db = sqlite3.connect(path)
        db.text_factory = bytes
        stored = db.execute(f"select count(*) from events where {column} is ?", (value,)).fetchone()
        db.close()
        unchanged = stored == (0,) or (column in ("occurred_at", "erased") and value is None)
        assert verified(path).ok is unchanged
        verified(path, stream=CHILD)

    def test_text_that_is_not_utf8_is_a_problem(self, path: Path) -> None:
        for column in ("payload", "type", "occurred_at"):
            copy = path.with_name(f"{column}.db")
            shutil.copy(path, copy)
            force(
                copy, f"update events set {column} = cast(? as text) where sequence = 2", (b"\xff",)
            )
            found = verified(copy)
            assert Problem(str(MAIN), 2, column, "holds what is never written there") in (
                found.problems
            )

    def test_is_one_problem_at_its_place(self, path: Path) -> None:
        change(
            path, "update events set payload = replace(payload, 'two', 'owt') where position = 4"
        )
        [problem] = verified(path).problems
        assert problem[:3] == (str(MAIN), 4, "chain")


def rehash(path: Path, position: int, payload: str) -> None:
    """Change an event of the main session and give it the chain value that its bytes deserve."""
    db = sqlite3.connect(path)
    identity = db.execute("select id from streams where row = 1").fetchone()[0]
    [previous] = db.execute(
        "select chain from events where stream = 1 and position = ?", (position - 1,)
    ).fetchone()
    header = db.execute(
        "select id, type, schema_version, critical, occurred_at, recorded_at, salt from events "
        "where stream = 1 and position = ?",
        (position,),
    ).fetchone()
    db.close()
    digest = chain.digest(header[6], payload.encode())
    link = chain.link(previous, identity, position, *header[:6], digest)
    change(
        path,
        f"update events set payload = ?, chain = ? where stream = 1 and position = {position}",
        values=(payload, link),
    )


def swap(path: Path) -> None:
    columns = [c for c in COLUMNS if c not in ("sequence", "stream", "position")]
    pairs = ", ".join(
        f"{c} = (select {c} from old where position = 6 - e.position)" for c in columns
    )
    change(
        path,
        "create temp table old as select * from events where stream = 1 and position in (2, 4)",
        "update events set id = randomblob(16) where stream = 1 and position in (2, 4)",
        f"update events as e set {pairs} where stream = 1 and position in (2, 4)",
    )


def splice(path: Path) -> None:
    """Put an event of another log, with everything that belongs to it, over one of ours."""
    source = path.with_name("source.db")
    with EventLog(source) as log:
        log.append(MAIN, SessionStarted(), said("spliced in"))
    db = sqlite3.connect(source)
    row = db.execute(
        "select id, recorded_at, salt, chain, payload from events where position = 2"
    ).fetchone()
    db.close()
    change(
        path,
        "update events set id = ?, recorded_at = ?, salt = ?, chain = ?, payload = ? "
        "where stream = 1 and position = 2",
        values=row,
    )


def run(*statements: str) -> Callable[[Path], None]:
    return lambda path: change(path, *statements)


def plainly(statement: str) -> Callable[[Path], None]:
    def attack(path: Path) -> None:
        db = sqlite3.connect(path)
        db.execute(statement)
        db.commit()
        db.close()

    return attack


def weakened(path: Path) -> None:
    plainly("drop trigger events_delete")(path)
    body = "before delete on events when 0 begin select 1; end"
    plainly(f"create trigger events_delete {body}")(path)


def transformed(path: Path) -> None:
    from sqlite_utils import Database

    db = Database(path, execute_plugins=False)
    db["events"].transform(drop={"erased"})  # type: ignore[union-attr]
    db.close()


ATTACKS: dict[str, tuple[Callable[[Path], None], str]] = {
    "edit a payload": (
        run('update events set payload = \'{"title":"x"}\' where sequence = 1'),
        "chain",
    ),
    "edit a payload and rehash that row": (
        lambda path: rehash(path, 2, '{"title":"x"}'),
        "chain",
    ),
    "move a byte from payload to salt": (
        run(
            "update events set salt = cast(salt || substr(payload, 1, 1) as blob), "
            "payload = substr(payload, 2) where sequence = 2"
        ),
        "salt",
    ),
    "swap two events": (swap, "chain"),
    "splice an event from another log": (splice, "chain"),
    "delete an event inside": (run("delete from events where sequence = 3"), "gap"),
    "delete one and close the gap": (
        run(
            "delete from events where sequence = 2",
            "update events set sequence = -sequence, position = case stream when 1 then -position "
            "else position end where sequence > 2",
            "update events set sequence = -sequence - 1, position = case stream when 1 "
            "then -position - 1 else position end where sequence < 0",
        ),
        "chain",
    ),
    "delete all events of a stream": (run("delete from events where stream = 4"), "stream"),
    "delete a stream and keep its events": (run("delete from streams where row = 2"), "stream"),
    "rename a stream": (run("update streams set user = 'eve' where row = 2"), "chain"),
    "give a fork another base": (run("update streams set base = 3 where row = 3"), "gap"),
    "give a fork another parent": (run("update streams set parent = 2 where row = 3"), "fork"),
    "make a fork its own parent": (run("update streams set parent = 3 where row = 3"), "fork"),
    "make a fork a root": (
        run("update streams set parent = null, base = 0 where row = 3"),
        "chain",
    ),
    "erase without a redaction": (
        run(
            "update events set erased = zeroblob(32), salt = null, payload = null "
            "where sequence = 2"
        ),
        "redaction",
    ),
    "take the redaction of an erased event away": (run("delete from redactions"), "redaction"),
    "point a redaction at another event": (
        run("update redactions set by_sequence = 1"),
        "redaction",
    ),
    "redact an event that is not erased": (
        run("insert into redactions values (1, 15)"),
        "redaction",
    ),
    "change a picture": (run("update blobs set data = zeroblob(20000)"), "blob"),
    "change the size of a picture": (run("update blobs set size = 1"), "blob"),
    "drop a picture": (run("delete from blobs"), "blob"),
    "drop the reference to a picture": (run("delete from blob_references"), "blob"),
    "add a reference to a picture": (
        run("insert into blob_references select 1, address from blobs"),
        "blob",
    ),
    "change the log's key": (
        run("update meta set value = zeroblob(32) where key = 'log_key'"),
        "blob",
    ),
    "drop a trigger": (plainly("drop trigger events_delete"), "schema"),
    "weaken a trigger": (weakened, "schema"),
    "add a trigger": (
        plainly("create trigger extra after insert on events begin select 1; end"),
        "schema",
    ),
    "add a view of the events": (plainly("create view mine as select * from events"), "schema"),
    "transform the table": (transformed, "schema"),
}


class TestAnAttack:
    """Someone who owns the file changes it, and leaves it as much in order as it can be."""

    @pytest.mark.parametrize("name", ATTACKS)
    def test_is_detected(self, path: Path, name: str) -> None:
        attack, kind = ATTACKS[name]
        attack(path)
        assert kind in kinds(verified(path))

    def test_cut_off_at_the_end_is_seen_only_with_a_kept_head(self, path: Path) -> None:
        with EventLog(path, read_only=True) as log:
            kept = head(log)
        change(
            path,
            "delete from redactions",
            "delete from events where stream = 2 and position = 3",
            "update events set sequence = 14 where sequence = 15",
            "insert into redactions values (3, 14)",
        )
        assert verified(path).ok
        [problem] = verified(path, head=kept).problems
        assert problem.kind == "head"
        assert "cut off" in problem.message

    def test_on_the_whole_file_is_not_detected_without_a_kept_head(self, path: Path) -> None:
        # Nothing inside the file can show this; the documentation says so.
        with EventLog(path, read_only=True) as log:
            kept = head(log)
        path.unlink()
        with EventLog(path) as log:
            log.append(MAIN, SessionStarted(title="a history that never was"))
        assert verified(path).ok
        assert kinds(verified(path, head=kept)) == {"head"}

    def test_of_ordinary_statements_is_refused_by_the_file_itself(self, path: Path) -> None:
        db = sqlite3.connect(path)
        columns = ", ".join(c for c in COLUMNS if c not in ("sequence", "position"))
        again = f"insert or replace into events (sequence, position, {columns}) "
        for statement in (
            "update events set payload = '{}'",
            "update or replace events set sequence = 1 where sequence = 2",
            "delete from events",
            "delete from events where sequence = 15",
            f"{again} select 17, 9, {columns} from events where sequence = 1",
            f"{again} select 16, 9, {columns} from events where sequence = 1",
            f"{again} select 1, 1, {columns} from events where sequence = 1",
            "update streams set user = 'eve'",
            "delete from streams",
            "insert or replace into streams select * from streams",
            "delete from redactions",
            "update redactions set by_sequence = 1",
            "insert or replace into redactions values (3, 1)",
            "update blobs set size = 1",
            "delete from blobs",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="ctxlog:"):
                db.execute(statement)
            db.rollback()
        db.close()
        assert verified(path).ok


def content(path: Path) -> list[Any] | None:
    """Everything that a reader of the log sees; None when it cannot be read."""
    try:
        with EventLog(path, read_only=True) as log:
            found: list[Any] = [(i.key, i.id, i.parent, i.base) for i in log.streams()]
            for key in (MAIN, CHILD, GRANDCHILD, OTHER):
                found += [
                    (
                        e.stream,
                        e.position,
                        e.event_id,
                        e.type,
                        e.occurred_at,
                        e.recorded_at,
                        e.payload,
                    )
                    for e in log.read(key)
                ]
                found += log.headers(key)
            found += [(e.sequence, e.event_id) for e in log.read_all()]
            found += [
                (row[0], log.blob(row[0]))
                for row in log._ready().execute("select address from blob_references")
            ]
            return found
    except CtxlogError:
        return None


def bits(size: int, count: int, seed: int) -> Iterator[tuple[int, int]]:
    generator = random.Random(seed)
    for _ in range(count):
        yield generator.randrange(size), generator.randrange(8)


class TestADamagedFile:
    """A disk that lies: the damage is named or it changed nothing, and never a traceback."""

    def flip(self, path: Path, count: int, seed: int) -> dict[str, int]:
        data = path.read_bytes()
        before = content(path)
        assert before is not None
        outcome = {"detected": 0, "harmless": 0}
        for place, bit in bits(len(data), count, seed):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            path.write_bytes(damaged)
            try:
                detected = bool(verified(path).problems)
            except NotALog:  # the first bytes of the file
                detected = True
            if detected:
                outcome["detected"] += 1
            else:
                outcome["harmless"] += 1
                assert content(path) == before, (place, bit)
        return outcome

    def test_is_detected_or_harmless(self, path: Path) -> None:
        outcome = self.flip(path, 300, seed=7)
        assert outcome["detected"] > 50

    @pytest.mark.slow
    def test_is_detected_or_harmless_three_thousand_times(self, path: Path) -> None:
        self.flip(path, 3000, seed=8)

    @pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
    def test_that_was_cut_short_is_detected(self, path: Path, share: float) -> None:
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])
        assert verified(path).problems

    def test_with_a_ruined_page_still_gives_a_report(self, path: Path) -> None:
        data = bytearray(path.read_bytes())
        for page in range(2, len(data) // 4096):
            damaged = bytearray(data)
            damaged[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
            path.write_bytes(damaged)
            assert verified(path).problems, page

    def test_with_an_index_that_hides_an_event_is_detected(self, path: Path) -> None:
        # The entry (stream 2, position 2) -> row 6 of the unique key; SQLite's quick_check is
        # content with it, and a read of the stream gives another event there.
        entry, forged = b"\4\1\1\1\2\2\6", b"\4\1\1\1\2\2\5"
        data, before = path.read_bytes(), content(path)
        assert data.count(entry) == 1
        path.write_bytes(data.replace(entry, forged))
        assert content(path) != before
        assert "database" in kinds(verified(path))

    def test_with_thousands_of_problems_lists_some_and_counts_the_rest(self, path: Path) -> None:
        with EventLog(path, durability="normal") as log:
            log.append(OTHER, *[said(str(n)) for n in range(1200)])
        change(path, "update events set schema_version = 9 where stream = 2")
        found = verified(path)
        assert len(found.problems) == 1001
        assert "more" in found.problems[-1].message

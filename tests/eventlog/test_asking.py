"""SQL of other people: it reads, it ends, and it is told what is wrong with it."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from given import KEY, plain, program, said

from eventlog import EventLog
from eventlog.asking import TooLong, asked
from eventlog.errors import DamagedLog, InputRefused

ENDLESS = "with recursive t (n) as (select 1 union all select n + 1 from t) select count(*) from t"


@pytest.fixture
def path(log: EventLog) -> Path:
    log.append(KEY, said("a"), said("b\ud800"))
    with log.writing() as db:
        db.execute("create virtual table words using fts5 (text)")
        db.execute("insert into words values ('hello world')")
    return log.path


@pytest.fixture
def log(tmp_path: Path) -> Any:
    with EventLog(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def answer(path: Path, sql: str, **values: Any) -> list[tuple[Any, ...]]:
    with asked(path, sql, values) as found:
        return list(found.rows)


class TestReads:
    """Without it the views are of no use."""

    @pytest.mark.parametrize(
        ("sql", "rows"),
        [
            ("select count(*) from events", [(2,)]),
            ("values (1), (2)", [(1,), (2,)]),
            ("select text from messages_readable where position = 1", [("a",)]),
            ("select * from words where words match 'hello'", [("hello world",)]),
            ("select name from pragma_table_info('words')", [("text",)]),
            ("pragma application_id", [(0x6374786C,)]),
            ("select x'00ff', null, 1.5", [(b"\x00\xff", None, 1.5)]),
        ],
    )
    def test_what_reads(self, path: Path, sql: str, rows: list[tuple[Any, ...]]) -> None:
        assert answer(path, sql) == rows

    def test_values_are_bound(self, path: Path) -> None:
        assert answer(path, "select :a, typeof(:b)", a="'; drop", b=5) == [("'; drop", "integer")]

    def test_half_a_pair_and_broken_bytes_are_no_error(self, path: Path) -> None:
        assert answer(path, "select text from messages_readable where position = 2") == [
            ("b\ud800",)
        ]
        assert answer(path, "select cast(x'61ff' as text)") == [("a�",)]

    def test_a_plan_can_be_asked_for(self, path: Path) -> None:
        assert answer(path, "explain query plan select * from calls_readable")


class TestOnlyReads:
    """Without it a query that was pasted from somewhere changes the log, or reads another file."""

    @pytest.mark.parametrize(
        "sql",
        [
            "delete from events",
            "update events set type = 'x'",
            "insert into meta values ('x', x'')",
            "drop view events_readable",
            "create table x (y)",
            "create temp table x (y)",
            "create view x as select 1",
            "attach '/tmp/other.db' as other",
            "detach main",
            "vacuum",
            "vacuum into '/tmp/ctxlog-evil.db'",
            "begin",
            "savepoint x",
            "reindex",
            "analyze",
            "pragma user_version = 9",
            "pragma query_only = off",
            "pragma journal_mode = delete",
            "pragma writable_schema = on",
            "pragma wal_checkpoint(truncate)",
            "select load_extension('x')",
            "select fts3_tokenizer('simple')",
            "update sqlite_master set sql = ''",
            "insert into words (words) values ('rebuild')",
            "select 1; delete from events",
        ],
    )
    def test_anything_else_is_refused(self, path: Path, sql: str) -> None:
        before = path.read_bytes()
        with pytest.raises(InputRefused):
            answer(path, sql)
        assert path.read_bytes() == before
        assert not Path("/tmp/ctxlog-evil.db").exists()

    def test_a_view_that_does_more_is_refused_too(self, path: Path) -> None:
        with plain(path) as db:
            db.execute("create view sly as select load_extension('x')")
        with pytest.raises(InputRefused, match="load_extension"):
            answer(path, "select * from sly")


class TestTold:
    """Without it a slip of the pen reads like a damaged log."""

    @pytest.mark.parametrize(
        ("sql", "said"),
        [
            ("selec", "syntax error"),
            ("select * from nope", "no such table: nope"),
            ("select nope", "no such column: nope"),
            ("select nope from events", "no such column: nope"),
            ("select 1 limit 'x'", "datatype mismatch"),
            ("select :a", "binding"),
            ("select ?", "has no name"),
            ("", "begins with select"),
            ("-- nothing", "begins with select"),
            ("select zeroblob(2000000000)", "too big"),
            ("select zeroblob(200000000)", "too big"),
            ("select replace(hex(zeroblob(90000)), '00', hex(zeroblob(9000)))", "too big"),
            ("select 'a\x00b'", "null character"),
        ],
    )
    def test_what_is_wrong_with_it(self, path: Path, sql: str, said: str) -> None:
        with pytest.raises(InputRefused, match=said):
            answer(path, sql)

    def test_a_long_name_is_not_told_whole(self, path: Path) -> None:
        with pytest.raises(InputRefused) as refused:
            answer(path, f"select {'n' * 70_000}")
        assert len(str(refused.value)) < 400

    def test_a_number_that_is_too_large_to_bind(self, path: Path) -> None:
        with pytest.raises(InputRefused):
            answer(path, "select :a", a=1 << 70)

    def test_damage_is_damage(self, path: Path, log: EventLog) -> None:
        log.close()
        data = bytearray(path.read_bytes())
        for page in range(2, len(data) // 4096):
            data[page * 4096 : page * 4096 + 16] = b"\xff" * 16
        path.write_bytes(data)
        with pytest.raises(DamagedLog):
            answer(path, "select sum(length(payload)) from events")


class TestEnds:
    """Without it a slip keeps a core busy, and the write-ahead log from being emptied."""

    def test_at_its_time_limit(self, path: Path) -> None:
        started = time.monotonic()
        with pytest.raises(TooLong, match=r"0\.2 s"), asked(path, ENDLESS, seconds=0.2) as found:
            list(found.rows)
        assert time.monotonic() - started < 60

    def test_between_rows_too(self, path: Path) -> None:
        rows = "with recursive t (n) as (select 1 union all select n + 1 from t) select n from t"
        with pytest.raises(TooLong), asked(path, rows, seconds=0.2) as found:
            for _ in found.rows:
                pass

    def test_at_an_interrupt(self, path: Path) -> None:
        asking = program(
            "import sys\n"
            "from pathlib import Path\n"
            "from eventlog.asking import asked\n"
            "print('asked', flush=True)\n"
            "try:\n"
            "    with asked(Path(sys.argv[1]), sys.argv[2]) as found: list(found.rows)\n"
            "except KeyboardInterrupt: sys.exit(42)\n",
            path,
            ENDLESS,
            stdout=subprocess.PIPE,
        )
        assert asking.stdout is not None
        asking.stdout.readline()
        time.sleep(0.3)
        asking.send_signal(signal.SIGINT)
        assert asking.wait(timeout=10) == 42
        asking.stdout.close()

    def test_the_connection_is_closed(self, path: Path, log: EventLog) -> None:
        with asked(path, "select 1") as found:
            cursor: Any = found.rows
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            list(cursor)

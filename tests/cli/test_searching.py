"""The command that people type first when something is lost: what it finds, says and refuses."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from running import ROOT, data, environment, process, run
from small_log import KEY, called, said, small_log

from cli.models_search import HitData, SearchData
from cli.moments import typed_moment
from cli.options import Settings
from cli.output import Output
from cli.render_search import marked, render_search
from cli.safetext import display_width
from cli.searching import TAIL, Asked, searched
from cli.snippets import snippet
from cli.style import Style
from eventlog.errors import InputRefused
from eventlog.events import ContextCompacted
from projections import open_log
from projections.search_index import SearchIndex
from projections.search_query import parse

NOW = datetime(2026, 9, 20, 14, 30, tzinfo=UTC)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


def ids(db: Path, *args: str) -> list[str]:
    result = run("search", *args, "--ids", "-q", "--db", db)
    assert result.exit_code in (0, 1), result.output
    return result.stdout.split()


def held(db: Path) -> int | None:
    with open_log(db) as live:
        return SearchIndex(live).held()


class TestCommand:
    """Whoever lost an order id types it, and wants to know where it went."""

    def test_a_hit_says_where_it_went_and_what_to_type_next(self, db: Path) -> None:
        result = run("search", "ord-77120", "--db", db)
        assert result.exit_code == 0
        [row] = result.stdout.splitlines()
        assert row.startswith(" Σ k1 refunds-0001 4 ")
        assert row.endswith("The order is [ORD-77120].")
        assert "show refunds-0001@4 · " in result.stderr
        assert "why refunds-0001 4" in result.stderr

    def test_nothing_found_is_1_as_with_grep(self, db: Path) -> None:
        result = run("search", "quokka", "--db", db)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == "nothing found\n"

    def test_what_finds_something_is_advised(self, db: Path) -> None:
        for query, advised in (
            ("rder", "'*rder*' finds parts of words too"),
            ('rder "order is" *7120', """all of them: '*rder* *"order is"* *7120*' finds parts"""),
            ('"is order"', "'is order' finds these words in any order"),
        ):
            told = run("search", query, "--db", db)
            assert (told.exit_code, advised in told.stderr) == (1, True), told.stderr
            (typed,) = re.findall(r"('.*') finds", told.stderr)
            assert run("search", *shlex.split(typed), "--db", db).exit_code == 0

    def test_what_several_words_mean_is_said_with_what_they_found(self, db: Path) -> None:
        told = run("search", "order is", "--db", db).stderr
        assert "all 2 words, in any order; '\"order is\"' finds them as a phrase" in told
        told = run("search", "is order", "--db", db).stderr
        assert "all 2 words, in any order\n" in told
        for plain in ("order", '"order is"'):
            assert "in any order" not in run("search", plain, "--db", db).stderr

    def test_what_the_model_does_not_see_any_more_is_proposed_next(self, tmp_path: Path) -> None:
        path = tmp_path / "n.db"
        with open_log(path) as live:
            live.append("a/b/c", said("user", "blue"), ContextCompacted(covered=("1",)))
            live.append("a/b/c", said("user", "blue again"))
        result = run("search", "blue", "--db", path)
        assert [row.split()[0] for row in result.stdout.splitlines()] == ["●", "○"]
        assert "show c@1" in result.stderr
        seen = run("search", "again", "--db", path)
        assert "show c@3" in seen.stderr

    @pytest.mark.parametrize("width", [60, 80, 100])
    def test_beside_a_long_name_there_is_room_for_what_was_found(
        self, tmp_path: Path, width: int
    ) -> None:
        path, name = tmp_path / "l.db", "a-session-with-a-name-of-32-signs"
        with open_log(path) as live:
            live.append(f"a/b/{name}", said("user", "it was the blue one that we lost"))
            live.append("a/b/a-session-with-a-name-of-32-other", said("user", "red"))
        (line,) = run("search", "blue", "--width", str(width), "--db", path).stdout.splitlines()
        assert name[:-5] in line
        assert "[blue] one" in line
        assert ("user" in line) is (width > 60)
        assert len(line) <= width

    @pytest.mark.parametrize("args", [["sessions"], ["search", "order"]])
    def test_an_agent_of_whom_there_is_nothing_is_refused(self, db: Path, args: list[str]) -> None:
        result = run(*args, "--agent", "nobody", "--db", db)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "no session of an agent 'nobody'; there are " in result.stderr
        assert json.loads(run(*args, "--agent", "nobody", "--json", "--db", db).stderr)["error"]

    def test_a_user_of_whom_there_is_nothing_too(self, db: Path) -> None:
        result = run("search", "order", "--user", "nobody", "--db", db)
        assert (result.exit_code, "no session of a user 'nobody'" in result.stderr) == (2, True)

    @pytest.mark.parametrize(
        "query",
        [
            *('"', '""', "*", "**", "NEAR(", "NEAR(a b)", "-", "--", "-a", "a OR", "("),
            *("^a", "a:b", "{a b}", "\0", "a\0b", "\ud800", "\udcff", "\u200b", "\ufffe"),
            *("🔥", "\x1b[31m", "e\u0301"),
            *("x" * 100_000, '"' * 10_000, "*" * 100_000, "中" * 10_000),
            *("word " * 10_000, "(" * 10_000),
        ],
        ids=lambda query: ascii(query[:8]),
    )  # fmt: skip
    def test_no_query_is_wrong_however_odd_or_long(self, db: Path, query: str) -> None:
        result = run("search", "--db", db, "--", query)
        expected = 2 if query == '""' else 1
        assert result.exit_code == (0 if result.stdout else expected)
        assert len(result.stderr) < 500

    def test_a_book_is_no_query(self, db: Path) -> None:
        result = run("search", "--db", db, "--", " ".join(f"w{n}" for n in range(100_000)))
        assert result.exit_code == 2
        assert result.stderr.startswith("ctxlog: 100,000 words at once; at most 1,000 are")

    @pytest.mark.parametrize(
        "query", ["不要", "订单号", "ひらがな", "주문", '"不要 改"', "*quokka*", "=>"]
    )
    def test_what_was_looked_for_as_a_part_is_not_advised_to_be(self, db: Path, query: str) -> None:
        result = run("search", query, "--db", db)
        assert result.exit_code == 1
        assert "nothing found" in result.stderr
        assert "whole words" not in result.stderr

    @pytest.mark.parametrize(("query", "part"), [("订单 quokka", "quokka"), ("订单x", "订单x")])
    def test_beside_a_script_without_words_a_word_is_advised(
        self, db: Path, query: str, part: str
    ) -> None:
        with open_log(db) as live:
            live.append(KEY, said("user", "订单x1 订单 quokkas"))
        assert f"*{part}*' finds parts" in run("search", query, "--db", db).stderr
        result = run("search", "order", "--state", "cut", "--db", db)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "with these filters" in result.stderr

    def test_a_count_is_one_number(self, db: Path) -> None:
        assert run("search", "o*", "--count", "--db", db).stdout == "6\n"
        result = run("search", "quokka", "--count", "--db", db)
        assert (result.exit_code, result.stdout) == (1, "0\n")
        assert data("search", "o*", "--count", "--db", db)["count"] == 6

    def test_what_was_cut_is_told(self, db: Path) -> None:
        result = run("search", "o*", "-n", "2", "--db", db)
        assert len(result.stdout.splitlines()) == 2
        assert "the newest 2 hits; there are more" in result.stderr
        assert data("search", "o*", "-n", "2", "--db", db)["cut"] is True
        whole = data("search", "o*", "-n", "6", "--db", db)
        assert (whole["cut"], whole["count"]) == (False, 6)
        assert len(ids(db, "o*", "-n", "0")) == 6

    def test_every_id_that_it_gives_can_be_shown(self, db: Path) -> None:
        names = ids(db, "*e*", "-n", "0")
        assert len(names) > 10
        for name in names:
            assert run("show", name, "--db", db).exit_code == 0, name

    @pytest.mark.parametrize(
        ("args", "expected"),
        [
            (["tests"], ["refunds-0001@16.0", "refunds-0001@6"]),
            (["go", "--state", "visible"], ["refunds-0001@13@20"]),
            (["tests", "--state", "hidden"], ["refunds-0001@6"]),
            (["FAILED", "refunds-0001@12", "--state", "cleared"], ["refunds-0001@8"]),
            (["wrong", "--state", "rewound"], ["refunds-0001@18"]),
            (["a", "--in", "summary"], ["refunds-0001@16.0"]),
            (["you", "--in", "system,tools"], ["refunds-0001@3"]),
            (["overloaded", "--in", "error"], ["refunds-0001@15"]),
            (["bash", "--tool", "bash", "--in", "input"], ["refunds-0001@6"]),
            (["failed", "--role", "tool"], ["refunds-0001@8"]),
            (["another", "--agent", "bot", "--user", "ann"], ["retry@15"]),
            (["order", "--since", "2026-09-20T14:20"], ["refunds-0001@22"]),
            (["order", "--until", "2026-09-20T14:04:30"], ["refunds-0001@4"]),
            (["order", "--until", "2026-09-19"], []),
            (["order", "retry"], ["retry@4"]),
            (["--", "-n"], []),
        ],
    )
    def test_filters_and_places(self, db: Path, args: list[str], expected: list[str]) -> None:
        more = ["--db", str(db)]
        if args[0] != "--":
            assert ids(db, *args) == expected
        else:
            assert run("search", *more, *args).exit_code == (0 if expected else 1)

    @pytest.mark.parametrize(
        ("args", "says"),
        [
            ([""], "nothing to look for"),
            ([' "" '], "nothing to look for"),
            (["x", "--in", "body"], "there are text, reasoning, input"),
            (["x", "--state", "gone"], "there are visible, cut"),
            (["x", "--since", "soon"], "is no time"),
            (["x", "--until", "99999999999w"], "is no time"),
            (["x", "refunds-0001", "--agent", "bot"], "a session is named"),
            (["x", "-n", "-1"], "limit"),
        ],
    )
    def test_what_cannot_be_meant_is_refused_in_one_line(
        self, db: Path, args: list[str], says: str
    ) -> None:
        result = run("search", *args, "--db", db)
        assert (result.exit_code, result.stdout) == (2, "")
        assert says in result.stderr
        assert len(result.stderr.splitlines()) == 1

    @pytest.mark.parametrize("args", [["x", "no-such"], ["x", "refunds-0001@c99"]])
    def test_a_session_that_is_not_there_is_3(self, db: Path, args: list[str]) -> None:
        assert run("search", *args, "--db", db).exit_code == 3

    @pytest.mark.parametrize(
        "query",
        [
            '"',
            "a OR b",
            "NEAR(a b)",
            "(",
            "*",
            "^x",
            "col:a",
            "{a b}: c",
            "a + b",
            "'; drop table x",
        ],
    )
    def test_no_query_is_an_error_of_the_index(self, db: Path, query: str) -> None:
        with open_log(db) as live:
            list(SearchIndex(live).catch_up())
        assert run("search", query, "--db", db).exit_code in (0, 1)

    def test_a_session_that_was_deleted_is_searched_only_by_its_name(self, db: Path) -> None:
        from eventlog.events import SessionDeleted

        with open_log(db) as live:
            live.append(KEY, SessionDeleted())
        assert ids(db, "overloaded") == []
        assert ids(db, "overloaded", str(KEY)) == ["refunds-0001@15"]


class TestIndex:
    """Filling it must neither stop an agent, nor be needed, nor be lost."""

    def fill(self, db: Path, count: int = TAIL) -> None:
        with open_log(db) as live:
            live.append(KEY, *[said("user", f"filler n{n}") for n in range(count)])

    def test_a_small_log_needs_none(self, db: Path) -> None:
        assert data("search", "order", "--db", db)["unindexed"] == 28
        assert held(db) is None

    def test_a_larger_one_gets_it_and_the_tail_is_read(self, db: Path) -> None:
        self.fill(db)
        assert data("search", "n77", "--db", db)["unindexed"] == 0
        assert held(db) == 28 + TAIL
        self.fill(db, 5)
        answer = data("search", "filler n4", "--db", db)
        assert (answer["unindexed"], answer["count"]) == (5, 2)

    def test_while_somebody_else_writes_it_is_searched_all_the_same(self, db: Path) -> None:
        self.fill(db)
        with open_log(db) as live, live.log.writing():
            result = process("search", "n77", "--ids", "--db", db, home=db.parent)
        assert (result.returncode, result.stdout) == (0, b"refunds-0001@104\n")
        assert b"events are read instead" in result.stderr
        assert held(db) is None

    def test_what_was_read_without_it_in_a_log_that_cannot_be_written_is_told(
        self, db: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.fill(db)
        with open_log(db, read_only=True) as live:
            answer = searched(live, Output(Settings()), Asked("n77"), limit=5)
        assert [hit.ref for hit in answer.hits] == ["104"]
        assert "284 events were read without the index" in capsys.readouterr().err

    def test_rebuild_makes_it_anew_where_there_is_one(self, db: Path) -> None:
        assert data("rebuild", "--db", db)["indexed"] == 0
        self.fill(db)
        ids(db, "n77")
        answer = run("rebuild", "--db", db)
        assert "with the index for search" in answer.stdout
        assert data("rebuild", "--db", db)["indexed"] == 28 + TAIL
        assert held(db) == 28 + TAIL

    def test_a_damaged_one_is_told_and_found_around(self, db: Path) -> None:
        self.fill(db)
        ids(db, "n77")
        with open_log(db) as live, live.log.writing() as connection:
            connection.execute("delete from search_data where id > 1")
        result = run("search", "n77", "--ids", "--db", db)
        assert result.stdout == "refunds-0001@104\n"
        assert "rebuild" in result.stderr
        run("rebuild", "--db", db)
        assert "damaged" not in run("search", "n77", "--db", db).stderr

    def test_a_redaction_takes_its_words_away(self, db: Path) -> None:
        self.fill(db)
        with open_log(db) as live:
            live.append(KEY, said("user", "the swordfishes"))
        ids(db, "swordfishes")
        with open_log(db) as live:
            list(SearchIndex(live).catch_up())
        assert b"swordfishes" in db.read_bytes()
        result = run("redact", "--pattern", "swordfishes", "--yes", "--db", db)
        assert result.exit_code == 0, result.output
        assert ids(db, "swordfishes") == []
        assert held(db) is not None
        for suffix in ("", "-wal", "-shm"):
            path = db.with_name(db.name + suffix)
            assert not path.exists() or b"swordfishes" not in path.read_bytes()

    def test_progress_is_shown_on_a_terminal_and_ctrl_c_keeps_what_is_done(self, db: Path) -> None:
        with open_log(db, durability="normal") as live:
            for _ in range(20):
                live.append(KEY, *[said("user", f"n{n} " + "x y z " * 900) for n in range(500)])
        master, slave = pty.openpty()
        child = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "search", "n77", "--db", str(db)],
            env=environment(db.parent),
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=slave,
        )
        os.close(slave)
        shown = b""
        while b"%" not in shown:
            shown += os.read(master, 100)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=30) == 130
        os.close(master)
        assert b"indexing: " in shown
        reached = held(db)
        assert reached is not None
        assert reached > 0


class TestMoments:
    """People type yesterday, and mean all of it."""

    @pytest.mark.parametrize(
        ("text", "end", "expected"),
        [
            ("2026-09-20", False, "2026-09-20T00:00"),
            ("2026-09-20", True, "2026-09-21T00:00"),
            ("20260920", True, "2026-09-21T00:00"),
            ("today", False, "2026-09-20T00:00"),
            ("Yesterday", True, "2026-09-20T00:00"),
            ("2h", True, "2026-09-20T12:30"),
            ("30m", False, "2026-09-20T14:00"),
            ("1w", False, "2026-09-13T14:30"),
            ("2026-09-20T14:05", True, "2026-09-20T14:05"),
            ("2026-09-20 14:05", False, "2026-09-20T14:05"),
            ("2026-09-20T14:05+02:00", False, "2026-09-20T12:05"),
        ],
    )
    def test_a_moment_is(self, text: str, end: bool, expected: str) -> None:
        at = typed_moment(text, NOW, end=end) / 1e6
        assert datetime.fromtimestamp(at, UTC) == datetime.fromisoformat(expected + "+00:00")

    def test_the_last_day_that_there_is_ends_too(self) -> None:
        whole = typed_moment("9999-12-31", NOW, end=True) - typed_moment("9999-12-31", NOW)
        assert whole == 24 * 60 * 60 * 1_000_000

    @pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "999999w", "10000-01-01", "-2h"])
    def test_what_is_none_is_refused(self, text: str) -> None:
        with pytest.raises(InputRefused):
            typed_moment(text, NOW, end=True)


class TestSnippets:
    """A hit of a megabyte is one line, and the match is in it."""

    def marks(self, query: str, text: str) -> tuple[str, list[str]]:
        found = snippet(parse(query), text)
        return found.text, [found.text[start:end] for start, end in found.marks]

    @pytest.mark.parametrize(
        ("query", "text", "shown", "marks"),
        [
            ("b", "a b c", "a b c", ["b"]),
            ("b c", "c\n\n  b", "c b", ["c", "b"]),
            ('"a b"', "x a\n\tb y", "x a b y", ["a b"]),
            ("strasse", "ß Straße", "ß Straße", ["Straße"]),
            ("aa*", "aab aac", "aab aac", ["aab"[:2], "aac"[:2]]),
            ("*ab* *bc*", "xabcx", "xabcx", ["abc"]),
        ],
    )
    def test_white_space_is_folded_and_every_match_marked(
        self, query: str, text: str, shown: str, marks: list[str]
    ) -> None:
        assert self.marks(query, text) == (shown, marks)

    def test_what_is_long_is_cut_around_the_first_match(self) -> None:
        text, marks = self.marks("needle", "hay " * 10_000 + "needle " + "hay " * 10_000)
        assert text.startswith("…hay hay")
        assert text.endswith("…")
        assert len(text) < 310
        assert marks == ["needle"]

    def test_a_word_that_the_cut_makes_is_none(self) -> None:
        text = "hay" * 30 + " hay " + "x" * 300
        assert self.marks("hay", text)[1] == ["hay"]


class TestRows:
    """A row that is wider than the terminal breaks the table, and a cut escape acts."""

    def row(self, text: str, *marks: tuple[int, int]) -> HitData:
        fields: dict[str, Any] = {
            "key": "a/b/c",
            "ref": "12",
            "item": "12",
            "position": 12,
            "state": "visible",
            "area": "text",
            "role": "user",
            "who": "user",
            "tool": "",
            "happened_at": "2026-09-20T14:05:00.000Z",
            "snippet": text,
            "marks": marks,
        }
        return HitData(**fields)

    @pytest.mark.parametrize("width", [40, 60, 72, 88, 100, 200])
    @pytest.mark.parametrize("style", [Style(), Style(ascii=True)], ids=["plain", "ascii"])
    def test_it_fits(self, width: int, style: Style) -> None:
        style = Style(ascii=style.ascii, width=width)
        for text in ("订单" * 200, "\x1b[2J" * 60, "a " * 300):
            rows = [self.row(text, (50, 54), (56, 58)), self.row(text)]
            search = SearchData(query="q", hits=rows, count=2, cut=False, unindexed=0)
            for line in render_search(search, style, {}):
                assert display_width(line) <= width
                assert "\x1b" not in line
                assert not style.ascii or style.translated(line).isascii()

    def test_a_match_is_in_brackets_or_in_colour(self) -> None:
        row = self.row("the order is", (4, 9))
        assert marked(row, Style(), 40) == "the [order] is"
        assert marked(row, Style(color=True), 40) == "the \x1b[33morder\x1b[0m is"
        assert marked(row, Style(), 12) == "the [order]…"

    def test_where_there_is_little_room_the_match_stays(self) -> None:
        row = self.row("x " * 30 + "needle" + " y" * 90, (60, 66))
        shown = marked(row, Style(), 24)
        assert "[needle]" in shown
        assert display_width(shown) <= 24

    def test_json_has_the_true_text(self, tmp_path: Path) -> None:
        db = tmp_path / "l.db"
        with open_log(db) as live:
            live.append("a/b/c", said("user", "\x1b[2J needle"), called())
        [hit] = data("search", "needle", "--db", db)["hits"]
        assert hit["snippet"] == "\x1b[2J needle"
        assert "\x1b" not in json.dumps(hit)

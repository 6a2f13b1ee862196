"""``diff --prefix`` of a session and of a call: what a provider's cache could have had."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import data, run
from small_log import small_log

from eventlog import Draft, StreamKey
from eventlog.events import MessageAppended, MessageRevised, ModelCalled, ModelResponded, Usage
from harness.importers import import_path
from projections import open_log

NAME = "refunds-0001"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


def billed(folder: Path, *cached: int, minutes: int = 1) -> Path:
    """A session of which every call was billed for 40,000 tokens, so many of them cached."""
    path, key = folder / "billed.db", StreamKey("ann", "bot", "billed")
    with open_log(path) as live:
        for number, tokens in enumerate(cached):
            said = MessageAppended(
                dialect="openai_chat", source="human", message={"role": "user", "content": "on"}
            )
            when = f"2026-09-20T14:{number * minutes:02}:00Z"
            at = live.append(
                key, said, Draft(ModelCalled(model="m", dialect="openai_chat"), occurred_at=when)
            ).last
            usage = Usage(input=9, cached=tokens, cache_write=40_000 - tokens - 9)
            live.append(key, ModelResponded(call=at, usage=usage))
    return path


class TestTable:
    """Without this a person compares requests by hand to find what a cache miss came from."""

    def test_each_call_has_a_row_that_names_what_broke_it(self, db: Path) -> None:
        found = data("diff", NAME, "--prefix", "--db", db)
        assert [row["call"] for row in found["rows"]] == [1, 2, 3, 4]
        causes = [(row["cause"], [one["name"] for one in row["by"]]) for row in found["rows"]]
        assert causes == [
            (None, []), (None, []), ("substitution", ["12"]), ("compaction", ["k1"])
        ]  # fmt: skip
        assert (found["broken"], found["calls"]) == (2, 4)
        assert {one["cause"] for one in found["by_cause"]} == {"substitution", "compaction"}

    def test_what_was_billed_stands_beside_what_is_estimated(self, tmp_path: Path) -> None:
        db = billed(tmp_path, 0, 39_900, 39_950)
        shown = run("diff", "billed", "--prefix", "--db", db).stdout
        assert "billed (3 calls): 79.8k of 120k tokens read from a cache" in shown
        assert "≈ estimated (utf8/4" in shown
        assert "! " not in shown

    def test_a_call_whose_bill_says_otherwise_is_named(self, tmp_path: Path) -> None:
        db = billed(tmp_path, 0, 39_900, 3_000, minutes=20)
        found = data("diff", "billed", "--prefix", "--db", db)
        assert found["contradicted"] == [3]
        shown = run("diff", "billed", "--prefix", "--db", db).stdout
        assert "the bill says that more broke than the log knows of: c3" in shown
        assert "not read: 37.0k of c2, 20 min later" in shown

    def test_time_to_live_is_what_is_said(self, tmp_path: Path) -> None:
        db = billed(tmp_path, 0, 39_900, minutes=6)
        asked = ("diff", "billed", "--prefix", "--db", db)
        assert data(*asked)["broken"] == 0
        assert data(*asked, "--ttl", "300")["rows"][1]["cause"] == "ttl"
        assert "time ran out, 6 min later" in run(*asked, "--ttl", "300").stdout

    def test_without_a_bill_that_is_said_and_no_column_is_empty(self, tmp_path: Path) -> None:
        path = tmp_path / "talk.db"
        with open_log(path) as live:
            live.append(
                StreamKey("ann", "bot", "talk"),
                MessageAppended(
                    dialect="openai_chat", source="human", message={"role": "user", "content": "a"}
                ),
                ModelCalled(model="m", dialect="openai_chat"),
            )
        shown = run("diff", "talk", "--prefix", "--db", path).stdout
        assert "no bill was recorded" in shown
        assert "written" not in shown.replace("re-written", "").replace("rewritten", "")
        assert data("diff", "talk", "--prefix", "--db", path)["billed"] is None

    def test_the_sums_alone(self, db: Path) -> None:
        whole = run("diff", NAME, "--prefix", "--db", db).stdout
        stat = run("diff", NAME, "--prefix", "--stat", "--db", db).stdout
        assert whole.startswith(stat)
        assert "c4" not in stat

    def test_it_leaves_with_one_when_something_broke_and_that_is_asked_for(self, db: Path) -> None:
        assert run("diff", NAME, "--prefix", "--exit-code", "--db", db).exit_code == 1
        assert run("diff", "retry", "--prefix", "--exit-code", "--db", db).exit_code == 0

    def test_of_a_session_without_a_call_that_is_said(self, tmp_path: Path) -> None:
        path = tmp_path / "talk.db"
        (tmp_path / "talk.json").write_text('[{"role": "user", "content": "hello"}]')
        assert run("import", tmp_path / "talk.json", "--db", path).exit_code == 0
        result = run("diff", "last", "--prefix", "--db", path)
        assert (result.exit_code, "has no call" in result.stderr) == (3, True)

    @pytest.mark.parametrize(
        "more",
        [("--anchors",), ("--side-by-side",), ("--word",), ("--ask", "why?", "--model", "m")],
    )
    def test_what_needs_two_contexts_is_refused(self, db: Path, more: tuple[str, ...]) -> None:
        result = run("diff", NAME, "--prefix", *more, "--db", db)
        assert (result.exit_code, "nothing else" in result.stderr) == (2, True)

    def test_a_time_to_live_of_nothing_is_refused(self, db: Path) -> None:
        result = run("diff", f"{NAME}@k1", "--ttl", "300", "--db", db)
        assert (result.exit_code, "--prefix" in result.stderr) == (2, True)
        assert run("diff", NAME, "--prefix", "--ttl", "0", "--db", db).exit_code == 2


class TestOneCall:
    """Without this the table says which call, and nobody where in it."""

    def test_both_texts_around_the_first_difference_and_the_decision(self, db: Path) -> None:
        shown = run("diff", f"{NAME}@c3", "--prefix", "--db", db).stdout
        assert "from character 0:" in shown
        assert "  left  'FAILED 1999" in shown
        assert "  right '[cleared]'" in shown
        assert "c3 held against c2: broken by substitution 12" in shown
        assert "billed" in run("diff", f"{NAME}@c2", "--prefix", "--db", db).stdout

    def test_where_items_differ_both_begin(self, db: Path) -> None:
        found = data("diff", f"{NAME}@c4", "--prefix", "--db", db)["prefix"]
        assert (found["left_ends_at"], found["right_ends_at"]) == ("4", "16.0")
        assert found["left_text"].startswith("Never touch migrations")
        assert found["right_text"].startswith("Summary")
        assert found["call"]["cause"] == "compaction"

    def test_two_calls_that_do_not_follow_have_no_row(self, db: Path) -> None:
        found = data("diff", f"{NAME}@c1", "@c4", "--prefix", "--db", db)
        assert found["prefix"]["call"] is None

    def test_the_common_text_before_it_is_shown(self, tmp_path: Path) -> None:
        path, key = tmp_path / "log.db", StreamKey("ann", "bot", "clock")
        with open_log(path) as live:
            live.append(
                key,
                MessageAppended(
                    dialect="openai_chat",
                    source="injected",
                    message={"role": "system", "content": "Be brief. It is 14:00."},
                ),
                ModelCalled(model="m", dialect="openai_chat"),
                MessageRevised(item="1", patch={"content": "Be brief. It is 14:05."}),
                ModelCalled(model="m", dialect="openai_chat"),
            )
        shown = run("diff", "clock@c2", "--prefix", "--db", path).stdout
        assert "from character 20, behind 'Be brief. It is 14:0':" in shown
        assert "broken by revision 3" in shown


class TestRealSession:
    """Without this the estimates could be anything: the provider's bill is what they answer to."""

    def test_the_breaks_that_the_log_knows_are_those_of_the_bill(
        self, samples: Path, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "log.db") as live:
            import_path(live.log, samples / "claude-code/cc03_compact_2microcompact_v2.1.17.jsonl")
        found = data("diff", "last", "--prefix", "--db", tmp_path / "log.db")
        broken = [row for row in found["rows"] if row["cause"]]
        assert [row["call"] for row in broken] == [45, 75, 101]
        # Of each of them the provider read what it caches of every session: its own system prompt.
        assert {row["billed"]["cached"] for row in broken} == {18_591}
        assert found["read"] / found["held"] > 0.99


class TestUnknownBills:
    """A server that does not tell what it read from its cache has not read nothing from it."""

    def told(self, folder: Path, *usages: Usage) -> Path:
        path, key = folder / "told.db", StreamKey("ann", "bot", "told")
        with open_log(path) as live:
            for usage in usages:
                said = MessageAppended(
                    dialect="openai_chat", source="human", message={"role": "user", "content": "on"}
                )
                at = live.append(key, said, ModelCalled(model="m", dialect="openai_chat")).last
                live.append(key, ModelResponded(call=at, usage=usage))
        return path

    def test_what_is_unknown_is_not_told_as_0(self, tmp_path: Path) -> None:
        db = self.told(tmp_path, *[Usage(input=10_000, output=5)] * 2)
        found = data("diff", "told", "--prefix", "--db", db)
        unknown = {"input": 20_000, "cached": None, "cache_write": None}
        assert (found["billed"], found["cached_calls"], found["contradicted"]) == (unknown, 0, [])
        assert found["rows"][1]["missed"] is None
        shown = run("diff", "told", "--prefix", "--db", db).stdout
        assert "billed (2 calls): 20.0k tokens, and not how many of them were read" in shown
        assert "(0%)" not in shown
        findings = run("audit", "told", "--json", "--db", db).stdout
        assert "could have been read from the cache" not in findings
        call = data("show", "told@c2", "--db", db)["call"]["usage"]
        assert call == {**unknown, "input": 10_000, "output": 5, "reasoning": None}
        shown = run("show", "told@c2", "--db", db).stdout
        assert "billed     input 10,000, output 5\n" in shown
        shown = run("stats", "told", "--db", db).stdout
        assert "input 20.0k, cached -, cache write -, output 10\n" in shown

    def test_a_share_is_of_the_calls_that_tell(self, tmp_path: Path) -> None:
        db = self.told(
            tmp_path, Usage(input=9_000, output=1), Usage(input=1_000, cached=3_000, output=1)
        )
        shown = run("diff", "told", "--prefix", "--db", db).stdout
        assert (
            "3.0k of 4.0k tokens read from a cache (75%) in 1 call of which that was told\n"
            in shown
        )
        assert "cached 3.0k (told of 1)" in run("stats", "told", "--db", db).stdout

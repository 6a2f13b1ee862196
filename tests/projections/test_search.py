"""What was said is found, with what became of it, whoever wrote it and however far the index is."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from given import in_child, plain, program
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st
from random_logs import LOG
from test_search_query import naively

from eventlog import EventLog, Json, StreamKey, events
from eventlog.catching_up import Progress
from eventlog.integrity import verify
from eventlog.redaction import Target, redact
from eventlog.scrub import scrub
from projections import open_log, runs
from projections.force import out_of_force
from projections.live import Live
from projections.search import Hit, Place, Search, Wanted
from projections.search_index import SearchIndex
from projections.search_query import parse
from projections.searchable import item_texts

KEY = StreamKey("local", "agent", "s")
CHILD = StreamKey("local", "agent", "child")
SECRET = "swordfishes"
QUERIES = ("fix", "run", "call_1", "call_1_2", "不要", "revised", "a*", "*x*", "/")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(text: str, role: str = "user", **more: Any) -> events.MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    message = {"role": role, "content": text, **more}
    return events.MessageAppended.model_validate(
        {"dialect": "openai_chat", "source": source, "message": message}
    )


def called(name: str, arguments: str, call_id: str = "x1") -> events.MessageAppended:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return said("", "assistant", tool_calls=[call])


def result(text: str, call_id: str = "x1", name: str = "run") -> events.ToolResultRecorded:
    return events.ToolResultRecorded(
        tool_call_id=call_id, name=name, dialect="openai_chat", content=text
    )


def cleared(item: int, text: str = "[cleared]", kind: str = "cleared") -> events.Event:
    return events.PlaceholderSubstituted.model_validate(
        {"item": str(item), "content": text, "kind": kind, "pass_id": "p"}
    )


def compacted(*covered: int, text: str | None) -> events.ContextCompacted:
    new = events.NewMessage(dialect="openai_chat", message={"role": "user", "content": text})
    return events.ContextCompacted(
        covered=tuple(map(str, covered)), messages=() if text is None else (new,)
    )


def catch_up(live: Live) -> list[Progress]:
    return list(SearchIndex(live).catch_up())


def search(
    live: Live, query: str, *where: StreamKey, at: int | None = None, **filters: Any
) -> list[Hit]:
    keys = where or tuple(info.key for info in live.log.streams())
    places = [
        Place(key, live.log.version(key) if at is None else at, inherited=bool(where))
        for key in keys
    ]
    wanted = Wanted(parse(query), **{k: _filter(v) for k, v in filters.items()})
    return list(Search(live, SearchIndex(live), wanted, places).hits())


def _filter(value: Any) -> Any:
    return frozenset(value) if isinstance(value, list) else value


def found(hits: Iterable[Hit]) -> list[tuple[str, str, int | None]]:
    """Rendition, state, and the decision by its position."""
    return [
        (
            hit.item.rendition if hit.item else str(hit.event.position),
            hit.state,
            hit.by.position if hit.by else None,
        )
        for hit in hits
    ]


TABLE: tuple[events.Event, ...] = (
    events.SessionStarted(title="a table"),
    said("system alpha", "system"),
    said("human beta"),
    events.ModelCalled(model="m", dialect="openai_chat"),
    called("run", '{"path": "gamma.py"}'),  # 5
    events.ModelResponded(call=4),
    result("delta " * 9),
    cleared(7, "delta cut", "cut"),  # 8
    events.ModelCalled(model="m", dialect="openai_chat"),
    said("epsilon", "assistant"),  # 10
    events.ModelResponded(call=9),
    cleared(7),
    compacted(5, 7, 10, text="zeta, and delta"),  # 13: k1
    events.DecisionUndone(target=12),
    events.DecisionUndone(target=13),  # 15
    events.SessionRewound(to=9),
    said("human eta"),
)
"""The table of the design page, to its last line but one."""


class TestStates:
    """Whether the model still sees it is the question that a search is asked for."""

    @pytest.mark.parametrize(
        ("at", "query", "expected"),
        [
            (7, "delta", [("7", "visible", None)]),
            (8, "delta", [("7@8", "visible", None)]),
            (12, "delta", [("7", "cleared", 12)]),
            (12, "gamma.py", [("5", "visible", None)]),
            (13, "delta", [("13.0", "visible", None), ("7", "folded", 13)]),
            (13, "epsilon", [("10", "folded", 13)]),
            (15, "zeta", [("13.0", "undone", 15)]),
            (15, "delta", [("13.0", "undone", 15), ("7@8", "visible", None)]),
            (16, "epsilon", [("10", "rewound", 16)]),
            (17, "human", [("17", "visible", None), ("3", "visible", None)]),
            (17, "table", [("1", "never", None)]),
            (17, "cleared", [("7@12", "replaced", 8)]),
        ],
    )
    def test_at_each_place_of_the_table(
        self, live: Live, at: int, query: str, expected: list[tuple[str, str, int | None]]
    ) -> None:
        live.append(KEY, *TABLE)
        assert found(search(live, query, KEY, at=at)) == expected
        catch_up(live)
        assert found(search(live, query, KEY, at=at)) == expected

    def test_a_cut_says_so_where_only_the_original_holds_it(self, live: Live) -> None:
        live.append(KEY, result("head middle tail"), cleared(1, "head … tail", "cut"))
        assert found(search(live, "middle")) == [("1", "cut", 2)]
        assert found(search(live, "tail")) == [("1@2", "visible", None)]

    def test_a_revision_too_and_what_it_left_alone_is_still_visible(self, live: Live) -> None:
        live.append(KEY, called("run", '{"a": "old"}'), said("go on"))
        live.append(KEY, events.MessageRevised(item="1", patch={"content": "now new"}))
        live.append(KEY, events.MessageRevised(item="2", patch={"content": "go on, carefully"}))
        catch_up(live)
        assert found(search(live, "old new")) == [("1@3", "visible", None)]
        assert found(search(live, "go")) == [("2@4", "visible", None)]
        live.append(KEY, events.MessageRevised(item="2", patch={"content": "stop"}))
        assert found(search(live, "carefully")) == [("2@4", "replaced", 5)]

    def test_what_left_without_a_summary_was_dropped(self, live: Live) -> None:
        live.append(KEY, said("one"), said("two"), compacted(1, text=None))
        live.append(KEY, events.RepairApplied(rule="r", dropped=("2",)))
        assert found(search(live, "one")) == [("1", "dropped", 3)]
        assert found(search(live, "two")) == [("2", "dropped", 4)]

    def test_what_was_folded_and_came_back_is_visible(self, live: Live) -> None:
        live.append(KEY, said("one"), compacted(1, text="s"), events.DecisionUndone(target=2))
        assert found(search(live, "one")) == [("1", "visible", None)]
        live.append(KEY, compacted(1, text=None))
        assert found(search(live, "one")) == [("1", "dropped", 4)]

    def test_of_tools_those_in_force_are_visible(self, live: Live) -> None:
        for number in (1, 2):
            tools = [{"name": f"tool{number}", "description": "Runs it."}]
            live.append(KEY, events.ToolsDeclared(dialect="anthropic", definitions=tools))
        assert found(search(live, "runs")) == [("2", "visible", None), ("1", "replaced", None)]
        live.append(KEY, events.ModelCalled(model="m", dialect="anthropic", tools=1))
        assert found(search(live, "runs")) == [("2", "replaced", None), ("1", "visible", None)]

    def test_behind_an_event_that_nobody_knows_it_is_found_and_its_state_is_unknown(
        self, live: Live
    ) -> None:
        live.append(KEY, said("one word"), said("another word"))
        live.append(CHILD, said("word"))
        with plain(live.log.path) as db:
            db.execute("drop trigger events_update")
            db.execute("update events set type = 'odd', critical = 1 where sequence = 2")
        for _ in range(2):
            hits = search(live, "word")
            assert [(hit.stream, *one) for hit, one in zip(hits, found(hits), strict=True)] == [
                (KEY, "1", "unknown", None),
                (CHILD, "1", "visible", None),
            ]
            catch_up(live)

    @pytest.mark.parametrize(
        "payload",
        ["{word", '{"message": 3}', '{"dialect": "x", "message": {"role": "word"}}', "[]"],
    )
    def test_a_damaged_event_hides_no_other(self, live: Live, payload: str) -> None:
        live.append(KEY, said("a word"), said("one word"), said("another word"))
        with plain(live.log.path) as db:
            db.execute("drop trigger events_update")
            db.execute("update events set payload = ? where sequence = 2", (payload,))
        for _ in range(2):
            names = [name for name, _, _ in found(search(live, "word"))]
            assert names == ["3", "1"]
            catch_up(live)

    @settings(max_examples=25)
    @given_any(log=LOG, at=st.integers(1, 48))
    def test_in_any_log_an_item_left_with_its_event_or_the_last_before_which_it_stood(
        self, log: list[list[events.Event]], at: int
    ) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "l.db") as live:
            for append in log:
                live.append(KEY, *append)
            at = min(at, live.log.version(KEY))
            left: dict[str, int] = {}
            for event in live.log.read(KEY, to=at):
                after = live.view(KEY, event.position).items
                for item in live.view(KEY, event.position - 1).items:
                    if item not in after:
                        left[str(item)] = event.position
            standing = {str(item) for item in live.view(KEY, at).items}
            hits = [hit for query in QUERIES for hit in search(live, query, KEY, at=at)]
            for hit in hits:
                if hit.item is None:
                    continue
                origin = runs.origin(hit.item.id)
                taken_back = out_of_force(live.history(KEY, at)).get(runs.position_of(origin))
                gone = None
                if hit.item.id not in standing:
                    gone = taken_back or left.get(hit.item.id)
                if hit.state in ("folded", "dropped", "rewound", "undone"):
                    assert hit.by is not None
                    assert hit.by.position == gone
                elif hit.state == "never":
                    assert gone is None


class TestFilters:
    """One word stands in a hundred places: a person knows roughly where."""

    @pytest.fixture
    def filled(self, live: Live) -> Live:
        live.append(KEY, said("word", "system"), said("word"), called("edit", '{"x": "word"}'))
        live.append(KEY, result("word"), result("word", "x2", "grep"), said("word", "assistant"))
        return live

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({}, ["6", "5", "4", "3", "2", "1"]),
            ({"roles": ["assistant"]}, ["6", "3"]),
            ({"areas": ["input"]}, ["3"]),
            ({"areas": ["text", "system"]}, ["6", "2", "1"]),
            ({"tools": ["edit"]}, ["3"]),
            ({"tools": ["grep"], "areas": ["output"]}, ["5"]),
            ({"states": ["folded"]}, []),
            ({"since": 2**62}, []),
            ({"until": 2**62}, ["6", "5", "4", "3", "2", "1"]),
        ],
    )
    def test_each_leaves_what_it_says(
        self, filled: Live, filters: dict[str, Any], expected: list[str]
    ) -> None:
        assert [name for name, _, _ in found(search(filled, "word", **filters))] == expected

    def test_the_tool_of_a_result_is_known_where_only_its_call_names_it(self, live: Live) -> None:
        block = {"type": "tool_use", "id": "toolu_9", "name": "Bash", "input": {"command": "ls"}}
        answer = {"role": "assistant", "content": [block]}
        live.append(
            KEY,
            events.MessageAppended.model_validate(
                {"dialect": "anthropic", "source": "model", "message": answer}
            ),
            *[said(f"between {n}") for n in range(99)],
            events.ToolResultRecorded(
                tool_call_id="toolu_9", dialect="anthropic", content="listing"
            ),
        )
        [hit] = search(live, "listing", tools=["Bash"])
        assert hit.text.tool == "Bash"
        assert search(live, "listing", tools=["Read"]) == []

    def test_all_words_must_stand_in_what_is_asked_for(self, filled: Live) -> None:
        assert found(search(filled, "edit word")) == [("3", "visible", None)]
        assert search(filled, "edit word", areas=["text"]) == []


class TestForks:
    """A conversation that was tried five times would show each hit five times."""

    def test_a_hit_is_shown_once_by_the_session_that_owns_it(self, live: Live) -> None:
        live.append(KEY, said("shared word"), said("word of the parent"))
        live.log.fork(CHILD, KEY, 1)
        live.append(CHILD, said("word of the child"))
        for _ in range(2):
            hits = search(live, "word")
            assert [(hit.stream, hit.event.position) for hit in hits] == [
                (KEY, 2),
                (KEY, 1),
                (CHILD, 3),
            ]
            catch_up(live)

    def test_its_state_is_that_in_its_own_session_or_in_the_one_asked(self, live: Live) -> None:
        live.append(KEY, said("shared word"))
        live.log.fork(CHILD, KEY, 1)
        live.append(KEY, compacted(1, text="s"))
        catch_up(live)
        assert found(search(live, "word")) == [("1", "folded", 2)]
        assert found(search(live, "word", CHILD)) == [("1", "visible", None)]

    def test_a_child_s_rendition_of_an_inherited_item_is_found_in_the_child(
        self, live: Live
    ) -> None:
        live.append(KEY, said("shared word"))
        live.log.fork(CHILD, KEY, 1)
        live.append(CHILD, cleared(1, "[gone]"))
        catch_up(live)
        assert found(search(live, "gone", CHILD)) == [("1@3", "visible", None)]
        assert found(search(live, "word", CHILD)) == [("1", "cleared", 3)]
        hits = search(live, "gone")
        assert [(hit.stream, *one) for hit, one in zip(hits, found(hits), strict=True)] == [
            (CHILD, "1@3", "visible", None)
        ]


class TestIndex:
    """It may be behind, missing, or of another program: what is found does not depend on it."""

    def test_appends_do_not_touch_it(self, live: Live) -> None:
        live.append(KEY, said("one"))
        catch_up(live)
        assert SearchIndex(live).held() == 1
        live.append(KEY, *[said("two")] * 1000)
        assert SearchIndex(live).held() == 1

    def test_what_is_behind_it_is_found_too(self, live: Live) -> None:
        live.append(KEY, said("word one"))
        catch_up(live)
        live.append(KEY, said("word two"), cleared(1, "word three"))
        assert found(search(live, "word")) == [("2", "visible", None), ("1@3", "visible", None)]

    def test_it_goes_on_from_its_stamp_a_page_at_a_time(self, live: Live) -> None:
        live.append(KEY, *[said(f"w{n}") for n in range(1201)])
        assert catch_up(live) == [Progress(n, 1201) for n in (500, 1000, 1201)]
        assert catch_up(live) == []
        live.append(KEY, said("more"))
        assert catch_up(live) == [Progress(1202, 1202)]
        assert found(search(live, "w700")) == [("701", "visible", None)]

    def test_one_of_another_version_is_made_anew(self, live: Live) -> None:
        live.append(KEY, said("word"))
        catch_up(live)
        with live.log.writing() as db:
            db.execute("update derived set version = 0 where name = 'search'")
        assert SearchIndex(live).held() is None
        assert found(search(live, "word")) == [("1", "visible", None)]
        assert catch_up(live) == [Progress(1, 1)]
        assert found(search(live, "word")) == [("1", "visible", None)]

    def test_a_log_that_cannot_be_written_is_searched(self, live: Live) -> None:
        live.append(KEY, said("word \ud83d ﬁsh"), said("fish"), said("other"))
        with open_log(live.log.path, read_only=True) as reader:
            assert found(search(reader, "fish")) == [
                ("2", "visible", None),
                ("1", "visible", None),
            ]

    @pytest.mark.parametrize(
        "damage",
        [
            "update search_data set block = x'00ff' where id > 10",
            "delete from search_data",
            "drop table search_config",
        ],
    )
    def test_a_damaged_one_is_passed_over_told_and_made_anew(self, live: Live, damage: str) -> None:
        live.append(KEY, said("word"), said("other"))
        catch_up(live)
        with plain(live.log.path) as db:
            db.execute(damage)
        with open_log(live.log.path) as again:
            index = SearchIndex(again)
            places = [Place(KEY, 2, inherited=False)]
            broken = Search(again, index, Wanted(parse("word")), places)
            assert broken.damage
            assert found(broken.hits()) == [("1", "visible", None)]
            index.drop()
            catch_up(again)
            assert not Search(again, index, Wanted(parse("word")), places).damage
            assert found(search(again, "word")) == [("1", "visible", None)]
            assert verify(again.log).ok

    @settings(max_examples=25)
    @given_any(log=LOG, held=st.integers(0, 48), fork_at=st.integers(1, 20))
    def test_in_any_log_it_finds_what_a_plain_look_finds(
        self, log: list[list[events.Event]], held: int, fork_at: int
    ) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "l.db") as live:
            for number, append in enumerate(log):
                live.append(KEY, *append)
                if number == held:
                    catch_up(live)
            live.log.fork(CHILD, KEY, min(fork_at, live.log.version(KEY)))
            live.append(CHILD, *log[0])
            for key in (KEY, CHILD):
                for query in QUERIES:
                    assert here(live, key, query) == plainly(live, key, query), query


def here(live: Live, key: StreamKey, query: str) -> set[str]:
    """The items that hold it as they were brought in or as they stand now."""
    now = set(live.view(key).labels())
    items = [hit.item for hit in search(live, query, key) if hit.item is not None]
    return {item.id for item in items if item.rendition == item.id or item.rendition in now}


def plainly(live: Live, key: StreamKey, query: str) -> set[str]:
    """Every item that ever was, in its original and in its rendition in force, and no index."""
    [term] = parse(query).terms
    items = live.items(key)
    for event in live.log.read(key):
        brought = [*event.data.get("messages", ()), *event.data.get("inserted", ())]
        names = [f"{event.position}.{number}" for number in range(len(brought))]
        items += live.materialize(key, [(name, 0) for name in (*names, event.position)])
    return {i.id for i in items if any(naively(term, text.text) for text in item_texts(i))}


class TestRedaction:
    """An index that still holds the words of an erased text gives them back."""

    def residue(self, live: Live) -> list[str]:
        folder = live.log.path.parent
        files = [path for path in folder.iterdir() if path.is_file()]
        assert len(files) > 2  # with the write-ahead log
        return [
            path.name
            for path in files
            if SECRET.encode() in subprocess.run(["cat", path], capture_output=True).stdout.lower()
        ]

    def test_no_byte_of_it_is_left_and_it_is_not_found(self, live: Live) -> None:
        live.append(
            KEY, *[said(f"w{n} and more") for n in range(600)], said(f"the {SECRET}, 订单号")
        )
        live.append(KEY, cleared(601, f"cut {SECRET}"), compacted(1, text="all well"))
        catch_up(live)
        live.append(KEY, said("later"))
        assert self.residue(live)
        assert found(search(live, SECRET)) == [("601@602", "visible", None)]
        redact(live.log, [Target(KEY, 601), Target(KEY, 602)], stream=KEY)
        assert search(live, SECRET) == []
        assert scrub(live.log, [SECRET], derived=[live.views]).complete
        assert self.residue(live) == []
        assert search(live, SECRET) == search(live, "订单") == []
        catch_up(live)
        assert self.residue(live) == []
        assert search(live, SECRET) == search(live, "订单") == search(live, "redacted") == []
        assert found(search(live, "w599")) == [("600", "visible", None)]
        assert verify(live.log).ok

    def test_a_damaged_index_does_not_keep_it(self, live: Live) -> None:
        live.append(KEY, said(f"the {SECRET}"))
        catch_up(live)
        with plain(live.log.path) as db:
            db.execute("delete from search_data where id = 10")
        with open_log(live.log.path) as again:
            redact(again.log, [Target(KEY, 1)], stream=KEY)
            assert scrub(again.log, [SECRET], derived=[again.views]).complete
            assert self.residue(again) == []

    def test_text_that_goes_while_it_is_on_its_way_into_the_index_does_not_arrive(
        self, live: Live
    ) -> None:
        live.append(KEY, said(f"the {SECRET}"), said("other"))

        class Slow(SearchIndex):
            asked = 0

            def prepare(self, given: Any) -> Any:
                rows = super().prepare(given)
                self.asked += 1
                if self.asked == 1:  # another process, just now
                    assert in_child(erase) == 0
                return rows

        def erase() -> None:
            with open_log(live.log.path) as other:
                redact(other.log, [Target(KEY, 1)], stream=KEY)
                scrub(other.log, derived=[other.views])

        index = Slow(live)
        list(index.catch_up())
        assert index.asked == 2
        assert search(live, SECRET) == []
        assert self.residue(live) == []


WRITER = """
import sys
from eventlog import EventLog, StreamKey
from eventlog.events import MessageAppended
key = StreamKey(*sys.argv[2:5])
with EventLog(sys.argv[1], durability="normal") as log:
    for number in range(int(sys.argv[5])):
        message = {"role": "user", "content": f"word n{number} " + "filler " * 50}
        log.append(key, MessageAppended(dialect="openai_chat", source="human", message=message))
        if number == 20:
            print("ready", flush=True)
"""

INDEXER = """
import sys
from projections import open_log
from projections.search_index import SearchIndex
with open_log(sys.argv[1]) as live:
    print("ready", flush=True)
    for step in SearchIndex(live).catch_up():
        print(step.sequence, flush=True)
"""


class TestOthers:
    """A search must not stop an agent, and a killed one must not spoil the next."""

    def test_while_another_process_appends_nothing_is_lost(self, live: Live) -> None:
        live.append(KEY, said("word first"))
        with program(WRITER, live.log.path, *KEY, 700, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            while writer.poll() is None:
                least = live.log.version(KEY)
                catch_up(live)
                hits = search(live, "word")
                assert len(hits) >= least
                assert [h.event.position for h in hits] == list(range(len(hits), 0, -1))
            assert writer.returncode == 0
        assert len(search(live, "word")) == 701

    def test_two_that_index_at_once_agree(self, live: Live) -> None:
        live.append(KEY, *[said(f"word n{n}") for n in range(3000)])
        others = [program(INDEXER, live.log.path, stdout=subprocess.PIPE) for _ in range(2)]
        catch_up(live)
        for other in others:
            with other:
                assert other.stdout is not None
                other.stdout.read()
            assert other.returncode == 0
        assert SearchIndex(live).held() == 3000
        [(rows,)] = live.log.query("select count(*) from search where search match 'word'")
        assert rows == 3000

    def test_killed_at_any_moment_the_next_goes_on(self, tmp_path: Path) -> None:
        choose = random.Random(5)
        path = tmp_path / "log.db"
        with open_log(path, durability="normal") as live:
            live.append(KEY, *[said(f"word n{n} " + "x y z " * 80) for n in range(6000)])
        reached = [0]
        for _ in range(8):
            child = program(INDEXER, path, stdout=subprocess.PIPE)
            with child:
                assert child.stdout is not None
                for _ in range(choose.randrange(1, 4)):  # "ready", and one more for each page
                    child.stdout.readline()
                time.sleep(choose.uniform(0, 0.02))
                os.kill(child.pid, signal.SIGKILL)
            with open_log(path) as live:
                reached.append(SearchIndex(live).held() or 0)
                assert len(search(live, "word n4321")) == 1
                assert verify(live.log).ok
        assert reached == sorted(reached)
        assert len(set(reached)) > 2  # or the kills came too early, or too late
        with open_log(path) as live:
            catch_up(live)
            [(rows,)] = live.log.query("select count(*) from search where search match 'word'")
            assert rows == 6000

    def test_an_append_waits_for_no_more_than_a_page(self, live: Live) -> None:
        live.append(KEY, *[said("word " * 200) for _ in range(5000)])
        index = SearchIndex(live)
        with EventLog(live.log.path, lock_timeout=0.5) as other:
            for _ in index.catch_up():  # the lock is free between two pages
                other.append(CHILD, said("meanwhile"))
        assert len(search(live, "meanwhile")) == 10

    def test_what_a_writer_without_it_wrote_is_found(self, live: Live) -> None:
        live.append(KEY, said("word"))
        catch_up(live)
        with EventLog(live.log.path) as other:
            other.append(KEY, said("word again"), events.SessionStarted(metadata=Json({})))
        assert found(search(live, "word")) == [("2", "visible", None), ("1", "visible", None)]
        assert catch_up(live) == [Progress(3, 3)]

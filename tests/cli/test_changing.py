"""``undo``, ``rewind``, ``pin``, ``recover --into-context``: what changes, and how."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from demo_log import demo_log
from running import ROOT, data, environment, process, run
from small_log import FORK, KEY, said, small_log

from eventlog.events import ContextCompacted
from projections import open_log

S = KEY.session


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    return demo_log(tmp_path)


def labels(db: Path, key: Any = KEY) -> list[str]:
    with open_log(db) as live:
        return live.view(key).labels()


BEFORE = ["3", "16.0", "13@20", "22"]


class TestUndo:
    """Nothing is deleted: every decision can be taken back, and that too."""

    def test_the_last_decision_may_be_an_undo_and_twice_changes_nothing(self, db: Path) -> None:
        assert labels(db) == BEFORE
        first = data("undo", S, "--db", db)
        assert [e["says"] for e in first["events"]] == ["undone: 26"]
        assert [(c["before"], c["after"]) for c in first["changed"]] == [("22", "22@25")]
        second = data("undo", S, "last", "--db", db)
        assert [e["says"] for e in second["events"]] == ["undone: 27"]
        assert labels(db) == BEFORE

    def test_which_decision_it_was_is_told_and_how_the_one_before_is_undone(self, db: Path) -> None:
        dry = run("undo", S, "--dry-run", "--db", db)
        assert "the last decision in force is 26, undone: 25\n" in dry.stderr
        result = run("undo", S, "--db", db)
        assert "the last decision in force was 26, undone: 25\n" in result.stderr
        (line,) = (line for line in result.stderr.splitlines() if "before it" in line)
        assert line.startswith("the decision before it, item 13 revised: ")
        words = line.split()
        args = words[words.index("undo") :]
        assert args == ["undo", S, "20"]
        assert [e["says"] for e in data(*args, "--db", db)["events"]] == ["undone: 20"]
        assert "last decision" not in run("undo", S, "19", "--db", db).stderr

    def test_an_undo_that_changes_nothing_says_why(self, db: Path) -> None:
        result = run("undo", S, "12", "--db", db)  # what it cleared is folded since
        assert result.exit_code == 0
        assert "as before" in result.stdout
        assert (
            "nothing stands otherwise, since k1 came later, about the same items" in result.stderr
        )
        assert "undo refunds-0001 k1\n" in result.stderr

    def test_no_fork_is_made_in_which_nothing_would_stand_otherwise(self, demo: Path) -> None:
        for more in (["--dry-run"], []):
            result = run("undo", "8f31", "77", "--pass", *more, "--db", demo)
            assert result.exit_code == 2
            assert "no fork is made, since k1 came later, about the same items: " in result.stderr
            assert result.stderr.endswith(" undo 8f31c0a9 k1 first, then this in its fork\n")
        with open_log(demo) as live:
            assert len(live.log.streams()) == 1
        assert run("undo", "8f31", "k1", "--name", "mine", "--db", demo).exit_code == 0
        assert data("undo", "mine", "77", "--pass", "--db", demo)["changed"]

    def test_a_later_pin_and_whose_the_decision_was_are_told(self, demo: Path) -> None:
        assert run("fork", "8f31", "--name", "mine", "--db", demo).exit_code == 0
        assert run("pin", "mine", "154", "--db", demo).exit_code == 0
        told = run("undo", "mine", "--dry-run", "--db", demo).stderr
        assert "the last decision in force is k1, the agent's own: compacted" in told
        assert "the pin of 154 with event 231, which is later, is no decision: " in told
        assert "unpin mine 154 takes it back\n" in told
        assert run("unpin", "mine", "154", "--db", demo).exit_code == 0
        told = run("undo", "mine", "--dry-run", "--db", demo).stderr
        assert "the unpin of 154 with event 232" in told
        assert "the pin of" not in told
        assert run("undo", "mine", "k1", "--db", demo).exit_code == 0
        last = run("undo", "mine", "--dry-run", "--db", demo).stderr
        assert "the last decision in force is 233, undone: k1\n" in last  # not the agent's

    @pytest.mark.parametrize("args", [["rewind", f"{S}@11"], ["rewind", f"{S}@12"]])
    def test_a_pinned_item_that_leaves_is_told(self, args: list[str], db: Path) -> None:
        assert "13 is pinned and leaves the context with this\n" in run(*args, "--db", db).stderr
        assert "pinned" not in run("undo", S, "--dry-run", "--db", db).stderr

    def test_of_a_pass_it_is_all_and_the_undo_of_it_can_be_undone(self, demo: Path) -> None:
        # Of a session of one's own, since k1 has folded what it cleared.
        assert run("fork", "8f31", "--name", "mine", "--db", demo).exit_code == 0
        assert run("undo", "mine", "77", "--pass", "--db", demo).exit_code == 0
        with open_log(demo) as live:
            mine = next(i.key for i in live.log.streams() if i.key.session == "mine")
            undone = live.log.version(mine)
        again = data("undo", "mine", str(undone), "--pass", "--db", demo)
        assert [e["says"] for e in again["events"]] == [f"undone: {undone}"]
        result = run("why", "mine", "7", "--db", demo)
        assert "cleared: microcompact; by claude-code; pass 77; " in result.stdout
        assert "pass 77 was undone" in result.stdout
        assert "undone: pass 77" in run("log", "mine", "--events", "--db", demo).stdout

    @pytest.mark.parametrize("typed", [[f"{S}@k1"], [S, "k1"], [S, "16"], [S, "@k1"], [f"{S}@16"]])
    def test_a_compaction_is_named_as_everywhere(self, typed: list[str], db: Path) -> None:
        found = data("undo", *typed, "--db", db)
        assert [b["item"] for b in found["back"]] == ["4", "6", "8", "10"]
        assert [g["item"] for g in found["gone"]] == ["16.0"]
        assert found["after"]["tokens"] > found["before"]["tokens"]
        assert labels(db) == ["3", "4", "6", "8@12", "10", "13@20", "22"]

    def test_what_it_says_to_type_takes_it_back(self, db: Path) -> None:
        found = data("undo", S, "k1", "--db", db)
        assert run(*found["undo"][0].split(), "--db", db).exit_code == 0
        assert labels(db) == BEFORE

    def test_a_dry_run_says_the_same_and_writes_nothing(self, db: Path) -> None:
        dry = data("undo", S, "k1", "--dry-run", "--db", db)
        with open_log(db) as live:
            assert live.log.version(KEY) == 26
        done = data("undo", S, "k1", "--db", db)
        assert dry["undo"] == []  # nothing was written that could be taken back
        assert {**dry, "dry_run": False, "undo": done["undo"]} == done

    def test_one_of_a_pass_is_undone_alone_and_the_others_are_counted(self, demo: Path) -> None:
        assert run("fork", "8f31", "--name", "mine", "--db", demo).exit_code == 0
        result = run("undo", "mine", "7@77", "--dry-run", "--db", demo)
        assert result.exit_code == 0
        assert "others of the same pass stay" in result.stderr
        one = data("undo", "mine", "77", "--dry-run", "--db", demo)
        assert [e["says"] for e in one["events"]] == ["undone: 77"]
        whole = data("undo", "mine", "77", "--pass", "--dry-run", "--db", demo)
        assert whole["events"][0]["says"] == "undone: pass 77"

    @pytest.mark.parametrize(
        ("args", "code", "said"),
        [
            ([S, "5"], 2, "event 5 is call c1, which is no decision"),
            ([S, "17"], 2, "event 17 is a pin, which is no decision"),
            ([S, "25"], 2, "is not in force since 26: undo 26 takes that back"),
            ([S, "18"], 2, "no decision"),
            ([S, "99"], 3, "it ends at 26"),
            ([S, "k9"], 3, "k9"),
            ([S, "soon"], 2, "is no decision such as k1"),
            ([f"{S}@c1"], 2, "which decision?"),
            ([str(FORK), "k1"], 3, "k1"),
            ([S, "k1", "--expect", "3"], 5, "3"),
        ],
    )
    def test_what_cannot_be_undone_says_why(
        self, args: list[str], code: int, said: str, db: Path
    ) -> None:
        result = run("undo", *args, "--db", db)
        assert (result.exit_code, said in result.stderr) == (code, True), result.stderr
        assert labels(db) == BEFORE

    def test_a_decision_of_the_parent_is_undone_in_the_fork_alone(self, db: Path) -> None:
        found = data("undo", str(FORK), "12", "--db", db)
        assert found["forked_from"] is None
        assert labels(db, FORK) == ["3", "4", "6", "8", "10", "13", "15"]
        assert labels(db) == BEFORE


class TestRewind:
    """Back to a place, with what lay between kept."""

    def test_the_context_is_what_the_call_was_given(self, db: Path) -> None:
        found = data("rewind", f"{S}@c2", "--db", db)
        assert labels(db) == ["3", "4", "6", "8"]
        assert found["events"][0]["says"] == "rewound to 8"
        assert run(*found["undo"][0].split(), "--db", db).exit_code == 0
        assert labels(db) == BEFORE

    def test_a_place_is_needed_and_the_end_is_nothing_to_do(self, db: Path) -> None:
        assert run("rewind", S, "--db", db).exit_code == 2
        result = run("rewind", f"{S}@26", "--db", db)
        assert result.exit_code == 0
        assert result.stderr == "the session ends there already\n"
        with open_log(db) as live:
            assert live.log.version(KEY) == 26


class TestPins:
    """A pin is a note: it goes into any session, once."""

    def test_items_are_pinned_once_and_unpinned(self, db: Path) -> None:
        found = data("pin", S, "3", "13", "--reason", "house rules", "--db", db)
        assert [e["says"] for e in found["events"]] == ["item 3 pinned"]
        assert data("pin", S, "3", "--db", db)["events"] == []
        assert data("unpin", S, "3,13", "--db", db)["events"][0]["says"] == "item 3 unpinned"
        with open_log(db) as live:
            assert live.view(KEY).pins == set()
            assert live.log.at(KEY, [27])[27].data["reason"] == "house rules"

    def test_a_pin_says_what_it_does_and_how_it_is_taken_back(self, db: Path) -> None:
        result = run("pin", S, "3", "22", "--db", db)
        assert "to take it back: " in result.stdout
        assert result.stdout.endswith(f" unpin {S} 3 22\n")
        assert result.stderr == (
            "run leaves what is pinned as it stands, and so does a what-if from here on\n"
        )
        found = data("unpin", S, "3", "22", "--db", db)
        assert found["undo"] == [f"pin {S} 3 22"]

    def test_what_is_pinned_already_is_told_with_since_when_and_not_written(self, db: Path) -> None:
        assert run("pin", S, "3", "--reason", "house rules", "--db", db).exit_code == 0
        result = run("pin", S, "3", "13", "--db", db)
        assert result.exit_code == 0
        assert result.stdout.startswith("wrote nothing · ")
        assert result.stderr == (
            "pinned already: 3 (since event 27: house rules), 13 (since event 17)\n"
        )
        some = run("pin", S, "3", "22", "--db", db)
        assert " 28 item 22 pinned" in some.stdout
        assert "item 3 pinned" not in some.stdout
        assert "pinned already: 3 (since event 27: house rules)\n" in some.stderr

    def test_what_is_not_pinned_is_told_and_not_unpinned(self, db: Path) -> None:
        assert run("unpin", S, "13", "--db", db).exit_code == 0
        result = run("unpin", S, "13", "3", "--db", db)
        assert result.stdout.startswith("wrote nothing · ")
        assert result.stderr == "not pinned: 13 (unpinned with 27), 3\n"

    def test_an_observed_session_is_not_forked_for_it(self, demo: Path) -> None:
        found = data("pin", "last", "150.0", "--db", demo)
        assert found["forked_from"] is None
        assert found["key"].endswith("6e0d3a7b4c21")
        assert "the program that writes this session is not bound by a pin" in found["notes"]

    def test_an_item_that_does_not_stand_is_pinned_with_a_note(self, db: Path) -> None:
        result = run("pin", S, "4", "--db", db)
        assert result.exit_code == 0
        said = "not in the context now, so the pin counts from when it stands there: 4"
        assert said in result.stderr

    def test_run_leaves_what_is_pinned_also_where_it_would_have_decided_before(
        self, demo: Path
    ) -> None:
        args = ["run", "last", "-s", "clear:keep=0", "--dry-run", "--db", demo]
        before = [one["item"] for one in data(*args)["changed"]]
        assert len(before) > 3
        # Pinned now; the moments at which the strategy decides lie before.
        assert run("pin", "last", before[0], before[2], "--db", demo).exit_code == 0
        after = [one["item"] for one in data(*args)["changed"]]
        assert after == [item for item in before if item not in (before[0], before[2])]

    def test_what_names_no_item_is_refused(self, db: Path) -> None:
        assert run("pin", S, "--db", db).exit_code == 2
        assert run("pin", S, "5", "--db", db).exit_code == 3
        assert run("unpin", f"{S}@k1", "--db", db).exit_code == 2


class TestObservedSessions:
    """What another program writes is its own: it is forked, and that is said."""

    @pytest.mark.parametrize(
        "args",
        [
            ["undo", "8f31", "k1"],
            ["rewind", "8f31@k1^"],
            ["recover", "8f31", "3", "--into-context", "--yes"],
            ["recover", "8f31", "3", "--into-context", "--only"],
            ["run", "8f31", "-s", "truncate:turns=1"],
        ],
    )
    def test_the_fork_and_its_change_are_one_append(self, args: list[str], demo: Path) -> None:
        # A kill, or a full disk, between two would leave a fork that says nothing of why.
        assert run(*args, "--name", "mine", "--db", demo).exit_code == 0
        with open_log(demo) as live:
            (key,) = (info.key for info in live.log.streams() if info.key.session == "mine")
            own = list(live.log.read(key, live.log.stream(key).base))
        assert own[0].type == "session_forked"
        assert len(own) > 1
        assert len({event.recorded_at for event in own}) == 1

    @pytest.mark.parametrize("args", [["undo", "8f31", "k1"], ["rewind", "8f31@k1^"]])
    def test_it_is_forked_first_and_stays_as_it_was(self, args: list[str], demo: Path) -> None:
        with open_log(demo) as live:
            (key,) = (info.key for info in live.log.streams())
            version, before = live.log.version(key), live.view(key).labels()
        result = run(*args, "--name", "mine", "--db", demo)
        assert result.exit_code == 0, result.output
        assert "is another program's session: it was forked after event 229" in result.stdout
        with open_log(demo) as live:
            assert (live.log.version(key), live.view(key).labels()) == (version, before)
            mine = key._replace(session="mine")
            assert live.view(mine).labels()[0] == "3"
            assert live.log.version(mine) == version + 2
        again = run(*args, "--name", "mine", "--db", demo)
        assert again.exit_code == 2
        assert "choose another --name" in again.stderr

    @pytest.mark.parametrize(
        "args",
        [
            ["rewind", "8f31@229"],
            ["run", "8f31", "-s", "none"],
            ["recover", "8f31", "150.0", "--into-context"],
        ],
    )
    @pytest.mark.parametrize("more", [[], ["--dry-run"]])
    def test_where_there_is_nothing_to_write_no_fork_is_named(
        self, args: list[str], more: list[str], demo: Path
    ) -> None:
        result = run(*args, *more, "--db", demo)
        assert result.exit_code == 0
        head = "would write nothing" if more else "wrote nothing"
        assert result.stdout.startswith(f"{head} · local/claude-code/8f31c0a9-")
        assert "fork" not in result.stdout
        with open_log(demo) as live:
            assert len(live.log.streams()) == 1

    def test_what_a_dry_run_says_to_type_names_only_what_exists(self, demo: Path) -> None:
        result = run("undo", "8f31", "--dry-run", "--db", demo)
        assert result.stdout.startswith("would write 1 event into a new fork · ")
        assert "undo 8f31c0a9 124 --pass\n" in result.stderr
        assert ".fork1" not in result.stderr
        done = run("undo", "8f31", "--db", demo)
        assert "undo 8f31c0a9.fork1 124 --pass\n" in done.stderr
        again = run("undo", "8f31c0a9.fork1", "124", "--pass", "--db", demo)
        assert again.exit_code == 0

    @pytest.mark.parametrize("name", ["last", "last~1", "c5", "retry@12"])
    def test_a_name_that_reads_as_something_else_is_refused(self, name: str, demo: Path) -> None:
        for command in (["fork", "last"], ["undo", "last", "k1"], ["rewind", "last@c12"]):
            result = run(*command, "--name", name, "--db", demo)
            assert result.exit_code == 2
            assert "would be read as a place or as last" in result.stderr
        assert json.loads(run("sessions", "--json", "--db", demo).stdout)["data"]["total"] == 1

    def test_a_name_that_no_fork_needed_is_told(self, db: Path) -> None:
        result = run("undo", S, "k1", "--name", "mine", "--db", db)
        assert "no fork was needed" in result.stderr


class TestIntoContext:
    """The originals stand again, and nobody is surprised by what comes with them."""

    def test_a_cleared_item_comes_back_alone(self, db: Path) -> None:
        assert run("undo", S, "k1", "--db", db).exit_code == 0
        found = data("recover", S, "8", "--into-context", "--db", db)["into"]
        assert [(c["item"], c["after"]) for c in found["changed"]] == [("8", "8")]
        assert "8" in labels(db)

    def test_what_comes_with_a_covered_item_is_told_and_asked(self, db: Path) -> None:
        result = run("recover", S, "4", "--into-context", "--db", db)
        assert result.exit_code == 2
        assert "this brings back 3 other items" in result.stderr
        assert "--yes, --only" in result.stderr
        assert labels(db) == BEFORE
        dry = data("recover", S, "4", "--into-context", "--dry-run", "--db", db)["into"]
        assert labels(db) == BEFORE
        done = data("recover", S, "4", "--into-context", "--yes", "--db", db)["into"]
        assert {**dry, "dry_run": False, "undo": done["undo"]} == done
        assert labels(db) == ["3", "4", "6", "8@12", "10", "13@20", "22"]

    @pytest.mark.parametrize(
        "args", [["undo", S, "k1"], ["rewind", f"{S}@11"], ["recover", S, "4", "--into-context"]]
    )
    def test_a_context_larger_than_what_was_compacted_is_told(
        self, args: list[str], db: Path
    ) -> None:
        result = run(*args, "--dry-run", "--db", db)
        assert "tokens are more than the ≈78 that k1 compacted: a model may" in result.stderr
        assert "that k1 compacted" not in run("undo", S, "20", "--dry-run", "--db", db).stderr

    def test_what_a_person_had_compacted_is_no_limit(self, tmp_path: Path) -> None:
        db = tmp_path / "l.db"
        with open_log(db) as live:
            live.append(KEY, said("user", "The order is ORD-77120. " * 20))
            live.append(KEY, ContextCompacted(covered=("1",), trigger="manual"))
            live.append(KEY, said("user", "Go on."))
        found = data("undo", S, "k1", "--dry-run", "--db", db)
        assert found["after"]["tokens"] > found["before"]["tokens"]
        assert (found["outgrown"], found["notes"]) == (None, [])

    def test_a_cleared_and_covered_item_needs_two_undos(self, db: Path) -> None:
        found = data("recover", S, "8", "--into-context", "--yes", "--db", db)["into"]
        assert [e["says"] for e in found["events"]] == ["undone: k1", "undone: 12"]
        assert labels(db) == ["3", "4", "6", "8", "10", "13@20", "22"]
        for line in found["undo"]:
            assert run(*line.split(), "--db", db).exit_code == 0
        assert labels(db) == BEFORE

    def test_only_these_come_as_one_message_word_for_word(self, db: Path) -> None:
        found = data("recover", S, "4", "--into-context", "--only", "--db", db)["into"]
        assert labels(db) == [*BEFORE, "27"]
        with open_log(db) as live:
            (item,) = live.materialize(KEY, [(27, 0)])
        assert "Never touch migrations. The order is ORD-77120." in item.text
        assert (item.source, item.label) == ("injected", "recovered")
        assert run(*found["undo"][0].split(), "--db", db).exit_code == 0
        assert labels(db) == BEFORE

    def test_what_is_new_is_told_from_what_is_back(self, db: Path) -> None:
        only = run("recover", S, "4", "--into-context", "--only", "--dry-run", "--db", db)
        assert " 27 a message with what had left\n+ new: 1 item" in only.stdout
        back = run("recover", S, "4", "--into-context", "--dry-run", "--db", db)
        assert "+ back: 4 items" in back.stdout
        assert "+ new" not in back.stdout
        assert run("redact", S, "10", "--yes", "--db", db).exit_code == 0
        twice = run("recover", S, "3", "10", "--into-context", "--only", "--db", db)
        assert "in the context already, as they came in: 3\n" in twice.stderr
        assert twice.stderr.count("the text of 10 was erased") == 1

    def test_an_undo_behind_it_says_that_a_message_is_no_decision(self, db: Path) -> None:
        assert run("recover", S, "4", "--into-context", "--only", "--db", db).exit_code == 0
        assert "recover put it in, with what had left" in run("why", S, "27", "--db", db).stdout
        result = run("undo", S, "--dry-run", "--db", db)
        assert "the message 27 that recover put in later is no decision: " in result.stderr
        assert f" rewind {S}@26 takes it back\n" in result.stderr
        assert run("rewind", f"{S}@26", "--db", db).exit_code == 0
        assert labels(db) == BEFORE
        assert "is no decision" not in run("undo", S, "--dry-run", "--db", db).stderr

    def test_what_stands_already_needs_nothing(self, db: Path) -> None:
        result = run("recover", S, "3", "--into-context", "--db", db)
        assert result.exit_code == 0
        assert "they stand in the context as they came in" in result.stderr

    def test_what_a_compaction_lost_comes_back_into_a_fork(self, demo: Path) -> None:
        args = ["recover", "last", "--lost", "k1", "--into-context", "--db", demo]
        found = data(*args, "--yes", "--name", "mine")["into"]
        assert found["events"][0]["says"] == "undone: k1"
        assert found["forked_from"].endswith("6e0d3a7b4c21")

    def test_what_was_put_back_is_no_need_of_what_had_been_lost(self, db: Path, demo: Path) -> None:
        def needs(session: str, item: str, log: Path) -> Any:
            lost = data("recover", session, "--lost", "k1", "--all", "--db", log)["sentences"]
            why = data("why", session, item, "--db", log)["anchors"]
            audited = run("audit", session, "--rule", "anchors", "--json", "--db", log)
            return (
                {one["text"]: one["used_by"] for each in lost for one in each["literals"]},
                {one["text"]: one["used_by"] for one in why},
                data("diff", f"{session}@k1", "--db", log)["lost"],
                [
                    (f["message"], f["anchors"])
                    for f in json.loads(audited.stdout)["data"]["findings"]
                ],
            )

        for session, item, log in ((S, "4", db), ("8f31c0a9", "3", demo)):
            before = needs(session, item, log)
            args = ["recover", session, item, "--into-context", "--only", "--name", "mine"]
            written = data(*args, "--db", log)["into"]["key"]
            after = needs(written, item, log)
            assert after[:3] == before[:3]
            if written == str(KEY):
                assert before[3]
                assert after[3] == before[3]

    def test_options_that_need_it_are_refused_without(self, db: Path) -> None:
        for more in (["--dry-run"], ["--only"], ["--name", "x"]):
            assert run("recover", S, "4", *more, "--db", db).exit_code == 2


APPENDER = """
import sys
from eventlog import StreamKey
from eventlog.events import MessageAppended
from projections import open_log
with open_log(sys.argv[1]) as live:
    print("ready", flush=True)
    for number in range(150):
        live.append(sys.argv[2], MessageAppended(dialect="openai_chat", source="human",
            message={"role": "user", "content": f"message {number}"}))
"""


class TestOtherProcesses:
    """An agent goes on while a person undoes: neither loses what it wrote."""

    def test_an_undo_and_pins_beside_a_writer_are_each_made_once(
        self, db: Path, tmp_path: Path
    ) -> None:
        writer = subprocess.Popen(
            [sys.executable, "-c", APPENDER, str(db), str(KEY)],
            env=environment(tmp_path),
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        done = [process("undo", S, "k1", "--db", db, home=tmp_path)]
        done += [process("pin", S, str(item), "--db", db, home=tmp_path) for item in (3, 4, 6)]
        assert writer.wait(60) == 0
        writer.stdout.close()
        assert [each.returncode for each in done] == [0, 0, 0, 0], [d.stderr for d in done]
        with open_log(db) as live:
            assert live.log.version(KEY) == 26 + 150 + 4
            undos = list(live.log.read(KEY, after=26, types=["decision_undone"]))
            assert [undo.data["target"] for undo in undos] == [16]
            assert live.view(KEY).pins == {3, 4, 6, 13}

    def test_the_last_decision_is_not_undone_when_it_is_another_one_by_now(
        self, db: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from eventlog.events import PlaceholderSubstituted
        from projections.live import Live

        append = Live.append

        def raced(self: Live, stream: Any, *events: Any, **more: Any) -> Any:
            monkeypatch.setattr(Live, "append", append)
            self.append(KEY, PlaceholderSubstituted(item="22", content="[cleared]"))
            return self.append(stream, *events, **more)

        monkeypatch.setattr(Live, "append", raced)
        result = run("undo", S, "--db", db)
        assert result.exit_code == 2
        assert "look again, then try again" in result.stderr
        assert labels(db) == ["3", "16.0", "13@20", "22@27"]

"""``why``: items as people write them, and an answer for each that there could be."""

from __future__ import annotations

from pathlib import Path

import pytest
from demo_log import demo_log
from running import data, run
from small_log import FORK, KEY, said, small_log

from eventlog.events import (
    ContextCompacted,
    MessageAppended,
    ModelCalled,
    ModelResponded,
    NewMessage,
    PlaceholderSubstituted,
    ToolResultRecorded,
)
from eventlog.values import Summarizer
from projections import open_log

S = KEY.session


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


class TestItemsAsPeopleWriteThem:
    """The other commands take S@REF; nobody should have to learn another way here."""

    @pytest.mark.parametrize(
        ("args", "asked", "ref"),
        [
            ([S, "8"], "8", "now"),
            ([S, "#8"], "8", "now"),
            ([f"{S}@8"], "8", "now"),
            ([S, "8@12"], "8@12", "now"),
            ([f"{S}@8@12"], "8@12", "now"),
            ([S, "8@c2"], "8", "c2"),
            ([S, "8@12@k1"], "8@12", "k1"),
            ([f"{S}@c2", "8"], "8", "c2"),
            ([S, "8", "--at", "c2"], "8", "c2"),
            ([S, "8", "--at", "12"], "8", "12"),
            ([S, "16.0"], "16.0", "now"),
            ([f"{S}@16.0"], "16.0", "now"),
        ],
    )
    def test_each_way_names_the_same_item(
        self, args: list[str], asked: str, ref: str, db: Path
    ) -> None:
        found = data("why", *args, "--db", db)
        assert (found["asked"], found["ref"]) == (asked, ref)

    @pytest.mark.parametrize(
        ("args", "code", "said"),
        [
            ([S, "999"], 3, "has no item 999; it ends at 26"),
            ([S, "5"], 3, "has no item 5: event 5 is call c1, and 6 came of it"),
            ([S, "14"], 3, "event 14 is call c3, and no answer came of it"),
            ([S, "7"], 3, "event 7 is the end of an answer, and 6 came of it"),
            ([S, "12"], 3, "event 12 is what cleared item 8"),
            ([S, "16.4"], 3, "event 16 is compaction k1, which brought in 16.0"),
            ([S, "4.0"], 3, "4 is one item, without parts"),
            ([S, "k1"], 2, "k1 is no item: event 16 is compaction k1, which brought in 16.0"),
            ([S, "k1^"], 2, "k1^ is no item: event 16 is compaction k1"),
            ([S, "c1"], 2, "c1 is no item: event 5 is call c1, and 6 came of it"),
            ([S, "c9"], 3, "it has 4 calls"),
            ([f"{S}@k1"], 2, "event 16 is compaction k1, which brought in 16.0"),
            ([f"{S}@k1^"], 2, "event 16 is compaction k1, which brought in 16.0"),
            ([f"{S}@c1"], 2, "event 5 is call c1, and 6 came of it"),
            (["retry", "22"], 3, f"has no item 22; there is one in {S}\n"),
            (["8", S], 3, "if 8 is an item or a place, the session is typed in front of it"),
            (["@k1", S], 3, "the session is typed in front of it"),
            (["-8", S], 2, "a text that begins with - goes behind --"),
            (["refunds-001", "8"], 3, "no session 'refunds-001'; near it: refunds-0001 (Refunds)"),
            (["refundz", "8"], 3, "near it: refunds-0001 (Refunds)"),
            ([S, "8@13"], 3, "carries no rendition of item 8"),
            ([S, "8@c99"], 3, "c99"),
            ([S, "eight"], 2, "is not an item"),
            ([S], 2, "which item?"),
            ([f"{S}@c2", "8@c3"], 2, "two places"),
            (["nobody", "8"], 3, "nobody"),
        ],
    )
    def test_what_cannot_be_answered_says_why(
        self, args: list[str], code: int, said: str, db: Path
    ) -> None:
        result = run("why", *args, "--db", db)
        assert result.exit_code == code
        assert said in result.stderr
        assert result.stderr.count("\n") == 1

    @pytest.mark.parametrize("command", ["recover", "pin", "unpin"])
    def test_the_others_that_take_items_say_the_same(self, command: str, db: Path) -> None:
        for item, words in (("k1", "which brought in 16.0"), ("c1", "and 6 came of it")):
            result = run(command, S, item, "--db", db)
            assert result.exit_code == 2
            assert words in result.stderr

    def test_an_item_that_only_a_fork_has_is_told_with_the_fork(self, db: Path) -> None:
        with open_log(db) as live:
            live.append(FORK, *[said("user", f"more {number}") for number in range(20)])
        result = run("why", S, "30", "--db", db)
        assert result.exit_code == 3
        assert result.stderr.endswith("has no item 30; there is one in retry\n")


class TestAnswers:
    """One answer for every state that an item can be in."""

    def test_a_cleared_and_covered_item_tells_both_and_what_to_type(self, db: Path) -> None:
        found = data("why", S, "8", "--db", db)
        assert found["state"] == "folded"
        assert [(step["ref"], step["effect"]) for step in found["steps"]] == [
            ("8", "came"),
            ("12", "changed"),
            ("k1", "left"),
        ]
        assert found["steps"][2]["by"] == 'compact {"keep_turns":1}'
        assert (found["steps"][2]["before_tokens"], found["steps"][2]["before_estimated"]) == (
            155_000,
            False,
        )
        assert found["calls"] == ["c2", "c3"]
        assert [way["command"] for way in found["back"]][:2] == [
            "recover refunds-0001 8",
            "recover refunds-0001 8 --into-context --only",
        ]

    def test_the_calls_that_had_all_of_it_are_told_from_those_that_had_a_placeholder(
        self, db: Path
    ) -> None:
        found = data("why", S, "8", "--db", db)
        assert found["given"] == [
            {"form": "original", "calls": ["c2"]},
            {"form": "cleared", "calls": ["c3"]},
        ]
        shown = run("why", S, "8", "--db", db).stdout
        assert "given to 2 calls: in full to 1 (c2); as a placeholder (cleared) to 1 (c3)" in shown
        assert "given in full to 3 calls: c1-c3" in run("why", S, "4", "--db", db).stdout

    @pytest.mark.parametrize("recorded", [True, False])
    def test_the_call_that_was_asked_for_counts_as_the_last_one_does(
        self, recorded: bool, tmp_path: Path
    ) -> None:
        db = tmp_path / "l.db"
        call = ModelCalled(
            model="m", dialect="openai_chat", manifest=("1-2",) if recorded else None
        )
        with open_log(db) as live:
            live.append(KEY, said("system", "be brief"), said("user", "U1"))
            live.append(KEY, call, said("user", "U2"), call)  # 3: c1, 5: c2
        assert data("why", S, "2@c1", "--db", db)["calls"] == ["c1"]
        assert data("why", S, "2@c2", "--db", db)["calls"] == ["c1", "c2"]
        assert data("why", S, "2", "--db", db)["calls"] == ["c1", "c2"]
        assert "No call was given it." not in data("why", S, "2@c1", "--db", db)["answer"]

    def test_an_item_is_told_as_it_was_at_a_call(self, db: Path) -> None:
        found = data("why", S, "8@c2", "--db", db)
        assert (found["state"], found["rendition"]) == ("context", "8")
        assert found["held"] == {"call": "c2", "recorded": False, "rendition": "8"}
        assert found["back"] == []

    def test_an_item_that_had_not_come_in_yet_says_so(self, db: Path) -> None:
        found = data("why", S, "8@c1", "--db", db)
        assert found["state"] == "not_yet"
        assert "had not come in yet" in found["answer"]

    def test_of_an_item_that_no_call_could_have_had_no_call_is_told(self, db: Path) -> None:
        assert data("why", S, "22", "--db", db)["held"] is None  # the answer of the last one
        assert data("why", S, "13", "--db", db)["held"]["call"] == "c4"

    def test_a_pin_is_told_with_since_when(self, db: Path) -> None:
        assert "It is pinned since event 17." in data("why", S, "13", "--db", db)["answer"]
        assert "pinned" not in data("why", S, "13@c3", "--db", db)["answer"]

    def test_a_rewound_item_names_the_rewind(self, db: Path) -> None:
        found = data("why", S, "18", "--db", db)
        assert found["state"] == "left"
        assert "No call was given it." in found["answer"]
        assert found["steps"][-1]["sentence"].startswith("the session was rewound to 17")

    def test_an_undone_cut_is_told_and_is_not_in_force(self, db: Path) -> None:
        found = data("why", S, "22", "--db", db)
        assert found["state"] == "context"
        assert [step["undone_by"] for step in found["steps"]] == [None, 26, None]

    def test_an_item_of_a_parent_is_answered_in_the_fork(self, db: Path) -> None:
        found = data("why", str(FORK), "4", "--db", db)
        assert found["state"] == "context"
        assert found["steps"][0]["stream"] == str(KEY)
        assert found["steps"][-1]["effect"] == "forked"

    def test_an_erased_item_says_that_it_cannot_come_back(self, db: Path) -> None:
        assert run("redact", S, "4", "--yes", "--db", db).exit_code == 0
        found = data("why", S, "4", "--db", db)
        assert found["erased"]
        assert found["answer"].endswith("Its text was erased from the log for good.")
        assert "as it came in" not in found["answer"]
        assert found["steps"][-1]["effect"] == "erased"
        assert (found["back"], found["anchors"]) == ([], [])

    def test_the_demos_first_message_tells_what_k1_lost_and_who_needed_it(
        self, tmp_path: Path
    ) -> None:
        found = data("why", "last", "3", "--db", demo_log(tmp_path))
        lost = {a["text"]: a["used_by"] for a in found["anchors"] if not a["in_place"]}
        assert lost["ORD-77120"][:2] == ["187", "189"]
        assert "Never touch migrations/, 0001 to 0004 are in production" in lost


class TestTheWayBack:
    """What is suggested works as it is typed, and says what it costs."""

    def test_alone_at_the_end_where_an_undo_brings_others_back(self, tmp_path: Path) -> None:
        db = demo_log(tmp_path)
        found = data("why", "last", "3", "--db", db)
        only, look = found["back"][1:3]
        assert only["command"].endswith(" 3 --into-context --only")
        assert only["does"].startswith("puts it at the end of the context, ≈137 tokens")
        assert look["command"].endswith(" 3 --into-context --dry-run")
        assert "70 other items, context ≈5.6k → ≈19.1k tokens" in look["does"]
        assert look["does"].endswith(", more than the ≈14.5k that k1 compacted")
        for way in found["back"]:
            assert run(*way["command"].split(), "--db", db).exit_code == 0

    def test_as_it_came_in_where_nothing_else_comes_back(self, tmp_path: Path) -> None:
        db = tmp_path / "l.db"
        with open_log(db) as live:
            live.append(KEY, said("user", "The order is ORD-77120. " * 20), said("user", "Go on."))
            live.append(KEY, PlaceholderSubstituted(item="1", content="[cleared]"))
        back = data("why", S, "1", "--db", db)["back"]
        assert back[1]["command"].endswith(" 1 --into-context")
        assert back[1]["does"].startswith("it stands again as it came in: context ")
        assert run(*back[1]["command"].split(), "--db", db).exit_code == 0
        assert data("why", S, "1", "--db", db)["state"] == "context"
        back = data("why", f"{S}@3", "1", "--db", db)["back"][1:]
        assert [way["command"] for way in back] == [f"recover {S} --lost 3"]  # it stands again

    def test_its_text_put_back_is_told_and_not_suggested_again(self, db: Path) -> None:
        assert run("recover", S, "4", "--into-context", "--only", "--db", db).exit_code == 0
        found = data("why", S, "4", "--db", db)
        assert found["stands_in"] == ["27"]
        assert "Its whole text stands in 27." in found["answer"]
        assert [way["command"].split()[-1] for way in found["back"]] == ["4", "k1"]
        assert data("why", S, "6", "--db", db)["stands_in"] == []  # another one's text is there
        again = run("recover", S, "4", "--into-context", "--only", "--dry-run", "--db", db)
        assert "the text of 4 stands in 27 already\n" in again.stderr
        at_k1 = [way["command"] for way in data("why", f"{S}@k1", "4", "--db", db)["back"]]
        assert not any("--into-context" in command for command in at_k1)

    def test_the_same_text_in_another_item_counts_too(self, db: Path) -> None:
        with open_log(db) as live:
            live.append(KEY, said("user", "Never touch migrations. The order is ORD-77120."))
        assert data("why", S, "4", "--db", db)["stands_in"] == ["27"]


class TestRecordedRequests:
    """A recorded request is the proof; what is folded is only what should have been."""

    def test_the_manifest_of_the_call_says_whether_it_held_the_item(self, tmp_path: Path) -> None:
        call = {"id": "x", "type": "function", "function": {"name": "X", "arguments": "{}"}}
        answer = {"role": "assistant", "content": None, "tool_calls": [call]}
        with open_log(tmp_path / "l.db") as live:
            live.append(
                KEY,
                said("system", "be brief"),  # 1
                said("user", "U1"),  # 2
                ModelCalled(model="m", dialect="openai_chat", manifest=("1-2",)),  # 3: c1
                MessageAppended(dialect="openai_chat", source="model", call=3, message=answer),  # 4
                ModelResponded(call=3),  # 5
                ToolResultRecorded(tool_call_id="x", dialect="openai_chat", content="long"),  # 6
                PlaceholderSubstituted(item="6", kind="cut", content="l…"),  # 7
                said("user", "U2"),  # 8
                ModelCalled(model="m", dialect="openai_chat", manifest=("=2", "4", "6@7")),  # 9
            )
        db = tmp_path / "l.db"
        assert data("why", S, "6@c2", "--db", db)["held"] == {
            "call": "c2",
            "recorded": True,
            "rendition": "6@7",
        }
        left_out = data("why", S, "8@c2", "--db", db)
        assert left_out["state"] == "context"
        assert left_out["held"]["rendition"] is None
        assert "c2: the recorded request did not hold it" in run("why", S, "8", "--db", db).stdout
        assert (left_out["calls"], left_out["given"]) == ([], [])  # what was sent, not the fold
        assert data("why", S, "6", "--db", db)["given"] == [{"form": "cut", "calls": ["c2"]}]
        assert data("why", S, "1", "--db", db)["given"] == [
            {"form": "original", "calls": ["c1", "c2"]}
        ]


class TestWhatOfItSurvived:
    """Without it "0 lost" reads as if a summary had kept the text."""

    def test_the_text_itself_is_told_as_gone(self, tmp_path: Path) -> None:
        path = tmp_path / "l.db"
        new = NewMessage(dialect="openai_chat", message={"role": "user", "content": "See a/b.py."})
        with open_log(path) as live:
            live.append(KEY, said("user", "Much is said of a/b.py here. " + "And more. " * 90))
            live.append(KEY, ContextCompacted(covered=("1",), messages=(new,)))
        shown = " ".join(run("why", KEY.session, "1", "--db", path).stdout.split())
        assert "the text itself left the context; of the 1 literal in it, such as paths" in shown
        assert "1 in 2.0, 0 elsewhere in the context then, 0 lost word for word" in shown

    def test_that_its_summarizer_was_not_shown_it_is_told(self, tmp_path: Path) -> None:
        """Without it nobody can tell what an error of ``audit`` rests on."""
        path = tmp_path / "l.db"
        new = NewMessage(dialect="openai_chat", message={"role": "user", "content": "So far."})
        with open_log(path) as live:
            live.append(KEY, said("user", "One."), said("user", "Two."), said("user", "Three."))
            by = Summarizer(model="gpt-sum", shown=("1", "3"))
            live.append(KEY, ContextCompacted(covered=("1-3",), messages=(new,), summarizer=by))
        for item, told in (("1", False), ("2", True)):
            shown = " ".join(run("why", KEY.session, item, "--db", path).stdout.split())
            assert ("written by gpt-sum, which was not shown it" in shown) == told
        shown = run("show", f"{KEY.session}@k1", "--db", path).stdout
        assert "not shown  to its summarizer, as was recorded: 1 item of these, 2\n" in shown
        audit = " ".join(run("audit", KEY.session, "--db", path).stdout.split())
        assert "not shown, by its own record of what it was: 2 (" in audit

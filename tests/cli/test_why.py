"""``why``: items as people write them, and an answer for each that there could be."""

from __future__ import annotations

from pathlib import Path

import pytest
from demo_log import demo_log
from running import data, run
from small_log import FORK, KEY, said, small_log

from eventlog.events import (
    MessageAppended,
    ModelCalled,
    ModelResponded,
    PlaceholderSubstituted,
    ToolResultRecorded,
)
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
            "recover refunds-0001 8 --into-context",
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

"""``recover``: the originals, to paste."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from demo_log import demo_log
from running import data, run
from small_log import KEY, small_log

from projections import open_log

S = KEY.session


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    return demo_log(tmp_path)


class TestItems:
    """What was cleared and then folded has its bytes in the log all the same."""

    def test_the_text_is_the_original_whatever_stands_there_now(self, db: Path) -> None:
        result = run("recover", S, "8", "4", "--db", db)
        assert result.exit_code == 0
        assert "FAILED 1999 != 2000\n" * 9 in result.stdout
        assert result.stdout.index("### 8 · bash · left with k1") < result.stdout.index("### 4")
        assert result.stderr == ""

    def test_a_range_a_rendition_and_a_summary_are_items_too(self, db: Path) -> None:
        found = data("recover", S, "3-6", "8@12", "16.0", "--db", db)
        assert [item["item"] for item in found["items"]] == ["3", "4", "6", "8", "16.0"]
        assert [item["taken_by"] for item in found["items"]] == ["", "k1", "k1", "k1", ""]

    def test_the_place_of_an_item_will_do(self, db: Path) -> None:
        assert [i["item"] for i in data("recover", f"{S}@8", "--db", db)["items"]] == ["8"]

    def test_messages_are_the_ones_that_were_stored(self, db: Path) -> None:
        result = run("recover", S, "4", "--format", "messages", "--db", db)
        with open_log(db) as live:
            stored = live.log.at(KEY, [4])[4].data["message"]
        assert json.loads(result.stdout) == [stored]

    def test_an_erased_item_is_told_and_not_printed(self, db: Path) -> None:
        assert run("redact", S, "4", "--yes", "--db", db).exit_code == 0
        result = run("recover", S, "4", "--db", db)
        assert result.exit_code == 3
        assert "the text of 4 was erased" in result.stderr
        result = run("recover", S, "4", "8", "--db", db)
        assert result.exit_code == 0
        assert "the text of 4 was erased" in result.stderr
        assert "ORD-77120" not in result.stdout

    @pytest.mark.parametrize(
        ("args", "code"),
        [
            ([S], 2),
            ([S, "4", "--lost", "k1"], 2),
            ([S, "--lost", "k9"], 3),
            ([S, "--lost", "c1"], 2),
            ([S, "999"], 3),
            ([S, "--query", "  "], 2),
        ],
    )
    def test_what_names_nothing_is_refused(self, args: list[str], code: int, db: Path) -> None:
        assert run("recover", *args, "--db", db).exit_code == code


class TestLost:
    """What a compaction lost, in the words in which it was said."""

    def test_what_people_said_comes_first_with_its_sentence(self, demo: Path) -> None:
        found = data("recover", "last", "--lost", "k1", "--db", demo)
        first = found["sentences"][0]
        assert (first["item"], first["who"]) == ("3", "user")
        assert "order ORD-77120, gateway trace 4f1c9a7be2d05836" in first["text"]
        assert [one["text"] for one in first["literals"]] == ["ORD-77120", "4f1c9a7be2d05836"]
        assert first["literals"][0]["used_by"][:2] == ["187", "189"]

    def test_what_nothing_needed_is_counted_and_shown_when_asked_for(self, demo: Path) -> None:
        few = data("recover", "last", "--lost", "k1", "--db", demo)
        every = data("recover", "last", "--lost", "k1", "--all", "--db", demo)
        shown = sum(len(one["literals"]) for one in few["sentences"])
        assert shown + few["left_out"] == few["found"] == every["found"]
        assert sum(len(one["literals"]) for one in every["sentences"]) == every["found"]
        result = run("recover", "last", "--lost", "k1", "--db", demo)
        assert f"{few['left_out']} more literals" in result.stderr

    def test_whole_items_hold_every_literal_that_is_named(self, demo: Path) -> None:
        found = data("recover", "last", "--lost", "k1", "--whole", "--db", demo)
        assert found["items"][0]["item"] == "3"
        for item in found["items"]:
            assert item["literals"]
            for literal in item["literals"]:
                words = " ".join(item["text"].replace("\\n", "\n").split())
                assert " ".join(literal.split())[:40] in words

    def test_it_is_markdown_in_which_nothing_of_the_log_is_markup(self, demo: Path) -> None:
        result = run("recover", "last", "--lost", "k1", "--db", demo)
        assert result.stdout.startswith("Recovered from before the compaction k1 of `local/")
        assert "- `ORD-77120`, `4f1c9a7be2d05836` (3, user; needed by 187" in result.stdout


class TestQuery:
    """A person remembers a word, not a number."""

    def test_what_is_no_longer_shown_comes_first(self, db: Path) -> None:
        found = data("recover", S, "--query", "TESTS", "--db", db)
        assert [(item["item"], item["state"]) for item in found["items"]] == [
            ("6", "folded"),
            ("16.0", "context"),
        ]

    def test_a_cleared_result_is_found_by_what_it_said(self, db: Path) -> None:
        found = data("recover", S, "--query", "failed 1999", "--db", db)
        assert [item["item"] for item in found["items"]] == ["8"]

    def test_many_hits_are_counted_and_the_first_are_shown(self, demo: Path) -> None:
        few = data("recover", "last", "--query", "ord-77120", "--db", demo)
        every = data("recover", "last", "--query", "ord-77120", "--all", "--db", demo)
        assert len(few["items"]) == 10
        assert few["found"] == len(every["items"]) == 10 + few["left_out"]
        assert few["items"] == every["items"][:10]

    def test_no_hit_leaves_with_1(self, db: Path) -> None:
        result = run("recover", S, "--query", "no such words", "--db", db)
        assert result.exit_code == 1
        assert result.stderr == "no item holds that text\n"

"""``recover``: the originals, to paste."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from demo_log import demo_log
from running import data, run
from small_log import KEY, said, small_log

from cli.exports import inline
from eventlog import Json
from eventlog.events import (
    ContextCompacted,
    MessageAppended,
    ModelCalled,
    ModelResponded,
    NewMessage,
)
from projections import open_log
from projections.dialects import dialect

S = KEY.session
SUMMARY = {"type": "message", "role": "user", "content": "They spoke of it."}


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

    def test_messages_can_be_sent_and_what_was_added_is_told(self, db: Path, demo: Path) -> None:
        result = run("recover", S, "8", "--format", "messages", "--db", db)
        made = json.loads(result.stdout)
        assert [message["role"] for message in made] == ["user", "assistant", "tool"]
        assert made[1]["tool_calls"][0]["id"] == made[2]["tool_call_id"]
        assert "added, since a call and its result go together: 6\n" in result.stderr
        assert "made legal: no user first: put in a message in front\n" in result.stderr
        args = ["recover", "8f31", "--lost", "k1", "--all", "--format", "messages", "--db", demo]
        lost = json.loads(run(*args).stdout)
        assert len(lost) > 10
        assert (
            dialect("anthropic").validate({"model": "m", "max_tokens": 1, "messages": lost}) == []
        )

    def test_a_system_prompt_that_is_no_message_there_is_told(self, tmp_path: Path) -> None:
        log = tmp_path / "l.db"
        with open_log(log) as live:
            for role, text in (("system", "Be brief."), ("user", "Hello.")):
                message = {"role": role, "content": text}
                source = "human" if role == "user" else "injected"
                live.append(
                    KEY, MessageAppended(dialect="anthropic", source=source, message=message)
                )
        result = run("recover", S, "1-2", "--format", "messages", "--db", log)
        assert json.loads(result.stdout) == [{"role": "user", "content": "Hello."}]
        assert "a system prompt is no message here, so left out: 1\n" in result.stderr

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
            ([S, "--lost", "13"], 2),
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

    def test_the_position_of_a_compaction_names_it_too(self, db: Path) -> None:
        named = data("recover", S, "--lost", "k1", "--db", db)
        assert data("recover", S, "--lost", "16", "--db", db) == named
        result = run("recover", f"{S}@k1", "--db", db)
        assert result.exit_code == 2
        assert result.stderr.endswith("what k1 lost: --lost k1\n")

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
        assert "- `ORD-77120`, `4f1c9a7be2d05836` (3, user; came up again in 187" in result.stdout

    def test_the_name_of_a_tool_is_as_it_is_typed(self, tmp_path: Path) -> None:
        assert inline("exec_command a_b_c") == "exec_command a_b_c"
        assert inline("_a_ __b__ c*") == r"\_a\_ \_\_b\_\_ c\*"

    @pytest.mark.parametrize("opaque", [True, False])
    def test_what_an_encrypted_summary_may_hold_is_not_told_as_lost(
        self, opaque: bool, tmp_path: Path
    ) -> None:
        log = tmp_path / "l.db"
        sealed = {"type": "compaction", "encrypted_content": "gAAAA"} if opaque else SUMMARY
        new = NewMessage(dialect="openai_responses", message=Json(sealed))
        with open_log(log) as live:
            live.append(KEY, said("user", "The order is ORD-77120."))
            live.append(KEY, ContextCompacted(covered=("1",), messages=(new,), opaque=opaque))
            live.append(KEY, said("user", "The ticket is SHOP-482."))  # 3
            # Behind it a compaction that can be read: the sealed one stands there still.
            readable = NewMessage(dialect="openai_responses", message=Json(SUMMARY))
            live.append(KEY, ContextCompacted(covered=("3",), messages=(readable,)))
        for k, item in (("k1", "1"), ("k2", "3")):
            result = run("recover", S, "--lost", k, "--db", log)
            assert result.exit_code == int(opaque)
            assert ("nobody but the provider can read" in result.stdout) == opaque
            answer = run("recover", S, "--lost", k, "--json", "--db", log)
            assert json.loads(answer.stdout)["data"]["sealed"] == opaque
            why = run("why", S, item, "--db", log)
            assert why.exit_code == 0
            assert ("nobody but the provider can read" in " ".join(why.stdout.split())) == opaque
            shown = run("diff", f"{S}@{k}", "--db", log).stdout
            assert ("nobody but the provider can read" in " ".join(shown.split())) == opaque
        assert run("recover", S, "1", "--db", log).exit_code == 0  # an original is known for sure


class TestQuery:
    """A person remembers a word, not a number."""

    def test_the_lines_around_the_text_are_shown_and_the_rest_is_counted(self, demo: Path) -> None:
        args = ["recover", "last", "--query", "refund_exceeds_capture", "--db", demo]
        result = run(*args)
        whole = run(*args, "--full")
        assert result.stdout.count("lines left out") >= 2
        assert "--full shows whole items" in result.stderr
        assert len(result.stdout) < len(whole.stdout)
        assert "left out" not in whole.stdout
        assert "--full" not in whole.stderr
        for item in data(*args)["items"]:
            assert item["text"] in whole.stdout  # JSON has all of it
            assert "excerpt" not in item
        one = run("recover", "last", "23", "--db", demo)
        assert "left out" not in one.stdout

    def test_in_arguments_it_is_found_unescaped(self, tmp_path: Path) -> None:
        log = tmp_path / "l.db"
        text = "".join(f"line {number}\n" for number in range(1_000, 1_400))
        call = {
            "id": "x",
            "type": "function",
            "function": {"name": "write", "arguments": json.dumps({"content": text})},
        }
        message = {"role": "assistant", "content": "I write.", "tool_calls": [call]}
        with open_log(log) as live:
            live.append(
                KEY, MessageAppended(dialect="openai_chat", source="model", message=message)
            )
        result = run("recover", S, "--query", "line 1200", "--db", log)
        assert "line 1199\nline 1200\nline 1201\n" in result.stdout
        assert "line 1196" not in result.stdout

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


class TestOneMeaning:
    """``needed`` here and ``needed`` in ``compare`` were two things, and seemed to disagree."""

    @pytest.mark.parametrize("again", ["Pay FIN-3301.", "Pay it."])
    def test_what_a_person_said_again_was_needed_by_no_answer(
        self, again: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "trunc.db"
        call = ModelCalled(model="m", dialect="openai_chat")
        with open_log(path) as live:
            live.append(KEY, said("user", "The bill is FIN-3301."), call)
            live.append(KEY, said("assistant", "Noted.", call=2), ModelResponded(call=2))
            live.append(KEY, ContextCompacted(covered=("1",)), said("user", again), call)
            live.append(KEY, said("assistant", "FIN-3301 is paid.", call=7))
            live.append(KEY, ModelResponded(call=7))
        compared = run("compare", S, "--db", path).stdout
        recovered = run("recover", S, "--lost", "k1", "--db", path).stdout
        is_said = "FIN" in again
        assert ("nothing was lost that an answer needed" in compared) is is_said
        assert ("lost, and needed by an answer: 1" in compared) is not is_said
        assert f"(1, user; came up again in {'6, ' * is_said}8)" in recovered
        assert "needed" not in recovered

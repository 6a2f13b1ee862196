"""Sentences picked without a model: which ones, how many, and always the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from contexts_made import answer, result, say

from harness.summarizers import ExtractiveSummarizer
from harness.summarizers.extractive import LABEL
from projections.strategies.decisions import Summary
from projections.tokens import Utf8Counter

ROOT = Path(__file__).parents[2]
COUNTER = Utf8Counter()
FILLER = "The weather in the office was rather pleasant that afternoon. "
TALK = [
    say(1, "user", "Never touch the folder migrations/ in this project. " + FILLER * 3),
    answer(2, "c1", text="I look at the tests of the refund module first."),
    result(3, "c1", "tests/test_refund.py::test_rounding FAILED with 1999 != 2000"),
    say(4, "assistant", "We decided to round half to even.", source="model"),
    say(5, "user", "请不要修改 migrations/ 目录。先运行测试，然后再改代码。" * 2),
]


def summary(max_tokens: int = 300, texts_only: bool = False) -> str:
    wanted = Summary("handoff_v1", max_tokens, lambda text: (), texts_only)
    return ExtractiveSummarizer(COUNTER).summarize(wanted, TALK).text


def test_it_says_that_no_model_wrote_it() -> None:
    assert summary().startswith(LABEL)


def test_every_line_is_a_sentence_of_the_conversation_in_its_order() -> None:
    said = " ".join(" ".join(part.text for part in item.parts) for item in TALK)
    lines = [line.split(": ", 1) for line in summary().splitlines()[1:]]
    places = [said.index(text) for _, text in lines]
    assert len(lines) > 3
    assert places == sorted(places)
    assert {who for who, _ in lines} <= {"USER", "AGENT", "TOOL"}


def test_a_rule_comes_before_small_talk() -> None:
    short = summary(60)
    assert "migrations/" in short
    assert "weather" not in short


def test_chinese_sentences_are_picked_too() -> None:
    assert "请不要修改 migrations/ 目录。" in summary()


def test_it_keeps_within_the_limit() -> None:
    for limit in (40, 60, 100, 200):
        assert COUNTER.count(summary(limit)) <= limit


def test_texts_only_leaves_out_what_tools_gave() -> None:
    assert "1999 != 2000" in summary(500)
    assert "1999 != 2000" not in summary(500, texts_only=True)


def test_without_room_for_a_sentence_there_is_no_summary() -> None:
    wanted = Summary("handoff_v1", 5, lambda text: ())
    assert ExtractiveSummarizer(COUNTER).summarize(wanted, TALK).fault == "empty"


@pytest.mark.parametrize("text", ["", "ok", "word " * 200, " \n"])
def test_where_there_are_no_sentences_there_is_no_summary(text: str) -> None:
    wanted = Summary("handoff_v1", 100, lambda text: ())
    written = ExtractiveSummarizer(COUNTER).summarize(wanted, [say(1, "user", text)])
    assert (written.text, written.fault) == ("", "empty")


def test_it_is_the_same_in_another_process_with_another_hash_seed() -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import test_extractive as t; print(t.summary())"
    )
    folders = [str(ROOT / "tests" / "harness"), str(ROOT / "tests" / "projections"), str(ROOT)]
    texts = {
        subprocess.run(
            [sys.executable, "-c", code, *folders],
            env={"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert texts == {summary() + "\n"}

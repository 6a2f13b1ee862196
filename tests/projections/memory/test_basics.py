"""What a person says of themselves."""

from __future__ import annotations

import pytest

from projections.memory.basics import MOST, basics
from projections.memory.spoken import spoken


def told(text: str) -> dict[str, str]:
    return {name: value for each in spoken(text) for name, value in basics(each).items()}


class TestBasics:
    """Name, work, place, language, system."""

    @pytest.mark.parametrize(
        ("text", "known"),
        [
            ("My name is Ada Lovelace and I write", {"name": "Ada Lovelace"}),
            ("Hi, my name is José.", {"name": "José"}),
            ("Call me Bob", {"name": "Bob"}),
            ("From now on, call me Bob", {"name": "Bob"}),
            ("my name is ada", {"name": "ada"}),
            ("I work as a data scientist in Paris", {"role": "data scientist"}),
            ("I'm a senior backend engineer", {"role": "senior backend engineer"}),
            ("I work at Acme", {"employer": "Acme"}),
            ("I live in New York.", {"location": "New York"}),
            ("My timezone is Europe/Berlin", {"time zone": "Europe/Berlin"}),
            ("I'm on Windows", {"system": "Windows"}),
            ("我叫小明", {"name": "小明"}),
            ("我的名字是小明，我是一名后端工程师", {"name": "小明", "role": "后端工程师"}),
            ("我在腾讯工作", {"employer": "腾讯"}),
            ("我住在上海", {"location": "上海"}),
            ("我的母语是中文", {"language": "中文"}),
        ],
    )
    def test_they_are_read_by_name(self, text: str, known: dict[str, str]) -> None:
        assert told(text) == known

    @pytest.mark.parametrize(
        "text",
        [
            "Is my name Ada?",
            "What is my name?",
            "我叫什么？",
            "If my name is Ada, greet me",
            "say my name is Ada",
            '"my name is Ada"',
            "> my name is Ada",
            "the function my_name is slow",
            "my name is not important",
            "call me later",
            "my name is wrong in the file",
            "I live in fear of it",
            "I work for hours",
            "call me back when it is done",
            "I work on the parser",
            "我叫你去做",
            "假设我叫小明",
            "Translate this: my name is Ada",
        ],
    )
    def test_a_question_a_condition_and_a_quotation_tell_nothing(self, text: str) -> None:
        assert told(text) == {}

    def test_a_value_is_short_and_on_one_line(self) -> None:
        value = told("I work at Very " + "very " * 10 + "long")["employer"]
        assert len(value) <= MOST

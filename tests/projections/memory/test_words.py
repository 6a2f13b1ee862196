"""A memory is found by the words of a question, whichever script they stand in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from eventlog.events import Entity, Experience
from projections.memory.memory import Memory
from projections.memory.words import READ, found_by, words


def memory(text: str, **more: object) -> Memory:
    given = {"id": 1, "rendition": "1", "kind": "fact", "importance": 0.5}
    times = {"remembered_at": 0, "refreshed_at": 0}
    return Memory.model_validate({**given, **times, "text": text, **more})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We are deploying on Fridays", ["deploi", "fridai"]),
        ("用pytest跑测试", ["用", "pytest", "跑测", "测试"]),
        ("ＡＰＩ key", ["api", "kei"]),
        ("ORD-70500, max_steps", ["ord", "70500", "max", "step"]),
        ("テスト", ["テス", "スト"]),
        ('"NEAR(*^:) -', ["near"]),
        ("\ud800 \x00 \u202e", []),
        ("what is it?", []),
    ],
)
def test_words_are_cut(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


def test_what_denies_is_a_word() -> None:
    assert "not" in list(words("do not push"))
    assert "不要" in list(words("不要推送"))


def test_of_a_long_text_the_beginning_is_looked_at() -> None:
    assert "late" not in list(words("early " * READ + "late"))
    assert len(next(words("x" * READ))) == 64


def test_a_memory_is_found_by_what_it_is_about_too() -> None:
    done = Experience(situation="The build fails", action="pinned numpy", outcome="it passes")
    found = found_by(
        memory(
            "pinned numpy, and it passes",
            subject="CI",
            experience=done,
            entities=(Entity(name="NumPy"), Entity(name="wheel")),
        )
    )
    assert found == "pinned numpy, and it passes\nCI\nThe build fails\nwheel"


@pytest.mark.parametrize(
    "said",
    ["deploy deploys deployed deploying", "migration migrations", "test tests testing tested"],
)
def test_forms_of_an_english_word_are_one(said: str) -> None:
    assert len(set(words(said))) == 1


@pytest.mark.parametrize("word", ["70500", "sha256s", "größen"])
def test_what_is_no_english_word_stays(word: str) -> None:
    assert list(words(word)) == [word.casefold().replace("ß", "ss")]


def test_threads_cut_alike() -> None:
    texts = [f"deploying{n:c} tested{n:c} running{n:c}" for n in range(97, 123)] * 20
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda t: list(words(t)), texts)) == [list(words(t)) for t in texts]

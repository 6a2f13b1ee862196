"""Words that are one have one stem, and no other word has it."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from projections.memory.stemming import stem

DOCS = Path(__file__).parents[3] / "docs"


def test_it_agrees_with_the_tokenizer_of_sqlite_on_every_word_of_the_docs() -> None:
    found = {w for page in DOCS.rglob("*.md") for w in re.findall("[a-z]+", page.read_text())}
    words = sorted(word for word in found if len(word) > 4)
    assert len(words) > 1_000
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("create virtual table texts using fts5 (words, tokenize='porter ascii')")
        db.execute("create virtual table terms using fts5vocab (texts, instance)")
        db.executemany("insert into texts (rowid, words) values (?, ?)", enumerate(words))
        theirs = {words[row]: term for row, term in db.execute("select doc, term from terms")}
    assert {word: stem(word) for word in words} == theirs


@pytest.mark.parametrize(
    "words",
    ["deploy deploys deployed deploying", "migration migrations", "test tests testing tested"],
)
def test_forms_of_a_word_are_one(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize("word", ["", "as", "数据", "größe", "70500", "sha256s", "y" * 5_000])
def test_what_is_no_english_word_stays(word: str) -> None:
    assert stem(word) == word

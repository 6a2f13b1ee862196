"""What is typed is found where it stands, as a naive look finds it, and nothing typed is wrong."""

from __future__ import annotations

import sqlite3
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from projections.search_index import BECOMES_ASCII
from projections.search_query import LONGEST, Query, Term, parse, tokens

DENSE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "KHMER", "LAO ", "MYANMAR", "IDEOGRAPHIC")


def terms(text: str) -> list[tuple[str, bool, bool]]:
    return [(term.typed, term.any_before, term.any_behind) for term in parse(text).terms]


def found(query: str, *texts: str) -> bool:
    return parse(query).best(list(texts)) is not None


def is_word(char: str) -> bool:
    return char.isalnum() and not unicodedata.name(char, "").startswith(DENSE)


def naively(term: Term, text: str) -> bool:
    """Character by character, without any expression or index."""
    folded, wanted = text.casefold(), term.typed.casefold().split()
    for at in range(len(folded)):
        end = at
        for number, word in enumerate(wanted):
            if number:
                start = end
                while end < len(folded) and folded[end].isspace():
                    end += 1
                if start == end:
                    break
            if not folded.startswith(word, end):
                break
            end += len(word)
        else:
            before, behind = folded[at - 1 : at] if at else "", folded[end : end + 1]
            glued = before and is_word(before) and is_word(wanted[0][0])
            glued_behind = behind and is_word(behind) and is_word(wanted[-1][-1])
            if (term.any_before or not glued) and (term.any_behind or not glued_behind):
                return True
    return False


class TestParse:
    """A search that refuses what was pasted into it is left for grep."""

    @pytest.mark.parametrize(
        ("typed", "expected"),
        [
            ("refund", [("refund", False, False)]),
            ("a b", [("a", False, False), ("b", False, False)]),
            ('"order id"', [("order id", False, False)]),
            ('"order id"*', [("order id", False, True)]),
            ("foo*", [("foo", False, True)]),
            ("*foo", [("foo", True, False)]),
            ("*foo*", [("foo", True, True)]),
            ('"foo*"', [("foo*", False, False)]),
            ("a*b", [("a*b", False, False)]),
            ("**", [("**", False, False)]),
            ('"open', [('"open', False, False)]),
            ('say"so"', [('say"so"', False, False)]),
            ("AND OR NOT", [("AND", False, False), ("OR", False, False), ("NOT", False, False)]),
            ("a a", [("a", False, False)]),
            ("col:x", [("col:x", False, False)]),
            ("", []),
            ('  "" ', []),
        ],
    )
    def test_a_text_is_read_as(self, typed: str, expected: list[tuple[str, bool, bool]]) -> None:
        assert terms(typed) == expected

    @given(st.text(max_size=40))
    @example('"')
    @example('* "*" *"')
    @example("\ud800 \x00 NEAR(a b, 2) ^x {a b}: -y")
    def test_any_text_is_a_query_that_sqlite_takes(self, text: str) -> None:
        query = parse(text)
        assert bool(query.terms) == bool(text.replace('""', "").split()) or '"' in text
        for token in query.tokens:
            assert token.text.isalnum() or not token.text.isascii()
            match = f'"{token.text}"' + "*" * token.is_prefix
            TABLE.execute("select rowid from t where t match ?", (match,)).fetchall()


TABLE = sqlite3.connect(":memory:")
TABLE.execute("create virtual table t using fts5 (w, content='', detail=none, tokenize='ascii')")


class TestFound:
    """People look for ids, paths and numbers as they stand there."""

    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("ORD-77120", "the order is ord-77120."),
            ("77120", "ORD-77120"),
            ("src/big.json", "open(src/big.json)"),
            ("big.json", "src/big.json"),
            ("0x1f", "at 0x1F:"),
            ("refund", "refund_rounding"),
            ("--force", "git push --force"),
            ("订单", "这个订单号是"),
            ("单", "订单"),
            ("订单 migrations", "不要动订单 migrations/"),
            ("エラー", "テストエラーです"),
            ('"order id"', "the order\n  id"),
            ("ref*", "refunds"),
            ("*unds", "refunds"),
            ("*fun*", "refunds"),
            ("=>", "a => b"),
            ("strasse", "Straße"),
            ("ÉTÉ", "l'été"),
            ("\U0001f600", "a\U0001f600b"),
            ("x" * 50, "x" * 50),
            ("x" * 40 + "*", "x" * 50),
        ],
    )
    def test_it_is_found(self, query: str, text: str) -> None:
        assert found(query, text)
        for token in parse(query).tokens:
            assert any(
                t.startswith(token.text) if token.is_prefix else t == token.text
                for t in tokens(text)
            )

    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("refund", "refunds"),
            ("und", "refund"),
            ("ref*", "a pref"),
            ("*unds", "refundss"),
            ("ORD-7712", "ORD-77120"),
            ('"order id"', "order the id"),
            ("订单号", "订单 号"),
            ("x" * 50, "x" * 51),
            ("a b", "a"),
        ],
    )
    def test_it_is_not(self, query: str, text: str) -> None:
        assert not found(query, text)

    def test_the_terms_may_stand_in_different_texts_and_the_one_with_most_is_told(self) -> None:
        query = parse("a b c")
        assert query.best(["a", "b c", "a b"]) == 1
        assert query.best(["a", "b"]) is None

    def test_places_are_those_of_the_text_itself(self) -> None:
        text = "ßß Straße und STRASSE"
        query = parse("strasse")
        assert [text[a:b] for a, b in query.spans(text)] == ["Straße", "STRASSE"]
        assert query.first_in(text) == (3, 9)


PIECES = st.sampled_from(
    ["ord", "ORD-77120", "a", "_", "-", "/", " ", "\n", "订单", "订", "单号", "ß", "ﬁ", "é",
     "e\u0301", "カ", "ไทย", "한국", "0x1f", '"', "*", "\ud83d", "\U0001f600", "x" * 31,
     "x" * 33, "İ"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=8).map("".join)
TERMS = st.builds(
    Term,
    st.lists(PIECES, min_size=1, max_size=3).map("".join).filter(lambda t: bool(t.split())),
    st.booleans(),
    st.booleans(),
)


class TestTokens:
    """An index that passes over a text which holds the query loses it silently."""

    @settings(max_examples=500)
    @given(text=TEXTS, term=TERMS)
    def test_a_text_is_found_exactly_where_a_naive_look_finds_it(
        self, text: str, term: Term
    ) -> None:
        assert (term.pattern.search(text.casefold()) is not None) == naively(term, text)

    @settings(max_examples=500)
    @given(front=TEXTS, behind=TEXTS, term=TERMS)
    def test_a_text_that_holds_it_has_all_its_tokens(
        self, front: str, behind: str, term: Term
    ) -> None:
        text = front + term.typed + behind
        if Query((term,)).best([text]) is None:
            return
        held = tokens(text)
        for token in term.tokens:
            if token.is_prefix:
                assert any(t.startswith(token.text) for t in held)
            else:
                assert token.text in held
        if term.part:
            assert any(term.part in t or len(t) == LONGEST for t in held)

    def test_long_words_are_kept_by_their_beginning(self) -> None:
        assert tokens("y" * 1000) == {"y" * LONGEST}

    def test_every_character_that_compares_like_ascii_is_known(self) -> None:
        every = {
            chr(n)
            for n in range(0x80, 0x110000)
            if any(char.isascii() for char in chr(n).casefold())
        }
        assert set(BECOMES_ASCII) == every

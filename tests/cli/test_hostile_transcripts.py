"""Hostile transcripts, imported and then shown by every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hostile_transcripts import FORMATS, TEXTS, Transcript, transcripts
from running import run
from test_hostile import shown

from cli.main import registered

ALL = list(transcripts())
FIRST = {next(each.name for each in ALL if kind in each.name.split()) for kind in TEXTS}
"""One of each kind of text; the rest is a long profile."""

TRIED = [
    pytest.param(each, id=each.name, marks=() if each.name in FIRST else pytest.mark.slow)
    for each in ALL
]

WHOLE: dict[str, list[list[str]]] = {
    "sessions": [[]],
    "new": [["--title", "a title"]],
    "verify": [[]],
    "head": [[]],
    "rebuild": [[]],
    "strategies": [[]],
    "doctor": [[]],
    "search": [["ORD-77120"], ["\x1b[2J", "--in", "input"]],
    "sql": [["select * from messages_readable"], ["select * from calls_readable", "--csv"]],
    "export": [["--all"], ["--all", "--format", "markdown"]],
}
"""Commands that are asked of the whole log."""

EACH: dict[str, list[list[str]]] = {
    "log": [["S"], ["S", "--events", "--calls"]],
    "show": [
        ["S@1"],
        ["S@2", "--raw"],
        ["S@k1"],
        ["S@c1"],
        ["S", "--context"],
        *(["S@c1", "--request", "--as", form] for form in ("curl", "python")),
    ],
    "replay": [
        ["S"],
        ["S", "--check"],
        ["S@c1", "--format", "text"],
        ["S", "--strategy", "clear:keep=0"],
    ],
    "stats": [["S"]],
    "diff": [
        ["S@k1", "--anchors", "--prefix"],
        ["S", "--left", "observed", "--right", "truncate:turns=1", "--word"],
    ],
    "compare": [["S", "-s", "clear:keep=0"], ["S", "-s", "none", "--csv"]],
    "audit": [["S"], ["S", "--prefix", "--rule", "prefix"]],
    "report": [["S", "--out", "/dev/null", "--force"]],
    "why": [["S", "2"], ["S", "3@c1"]],
    "recover": [["S", "2", "3"], ["S", "--lost", "k1", "--all"], ["S", "--query", "ORD"]],
    "run": [["S", "-s", "clear:keep=0", "--dry-run"], ["S", "-s", "truncate:turns=1"]],
    "undo": [["S", "--dry-run"]],
    "rewind": [["S@1", "--dry-run"]],
    "pin": [["S", "2"]],
    "unpin": [["S", "2"]],
    "redact": [["S", "2", "--dry-run"], ["--pattern", "ORD", "--dry-run"]],
    "fork": [["S"]],
    "rename": [["S", "a title"]],
    "resume": [["S"]],
    "state show": [["S"], ["S@1"]],
    "state export": [["S"], ["S", "--as", "messages"], ["S@k1^", "--as", "session"]],
    "prompt log": [["S"]],
    "prompt diff": [["S@1", "@now"], ["S@1", "@now", "--word"]],
    "memory add": [["--from", "S", "--dry-run"], ["--from", "S"]],
    "memory list": [["--all"], ["--session", "S"]],
    "memory search": [["evil"], ["\x1b[2J"]],
    "memory show": [["1"]],
    "memory revise": [["1", "something else"]],
    "memory forget": [["1"]],
    "memory restore": [["1"]],
    "memory profile": [[]],
    "memory graph": [[]],
    "memory gc": [["--dry-run"]],
    "memory export": [[], ["--as", "markdown"]],
}
"""Commands that are asked of each session; ``S`` is its key."""

APART = {
    *("demo", "import", "backup", "delete", "state", "state import", "record", "proxy", "chat"),
    *("memory", "memory import", "serve"),
}
"""Run on no log of ours, with a model, before all the others, behind them, or until another process
ends."""

OF_NO_LOG = {"prompt", "prompt list", "prompt show", "prompt render", "prompt test"}
"""Their files are hostile in test_prompts and test_prompt_test."""


def imported(transcript: Transcript, tmp_path: Path) -> tuple[Path, list[str]]:
    """The log of a transcript, and the keys of its sessions."""
    db = tmp_path / "evil.db"
    source = str(transcript.write(tmp_path / "in"))
    for more in (["--dry-run"], [], ["--final"], ["--json"]):
        code, out, err = shown(["import", source, *more], db)
        # What is torn at the end of a file waits, and is no finding, until it is asked for.
        torn = transcript.name == "torn" and "--final" not in more
        assert code == (0 if torn else transcript.code), out + err
    if transcript.code < 2:
        files = json.loads(out)["data"]["files"]
        assert sum(each["new"] for file in files for each in file["sessions"]) == 0
    listed = json.loads(run("sessions", "--json", "--db", db).stdout)["data"]
    return db, [row["key"] for row in listed["sessions"]]


class TestHostileTranscripts:
    """What agents are shown comes from web pages and tools, and what they write from a model."""

    def test_there_are_fifty_of_every_kind_and_format(self) -> None:
        assert len({each.name for each in ALL}) == len(ALL) >= 50
        for word in (*TEXTS, *FORMATS):
            assert any(word in each.name.split() for each in ALL)

    def test_every_command_is_tried(self) -> None:
        names = {name for name in registered() if name}
        assert names == {*WHOLE, *EACH, *APART, *OF_NO_LOG}

    @pytest.mark.parametrize("transcript", TRIED)
    def test_no_byte_of_them_acts_and_no_command_falls(
        self, transcript: Transcript, tmp_path: Path
    ) -> None:
        db, keys = imported(transcript, tmp_path)
        assert bool(keys) == (transcript.code < 2)
        for name, lines in WHOLE.items():
            for line in lines:
                assert shown([*name.split(), *line], db)[0] < 2
        for name, lines in EACH.items():
            for line in lines:
                for key in keys[:2]:
                    words = (p.replace("S", key, 1) if p[:1] == "S" else p for p in line)
                    code, _, _ = shown([*name.split(), *words], db)
                    assert code < 4, line
        for key in keys[:2]:
            document = str(tmp_path / "state.json")
            assert shown(["state", "export", key, "-o", document, "--force"], db)[0] == 0
            assert shown(["state", "import", document, "--name", f"{key[-8:]}.copy"], db)[0] == 0
        document = str(tmp_path / "memories.json")
        assert shown(["memory", "export", document, "--force"], db)[0] == 0
        assert shown(["memory", "import", document, "--user", "another"], db)[0] == 0
        assert shown(["backup", str(tmp_path / "copy.db")], db)[0] == 0
        there = json.loads(run("sessions", "--json", "--db", db).stdout)["data"]["sessions"]
        for key in sorted((row["key"] for row in there), key=len, reverse=True):  # forks first
            confirmed = ["--purge", "--yes", "--confirm", key.split("/", 2)[2]]
            assert shown(["delete", key, *confirmed], db)[0] == 0
        assert shown(["verify"], db)[0] == 0

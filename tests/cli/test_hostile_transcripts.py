"""Hostile transcripts, imported and then shown by every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hostile_transcripts import FORMATS, TEXTS, Transcript, transcripts
from running import run
from test_hostile import shown

from cli.main import app

ALL = list(transcripts())

WHOLE: dict[str, list[list[str]]] = {
    "sessions": [[]],
    "verify": [[]],
    "head": [[]],
    "rebuild": [[]],
    "strategies": [[]],
    "export": [["--all"], ["--all", "--format", "markdown"]],
}
"""Commands that are asked of the whole log."""

EACH: dict[str, list[list[str]]] = {
    "log": [["S"], ["S", "--events", "--calls"]],
    "show": [["S@1"], ["S@2", "--raw"], ["S@k1"], ["S@c1"], ["S", "--context"]],
    "replay": [["S"], ["S@c1", "--format", "text"], ["S", "--strategy", "clear:keep=0"]],
    "stats": [["S"]],
    "diff": [
        ["S@k1", "--anchors", "--prefix"],
        ["S", "--left", "observed", "--right", "truncate:turns=1", "--word"],
    ],
    "compare": [["S", "-s", "clear:keep=0"], ["S", "-s", "none", "--csv"]],
    "redact": [["S", "2", "--dry-run"], ["--pattern", "ORD", "--dry-run"]],
    "fork": [["S"]],
}
"""Commands that are asked of each session; ``S`` is its key."""

APART = {"demo", "import"}
"""Run on no log of ours, and before all the others."""


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
        names = {command.name for command in app.registered_commands if not command.hidden}
        assert names == {*WHOLE, *EACH, *APART}

    @pytest.mark.parametrize("transcript", ALL, ids=[each.name for each in ALL])
    def test_no_byte_of_them_acts_and_no_command_falls(
        self, transcript: Transcript, tmp_path: Path
    ) -> None:
        db, keys = imported(transcript, tmp_path)
        assert bool(keys) == (transcript.code < 2)
        for name, lines in WHOLE.items():
            for line in lines:
                assert shown([name, *line], db)[0] == 0
        for name, lines in EACH.items():
            for line in lines:
                for key in keys[:2]:
                    code, _, _ = shown([name, *(part.replace("S", key, 1) if part[:1] == "S"
                                                else part for part in line)], db)  # fmt: skip
                    assert code < 4, line

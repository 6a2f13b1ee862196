"""Memories that somebody wrote to do harm, shown by every command of ``ctxlog memory``."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import process
from test_hostile import EVIL, FORBIDDEN, shown

from eventlog import Json
from eventlog.events import (
    Entity,
    MemoryForgotten,
    MemoryRevised,
    MemorySource,
    ProfileUpdated,
    Relation,
    Remembered,
)
from projections import open_log
from projections.memory import memory_stream


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """Memories in which every text is hostile."""
    path = tmp_path / "evil.db"
    source = MemorySource(stream=EVIL, positions=(1,))
    with open_log(path) as live:
        live.append(
            memory_stream("local"),
            Remembered(
                kind="preference",
                text=EVIL,
                scored=(EVIL,),
                subject=EVIL,
                values=Json({EVIL: EVIL}),
                entities=(Entity(name=EVIL, kind=EVIL),),
                relations=(Relation(subject=EVIL, predicate=EVIL, object=EVIL),),
                sources=(source,),
                by=EVIL,
            ),
            MemoryRevised(memory=1, text=EVIL * 2, reason=EVIL, by=EVIL),
            MemoryForgotten(memory=1, reason=EVIL, by=EVIL),
            Remembered(
                text=EVIL,
                subject=EVIL,
                entities=(Entity(name=EVIL, kind=EVIL),),
                relations=(Relation(subject=EVIL, predicate=EVIL, object=EVIL),),
            ),
            ProfileUpdated(
                section="basics", values=Json({EVIL: {EVIL: EVIL}}), sources=(source,), by=EVIL
            ),
        )
    return path


class TestHostileMemories:
    """What is remembered was written by models and by what they read."""

    @pytest.mark.parametrize("more", [[], ["--json"], ["--ascii", "--width", "40"]])
    @pytest.mark.parametrize(
        "line",
        [
            "list --all",
            "show m1",
            "show m4",
            "revise m4 x",
            "forget m4",
            "restore m1",
            "profile",
            "graph",
            "gc --dry-run --at 2030-01-01",
        ],
    )
    def test_no_byte_acts(self, evil: Path, line: str, more: list[str]) -> None:
        code, out, _ = shown(["memory", *line.split(), *more], evil)
        assert code == 0
        if "--json" not in more:
            assert max(map(len, out.splitlines())) <= (40 if more else 100)

    def test_nor_does_one_that_is_typed(self, evil: Path) -> None:
        for line in (
            ["add", "x\x1b[2J\u202e"],
            ["add", "x", "--subject", "\x1b[2J"],
            ["show", "\x1b[2J"],
            ["list", "--user", "\x1b[2J"],
            ["list", "--kind", "\x1b[2J"],
            ["profile", "--set", "\x1b[2J"],
            ["profile", "--unset", "basics.\x1b[2J"],
        ):
            assert shown(["memory", *line], evil)[0] < 4


def test_as_a_process_of_its_own(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 on the command line are told, and leave no log."""
    done = process("memory", "add", b"\xff".decode("utf-8", "surrogateescape"), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"ctxlog: the text is no UTF-8\n"
    assert not FORBIDDEN.search(done.stderr.decode().rstrip("\n"))
    assert not list(tmp_path.rglob("*.db"))
    done = process("memory", "add", "We deploy on Fridays", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"remembered m1 fact: We deploy on Fridays\n")

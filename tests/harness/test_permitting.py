"""A call is judged by what is there when it begins, not by what was there when it was written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from conversing import Asked, called, holds, said, types
from model_server import Answer, serving

from eventlog.events import PermissionsSet
from harness.conversation import Conversation
from harness.tools.permissions import Judgement
from harness.tools.tool import Tool
from harness.tools.toolbox import toolbox
from projections import Live, open_log

RULES = PermissionsSet(mode="ask", allow=("shell(ln *)",), deny=("*(**/.env)",))


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db") as found:
        yield found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / ".env").write_text("KEY=open sesame")
    (folder / "x").write_text("harmless")
    return folder


def at_once(*calls: tuple[str, str, Mapping[str, Any]]) -> Any:
    """A model that makes these calls in one answer."""

    def answer(asked: Asked) -> Answer:
        return called(*calls) if asked["messages"][-1]["role"] == "user" else said("done")

    return answer


def results(talk: Conversation) -> list[str]:
    found = talk.live.log.read(talk.key, types=["tool_result_recorded"])
    return [event.data["content"] for event in found]


READ = ("c0", "read_file", {"path": "x"})
LINK = ("c1", "shell", {"command": "ln -sf .env x"})
AGAIN = ("c2", "read_file", {"path": "x"})


class TestCallsOfOneAnswer:
    """A model that may make links could read what is denied through one."""

    def test_a_link_that_one_call_made_is_seen_when_the_next_is_judged(
        self, live: Live, root: Path
    ) -> None:
        with serving(at_once(READ, LINK, AGAIN)) as server:
            talk = Conversation(
                live,
                server.client(),
                "m",
                session="s",
                tools=toolbox("files,shell", root, os.environ),
                permissions=RULES,
            )
            assert talk.ask("go") == "done"
        assert (root / "x").is_symlink()
        first, _, second = results(talk)
        assert "harmless" in first
        assert "deny *(**/.env)" in second
        assert not any("sesame" in each for each in results(talk))
        holds(talk)

    def test_nobody_is_asked_twice_about_a_call(self, live: Live, root: Path) -> None:
        asked: list[str] = []

        def approve(tool: Tool, arguments: Mapping[str, Any], why: Judgement) -> bool:
            asked.append(str(arguments.get("command", arguments.get("path"))))
            return True

        write = ("c3", "write_file", {"path": "y", "content": "1"})
        touch = ("c4", "shell", {"command": "cat y > z"})
        with serving(at_once(READ, write, touch)) as server:
            talk = Conversation(
                live,
                server.client(),
                "m",
                session="s",
                tools=toolbox("files,shell", root, os.environ),
                permissions=PermissionsSet(mode="ask"),
                approve=approve,
            )
            talk.ask("go")
        assert asked == ["y", "cat y > z"]
        assert (root / "z").read_text() == "1"
        assert types(live, talk.key).count("permission_decided") == 2

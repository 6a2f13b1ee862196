"""Somebody purges a session while another process is answered in it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from conversing import Asked, called, said, told
from model_server import serving

from eventlog.errors import InputRefused
from eventlog.events import SessionDeleted
from eventlog.integrity import verify
from harness.agent_sessions import Sessions
from harness.conversation import Conversation
from harness.tools.tool import tool
from projections import open_log
from projections.purging import is_purged


class TestPurgedMeanwhile:
    """Somebody erases a session for good, is told that it is done, and its text is in the file."""

    @pytest.mark.parametrize("moment", ["answer", "tool"])
    def test_what_comes_late_is_not_kept(self, tmp_path: Path, moment: str) -> None:
        path = tmp_path / "talk.db"

        def purge_elsewhere() -> None:
            with open_log(path) as other:
                Sessions(other).purge("s", confirm="s")

        def act(n: int) -> str:
            """Act."""
            if moment == "tool":
                purge_elsewhere()
            return "ZZRESULT"

        def answer(asked: Asked) -> Any:
            last = asked["messages"][-1]
            if moment == "answer":
                purge_elsewhere()
            elif last["role"] == "user":
                return called(("c1", "act", {"n": 1}))
            return said("ZZANSWER")

        with serving(answer) as server, open_log(path) as live:
            talk = Conversation(
                live, server.client(), "m", session="s", tools=[tool(act)], strategy="none"
            )
            with pytest.raises(InputRefused, match="was purged meanwhile"):
                told(talk.say("ZZSECOND"))
            for _ in range(2):  # nor does it come in with the next thing that is said
                with pytest.raises(InputRefused):
                    told(talk.say("ZZTHIRD"))
            with contextlib.suppress(InputRefused):
                told(talk.go_on())
            with pytest.raises(InputRefused, match="was purged meanwhile"):
                talk.inject("ZZFOURTH", "note")
            assert is_purged(live.log, talk.key)
            assert verify(live.log).ok
        assert b"ZZ" not in b"".join(each.read_bytes() for each in tmp_path.glob("talk.db*"))

    def test_a_purge_that_was_stopped_halfway_counts(self, tmp_path: Path) -> None:
        def answer(asked: Asked) -> Any:
            other.append("local/chat/s", SessionDeleted(purged=True))
            return said("ZZANSWER")

        path = tmp_path / "talk.db"
        with serving(answer) as server, open_log(path) as live, open_log(path) as other:
            talk = Conversation(live, server.client(), "m", session="s")
            with pytest.raises(InputRefused, match="was purged meanwhile"):
                told(talk.say("turn 1"))
            assert "ZZ" not in str([each.data for each in live.log.read(talk.key)])

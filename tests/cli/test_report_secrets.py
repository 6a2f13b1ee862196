"""A page, or what is served, holds no piece of a secret, wherever a text was shortened."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import run
from small_log import answered, called, said

from cli.comparing import specs_of
from cli.report import report as reports
from cli.report.lanes import Wanted
from cli.report.made import made_of
from cli.report.report import report, without_secrets
from cli.report.served_log import ServedLog
from cli.summaries import EXTRACTIVE, Summaries
from eventlog import Draft, StreamKey
from eventlog.events import (
    ContextCompacted,
    DecidedBy,
    ModelFailed,
    NewMessage,
    SessionRewound,
    SessionStarted,
    ToolResultRecorded,
)
from projections import open_log

GITHUB = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
OPENAI = "sk-proj-" + "AbCd1234EfGh5678" * 3 + "T3Blbk" + "FJ" + "Zz91" * 8
AWS = "AKIA" + "QX7ZK3M2P9L4T8W1"
LEAST = 8


def everything(page: str) -> str:
    """All of a page, with its chunks taken apart."""
    blocks = re.findall(r'id="(?:texts|requests)-\d+-\d+">(.*?)</script>', page, re.S)
    return page + "".join(zlib.decompress(base64.b64decode(each)).decode() for each in blocks)


def pieces(secret: str) -> Iterator[str]:
    return (secret[at : at + LEAST] for at in range(len(secret) - LEAST + 1))


def left_of(secret: str, text: str) -> list[str]:
    return [piece for piece in pieces(secret) if piece in text]


def cut_everywhere(path: Path, key: StreamKey, secret: str) -> None:
    """A session that says a secret behind ever more words, in every field that holds words."""
    with open_log(path, durability="normal") as live:
        live.append(key, SessionStarted(title="w " * 20 + secret))
        for pad in range(24, 252, 4):
            text = "w " * (pad // 2) + secret
            at = live.log.version(key)
            live.append(
                key,
                Draft(said("user", text)),
                Draft(called()),
                Draft(ModelFailed(call=at + 2, error=text, status=500)),
            )
            if pad % 3 == 0:
                live.append(
                    key,
                    Draft(called()),
                    Draft(said("assistant", text, call=at + 4, tool=f"t{pad}")),
                    Draft(answered(at + 4, 9)),
                    Draft(
                        ToolResultRecorded(
                            tool_call_id=f"t{pad}",
                            name=f"sh{pad}",
                            dialect="openai_chat",
                            is_error=True,
                            content=text,
                        )
                    ),
                )
            if pad % 5 == 0:
                message = {"role": "user", "content": text}
                live.append(
                    key,
                    Draft(
                        ContextCompacted(
                            covered=(str(at + 1),),
                            messages=(NewMessage(dialect="openai_chat", message=message),),
                            by=DecidedBy(name="x"),
                            trigger=text,
                        )
                    ),
                    Draft(SessionRewound(to=live.log.version(key), reason=text)),
                )


class TestSecrets:
    """Without these a key stands in a file that people share."""

    @pytest.mark.parametrize("secret", [GITHUB, OPENAI, AWS])
    def test_no_field_holds_a_piece_wherever_it_was_cut(self, tmp_path: Path, secret: str) -> None:
        key = StreamKey("ann", "bot", "cut")
        cut_everywhere(tmp_path / "s.db", key, secret)
        with open_log(tmp_path / "s.db") as live:
            made = report(live, [key], {str(key): "cut"})
            page = everything(made.html())
            served = made_of("1.0", made, {})
        assert made.sessions[0].data.findings
        assert secret[:4] in page
        assert left_of(secret, page) == []
        assert left_of(secret, served.text) == []

    def test_a_comparison_holds_no_key_of_a_session_as_it_is(self, tmp_path: Path) -> None:
        key = StreamKey("ann", f"a{GITHUB}", f"s-{GITHUB}")
        with open_log(tmp_path / "s.db") as live:
            live.append(key, SessionStarted(), said("user", "Begin."), called())
            live.append(key, said("assistant", "So.", call=3), answered(3, 5), said("user", "On."))
            live.append(key, called())
            wanted = Wanted(specs_of(["truncate:turns=1"], []), Summaries(live, EXTRACTIVE))
            made = report(live, [key], {str(key): key.session}, comparing=wanted)
        assert made.compared is not None
        assert "truncate" in made.html()
        assert left_of(GITHUB, everything(made.html())) == []

    def test_a_title_that_ends_within_a_key_is_masked_in_the_list(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "s.db") as live:
            for pad in range(0, 60, 4):
                first = "x" * pad + " " + GITHUB + " is the key"
                live.append(StreamKey("u", "a", f"s{pad}"), said("user", first))
            listed = ServedLog(live, []).listed(0, "")
            whole = ServedLog(live, []).begun(listed.sessions)
            shown = without_secrets(listed.model_dump(mode="json"), whole)
        assert left_of(GITHUB, json.dumps(listed.model_dump())) != []
        assert left_of(GITHUB, json.dumps(shown)) == []


class TestSize:
    """Without these a session of long errors gives a file that no browser opens."""

    def test_what_is_long_and_no_message_is_cut_and_says_so(self, tmp_path: Path) -> None:
        key = StreamKey("ann", "bot", "long")
        with open_log(tmp_path / "s.db") as live:
            live.append(key, SessionStarted(), said("user", "Begin."))
            for n in range(3):
                live.append(key, called())
                live.append(key, ModelFailed(call=3 + 2 * n, error=f"{n}o" * 200_000, status=500))
            calls: list[Any] = report(live, [key], {str(key): "long"}).sessions[0].data.calls
            whole = report(live, [key], {str(key): "long"}, full=True).sessions[0].data.calls
        told = "… (396,000 more characters; ctxlog show long)"
        assert all(call.error.endswith(told) and len(call.error) < 4_100 for call in calls)
        assert all(len(call.error) == 400_000 for call in whole)

    def test_items_that_need_more_than_a_file_give_a_page_that_is_larger(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = StreamKey("ann", "bot", "many")
        with open_log(tmp_path / "s.db") as live:
            live.append(key, SessionStarted(), *(said("user", f"{n} is short") for n in range(30)))
            monkeypatch.setattr(reports, "SIZE", 1_000)
            made = report(live, [key, key], {str(key): "many"})
            assert len(made.sessions[0].data.rows) == 30
            live.append(key, said("user", " ".join(map(str, range(2_000)))))
            monkeypatch.setattr(reports, "_LEAST", 1_000)
            cut = report(live, [key], {str(key): "many"}).sessions[0].data.texts.cut
        assert list(cut) == [0]

    def test_a_larger_file_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with open_log(tmp_path / "s.db") as live:
            live.append(StreamKey("ann", "bot", "one"), said("user", "Hello."))
        monkeypatch.setattr(reports, "MOST", 1_000)
        args = ("report", "one", "--out", tmp_path / "x.html", "--db", tmp_path / "s.db")
        assert "larger than 1,000 bytes" in run(*args).stderr
        assert "larger" not in run(*args, "--force", "--full").stderr

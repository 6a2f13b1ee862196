"""``show --request``: the bytes of a call, and what sends them again, run for real."""

from __future__ import annotations

import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_transcripts import TEXTS
from running import ROOT, environment, process, run
from small_log import small_log

sys.path.insert(0, str(ROOT / "tests" / "harness"))
from model_server import ModelServer, chunks, completion, serving, streamed
from test_hostile import FORBIDDEN
from test_wrap_anthropic import message
from test_wrap_anthropic import streamed as streamed_message

from harness.exchange.outcomes import outcome_of
from harness.recording import Recorder
from harness.recording.wire import plain_headers, plain_url

SHELLS = [shell for shell in ("bash", "dash", "zsh") if shutil.which(shell)]
PATHS = {
    "openai_chat": "/chat/completions",
    "openai_responses": "/responses",
    "anthropic": "/messages",
}


def answers(asked: dict[str, Any]) -> Any:
    if "max_tokens" in asked:
        said = message(1, {"type": "text", "text": "done"})
        return streamed_message(said) if asked.get("stream") else said
    return streamed(chunks("streamed")) if asked.get("stream") else completion()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(answers) as found:
        yield found


def record(db: Path, url: str, dialect: str, *bodies: bytes, headers: Any = None) -> None:
    """Calls as the proxy records them; no answer came."""
    recorder = Recorder(db, session="s")
    for body in bodies:
        kept = plain_headers(headers or {})
        call = recorder.begin(dialect, body, url=plain_url(url), headers=kept)  # type: ignore[arg-type]
        assert call.position
        call.failed("nobody was asked")
    recorder.close()


def sends(db: Path, form: str) -> bytes:
    """What sends the call again."""
    result = run("show", "s@c1", "--request", "--as", form, "--db", db)
    assert result.exit_code == 0, result.output
    assert not FORBIDDEN.search(result.stdout)
    return result.stdout_bytes


def again(home: Path, program: list[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    """What was printed, run as it would be when pasted; with a key that stands nowhere else."""
    keys = {"OPENAI_API_KEY": "sk-now", "ANTHROPIC_API_KEY": "sk-now"}
    env = environment(home, **keys)
    return subprocess.run(program, input=text, env=env, cwd=home, capture_output=True, timeout=60)


def evil(dialect: str, text: str) -> dict[str, Any]:
    """A request with a text in every place that somebody else chooses."""
    messages: list[Any] = [
        {"role": "user", "content": text},
        {"content": [{"type": "text", "text": text, text: None}], "role": "user"},
    ]
    if dialect == "openai_responses":
        name = text.replace("passwd", "hosts")  # what stands under that word is withheld
        return {"instructions": text, "model": text, "input": messages, "metadata": {name: text}}
    if dialect == "anthropic":
        tools = [{"name": text, "description": text, "input_schema": {"type": "object"}}]
        return {"max_tokens": 9, "tools": tools, "messages": messages, "system": text, "model": "m"}
    tools = [{"type": "function", "function": {"name": text, "parameters": {text: text}}}]
    return {"model": text, "tools": tools, "messages": messages, "user": text, "temperature": 0.25}


ALL_TEXTS = "".join(TEXTS.values())

STYLES = {
    "javascript": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    "python": json.dumps,
    "go": lambda value: (
        json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        .replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
        .replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    ),
    "php": lambda value: json.dumps(value, separators=(",", ":")).replace("/", "\\/"),
}  # fmt: skip


def written(value: Any, style: str) -> bytes:
    """As a client of that language writes it; half a character can only be an escape."""
    text: str = STYLES[style](value)
    return "".join(
        f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text
    ).encode()


class TestBytes:
    """A request that is only like the one that was sent explains nothing that went wrong."""

    @pytest.mark.parametrize("style", STYLES)
    @pytest.mark.parametrize("dialect", PATHS)
    def test_into_a_pipe_it_is_what_was_sent(
        self, dialect: str, style: str, tmp_path: Path
    ) -> None:
        bodies = [written(evil(dialect, text), style) for text in TEXTS.values()]
        db = tmp_path / "r.db"
        record(db, "https://api.test/v1" + PATHS[dialect], dialect, *bodies)
        sessions = json.loads(run("sessions", "--json", "--db", db).stdout)["data"]["sessions"]
        found = []
        for row in sessions:
            for number in range(1, row["calls"] + 1):
                place = f"{row['key']}@c{number}"
                result = run("show", place, "--request", "--db", db)
                assert result.exit_code == 0, result.output
                assert result.stderr.startswith("exact; byte for byte what was sent\n")
                found.append(result.stdout_bytes)
        assert set(found) == set(bodies)

    def test_fields_stand_where_they_stood(self, tmp_path: Path) -> None:
        """In each message, in the answer that comes back, and where results share a message."""
        use = {"type": "tool_use", "id": "t1", "name": "look", "input": {"b": 1, "a": 2}}
        results = [{"tool_use_id": "t1", "content": "found", "type": "tool_result"},
                   {"text": "and go on", "type": "text"}]  # fmt: skip
        asked: dict[str, Any] = {
            "messages": [{"content": "look", "role": "user"}], "max_tokens": 9, "model": "m"
        }  # fmt: skip
        first = json.dumps(asked).encode()
        back = {"content": [dict(reversed(use.items()))], "role": "assistant"}
        asked["messages"] += [back, {"content": results, "role": "user"}]
        second = json.dumps({"stream": False, **asked, "system": "be brief"}).encode()
        recorder = Recorder(tmp_path / "r.db", session="s")
        call = recorder.begin("anthropic", first)
        call.ended(outcome_of("anthropic", json.dumps(message(1, use)), 200))
        recorder.begin("anthropic", second)
        recorder.close()
        for number, body in enumerate((first, second), 1):
            place = f"s@c{number}"
            result = run("show", place, "--request", "--db", tmp_path / "r.db")
            assert result.stdout_bytes == body
        assert "nobody knows whether it was answered" in result.stderr

    def test_what_a_client_wrote_in_a_way_of_its_own_is_told(self, tmp_path: Path) -> None:
        db = tmp_path / "r.db"
        body = b'{ "model":"m",\n "messages":[{"role":"user","content":"\\u0068i"}]}'
        record(db, "https://api.openai.com/v1/chat/completions", "openai_chat", body)
        result = run("show", "s@c1", "--request", "--db", db)
        assert json.loads(result.stdout) == json.loads(body)
        assert result.exit_code == 0
        assert result.stderr.splitlines()[0] == (
            "exact; the same JSON as was sent, and not the same bytes: "
            "its client wrote it in a way of its own"
        )
        assert run("show", "s@c1", "--request", "--db", db, "--json").stdout.count(
            '"same_bytes": false'
        )

    def test_on_a_terminal_it_is_safe_and_still_that_json(self, tmp_path: Path) -> None:
        db = tmp_path / "r.db"
        body = written(evil("openai_chat", ALL_TEXTS + "日本 é"), "javascript")
        record(db, "https://api.openai.com/v1/chat/completions", "openai_chat", body)
        leading, following = pty.openpty()
        done = process("show", "s@c1", "--request", "--db", db, home=tmp_path,
                       capture_output=False, stdout=following, stderr=subprocess.PIPE,
                       stdin=subprocess.DEVNULL)  # fmt: skip
        os.close(following)
        seen = b""
        while len(seen) < 1 << 20:
            try:
                seen += os.read(leading, 1 << 16)
            except OSError:  # the other end is closed
                break
        os.close(leading)
        assert done.returncode == 0, done.stderr
        text = seen.decode().replace("\r\n", "\n")
        assert not FORBIDDEN.search(text)
        assert "日本 é" in text
        assert json.loads(text) == json.loads(body)
        assert b"escaped for a terminal" in done.stderr


class TestCurl:
    """A text that a web page chose is pasted into a shell here."""

    @pytest.mark.parametrize("shell", SHELLS)
    @pytest.mark.parametrize("dialect", PATHS)
    def test_a_shell_sends_the_same_bytes_and_runs_nothing_else(
        self, dialect: str, shell: str, server: ModelServer, tmp_path: Path
    ) -> None:
        db = tmp_path / "r.db"
        text = ALL_TEXTS + "'; touch harmed; '$(touch harmed)`touch harmed`\\0101 !! %s"
        body = written(evil(dialect, text), "javascript")
        record(db, server.url + PATHS[dialect], dialect, body)
        sent = again(tmp_path, [shell], sends(db, "curl"))
        assert (sent.returncode, sent.stderr) == (0, b"")
        assert server.bodies == [body]
        name = "x-api-key" if dialect == "anthropic" else "authorization"
        assert server.received[-1][name].removeprefix("Bearer ") == "sk-now"
        assert server.seen[-1][1] == "/v1" + PATHS[dialect]
        assert not (tmp_path / "harmed").exists()

    def test_a_body_too_long_for_an_argument_is_sent(
        self, server: ModelServer, tmp_path: Path
    ) -> None:
        body = written(evil("openai_chat", "it's \u202e" + "x" * 1_000_000), "javascript")
        record(tmp_path / "r.db", server.url + PATHS["openai_chat"], "openai_chat", body)
        command = sends(tmp_path / "r.db", "curl")
        for shell in SHELLS:
            assert again(tmp_path, [shell], command).returncode == 0
            assert server.bodies[-1] == body

    def test_what_says_which_api_is_asked_goes_along_and_keys_do_not(
        self, server: ModelServer, tmp_path: Path
    ) -> None:
        body = written(evil("anthropic", "hi"), "javascript")
        headers = {
            "x-api-key": "sk-SECRET-1", "authorization": "Bearer sk-SECRET-2",
            "anthropic-version": "2023-06-01", "anthropic-beta": "context-management-2025-06-27",
        }  # fmt: skip
        url = server.url.replace("//", "//me:SECRET-3@") + "/messages?beta=true&key=SECRET-4#x"
        record(tmp_path / "r.db", url, "anthropic", body, headers=headers)
        for file in tmp_path.glob("r.db*"):
            assert b"SECRET" not in file.read_bytes()
        assert again(tmp_path, [SHELLS[0]], sends(tmp_path / "r.db", "curl")).returncode == 0
        assert server.seen[-1][1] == "/v1/messages?beta=true"
        assert server.received[-1]["anthropic-beta"] == "context-management-2025-06-27"
        assert server.received[-1]["anthropic-version"] == "2023-06-01"

    def test_it_says_where_the_key_goes(self, server: ModelServer, tmp_path: Path) -> None:
        db = tmp_path / "r.db"
        body = written(evil("openai_chat", "hi"), "javascript")
        record(db, server.url + PATHS["openai_chat"], "openai_chat", body)
        told = run("show", "s@c1", "--request", "--as", "curl", "--db", db).stderr
        assert f"your key to {server.url}/chat/completions, where the call went" in told

    @pytest.mark.parametrize(
        "url", ["file:///etc/passwd", "https://a.test/`id`", "-o/etc/x", "https://a.test/\n-o x"]
    )
    def test_an_address_that_is_none_is_not_used(self, url: str, tmp_path: Path) -> None:
        """A log may have come from elsewhere."""
        db = tmp_path / "r.db"
        body = written(evil("openai_chat", "hi"), "javascript")
        headers = {"anthropic-beta": "x\r\nhost: evil", "openai-beta": "kept"}
        recorder = Recorder(db, session="s")
        recorder.begin("openai_chat", body, url=url, headers=headers).failed("nobody was asked")
        recorder.close()
        told = run("show", "s@c1", "--request", "--as", "curl", "--db", db)
        assert "curl -sS 'https://api.openai.com/v1/chat/completions'" in told.stdout
        assert "openai-beta: kept" in told.stdout
        assert "evil" not in told.stdout
        assert "where it went was not recorded" in told.stderr


class TestPython:
    """The script is run with the provider's own client."""

    @pytest.mark.parametrize("dialect", PATHS)
    def test_a_client_sends_the_same_request(
        self, dialect: str, server: ModelServer, tmp_path: Path
    ) -> None:
        text = ALL_TEXTS.replace(TEXTS["surrogate"], "") + "'''\"\"\"\\"
        asked = {**evil(dialect, text), "stream": dialect != "openai_responses"}
        body = written(asked, "javascript")
        record(tmp_path / "r.db", server.url + PATHS[dialect], dialect, body)
        sent = again(tmp_path, [sys.executable, "-"], sends(tmp_path / "r.db", "python"))
        told = run("show", "s@c1", "--request", "--as", "python", "--db", tmp_path / "r.db").stderr
        assert sent.returncode == 0, sent.stderr
        assert sent.stdout.strip()
        assert server.bodies == [body]  # its client writes JSON as JavaScript does
        assert "in other bytes" not in told
        given = server.received[0]
        assert "sk-now" in given.get("x-api-key", "") + given.get("authorization", "")

    def test_bytes_that_it_writes_in_another_way_are_told(self, tmp_path: Path) -> None:
        body = written(evil("openai_chat", "é"), "python")
        record(tmp_path / "r.db", "", "openai_chat", body)
        result = run("show", "s@c1", "--request", "--as", "python", "--db", tmp_path / "r.db")
        assert "writes the same JSON in other bytes" in result.stderr

    def test_what_no_client_of_python_can_send_is_refused(self, tmp_path: Path) -> None:
        body = written(evil("openai_chat", TEXTS["surrogate"]), "javascript")
        record(tmp_path / "r.db", "", "openai_chat", body)
        result = run("show", "s@c1", "--request", "--as", "python", "--db", tmp_path / "r.db")
        assert result.exit_code == 2
        assert result.stderr.count("\n") == 1
        assert "take --as curl" in result.stderr


class TestHowWellItIsKnown:
    """What is not what was sent has to say so."""

    def test_a_folded_request_says_what_is_missing(self, tmp_path: Path) -> None:
        small_log(tmp_path)
        result = run("show", "refunds-0001@c3", "--request", "--db", tmp_path / "small.db")
        assert result.exit_code == 0
        assert json.loads(result.stdout)["messages"]
        assert "this is what the events give" in result.stderr

    def test_what_was_erased_is_told(self, tmp_path: Path) -> None:
        db = tmp_path / "r.db"
        asked = {"messages": [{"role": "user", "content": "the word is XYZZY-1"}], "model": "m"}
        body = written(asked, "javascript")
        record(db, "https://api.openai.com/v1/chat/completions", "openai_chat", body)
        done = run("redact", "--pattern", "XYZZY-1", "--yes", "--with-copies", "--db", db)
        assert done.exit_code < 2, done.output
        result = run("show", "s@c1", "--request", "--db", db)
        assert result.exit_code == 0
        assert "XYZZY" not in result.stdout
        assert json.loads(result.stdout)["messages"]
        assert result.stderr.startswith("erased: ")
        assert "what is left of it stands in its place" in result.stderr

    def test_a_changed_byte_is_an_integrity_fault(self, tmp_path: Path) -> None:
        db = tmp_path / "r.db"
        body = written(evil("openai_chat", "pay 100"), "javascript")
        record(db, "https://api.openai.com/v1/chat/completions", "openai_chat", body)
        damage(db, "pay 100", "pay 900")
        result = run("show", "s@c1", "--request", "--db", db)
        assert result.exit_code == 4
        assert "this is not what was sent" in result.stderr

    @pytest.mark.parametrize(
        ("args", "why"),
        [
            (["refunds-0001@12", "--request"], "is no call"),
            (["refunds-0001", "--request"], "is no call"),
            (["refunds-0001@c2", "--as", "curl"], "--as goes with --request"),
            (["refunds-0001@c2", "--request", "--full"], "without --context"),
            (["refunds-0001@c2", "--request", "--as", "perl"], "perl"),
        ],
    )
    def test_what_cannot_be_asked_is_one_line(
        self, args: list[str], why: str, tmp_path: Path
    ) -> None:
        small_log(tmp_path)
        result = run("show", *args, "--db", tmp_path / "small.db")
        assert result.exit_code == 2
        assert why in result.stderr
        assert result.stderr.count("\n") == 1


def damage(db: Path, old: str, new: str) -> None:
    """Change bytes under the log, as a bad disk or a person would."""
    with sqlite3.connect(db) as raw:
        for (name,) in raw.execute(
            "select name from sqlite_master where type = 'trigger' and tbl_name = 'events'"
        ).fetchall():
            raw.execute(f"drop trigger {name}")
        done = raw.execute("update events set payload = replace(payload, ?, ?)", (old, new))
        assert done.rowcount
    raw.close()

"""``--summarizer MODEL``: asked once, never in silence, and without a key never at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from demo_log import demo_log
from model_server import ModelServer, completion, nowhere, serving
from running import run

from eventlog import EventLog

COMPRESS = "compress:max_messages=20"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return demo_log(tmp_path)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    count = iter(range(1, 10_000))
    with serving(lambda r: completion(f"notes number {next(count)}: keep migrations/")) as running:
        yield running


def asked(db: Path, server: ModelServer | str, *args: str, **env: str) -> Any:
    url = server if isinstance(server, str) else server.url
    more = ("--summarizer", "gpt-x", "--base-url", url, "--db", db)
    return run(*args, *more, **{"OPENAI_API_KEY": "sk-secret-123", **env})


REPLAY = ("replay", "last", "--strategy", COMPRESS)
DIFF = ("diff", "last", "--right", COMPRESS)
COMPARE = ("compare", "last", "-s", COMPRESS, "-s", "compact:keep_turns=1")


class TestAsking:
    def test_its_summary_stands_in_the_context(self, db: Path, server: ModelServer) -> None:
        result = asked(db, server, *REPLAY)
        assert result.exit_code == 0, result.output
        assert "notes number" in result.stdout
        assert "summaries are written by gpt-x" in result.stderr
        assert server.keys[0] == "Bearer sk-secret-123"

    @pytest.mark.parametrize("command", [REPLAY, DIFF, COMPARE], ids=lambda args: args[0])
    def test_a_second_run_asks_nothing_and_gives_the_same_bytes(
        self, db: Path, server: ModelServer, command: tuple[str, ...]
    ) -> None:
        first = asked(db, server, *command, "--json")
        count = len(server.requests)
        assert count > 0
        assert "so the next run is free" in first.stderr
        second = asked(db, server, *command, "--json", PYTHONHASHSEED="7")
        assert (len(server.requests), second.stdout) == (count, first.stdout)
        assert "gpt-x wrote" not in second.stderr

    def test_commands_share_what_was_written(self, db: Path, server: ModelServer) -> None:
        asked(db, server, *DIFF)
        count = len(server.requests)
        asked(db, server, *REPLAY)
        assert len(server.requests) == count

    def test_what_it_costs_is_told(self, db: Path, server: ModelServer) -> None:
        result = asked(db, server, *DIFF)
        written = len(server.requests)
        summaries = "1 summary" if written == 1 else f"{written} summaries"
        assert f"gpt-x wrote {summaries} (" in result.stderr
        assert f"{written * 100 / 1000:.1f}k tokens in" in result.stderr or written < 10

    def test_quiet_says_nothing(self, db: Path, server: ModelServer) -> None:
        assert asked(db, server, *DIFF, "--quiet").stderr == ""

    def test_the_log_itself_is_untouched(self, db: Path, server: ModelServer) -> None:
        before = run("head", "--db", db).stdout
        asked(db, server, *COMPARE)
        assert run("head", "--db", db).stdout == before
        assert run("verify", "--db", db).exit_code == 0

    def test_what_cannot_be_kept_is_used_and_told(
        self, db: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cli.opening.PATIENCE", 0.05)
        with EventLog(db) as writer, writer.writing():
            result = asked(db, server, *REPLAY)
        assert result.exit_code == 0, result.output
        assert "notes number" in result.stdout
        assert "could not be kept, so the next run asks for them again" in result.stderr
        count = len(server.requests)
        asked(db, server, *REPLAY)
        assert len(server.requests) == 2 * count

    def test_the_address_may_come_from_the_environment(self, db: Path, server: ModelServer) -> None:
        result = run(
            *DIFF, "--summarizer", "m", "--db", db, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k"
        )
        assert (result.exit_code, bool(server.requests)) == (0, True)

    def test_a_server_on_this_machine_needs_no_key(self, db: Path, server: ModelServer) -> None:
        assert asked(db, server, *DIFF, OPENAI_API_KEY="").exit_code == 0
        assert server.keys[0] == "Bearer none"

    def test_redacting_takes_what_was_written(self, db: Path, server: ModelServer) -> None:
        asked(db, server, *REPLAY)
        before = len(server.requests)
        assert run("redact", "last", "3", "--yes", "--db", db).exit_code == 0
        asked(db, server, *REPLAY)
        assert len(server.requests) > before


class TestOfNoUse:
    """Without it a refusal is the memory, or the table hides that there was none."""

    def test_the_strategy_takes_its_next_step_and_the_table_says_so(self, db: Path) -> None:
        with serving(lambda r: completion("I'm sorry, I can't.")) as server:
            result = asked(db, server, *COMPARE, "--json")
            assert result.exit_code == 0, result.output
            found = json.loads(result.stdout)["data"]
            compress = found["strategies"][1]
            assert (compress["summaries"], compress["needs_summary"] > 0) == (0, True)
            assert any("summaries that could not be had" in each for each in found["warnings"])
            count = len(server.requests)
            asked(db, server, *COMPARE)
            assert len(server.requests) == count

    def test_what_was_of_no_use_is_paid_for_in_the_costs(self, db: Path) -> None:
        def totals(result: Any) -> float:
            assert result.exit_code == 0, result.output
            return float(json.loads(result.stdout)["data"]["strategies"][1]["totals"][1])

        command = ("compare", "last", "-s", COMPRESS, "--json")
        with serving(lambda r: completion("")) as server:
            paid = totals(asked(db, server, *command))
            asked_for = len(server.requests)
        without = totals(run(*command, "--summarizer", "none", "--db", db))
        # Without any discount: 100 tokens in at 1, 20 out at 5, per million.
        assert paid - without == pytest.approx(asked_for * 200 / 1e6)


@pytest.mark.usefixtures("impatient")
class TestWrongInput:
    """One line that says what to do, and the right exit code."""

    def one_line(self, result: Any, code: int, *parts: str) -> None:
        assert result.exit_code == code, result.output
        [line] = result.stderr.strip().splitlines()[-1:]
        assert line.startswith("ctxlog: ")
        for part in parts:
            assert part in line
        assert "Traceback" not in result.output

    @pytest.mark.parametrize("command", [REPLAY, DIFF, COMPARE], ids=lambda args: args[0])
    def test_no_key(self, db: Path, command: tuple[str, ...]) -> None:
        result = run(*command, "--summarizer", "gpt-x", "--db", db, OPENAI_API_KEY="")
        self.one_line(result, 2, "no key for the model 'gpt-x'", "OPENAI_API_KEY", "--base-url")
        assert len(result.stderr.strip().splitlines()) == 1

    @pytest.mark.parametrize("command", [REPLAY, DIFF, COMPARE], ids=lambda args: args[0])
    def test_a_dead_endpoint(self, db: Path, command: tuple[str, ...]) -> None:
        result = asked(db, nowhere(), *command)
        self.one_line(result, 6, "gpt-x at http://127.0.0.1:", "no connection")
        assert result.stdout == ""

    @pytest.mark.parametrize("status", [401, 404, 429, 500])
    def test_an_endpoint_that_refuses(self, db: Path, status: int) -> None:
        body = {"error": {"message": "go away sk-secret-123"}}
        with serving(lambda r: (status, body)) as server:
            result = asked(db, server, *DIFF)
        self.one_line(result, 6, "go away")
        assert "sk-secret" not in result.output

    @pytest.mark.parametrize(
        "url",
        [
            *("", " ", "nonsense", "ftp://x/v1", "http://", "http://[::1", "http://h:abc/v1"),
            *("http://h\n/v1", "http://h\x1b[31m/v1", "http://ü..ü/v1", "http://a b/v1"),
        ],
    )
    def test_an_address_that_is_none(self, db: Path, url: str) -> None:
        """An empty one is a shell variable that was not set: the session must not leave for it."""
        result = run(
            *DIFF, "--summarizer", "m", "--base-url", url, "--db", db, OPENAI_API_KEY="sk-1234567"
        )
        self.one_line(result, 2, "is no address")

    def test_a_key_in_the_address_is_refused_and_not_shown(self, db: Path) -> None:
        url = "http://127.0.0.1:1/v1?api_key=hunter22pass"
        result = run(*DIFF, "--summarizer", "m", "--base-url", url, "--db", db)
        self.one_line(result, 2, "OPENAI_API_KEY")
        assert "hunter22" not in result.output

    @pytest.mark.parametrize("proxy", ["ftp://x", "socks5://127.0.0.1:1"])
    def test_a_proxy_that_cannot_be_used(self, db: Path, proxy: str) -> None:
        far = ("--summarizer", "m", "--base-url", "http://model.invalid/v1", "--db", db)
        result = run(*DIFF, *far, OPENAI_API_KEY="sk-1234567", ALL_PROXY=proxy)
        self.one_line(result, 2, "the proxy or certificate settings")

    def test_a_key_that_comes_back_is_neither_shown_nor_kept(self, db: Path) -> None:
        with serving(lambda r: completion("your key is sk-secret-123, keep it")) as server:
            result = asked(db, server, *REPLAY)
        assert (result.exit_code, "your key is \\u2026, keep it" in result.stdout) == (0, True)
        assert "sk-secret" not in result.output
        assert b"sk-secret" not in db.read_bytes()

    def test_a_request_that_is_not_taken_is_told_and_counts_as_nothing(self, db: Path) -> None:
        with serving(lambda r: (400, {"error": {"message": "no such parameter"}})) as server:
            result = asked(db, server, *COMPARE)
        assert result.exit_code == 0
        assert "gpt-x: failed: no such parameter (status 400)" in result.stderr
        assert "gpt-x wrote" not in result.stderr

    def test_an_answer_without_end_is_cut_off(self, db: Path) -> None:
        with serving(lambda r: b" " * (20 << 20)) as server:
            result = asked(db, server, *DIFF)
        self.one_line(result, 6, "its answer is over 16 MB")

    @pytest.mark.parametrize("url", ["http://me:secret@127.0.0.1:1/v1", "http://me@127.0.0.1:1/v1"])
    def test_an_address_with_a_password(self, db: Path, url: str) -> None:
        result = run(*DIFF, "--summarizer", "m", "--base-url", url, "--db", db)
        self.one_line(result, 2, "OPENAI_API_KEY")
        assert "secret" not in result.output

    def test_a_redirect_is_not_followed(self, db: Path, server: ModelServer) -> None:
        """A session must not go where a server says that it should."""
        elsewhere = {"location": f"{server.url}/chat/completions"}
        with serving(lambda r: (307, {}), headers=elsewhere) as redirecting:
            result = asked(db, redirecting, *DIFF)
        self.one_line(result, 6, "307")
        assert server.requests == []

    def test_no_proxy_is_asked_for_a_server_on_this_machine(
        self, db: Path, server: ModelServer
    ) -> None:
        with serving() as proxy:
            address = proxy.url.removesuffix("/v1")
            result = asked(db, server, *DIFF, HTTP_PROXY=address, http_proxy=address)
        assert (result.exit_code, proxy.requests) == (0, [])
        assert server.requests

    def test_an_address_without_a_model(self, db: Path) -> None:
        result = run(*DIFF, "--base-url", "http://127.0.0.1:1/v1", "--db", db)
        self.one_line(result, 2, "--base-url")

    def test_no_name(self, db: Path) -> None:
        self.one_line(run(*DIFF, "--summarizer", " ", "--db", db), 2, "--summarizer")

    @pytest.mark.parametrize(
        ("written", "part"),
        [
            ("model = 3", "[model] is no table"),
            ("[model]\nwindows = 3", "has no 'windows'"),
            ("[model]\nwindow = 'big'", "window = 'big'"),
            ("[model]\nwindow = 10", "window = 10"),
            ("[model]\ntimeout = nan", "timeout = nan"),
            ("[model]\nretries = 1.5", "retries = 1.5"),
            ("[model]\nretries = true", "retries = True"),
        ],
    )
    def test_a_wrong_config(
        self, db: Path, tmp_path: Path, written: str, part: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".ctxlog").mkdir()
        (tmp_path / ".ctxlog" / "config.toml").write_text(written)
        monkeypatch.chdir(tmp_path)
        result = asked(db, nowhere(), *DIFF)
        self.one_line(result, 2, "config.toml", part)

    def test_a_config_says_how_it_is_asked(
        self, db: Path, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".ctxlog").mkdir()
        (tmp_path / ".ctxlog" / "config.toml").write_text("[model]\nwindow = 3000\nretries = 0")
        monkeypatch.chdir(tmp_path)
        asked(db, server, *DIFF)
        assert len(server.requests) > 3
        assert all(len(body) < 4 * 3_500 for body in server.bodies)


@pytest.mark.usefixtures("impatient")
def test_what_was_written_before_it_died_is_kept(db: Path) -> None:
    """A long comparison that dies near its end must not be paid for from the start."""
    dead: list[bool] = []

    def dies(request: dict[str, Any]) -> Any:
        if len(server.requests) > 3 and not dead:
            return 503, {"error": {"message": "overloaded"}}
        return completion("notes")

    with serving(dies) as server:
        small = ("compare", "last", "-s", "compress:max_messages=10,keep_recent=4")
        env = {"OPENAI_MAX_RETRIES": "0"}
        first = asked(db, server, *small, **env)
        assert first.exit_code == 6
        before = len({str(request) for request in server.requests})
        dead.append(True)
        count = len(server.requests)
        assert asked(db, server, *small).exit_code == 0
        again = [str(request) for request in server.requests[count:]]
        assert len(set(again) & {str(r) for r in server.requests[:3]}) == 0
        assert before == 4

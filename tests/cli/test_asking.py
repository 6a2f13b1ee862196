"""``diff --ask``: both outcomes side by side, beside the noise floor, and free the second time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from demo_log import demo_log
from model_server import ModelServer, completion, nowhere, serving
from running import run

from cli.safetext import display_width

QUESTION = "Which order is it about?"
TWO = ("diff", "last", "--left", "truncate:turns=5", "--right", "compress:keep_recent=6")
KNOWS = "It is ORD-77120, see shop/refunds.py; 不要动 migrations/. \x1b[31mred"
LOST = "Nothing here names an order."


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return demo_log(tmp_path)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """It knows the order where its first message is there, and never says it the same twice."""
    count = iter(range(1000))

    def answer(request: dict[str, Any]) -> Any:
        knows = "Find out why first" in str(request["messages"][0])
        return completion(f"{KNOWS} ({next(count)})" if knows else LOST)

    with serving(answer) as running:
        yield running


def ask(db: Path, server: ModelServer | str, *args: str, model: str = "gpt-x", **env: str) -> Any:
    url = server if isinstance(server, str) else server.url
    more = ("--ask", QUESTION, "--model", model, "--base-url", url, "--db", db)
    return run(*args, *more, **{"OPENAI_API_KEY": "k", **env})


def asked(result: Any) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["data"]["asked"]


class TestTwoStrategies:
    def test_four_requests_and_both_outcomes(self, db: Path, server: ModelServer) -> None:
        found = asked(ask(db, server, *TWO, "--json"))
        assert len(server.requests) == 4
        last = {request["messages"][-1]["content"] for request in server.requests}
        assert last == {QUESTION}
        assert server.requests[2] == server.requests[3]
        assert (found["model"], found["question"]) == ("gpt-x", QUESTION)
        assert found["left"]["text"] == LOST
        assert found["left"]["missing"] == ["ORD-77120", "shop/refunds.py"]
        assert 0.8 < found["again"]["words"] < 1
        assert found["left"]["words"] < found["again"]["words"]
        assert (found["everything"]["words"], found["everything"]["literals"]) == (1.0, 2)

    def test_the_text_shows_them_side_by_side(self, db: Path, server: ModelServer) -> None:
        result = ask(db, server, *TWO)
        assert "everything, once more: the noise floor" in result.stdout
        assert "without ORD-77120, shop/refunds.py" in result.stdout
        row = next(line for line in result.stdout.splitlines() if line.startswith("Nothing here"))
        assert "│" in row
        assert "\x1b" not in result.stdout
        assert "gpt-x gave 4 answers (400 tokens in, 80 out); they are kept" in result.stderr

    @pytest.mark.parametrize("width", [40, 60, 100, 160])
    @pytest.mark.parametrize("more", [(), ("--ascii",)])
    def test_no_line_is_wider_than_it_may_be(
        self, db: Path, server: ModelServer, width: int, more: tuple[str, ...]
    ) -> None:
        result = ask(db, server, *TWO, "--width", str(width), *more)
        wide = [line for line in result.stdout.splitlines() if display_width(line) > width]
        assert wide == []

    def test_a_second_run_is_free_and_the_same(self, db: Path, server: ModelServer) -> None:
        first = ask(db, server, *TWO, "--json")
        second = ask(db, server, *TWO, "--json", PYTHONHASHSEED="3")
        assert (first.stdout, len(server.requests)) == (second.stdout, 4)
        assert "gpt-x gave" not in second.stderr

    def test_another_model_is_asked_anew(self, db: Path, server: ModelServer) -> None:
        ask(db, server, *TWO)
        ask(db, server, *TWO, model="gpt-y")
        assert len(server.requests) == 8

    def test_a_side_that_is_everything_is_asked_with_it(
        self, db: Path, server: ModelServer
    ) -> None:
        found = asked(
            ask(db, server, "diff", "last", "--left", "none", "--right", "none", "--json")
        )
        assert len(server.requests) == 2
        assert (found["left"]["same_context"], found["left"]["words"]) == (True, 1.0)

    def test_the_summarizers_model_is_asked_where_no_other_is_named(
        self, db: Path, server: ModelServer
    ) -> None:
        result = run(
            *TWO, "--ask", QUESTION, "--summarizer", "s", "--base-url", server.url, "--db", db
        )
        assert result.exit_code == 0, result.output
        assert {request["model"] for request in server.requests} == {"s"}
        assert "s wrote 1 summary" in result.stderr
        assert "s gave 4 answers" in result.stderr

    def test_a_redaction_takes_the_answers(self, db: Path, server: ModelServer) -> None:
        ask(db, server, *TWO)
        assert run("redact", "last", "3", "--yes", "--db", db).exit_code == 0
        ask(db, server, *TWO)
        assert len(server.requests) == 8

    def test_what_a_model_made_up_can_be_erased_by_a_pattern(
        self, db: Path, server: ModelServer
    ) -> None:
        ask(db, server, *TWO)
        dry = run("redact", "--pattern", "Nothing here names", "--dry-run", "--db", db)
        assert "1 kept summary or answer of a model that held it would go too" in dry.stdout
        done = run("redact", "--pattern", "Nothing here names", "--yes", "--db", db)
        assert (done.exit_code, "that held it went too" in done.stdout) == (0, True)
        assert b"Nothing here names" not in db.read_bytes()
        ask(db, server, *TWO)
        assert len(server.requests) == 5


class TestTwoPlaces:
    def test_before_and_after_a_compaction(self, db: Path, server: ModelServer) -> None:
        found = asked(ask(db, server, "diff", "last@k1", "--json"))
        assert (found["left"]["text"][:9], found["right"]["text"]) == ("It is ORD", LOST)


class TestWhatCannotBeAsked:
    def too_long(self, limit: int) -> Any:
        def answer(request: dict[str, Any]) -> Any:
            if len(str(request["messages"])) > limit:
                return 400, {"error": {"message": "maximum context length is 10"}}
            return completion(LOST)

        return serving(answer)

    def test_everything_that_does_not_fit_leaves_both_outcomes(self, db: Path) -> None:
        with self.too_long(60_000) as server:
            result = ask(db, server, *TWO)
            found = asked(ask(db, server, *TWO, "--json"))
            assert len(server.requests) == 3 + 1
        assert (found["left"]["text"], found["left"]["words"]) == (LOST, None)
        assert "maximum context length is 10" in found["everything"]["fault"]
        assert "nothing says how far two such answers differ" in result.stdout

    def test_a_window_of_the_config_is_kept_to(
        self, db: Path, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".ctxlog").mkdir()
        (tmp_path / ".ctxlog" / "config.toml").write_text("[model]\nwindow = 8000")
        monkeypatch.chdir(tmp_path)
        found = asked(ask(db, server, *TWO, "--json"))
        assert len(server.requests) == 2
        assert found["left"]["text"] == LOST
        assert "the window is 8,000" in found["everything"]["fault"]

    def test_neither_side_fits(self, db: Path) -> None:
        with self.too_long(10) as server:
            result = ask(db, server, *TWO)
        assert result.exit_code == 6
        assert result.stderr.splitlines()[-1].startswith(f"ctxlog: gpt-x at {server.url}: maximum")

    @pytest.mark.usefixtures("impatient")
    def test_a_dead_endpoint(self, db: Path) -> None:
        result = ask(db, nowhere(), *TWO)
        assert (result.exit_code, result.stdout) == (6, "")
        assert "no connection" in result.stderr.splitlines()[-1]

    @pytest.mark.parametrize(
        ("args", "said"),
        [
            (("--ask", QUESTION), "--ask needs a model"),
            (("--ask", QUESTION, "--model", " "), "--ask needs a model"),
            (("--ask", " ", "--model", "m"), "there is no question"),
            (("--model", "m"), "--model goes with --ask"),
            (("--ask", QUESTION, "--model", "m"), "no key for the model 'm'"),
            (("--ask", QUESTION, "--model", "m", "--base-url", "x"), "is no address"),
        ],
    )
    def test_wrong_input_is_one_line(self, db: Path, args: tuple[str, ...], said: str) -> None:
        result = run(*TWO, *args, "--db", db, OPENAI_API_KEY="")
        assert (result.exit_code, result.stdout) == (2, "")
        [line] = result.stderr.splitlines()
        assert said in line

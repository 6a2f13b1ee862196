"""What had come of an answer that broke off is shown, found and erased like anything else."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import data, run
from small_log import said

from eventlog import Json, StreamKey
from eventlog.events import ModelCalled, ModelFailed, NewMessage, SessionStarted
from projections import open_log

KEY = StreamKey("local", "recorded", "s")
WRONG = "The order is FIN-3301, so I drop the table of refunds."


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A call that a person stopped, and what the agent kept of it."""
    path = tmp_path / "ctxlog.db"
    message = {"role": "assistant", "content": WRONG, "reasoning_content": "drop it"}
    partial = NewMessage(dialect="openai_chat", source="model", message=Json(message))
    with open_log(path) as live:
        live.append(
            KEY,
            SessionStarted(ownership="observed"),
            said("user", "Which order?"),
            ModelCalled(model="m", dialect="openai_chat"),
            ModelFailed(call=3, error="the client went away", partial=partial),
            said("assistant", WRONG[:40], call=3),
            said("user", "No, the other one."),
        )
    return path


class TestLooking:
    def test_the_log_tells_how_much_had_come(self, db: Path) -> None:
        came = f"{len(WRONG) + len('drop it')} characters had come"
        assert f"c1 failed, {came}: the client went away" in run("log", "s", "--db", db).stdout
        row = next(row for row in data("log", "s", "--calls", "--db", db)["rows"] if row["items"])
        assert row["outcome"] == f"failed, {came}: the client went away"

    def test_the_call_shows_it_and_no_context_does(self, db: Path) -> None:
        call = data("show", "s@c1", "--db", db)["call"]
        assert call["error"] == "the client went away"
        assert call["partial"] == f"(thinking) drop it\n{WRONG}"
        assert call["partial_characters"] == len(WRONG) + len("drop it")
        assert WRONG in run("show", "s@c1", "--db", db).stdout
        window = data("show", "s", "--context", "--db", db)
        assert [item["item"] for item in window["items"]] == ["2", "5", "6"]

    def test_a_search_finds_it_as_never_seen(self, db: Path) -> None:
        (hit,) = data("search", "refunds", "--db", db)["hits"]
        assert (hit["ref"], hit["state"], hit["area"], hit["call"]) == ("4", "never", "text", 1)
        (hit,) = data("search", "drop it", "--in", "reasoning", "--db", db)["hits"]
        assert hit["ref"] == "4"
        kept = data("search", "FIN-3301", "--role", "assistant", "--db", db)["hits"]
        assert {hit["ref"]: hit["state"] for hit in kept} == {"4": "never", "5": "visible"}


class TestErasing:
    def test_what_an_item_quotes_of_it_goes_with_it(self, db: Path) -> None:
        found = data("redact", "s", "5", "--with-copies", "--copies", "1", "-y", "--db", db)
        assert found
        assert data("show", "s@c1", "--db", db)["call"]["partial"] is None
        assert b"FIN-3301" not in db.read_bytes()

    def test_a_pattern_finds_it(self, db: Path) -> None:
        assert run("redact", "--pattern", "so I drop .*", "-y", "--db", db).exit_code == 0
        assert b"of refunds" not in db.read_bytes()
        assert run("verify", "--db", db).exit_code == 0

"""After something was forgotten: nothing warns, and no advice puts it back behind the proofs."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_server import serving
from remembered import memory_of, received, shown, talking
from running import data, run
from scripted import following

from harness.conversation.remembering import MemorySettings
from projections import open_log

RULE = "Never deploy on Fridays"


def script(text: str, rounds: int) -> str:
    return f"You said: {text[:20]}"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """In ``s`` two rules were shown, and one was forgotten before the second call."""
    path = tmp_path / "log.db"
    with serving(following(script)) as server, open_log(path) as live:
        memory = memory_of(live)
        rule = memory.add(RULE, kind="preference", subject="deploys", area="technical")
        memory.add("Always indent with tabs", kind="preference", subject="x", area="technical")
        talk = talking(live, server, "s", memory=memory)
        talk.ask("When do we deploy?")
        memory.forget(rule)
        talk.ask("And now?")
    return path


def item_of(db: Path) -> str:
    with open_log(db) as live:
        (first, *_) = live.log.read("local/chat/s", types=["memory_recalled"])
        return str(first.data["item"])


def test_the_audit_finds_nothing_wrong(db: Path) -> None:
    done = run("audit", "s", "--db", db)
    assert done.exit_code == 0, done.stdout
    assert "recover" not in done.stdout


def test_why_says_how_it_is_remembered_again(db: Path) -> None:
    text = run("why", "s", item_of(db), "--db", db).stdout
    assert "memory restore m1" in text
    assert "recover" not in text


@pytest.mark.parametrize("how", [[], ["--only"], ["--dry-run"]])
def test_it_is_not_recovered_into_the_context(db: Path, how: list[str]) -> None:
    item = item_of(db)
    done = run("recover", "s", item, "--into-context", *how, "--yes", "--db", db)
    assert done.exit_code == 2, done.output
    assert "ctxlog memory restore m1" in done.stderr
    assert RULE in run("recover", "s", item, "--db", db).stdout  # it can be read


def test_what_an_undo_brings_back_is_told_and_leaves_again(db: Path) -> None:
    done = run("undo", "s", "last", "--db", db)
    assert done.exit_code == 0, done.output
    assert f"{item_of(db)} shows m1, which stands no more: it leaves again" in done.stderr
    with serving(following(script)) as server, open_log(db) as live:
        talking(live, server, "s").ask("And then?")
        assert RULE not in str(received(server))
        assert "Always indent with tabs" in shown(received(server))
    assert run("audit", "s", "--db", db).exit_code == 0


def test_an_undo_of_something_else_says_nothing_of_memories(db: Path) -> None:
    run("undo", "s", "last", "--db", db)
    assert "leaves again" not in run("undo", "s", "last", "--db", db).stderr


def test_the_json_of_why_names_no_recovery(db: Path) -> None:
    back = data("why", "s", item_of(db), "--db", db)["back"]
    assert [way["command"] for way in back] == ["memory restore m1"]


def test_it_shows_from_which_call_on_it_stood_no_more_and_why(db: Path) -> None:
    (one,) = data("memory", "show", "m1", "--db", db)["shown"]
    assert (one["gone_before"], one["gone_because"]) == ("c2", "m1 was forgotten")
    assert "gone before c2, m1 was forgotten\n" in run("memory", "show", "m1", "--db", db).stdout
    shown_in = data("memory", "show", "m2", "--db", db)["shown"]
    assert [each["gone_before"] for each in shown_in] == ["", ""]


def test_what_had_no_room_is_told_wherever_it_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with serving(following(script)) as server, open_log(path) as live:
        memory = memory_of(live)
        memory.add("the vault is red")
        memory.add("the vault is " + "very " * 300 + "green")
        settings = MemorySettings(budget=200)
        talking(live, server, "s", memory=memory, remembering=settings).ask("which vault?")
    item = item_of(path)
    assert "m1 of local/_/memory; no room for m2" in run("show", f"s@{item}", "--db", path).stdout
    assert "; no room for m2" in run("why", "s", item, "--db", path).stdout
    text = run("memory", "show", "m2", "--db", path).stdout
    assert "before no model yet" in text
    assert f"of s item {item}: no room\n" in text
    assert data("memory", "show", "m1", "--db", path)["left_out"] == []


def test_a_redaction_tells_of_what_came_from_the_whole_session(db: Path) -> None:
    run("memory", "add", "I use fish as my shell", "--source", "s", "--db", db)
    done = run("redact", "local/_/memory", "2", "--with-copies", "--yes", "--db", db)
    assert done.exit_code == 0, done.output
    # It is one paragraph, in lines of the width.
    text = " ".join(done.stdout.split())
    assert "1 memory may hold something of it too and stays: what came from a whole session" in text
    fish = data("memory", "list", "--db", db)["memories"]
    assert [each["text"] for each in fish] == ["I use fish as my shell"]

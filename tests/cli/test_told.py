"""`prompt log` and `prompt diff`: what a session was told, and whether what is said of it holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prompted import FIRST, KEY, SECOND, appended, called, revised, said, session, tool
from running import data, run
from typer.testing import Result

from eventlog import events
from eventlog.events import Event, PromptRendered
from harness.prompts import Prompts
from projections import open_log
from projections.prompts.template import Template

VALUES = {"language": "C", "tone": "kind"}
Ask = Callable[..., Result]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


def made(db: Path, *events: Event) -> Path:
    with open_log(db, durability="normal") as live:
        live.append(KEY, *events)
    return db


def broken() -> list[Event]:
    message, event = appended(FIRST, 1, **VALUES)
    assert isinstance(event, PromptRendered)
    return [message, event.model_copy(update={"template_text": "Be rude."}), called()]


def log_of(db: Path) -> Any:
    return data("prompt", "log", "prompted", "--db", db)


class TestLog:
    """Without these two versions of a prompt are one, or one is two."""

    def test_each_prompt_with_its_calls(self, db: Path) -> None:
        made(db, *session())
        shown = log_of(db)
        assert [(p["prompt"]["version"], p["calls"], p["changed"]) for p in shown["prompts"]] == [
            ("1", [1, 2], []),
            ("1", [3], ["variables", "text"]),
            ("2", [4], ["version", "template_text", "variables", "text"]),
            ("", [5], ["template", "version", "template_text", "variables", "text"]),
        ]
        assert [p["prompt"]["state"] for p in shown["prompts"]] == ["holds"] * 3 + ["no_template"]
        assert [(t["names"], t["calls"]) for t in shown["tools"]] == [
            (["read", "run"], [1, 2, 3]),
            (["read"], [4, 5]),
        ]

    def test_another_template_is_shown_with_what_it_was_filled_in_with_and_what_was_before(
        self, db: Path
    ) -> None:
        writer = Template("team/writer", "", version="1", system="You write {language}.")
        made(db, *appended(FIRST, 1, **VALUES), called(), *revised(writer, 1, language="Go"))
        made(db, called(), events.MessageRevised(item="1", patch={"content": "Rest."}), called())
        shown = run("prompt", "log", "prompted", "--db", db, "--width", "120").stdout.splitlines()
        assert [" ".join(line.split()) for line in shown[1:6]] == [
            "review/coder v1 1 c1 language=C, tone=kind",
            "team/writer v1 1@4 c2 language=Go: You write Go.",
            "before: review/coder v1: language=C, tone=kind: You review C. Be kind.",
            "system text, no template 1@7 c3 Rest.",
            "before: team/writer v1: language=Go: You write Go.",
        ]
        (first, second, third) = log_of(db)["prompts"]
        assert first["before"] is None
        assert second["before"] == first["prompt"]
        assert third["before"] == second["prompt"]

    def test_one_that_does_not_hold_is_told_and_the_exit_code_is_4(self, db: Path) -> None:
        made(db, *broken())
        result = run("prompt", "log", "prompted", "--db", db)
        assert result.exit_code == 4
        assert "does not hold: the template's text is not the one that was digested" in (
            result.stdout
        )

    def test_an_erased_one_is_no_fault(self, db: Path) -> None:
        made(db, *session())
        assert run("redact", "prompted", "1", "--yes", "--db", db).exit_code == 0
        shown = log_of(db)
        assert {p["prompt"]["state"] for p in shown["prompts"]} == {"erased"}
        assert "(erased)" in run("prompt", "log", "prompted", "--db", db).stdout
        assert b"You review" not in db.read_bytes()

    def test_a_session_without_one_says_so(self, db: Path) -> None:
        made(db, said("user", "x"), called())
        result = run("prompt", "log", "prompted", "--db", db)
        assert "no prompt is known" in result.stdout
        assert "nobody wrote down the tools of c1" in result.stdout

    def test_what_a_prompt_says_cannot_move_a_terminal(self, db: Path) -> None:
        hostile = {"language": "\x1b[2J\u202e", "tone": "\n\nc9 fake"}
        made(db, *appended(FIRST, 1, **hostile), called())
        made(db, *revised(SECOND, 1, language="\x07"), called())
        for args in (["log", "prompted"], ["diff", "prompted@c1", "@c2"], ["diff", "prompted"]):
            shown = run("prompt", *args, "--db", db).stdout
            assert not {"\x1b", "\u202e", "\x07"} & set(shown)
            assert not any(line.startswith("c9") for line in shown.splitlines())

    @pytest.mark.parametrize("width", [40, 60, 200])
    def test_it_fits_the_terminal(self, db: Path, width: int) -> None:
        made(db, *appended(FIRST, 1, language="C" * 300, tone="kind"))
        made(db, events.ToolsDeclared(dialect="openai_chat", definitions=[tool("t" * 90)]))
        made(db, *[called() for _ in range(30)])
        shown = run("prompt", "log", "prompted", "--db", db, "--width", str(width)).stdout
        assert max(map(len, shown.splitlines())) <= max(width, 72)


class TestDiff:
    """Without these "what changed between these two calls" is answered by reading both."""

    def test_one_place_is_held_against_the_last_call_that_was_told_something_else(
        self, db: Path
    ) -> None:
        made(db, *session(), called(), called())
        shown = data("prompt", "diff", "prompted@c7", "--db", db)
        assert (shown["left"], shown["right"], shown["since"]) == ("c4", "c7", 5)
        now = data("prompt", "diff", "prompted", "--db", db)
        assert (now["left"], now["right"], now["since"]) == ("c4", "now", 5)

    def test_one_that_waits_for_its_call_is_seen_before_it(self, db: Path) -> None:
        made(db, *session()[:9])
        shown = data("prompt", "diff", "prompted", "--db", db)
        assert (shown["left"], shown["since"], shown["same"]) == ("c2", None, False)

    def test_where_nothing_changed_it_says_so(self, db: Path) -> None:
        made(db, *session())
        result = run("prompt", "diff", "prompted@c2", "--db", db, "--exit-code")
        assert result.exit_code == 0
        assert "nothing changed since the first call" in result.stdout

    def test_the_exit_code_tells_when_that_is_asked_for(self, db: Path) -> None:
        made(db, *session())
        args = ["prompt", "diff", "prompted@c1", "@c3", "--db", db]
        assert [run(*args).exit_code, run(*args, "--exit-code").exit_code] == [0, 1]

    def test_the_first_call_has_none_before_it(self, db: Path) -> None:
        made(db, *session())
        result = run("prompt", "diff", "prompted@c1", "--db", db)
        assert (result.exit_code, "no call before c1" in result.stderr) == (2, True)

    def test_places_of_every_kind(self, db: Path) -> None:
        made(db, *session())
        shown = data("prompt", "diff", "prompted@4", "@1@8", "--db", db)
        assert (shown["left"], shown["right"]) == ("4", "1@8")
        assert [v["name"] for v in shown["prompts"][0]["variables"]] == ["language"]

    def test_a_session_and_its_fork(self, db: Path) -> None:
        made(db, *session())
        with open_log(db) as live:
            child = KEY._replace(session="child")
            live.log.fork(child, KEY, at=7)
            live.append(child, *revised(SECOND, 1, language="Ada"), called())
        shown = data("prompt", "diff", "prompted@c2", "child@c3", "--db", db)
        assert shown["key"] == "local/agent/child"
        assert shown["prompts"][0]["right"]["text"] == "You review Ada. Say why."

    def test_what_does_not_hold_has_exit_code_4_on_either_side(self, db: Path) -> None:
        made(db, *broken(), *revised(SECOND, 1, language="C"), called())
        result = run("prompt", "diff", "prompted@c1", "@c2", "--db", db)
        assert result.exit_code == 4
        assert "the left one does not hold" in result.stdout

    def test_an_erased_text_is_not_shown_as_an_empty_one(self, db: Path) -> None:
        made(db, *session())
        run("redact", "prompted", "1", "--yes", "--db", db)
        shown = run("prompt", "diff", "prompted@c1", "@c3", "--db", db).stdout
        assert "the text of the left one was erased" in shown
        assert "You review" not in shown


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    folder = tmp_path / "prompts"
    folder.mkdir()
    text = f"coder:\n  version: 2\n  system: {SECOND.system}\n"
    (folder / "review.yaml").write_text(text)
    return folder


class TestAgainstAFile:
    """Without these nobody knows which prompt file has changed since an answer was given."""

    def asked(self, db: Path, prompts: Path, name: str, place: str, *more: str) -> Result:
        args = ("--prompts", prompts, "--db", db, "--exit-code", *more)
        return run("prompt", "diff", name, place, *args)

    def test_the_file_as_it_was_is_the_same(self, db: Path, prompts: Path) -> None:
        made(db, *session())
        for name in ("review", "review/coder"):
            assert self.asked(db, prompts, name, "prompted@c4").exit_code == 0
            assert self.asked(db, prompts, name, "prompted@c3").exit_code == 1

    def test_one_that_is_edited_while_the_session_runs_is_seen(
        self, db: Path, prompts: Path
    ) -> None:
        made(db, *session())
        file = prompts / "review.yaml"
        file.write_text(file.read_text().replace("Say why.", "Say it."))
        result = self.asked(db, prompts, "review", "prompted@c4")
        assert result.exit_code == 1
        assert str(file) in result.stdout
        assert "+ You review {language}. Say it." in result.stdout

    def test_an_edit_stands_between_the_two_calls_that_it_stands_between(
        self, db: Path, prompts: Path
    ) -> None:
        of, file = Prompts(prompts), prompts / "review.yaml"
        made(db, *appended(of.get("review", "coder"), 1, language="C"), called())
        text = file.read_text().replace("version: 2", "version: 3").replace("why", "where")
        file.write_text(text)
        made(db, *revised(of.get("review", "coder"), 1, language="C"), called())
        shown = data("prompt", "diff", "prompted@c1", "@c2", "--db", db)
        [pair] = shown["prompts"]
        assert pair["changed"] == ["version", "template_text", "text"]
        assert [pair[side]["version"] for side in ("left", "right")] == ["2", "3"]
        assert pair["right"]["text"] == "You review C. Say where."
        codes = [self.asked(db, prompts, "review", f"prompted@c{n}").exit_code for n in (1, 2)]
        assert codes == [1, 0]
        named = run("log", "prompted", "--events", "--db", db).stdout
        assert "item 1 rendered from review/coder v3" in named

    def test_a_role_that_is_gone_is_removed(self, db: Path, prompts: Path) -> None:
        made(db, *session())
        (prompts / "review.yaml").write_text("other:\n  system: x\n")
        shown = run("prompt", "diff", "review", "prompted@c4", "--prompts", prompts, "--db", db)
        assert " - review/coder v2" in shown.stdout

    @pytest.mark.parametrize(
        ("name", "place", "code", "said"),
        [
            ("review", "prompted@c5", 2, "no prompt 'review' was in force at c5"),
            ("reviw", "prompted@c4", 3, "is 'review' meant?"),
            ("review", "nothing@c4", 3, "no session 'nothing'"),
            ("review/nobody", "prompted@c4", 2, "no prompt 'review/nobody' was in force"),
            ("../review", "prompted@c4", 3, "no prompt '../review'"),
        ],
    )
    def test_what_is_not_there_is_told(
        self, db: Path, prompts: Path, name: str, place: str, code: int, said: str
    ) -> None:
        made(db, *session())
        result = self.asked(db, prompts, name, place)
        assert (result.exit_code, said in result.stderr) == (code, True), result.output

    def test_a_session_that_is_typed_whole_is_one(self, db: Path, prompts: Path) -> None:
        with open_log(db, durability="normal") as live:
            live.append(KEY._replace(session="review"), *session())
        shown = data("prompt", "diff", "review", "review@c1", "--db", db, "--prompts", str(prompts))
        assert (shown["left"], shown["right"], shown["file"]) == ("now", "c1", "")

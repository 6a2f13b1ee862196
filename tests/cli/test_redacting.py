"""What `redact` lists, and when it asks again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from running import data, process, run
from small_log import called, said

from cli.erasing import MANY
from cli.render_redact import ROWS
from eventlog import Json
from eventlog.events import (
    ContextCompacted,
    MessageAppended,
    ModelResponded,
    NewMessage,
    SessionTitled,
)
from projections import open_log

KEY = "ann/bot/vault"
SECRET = "the password of the vault is swordfish"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """One message, and 24 of 85 events that quote it whole."""
    path = tmp_path / "many.db"
    with open_log(path, durability="normal") as live:
        live.append(KEY, said("user", SECRET))
        for number in range(MANY + 4):
            live.append(KEY, said("user", f"{SECRET}, for the {number}th time"))
        live.append(KEY, *[said("user", str(number)) for number in range(60)])
    return path


class TestManyCopies:
    """Without these one line of a reminder takes a third of a session along."""

    def test_they_go_only_when_their_number_is_named(self, db: Path) -> None:
        args = ["redact", "vault", "1", "--with-copies", "--yes", "--db", db]
        for more in ([], ["--copies", "3"]):
            refused = run(*args, *more)
            assert refused.exit_code == 2
            assert "24" in refused.stderr
        assert b"swordfish" in db.read_bytes()
        assert run(*args, "--copies", "24").exit_code == 0
        assert b"swordfish" not in db.read_bytes()

    def test_a_dry_run_and_one_without_them_need_no_number(self, db: Path) -> None:
        assert run("redact", "vault", "1", "--with-copies", "--dry-run", "--db", db).exit_code == 0
        assert run("redact", "vault", "1", "--yes", "--db", db).exit_code == 0

    def test_a_few_go_unasked_however_short_the_session(self, tmp_path: Path) -> None:
        path = tmp_path / "few.db"
        with open_log(path, durability="normal") as live:
            live.append(KEY, *[said("user", SECRET)] * 6)
        args = ["redact", "vault", "1", "--with-copies", "--yes", "--db", path]
        with open_log(path) as live:
            live.append(KEY, said("user", SECRET))
        assert run(*args).exit_code == 2
        assert run(*args, "--copies", "6").exit_code == 0

    def test_what_holds_a_pattern_is_no_copy_and_goes_always(self, db: Path) -> None:
        done = data("redact", "vault", "--pattern", "swordfish", "--yes", "--db", db)
        assert len(done["erased"]) == MANY + 5
        assert b"swordfish" not in db.read_bytes()

    def test_another_session_is_told_of_and_goes_when_that_is_asked_for(self, db: Path) -> None:
        with open_log(db) as live:
            live.append("ann/bot/other", said("user", SECRET))
        args = ["redact", "vault", "--pattern", "swordfish", "--dry-run", "--db", db]
        listed = data(*args)
        assert [(c["key"], c["why"]) for c in listed["copies"]] == [("ann/bot/other", "match")]
        everywhere = data(*args, "--everywhere")
        assert everywhere["copies"] == []
        assert len(everywhere["erased"]) == len(listed["erased"]) + 1


class TestAsking:
    """Without these a person who types y once erases what the first question did not name."""

    @pytest.mark.parametrize(("typed", "gone"), [(b"y\ny\n", True), (b"y\nn\n", False)])
    def test_many_copies_are_asked_for_by_a_question_of_their_own(
        self, db: Path, tmp_path: Path, typed: bytes, gone: bool
    ) -> None:
        ours, theirs = os.openpty()
        os.write(ours, typed)
        args = ["redact", "vault", "1", "--with-copies", "--db", db]
        told = process(*args, home=tmp_path, stdin=theirs)
        os.close(theirs)
        os.close(ours)
        assert b"all 24 copies too?" in told.stderr
        assert (told.returncode == 0) is gone
        assert (b"swordfish" in db.read_bytes()) is not gone

    def test_few_are_asked_for_once(self, db: Path, tmp_path: Path) -> None:
        ours, theirs = os.openpty()
        os.write(ours, b"y\n")
        told = process("redact", "vault", "30", "--db", db, home=tmp_path, stdin=theirs)
        os.close(theirs)
        os.close(ours)
        assert told.returncode == 0, told.stderr
        assert b"copies too" not in told.stderr


class TestLists:
    """Without these the few copies that matter are buried under hundreds of lines."""

    def test_ten_rows_then_how_many_more(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.db"
        with open_log(path, durability="normal") as live:
            lines = [f"line {n} of this very long note" for n in range(ROWS + 5)]
            live.append(KEY, said("user", "\n".join(lines)))
            live.append(KEY, *[said("user", f"as you say: {line}") for line in lines])
        shown = run("redact", "vault", "1", "--dry-run", "--db", path).stdout
        assert shown.count("quote of 1") == ROWS
        assert "5 more, --json lists all" in shown
        listed = data("redact", "vault", "1", "--dry-run", "--db", path)["copies"]
        assert len(listed) == ROWS + 5

    def test_events_that_hold_the_same_are_one_row(self, db: Path) -> None:
        shown = run("redact", "vault", "1", "--dry-run", "--db", db).stdout
        assert f"stands in {MANY + 4} other events" in shown
        assert f"@2, @3, @4, @5, @6, @7 and {MANY - 2} more" in shown

    def test_lines_that_everybody_holds_are_counted(self, tmp_path: Path) -> None:
        path = tmp_path / "reminder.db"
        reminder = "Whenever you read a file, consider what it is."
        with open_log(path, durability="normal") as live:
            live.append(KEY, *[said("user", f"file {n}\n{reminder}") for n in range(9)])
        args = ["redact", "vault", "1", "--dry-run", "--db", path]
        assert data(*args)["common"] == {"lines": 1, "events": 8}
        assert data(*args)["copies"] == []
        assert "1 line of it stands in 8 events for other reasons" in run(*args).stdout

    def test_that_an_event_goes_whole_is_told_before_and_after(self, tmp_path: Path) -> None:
        """Without it a person takes a pattern to erase its match, and loses the message."""
        path = tmp_path / "long.db"
        with open_log(path, durability="normal") as live:
            live.append(KEY, said("user", "x" * 8_000 + " the key is swordfish"), said("user", "b"))
            live.append(KEY, SessionTitled(title="swordfish " + "y" * 4_000))
        args = ["redact", "--pattern", "swordfish", "--db", path]
        sizes = {each["position"]: each["tokens"] for each in data(*args, "--dry-run")["erased"]}
        assert sizes.keys() == {1, 3}
        assert 2_000 < sizes[1] < 2_020
        assert 1_000 < sizes[3] < 1_010
        told = "the whole text of 2 events {}erased, ≈3.0k tokens vault\n"
        assert run(*args, "--dry-run").stdout.startswith(told.format("would be "))
        assert run(*args, "--yes").stdout.startswith(told.format(""))


class TestWhatStays:
    """Without these a person reads "erased" and the secret is still in the file."""

    WORD = "hunter2secret"

    def test_the_reason_of_a_fork_is_told_and_the_rest_goes(self, tmp_path: Path) -> None:
        path = tmp_path / "fork.db"
        with open_log(path, durability="normal") as live:
            live.append(KEY, said("user", f"it is {self.WORD}"), said("user", "b"))
        run("fork", "vault@2", "--name", "away", "--reason", f"from {self.WORD}", "--db", path)
        done = run("redact", "--pattern", self.WORD, "--yes", "--db", path)
        assert done.exit_code == 1
        assert "the whole text of 1 event erased" in done.stdout
        assert "kept: reason of away@3, which is never erased" in done.stdout
        again = run("redact", "--pattern", self.WORD, "--yes", "--db", path)
        assert again.exit_code == 1
        assert again.stdout.startswith("nothing to erase away\nkept: reason of @3")

    def test_nothing_is_said_to_stay_where_nothing_does(self, tmp_path: Path) -> None:
        path = tmp_path / "clean.db"
        with open_log(path, durability="normal") as live:
            live.append(KEY, said("user", self.WORD))
        done = run("redact", "--pattern", self.WORD, "--yes", "--db", path, "--json")
        assert done.exit_code == 0
        assert json.loads(done.stdout)["data"]["kept"] == []
        assert self.WORD.encode() not in path.read_bytes()

    def test_a_dry_run_says_it_before_and_is_no_failure(self, tmp_path: Path) -> None:
        path = self.with_a_call(tmp_path)
        shown = run("redact", "--pattern", self.WORD, "--dry-run", "--db", path)
        assert shown.exit_code == 0
        assert "would be kept: call id of @2, which pairs calls with results" in shown.stdout

    def with_a_call(self, folder: Path) -> Path:
        path = folder / "call.db"
        asked = said("assistant", "b", tool=f"x-{self.WORD}")
        with open_log(path, durability="normal") as live:
            live.append(KEY, said("user", self.WORD), asked)
        return path

    def test_an_id_stays_and_its_event_is_not_erased_for_it(self, tmp_path: Path) -> None:
        path = self.with_a_call(tmp_path)
        done = run("redact", "--pattern", self.WORD, "--yes", "--db", path, "--json")
        told = json.loads(done.stdout)["data"]
        assert done.exit_code == 1
        assert [target["position"] for target in told["erased"]] == [1]
        assert [(each["position"], each["field"]) for each in told["kept"]] == [(2, "call id")]

    def test_the_name_of_a_session_is_told_and_no_scrub_waits_for_it(self, tmp_path: Path) -> None:
        path = tmp_path / "name.db"
        with open_log(path, durability="normal") as live:
            live.append(f"ann/bot/{self.WORD}", said("user", self.WORD))
        done = run("redact", "--pattern", self.WORD, "--yes", "--db", path)
        assert done.exit_code == 1
        assert "kept: name of hunter2secret" in done.stdout
        assert "next command tries again" not in done.stderr

    def test_a_copy_that_was_listed_is_no_finding(self, tmp_path: Path) -> None:
        path = tmp_path / "two.db"
        with open_log(path, durability="normal") as live:
            live.append(KEY, said("user", self.WORD))
            live.append("ann/bot/other", said("user", self.WORD))
        done = run("redact", "vault", "--pattern", self.WORD, "--yes", "--db", path)
        assert done.exit_code == 0
        assert "still stands in 1 other event" in done.stdout

    def test_a_reason_that_would_bring_it_back_is_refused(self, tmp_path: Path) -> None:
        path = self.with_a_call(tmp_path)
        args = ["redact", "--pattern", self.WORD, "--yes", "--reason", f"had {self.WORD}"]
        refused = run(*args, "--db", path)
        assert refused.exit_code == 2
        assert "--reason stays in the log" in refused.stderr


class TestAnErasedSummary:
    """Without it the log blames a compaction for what a redaction took."""

    @pytest.fixture
    def folded(self, tmp_path: Path) -> Path:
        """A summary that keeps all of what it covers, and an answer that uses it."""
        kept = {"role": "user", "content": "Use httpie, not curl. It is in src/shop/money.py."}
        new = NewMessage(dialect="openai_chat", message=Json(kept), label="summary")
        arguments = '{"command": "cat src/shop/money.py; curl http://localhost"}'
        call = {"id": "a", "type": "function"}
        call["function"] = {"name": "bash", "arguments": arguments}
        answer = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
        path = tmp_path / "folded.db"
        with open_log(path, durability="normal") as live:
            live.append(KEY, said("user", "Fix it."), called())
            live.append(KEY, said("assistant", "What?", call=2), ModelResponded(call=2))
            live.append(KEY, said("user", kept["content"] + " Really, and do it with great care."))
            live.append(KEY, ContextCompacted(covered=("5",), messages=(new,)))
            live.append(KEY, called())
            live.append(
                KEY,
                MessageAppended.model_validate(
                    {"dialect": "openai_chat", "source": "model", "call": 7, "message": answer}
                ),
                ModelResponded(call=7),
            )
        return path

    def test_leaves_what_it_held_unknown_and_nothing_lost(self, folded: Path) -> None:
        def answer(*args: str) -> Any:
            return json.loads(run(*args, "--json", "--db", folded).stdout)["data"]

        def findings() -> list[tuple[str, str]]:
            told = answer("audit", "vault")["findings"]
            assert not [f for f in told if f["rule"] in ("unseen", "broken_rules", "summaries")]
            return [(f["severity"], f["message"]) for f in told if f["rule"] == "anchors"]

        assert findings() == []
        assert "erased" not in run("log", "vault", "--db", folded).stdout
        assert run("recover", "vault", "--lost", "k1", "--db", folded).exit_code == 0
        assert run("redact", "vault", "6.0", "--yes", "--db", folded).exit_code == 0
        said_so = "the summary of k1 was erased: what it held is not known"
        assert findings() == [("info", said_so)]
        assert "summary erased" in run("log", "vault", "--db", folded).stdout
        for command in (["recover", "vault", "--lost", "k1"], ["why", "vault", "5"]):
            result = run(*command, "--db", folded)
            assert result.exit_code == int(command[0] == "recover")
            assert "erased: what it held is not known" in " ".join(result.stdout.split())
            assert answer(*command)["summary_erased"]
        shown = answer("diff", "vault@k1")
        assert "erased: what it held is not known" in " ".join(shown["notes"])

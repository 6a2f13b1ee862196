"""``ctxlog state``: shown, written out, read in."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, ClassVar

import pytest
from agent_events import KEY, busy, said, seen
from running import data, run
from test_hostile import EVIL, shown

from eventlog import events
from eventlog.jsonvalue import Json
from projections import open_log
from projections.agent_state import AgentState

TALK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "log.db"
    with open_log(path) as live:
        live.append(KEY, *busy())
    return path


def written(folder: Path, value: Any, name: str = "document.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def refused(*args: str | Path, code: int = 2, **more: Any) -> str:
    """The one line of a command that ends with that code."""
    result = run(*args, **more)
    assert result.exit_code == code, result.output
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    return result.stderr


class TestShow:
    """Whoever resumes a session wants to know first what it is in the midst of."""

    def test_json_has_the_state_itself(self, db: Path) -> None:
        found = data("state", "show", "work", "--db", db)
        state = AgentState.model_validate(found["state"])
        assert state.reply.is_under_way
        assert [call.tool_call_id for call in state.started_calls] == ["call_2"]
        assert (found["at"], found["ref"]) == (15, "now")

    def test_a_place_shows_the_state_of_then(self, db: Path) -> None:
        assert data("state", "show", "work@5", "--db", db)["state"]["tasks"] == []
        assert "[ ] mend" not in run("state", "show", "work@5", "--db", db).stdout
        assert "[ ] mend" in run("state", "show", "work", "--db", db).stdout

    def test_long_lists_are_counted(self, tmp_path: Path) -> None:
        db = tmp_path / "files.db"
        with open_log(db) as live:
            live.append(KEY, *(seen(f"/src/{n}.py", 2048) for n in range(60)))
        text = run("state", "show", "work", "--db", db).stdout
        assert "files        60 known" in text
        assert "read /src/59.py 2.0k bytes" in text
        assert "and 40 more" in text

    def test_a_session_that_is_not_there_is_told(self, db: Path) -> None:
        assert "no session 'nosuch'" in refused("state", "show", "nosuch", "--db", db, code=3)
        refused("state", "show", "work@99", "--db", db, code=3)


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A state in which every text is hostile."""
    path = tmp_path / "evil.db"
    with open_log(path) as live:
        live.append(
            KEY,
            said("system", EVIL, label=EVIL),
            events.ReplyStarted(reply_id=EVIL),
            events.PermissionsSet(allow=(EVIL,), deny=(EVIL,), ask=(EVIL,)),
            events.ToolGroupsSet(groups=(EVIL,)),
            events.TasksSet(tasks=(events.Task(id=EVIL, title=EVIL, note=EVIL),)),
            events.MiddlewareStateSet(name=EVIL, state=Json({EVIL: EVIL})),
            seen(EVIL, -7, tool_call_id=EVIL),
            said("assistant", None, calls=[EVIL]),
            events.ToolCallStarted(tool_call_id=EVIL, name=EVIL),
            said("user", EVIL, source="injected", label="summary"),
        )
    return path


class TestHostileStates:
    """Paths, rules and tasks are written by models."""

    @pytest.mark.parametrize("more", [[], ["--json"], ["--ascii", "--width", "40"]])
    def test_no_byte_acts(self, evil: Path, more: list[str]) -> None:
        code, out, _ = shown(["state", "show", "work", *more], evil)
        assert code == 0
        if "--json" not in more:
            assert max(map(len, out.splitlines())) <= (40 if more else 100)

    def test_all_of_it_comes_along(self, evil: Path, tmp_path: Path) -> None:
        document = tmp_path / "state.json"
        assert shown(["state", "export", "work", "-o", str(document)], evil)[0] == 0
        assert document.read_bytes().isascii()
        code, _, told = shown(["state", "import", str(document), "--name", "copy"], evil)
        assert code == 2
        assert "state.permissions.allow.0" in told
        moved = json.loads(document.read_bytes())
        rule = {"allow": ["shell(\u202e*)"], "deny": ["a(\u202e)"], "ask": ["b(\u202e)"]}
        moved["state"]["permissions"] |= rule
        document.write_text(json.dumps(moved))
        assert shown(["state", "import", str(document), "--name", "copy"], evil)[0] == 0
        old = data("state", "show", "work", "--db", evil)["state"]
        new = data("state", "show", "copy", "--db", evil)["state"]
        assert new["permissions"] == {**moved["state"]["permissions"], "allow": []}
        for part in ("tools", "tasks", "middleware", "started_calls", "summary"):
            assert new[part] == old[part]


class TestThereAndBack:
    """A state leaves one log and begins a session in another."""

    @pytest.mark.parametrize("form", ["state", "messages", "session"])
    def test_each_form_comes_in_again_and_goes_out_the_same(
        self, db: Path, tmp_path: Path, form: str
    ) -> None:
        text = run("state", "export", "work", "--as", form, "--db", db).stdout
        other = tmp_path / "other.db"
        document = written(tmp_path, text, "moved.json")
        key = data("state", "import", document, "--db", other)["key"]
        assert key == {"state": str(KEY), "messages": "local/chat/moved"}.get(
            form, "local/chat/work"
        )
        again = run("state", "export", key, "--as", form, "--db", other).stdout
        if form == "messages":
            assert again == text
        elif form == "session":
            assert json.loads(again)["messages"] == json.loads(text)["messages"]
        else:
            old, new = json.loads(text)["state"], json.loads(again)["state"]
            assert new["tasks"] == old["tasks"]
            assert [m["message"] for m in new["context"]] == [m["message"] for m in old["context"]]

    def test_standard_input_needs_a_name_and_has_one_in_a_session(self, db: Path) -> None:
        text = json.dumps(TALK)
        assert "--name" in refused("state", "import", "-", "--db", db, input=text)
        assert run("state", "import", "-", "--name", "in", "--db", db, input=text).exit_code == 0
        session = json.dumps({"session_id": "theirs", "messages": TALK})
        result = run("state", "import", "-", "--db", db, input=session)
        assert result.stdout == "local/chat/theirs\n"

    def test_the_file_is_private_and_is_not_replaced_unasked(
        self, db: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "state.json"
        assert run("state", "export", "work", "--out", out, "--db", db).exit_code == 0
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
        assert "--force" in refused("state", "export", "work", "--out", out, "--db", db)
        asked = run("state", "export", "work", "--json", "--db", db)
        assert asked.exit_code == 2
        assert "--json goes with --out" in json.loads(asked.stderr)["error"]["message"]

    def test_what_an_import_would_refuse_is_told_by_the_export(self, tmp_path: Path) -> None:
        db = tmp_path / "log.db"
        with open_log(db) as live:
            live.append(KEY, said("user", "no system prompt"))
        result = run("state", "export", "work", "--as", "messages", "--db", db)
        assert result.exit_code == 0
        assert "`state import` does not take it: message 1" in result.stderr


class TestPermissionsFromElsewhere:
    """Somebody goes on with a document that he was sent, and it runs the shell."""

    DOCUMENT: ClassVar = {"ctxlog_state": 1, "state": {"permissions": {"allow": ["*"]}}}

    def test_what_it_allows_comes_in_only_where_it_is_trusted(
        self, db: Path, tmp_path: Path
    ) -> None:
        document = written(tmp_path, json.dumps(self.DOCUMENT))
        result = run("state", "import", document, "--name", "wary", "--db", db)
        assert "1 allow rule was not taken over: --trust-permissions takes it" in result.stderr
        trusting = ("--trust-permissions", "--name", "trusting")
        result = run("state", "import", document, *trusting, "--db", db)
        assert "not taken over" not in result.stderr
        for name, allow in (("wary", []), ("trusting", ["*"])):
            state = data("state", "show", name, "--db", db)["state"]
            assert state["permissions"]["allow"] == allow


class TestRefused:
    """A document from elsewhere is told what is wrong with it, and leaves no half of a session."""

    def test_a_session_that_exists_is_not_touched(self, db: Path, tmp_path: Path) -> None:
        document = written(tmp_path, run("state", "export", "work", "--db", db).stdout)
        line = refused("state", "import", document, "--db", db)
        assert "local/agent/work exists; choose another --name" in line
        assert run("state", "import", document, "--name", "new", "--db", db).exit_code == 0

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "not JSON"),
            ("[", "not JSON"),
            ("[" * 200_000, "not JSON"),
            ('{"ctxlog_state": 1, "state": {"position": NaN}}', "not JSON: NaN"),
            ("[]", "there is no message in it"),
            ("7", "it is no state"),
            ('{"ctxlog_state": 9}', "upgrade ctxlog"),
            ('{"ctxlog_state": 1, "key": "a", "state": {}}', "is not a stream key"),
            ('{"session_id": "s", "messages": {}}', '"messages" is no list'),
            ('{"session_id": "last", "messages": [{"role":"system"}]}', "would be read as"),
            ('{"session_id": "a\\u202eb", "messages": [{"role":"system"}]}', "is not a session"),
            ('{"session_id": "\\ud800", "messages": [{"role":"system"}]}', "lone surrogate"),
        ],
    )
    def test_what_is_no_document_is_told_in_one_line(
        self, db: Path, tmp_path: Path, text: str, told: str
    ) -> None:
        before = db.read_bytes()
        assert told in refused("state", "import", written(tmp_path, text), "--db", db)
        assert db.read_bytes() == before

    def test_so_is_what_is_no_file(self, db: Path, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "latin").write_bytes(b'["\xe9"]')
        for name, told in (
            ("nosuch", "No such file"),
            (".", "it is a folder"),
            ("pipe", "it is no regular file"),
            ("latin", "it is no UTF-8"),
            ("x" * 300, "File name too long"),
        ):
            assert told in refused("state", "import", tmp_path / name, "--db", db)
        assert "is empty" in refused("state", "import", "", "--db", db)

    def test_no_log_is_made_for_a_document_that_is_refused(self, tmp_path: Path) -> None:
        refused("state", "import", written(tmp_path, "[]"), "--db", tmp_path / "new.db")
        assert not (tmp_path / "new.db").exists()

"""``ctxlog memory export`` and ``import``: what is remembered goes to another machine, and back."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from memory_log import KEY_TEXT, NOW, add, memory_log, names
from running import data, run
from test_hostile import EVIL, shown
from test_states import refused

from eventlog import Json
from eventlog.events import ProfileUpdated, Remembered
from projections import open_log
from projections.memory import memory_stream


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return memory_log(tmp_path)


@pytest.fixture
def document(db: Path, tmp_path: Path) -> Path:
    path = tmp_path / "memories.json"
    assert run("memory", "export", path, "--db", db).exit_code == 0
    return path


class TestThereAndBack:
    """Whoever changes machines is known on the new one, with all that was ever known."""

    def test_another_log_then_holds_the_same(
        self, db: Path, document: Path, tmp_path: Path
    ) -> None:
        new = tmp_path / "new.db"
        found = data("memory", "import", document, "--db", new)
        assert (found["added"], found["known"], found["stream"]) == (11, 0, "local/_/memory")
        for args in (["list", "--all", "--at", NOW], ["profile"]):
            there = data("memory", *args, "--db", new)
            assert there == data("memory", *args, "--db", db)

    def test_a_second_time_adds_nothing_nor_does_the_way_back(
        self, db: Path, document: Path, tmp_path: Path
    ) -> None:
        new, again = tmp_path / "new.db", tmp_path / "again.json"
        run("memory", "import", document, "--db", new)
        assert data("memory", "import", document, "--db", new)["added"] == 0
        run("memory", "export", again, "--db", new)
        assert data("memory", "import", again, "--db", db)["added"] == 0

    def test_a_dry_run_writes_nothing(self, document: Path, tmp_path: Path) -> None:
        other = memory_log(tmp_path, "other.db")
        before = data("head", "--db", other)
        dry = data("memory", "import", document, "--user", "cleo", "--dry-run", "--db", other)
        assert data("head", "--db", other) == before
        wet = data("memory", "import", document, "--user", "cleo", "--db", other)
        assert dry.pop("dry_run")
        assert not wet.pop("dry_run")
        assert dry == wet
        assert names("--user", "cleo", "--db", other) == ["m6", "m3", "m2", "m5"]

    def test_it_tells_whose_it_was_and_in_which_sessions_it_stood(
        self, document: Path, tmp_path: Path
    ) -> None:
        new = tmp_path / "new.db"
        result = run("memory", "import", document, "--user", "cleo", "--db", new)
        assert result.stdout == "11 events added to the memories of cleo\n"
        assert "the document is of local\n" in result.stderr
        text = run("memory", "show", "m3", "--user", "cleo", "--db", new).stdout
        assert "in 1 session of another log" in text
        assert "local/chat/tuesday-0002, in another log: item 3" in text
        assert "by human, imported from another log\n" in text

    def test_in_the_same_log_it_names_the_memory_and_is_a_copy_of_it(
        self, db: Path, document: Path
    ) -> None:
        assert run("memory", "import", document, "--user", "cleo", "--db", db).exit_code == 0
        text = run("memory", "show", "m2", "--user", "cleo", "--db", db).stdout
        (first, *_) = data("memory", "show", "m2", "--user", "cleo", "--db", db)["history"]
        came = first["imported_from"]
        assert came.startswith("local/_/memory@")
        assert f", imported from {came}\n" in text
        assert "imported" not in run("memory", "show", "m2", "--db", db).stdout
        told = data("redact", came, "--dry-run", "--db", db)["copies"]
        assert ("cleo/_/memory", 2) in [(each["key"], each["position"]) for each in told]
        run("redact", came, "--with-copies", "--yes", "--db", db)
        there = data("memory", "show", "m2", "--user", "cleo", "--db", db)
        assert there["memory"]["standing"] == "erased"

    def test_standard_streams_carry_it_too(self, db: Path, tmp_path: Path) -> None:
        text = run("memory", "export", "--db", db).stdout
        assert text.isascii()
        result = run("memory", "import", "-", "--db", tmp_path / "new.db", input=text)
        assert result.exit_code == 0
        assert "UTF-8" in refused("memory", "import", "-", "--db", db, input=b"\xff")

    def test_markdown_is_what_is_known_now(self, db: Path, tmp_path: Path) -> None:
        text = run("memory", "export", "--as", "markdown", "--db", db).stdout
        assert "* We deploy on Thursdays, at noon.\n" in text
        assert "Fridays" not in text
        path = tmp_path / "memories.md"
        found = data("memory", "export", path, "--as", "markdown", "--db", db)
        assert path.read_text() == text
        assert (found["bytes"], found["events"]) == (len(text.encode()), 0)

    def test_the_file_is_private_and_is_not_replaced_unasked(
        self, db: Path, document: Path
    ) -> None:
        assert stat.S_IMODE(document.stat().st_mode) == 0o600
        assert "--force" in refused("memory", "export", document, "--db", db)
        assert run("memory", "export", document, "--force", "--db", db).exit_code == 0
        asked = run("memory", "export", "--json", "--db", db)
        assert asked.exit_code == 2
        assert "--json goes with FILE" in json.loads(asked.stderr)["error"]["message"]


class TestRefused:
    """A document from elsewhere is told what is wrong with it, and no log is made for it."""

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "not JSON"),
            ("[]", "it holds no memories"),
            ("[" * 200_000, "not JSON"),
            ('{"kind": "memory", "ctxlog": 9}', "upgrade ctxlog"),
            ('{"kind": "memory", "ctxlog": 1, "events": {}}', '"events" is no list'),
            ('{"kind": "memory", "ctxlog": 1, "events": [7]}', "events.0: it is no object"),
            ('{"kind": "memory", "ctxlog": NaN}', "not JSON: NaN"),
        ],
    )
    def test_what_is_no_document(self, tmp_path: Path, text: str, told: str) -> None:
        path = tmp_path / "document.json"
        path.write_text(text)
        line = refused("memory", "import", path, "--db", tmp_path / "new.db")
        assert told in line
        assert str(path) in line
        assert not (tmp_path / "new.db").exists()

    def test_what_is_no_file(self, db: Path, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for name, told in (("nosuch", "No such file"), (".", "a folder"), ("pipe", "no regular")):
            assert told in refused("memory", "import", tmp_path / name, "--db", db)

    def test_what_looks_like_a_key_is_refused_unless_it_is_forced(
        self, db: Path, tmp_path: Path
    ) -> None:
        add(db, f"the key is {KEY_TEXT}", "--force")
        path, new = tmp_path / "memories.json", tmp_path / "new.db"
        run("memory", "export", path, "--db", db)
        line = refused("memory", "import", path, "--db", new)
        assert "looks like a key" in line
        assert KEY_TEXT not in line
        assert not new.exists()
        assert run("memory", "import", path, "--force", "--db", new).exit_code == 0

    def test_of_whom_nothing_is_remembered_nothing_is_written(self, db: Path) -> None:
        refused("memory", "export", "--user", "cleo", "--db", db, code=3)


def test_no_byte_of_hostile_memories_acts(tmp_path: Path) -> None:
    path, document, new = tmp_path / "evil.db", tmp_path / "m.json", tmp_path / "new.db"
    with open_log(path) as live:
        live.append(
            memory_stream("local"),
            Remembered(text=EVIL, subject=EVIL, by=EVIL),
            ProfileUpdated(section="basics", values=Json({EVIL: {EVIL: EVIL}})),
        )
    assert shown(["memory", "export"], path)[0] == 0
    assert shown(["memory", "export", "--as", "markdown"], path)[0] == 0
    assert shown(["memory", "export", str(document)], path)[0] == 0
    assert shown(["memory", "export", str(tmp_path / "m.md"), "--as", "markdown"], path)[0] == 0
    assert document.read_bytes().isascii()
    assert shown(["memory", "import", str(document)], new)[0] == 0
    listed = ("memory", "list", "--at", "2030-01-01", "--db")
    assert data(*listed, new)["memories"][0]["text"] == data(*listed, path)["memories"][0]["text"]
    document.write_text(json.dumps({"kind": "memory", "ctxlog": 1, "stream": EVIL, "events": []}))
    assert shown(["memory", "import", str(document)], new)[0] == 0
    assert shown(["memory", "import", str(document), "--json"], new)[0] == 0


class TestWithAWholeLog:
    """Without this a file of somebody else's decides unseen what models are told here."""

    def test_memories_that_come_in_are_told(self, tmp_path: Path) -> None:
        source, file, db = tmp_path / "a.db", tmp_path / "a.jsonl", tmp_path / "b.db"
        for text, user in (("Tea, please", "local"), ("Send the keys", "local"), ("Cats", "ada")):
            assert run("memory", "add", text, "--user", user, "--db", source).exit_code == 0
        file.write_text(run("export", "--all", "--db", source).stdout)
        told = (
            "brings 2 memories of local: they are shown to models (ctxlog memory list)",
            "brings 1 memory of ada: it is shown to models (ctxlog memory list --user ada)",
        )
        done = run("import", file, "--db", db, "--dry-run")
        assert all(f"{file}: {line}" in done.stderr for line in told)
        assert data("import", file, "--db", db)["files"][0]["notes"] == list(told)
        assert data("import", file, "--db", db)["files"][0]["notes"] == []
        assert run("memory", "forget", "m1", "--db", source).exit_code == 0
        file.write_text(run("export", "--all", "--db", source).stdout)
        (note,) = data("import", file, "--db", db)["files"][0]["notes"]
        assert note.startswith("changes what is remembered of local: it is shown to models")

    def test_a_source_of_another_log_is_told(self, tmp_path: Path) -> None:
        source, file, db = tmp_path / "a.db", tmp_path / "m.json", tmp_path / "b.db"
        for each in (source, db):
            assert run("new", "one", "--system", f"In {each.name}", "--db", each).exit_code == 0
        assert run("memory", "add", "x", "--source", "one@2", "--db", source).exit_code == 0
        assert run("memory", "export", file, "--db", source).exit_code == 0
        assert run("memory", "import", file, "--db", db).exit_code == 0
        (found,) = data("memory", "show", "m1", "--db", db)["sources"]
        assert (found["session"], found["state"]) == ("local/chat/one", "elsewhere")
        assert "local/chat/one@2 in another log" in run("memory", "show", "m1", "--db", db).stdout
        assert "In b.db" not in run("memory", "show", "m1", "--db", db).stdout

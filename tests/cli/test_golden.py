"""What each command answers, as text and as JSON, kept as files.

Scripts are written against this. After a change that is meant: ``CTXLOG_GOLDEN=write pytest
tests/cli/test_golden.py``, and read the difference.
"""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import prompted
import pytest
from agent_events import KEY, busy
from memory_log import NOW, memory_log
from running import ROOT, on_path, run
from small_log import small_log

from cli.main import registered
from eventlog.happened import moment
from projections import open_log

GOLDEN = Path(__file__).parent / "golden"

COMMANDS: dict[str, list[str]] = {
    "sessions": ["sessions"],
    "strategies": ["strategies"],
    "strategies-one": ["strategies", "clear", "codex"],
    "log": ["log", "refunds-0001"],
    "log-at": ["log", "refunds-0001", "--at", "k1^", "--calls"],
    "log-events": ["log", "refunds-0001", "--events", "--range", "12-"],
    "log-fork": ["log", "retry"],
    "show-item": ["show", "refunds-0001@8"],
    "show-rendition": ["show", "refunds-0001@8@12"],
    "show-summary": ["show", "refunds-0001@16.0"],
    "show-call": ["show", "refunds-0001@c2"],
    "show-failed-call": ["show", "refunds-0001@c3"],
    "show-compaction": ["show", "refunds-0001@k1"],
    "show-pass": ["show", "refunds-0001@12"],
    "show-event": ["show", "refunds-0001@24"],
    "show-request": ["show", "refunds-0001@c2", "--request"],
    "show-request-curl": ["show", "refunds-0001@c2", "--request", "--as", "curl"],
    "show-request-python": ["show", "refunds-0001@c2", "--request", "--as", "python"],
    "show-context": ["show", "refunds-0001@c3", "--context"],
    "show-context-full": ["show", "refunds-0001@k1^", "--full"],
    "replay": ["replay", "refunds-0001@c3"],
    "replay-anthropic": ["replay", "refunds-0001@c2", "--format", "anthropic"],
    "replay-text": ["replay", "refunds-0001@k1", "--format", "text"],
    "replay-check": ["replay", "refunds-0001", "--check"],
    "replay-strategy": ["replay", "refunds-0001@c4", "--strategy", "clear:keep=0,at=model_call"],
    "diff": ["diff", "refunds-0001@k1"],
    "diff-anchors": ["diff", "refunds-0001@k1", "--anchors"],
    "diff-call": ["diff", "refunds-0001@c2", "--prefix", "--side-by-side"],
    "diff-prefix": ["diff", "refunds-0001", "--prefix"],
    "diff-word": ["diff", "refunds-0001@11", "@12", "--word"],
    "diff-strategies": [
        *("diff", "refunds-0001", "--left", "truncate:turns=1"),
        *("--right", "cut:limit=40", "--at", "c4"),
    ],
    "compare": ["compare", "refunds-0001", "--strategy", "none", "--strategy", "truncate:turns=1"],
    "compare-several": ["compare", "refunds-0001", "retry", "-s", "clear:keep=0", "--window", "99"],
    "compare-prices": [
        *("compare", "refunds-0001", "-s", "truncate:turns=1"),
        *("--prices", "in=3,cached=0.3,out=15", "--prices", "recorded"),
    ],
    "compare-csv": ["compare", "refunds-0001", "-s", "cut:limit=40", "--csv"],
    "search": ["search", "one*"],
    "search-session": ["search", "tests", "refunds-0001", "--state", "hidden"],
    "search-ids": ["search", "refunds", "--ids"],
    "state-show": ["state", "show", "work"],
    "state-show-at": ["state", "show", "refunds-0001@k1"],
    "state-export": ["state", "export", "work"],
    "state-export-messages": ["state", "export", "refunds-0001@c4", "--as", "messages"],
    "state-export-session": [
        *("state", "export", "work", "--as", "session", "--out", "<folder>/session.json"),
    ],
    "state-import": ["state", "import", "<folder>/begin.json", "--name", "begun"],
    "prompt-list": ["prompt", "list", "--prompts", "<folder>/prompts"],
    "prompt-list-bundled": ["prompt", "list", "--prompts", "bundled"],
    "prompt-show": ["prompt", "show", "review/coder", "--prompts", "<folder>/prompts"],
    "prompt-render": [
        *("prompt", "render", "review/coder", "--prompts", "<folder>/prompts"),
        *("--var", "language=Python", "--var", "diff=- {language}"),
    ],
    "prompt-log": ["prompt", "log", "prompted"],
    "show-context-prompted": ["show", "prompted@c3", "--context"],
    "prompt-log-text": ["prompt", "log", "refunds-0001"],
    "prompt-diff": ["prompt", "diff", "prompted@c3", "@c4"],
    "prompt-diff-one": ["prompt", "diff", "prompted@c3", "--word"],
    "prompt-diff-file": [
        *("prompt", "diff", "review/coder", "prompted@c4"),
        *("--prompts", "<folder>/prompts"),
    ],
    "memory-list": ["memory", "list", "--at", NOW],
    "memory-list-all": ["memory", "list", "--all", "--at", NOW],
    "memory-add": [
        *("memory", "add", "We deploy on Mondays.", "--kind", "project"),
        *("--subject", "deploy day", "--entity", "deploy.sh:file", "--source", "tuesday-0002@2"),
    ],
    "memory-add-from": ["memory", "add", "--from", "tuesday-0002", "--dry-run"],
    "memory-search": ["memory", "search", "on which day do we deploy", "--at", NOW],
    "memory-show": ["memory", "show", "m3", "--at", NOW],
    "memory-show-superseded": ["memory", "show", "m1", "--at", NOW],
    "memory-show-preference": ["memory", "show", "m2", "--at", NOW],
    "memory-show-experience": ["memory", "show", "m5", "--at", NOW],
    "memory-revise": ["memory", "revise", "m6", "It is in src/parse/.", "--reason", "moved"],
    "memory-forget": ["memory", "forget", "m2", "m7", "--reason", "no longer so"],
    "memory-restore": ["memory", "restore", "m1", "m2"],
    "memory-profile": ["memory", "profile"],
    "memory-profile-set": [
        *("memory", "profile", "--set", "technical.language=Rust", "--unset", "basics.name"),
    ],
    "memory-graph": ["memory", "graph"],
    "memory-graph-entity": ["memory", "graph", "staging"],
    "memory-export": ["memory", "export"],
    "memory-export-markdown": ["memory", "export", "--as", "markdown"],
    "memory-export-file": ["memory", "export", "<folder>/memories.json"],
    "memory-import": ["memory", "import", "<folder>/memories.json", "--user", "ada"],
    "memory-gc": ["memory", "gc", "--at", "2026-10-15"],
    "memory-gc-dry": ["memory", "gc", "--dry-run", "--at", NOW],
    "why": ["why", "refunds-0001", "8"],
    "why-at": ["why", "refunds-0001", "8@12@k1^"],
    "why-fork": ["why", "retry", "4"],
    "recover": ["recover", "refunds-0001", "8", "4"],
    "recover-lost": ["recover", "refunds-0001", "--lost", "k1"],
    "recover-whole": ["recover", "refunds-0001", "--lost", "k1", "--whole"],
    "recover-query": ["recover", "refunds-0001", "--query", "tests"],
    "recover-messages": ["recover", "refunds-0001", "4", "--format", "messages"],
    "recover-into": ["recover", "refunds-0001", "8", "--into-context", "--yes"],
    "recover-only": ["recover", "refunds-0001", "4", "--into-context", "--only", "--dry-run"],
    "undo": ["undo", "refunds-0001", "k1"],
    "undo-dry": ["undo", "refunds-0001", "--dry-run"],
    "rewind": ["rewind", "refunds-0001@c2", "--reason", "try again"],
    "pin": ["pin", "refunds-0001", "3", "13"],
    "unpin": ["unpin", "refunds-0001", "13"],
    "run": ["run", "refunds-0001", "--strategy", "cut:limit=12,at=model_call"],
    "run-fork": ["run", "retry", "-s", "cut:limit=40 | truncate:turns=0,at=model_call"],
    "audit": ["audit", "refunds-0001", "--fail-on", "error"],
    "audit-prefix": ["audit", "refunds-0001", "--prefix", "--rule", "prefix"],
    "audit-all": ["audit", "--all", "--fail-on", "error"],
    "stats": ["stats", "refunds-0001"],
    "verify": ["verify"],
    "verify-session": ["verify", "retry"],
    "head": ["head"],
    "head-session": ["head", "refunds-0001"],
    "sql": ["sql", "select call, model, outcome, input, cached from calls_readable limit 3"],
    "sql-views": ["sql"],
    "sql-csv": ["sql", "select position, about, reason from decisions_readable", "--csv"],
    "backup": ["backup", "<folder>/copy.db"],
    "doctor": ["doctor"],
    "rebuild": ["rebuild"],
    "fork": ["fork", "refunds-0001@c2", "--name", "another"],
    "new": ["new", "--id", "mine", "--title", "The kiln", "--system", "Be brief."],
    "resume": ["resume", "retry"],
    "rename": ["rename", "refunds-0001", "One cent too much"],
    "delete": ["delete", "retry", "--reason", "a trial"],
    "delete-purge": ["delete", "retry", "--purge", "--yes", "--confirm", "retry"],
    "redact-dry": ["redact", "refunds-0001", "4", "--dry-run"],
    "redact": ["redact", "refunds-0001", "4", "--yes", "--reason", "asked to"],
    "export": ["export", "refunds-0001", "--out", "<folder>/out.jsonl", "--force"],
    "export-openai": ["export", "--all", "--format", "openai"],
    "export-markdown": ["export", "refunds-0001", "--format", "markdown"],
    "import": ["import", "<folder>/talk.json", "--session", "talk", "--dry-run"],
    "demo": ["demo"],
}
ONLY_TEXT = {
    *("compare-csv", "sql-csv", "export-openai", "export-markdown", "recover-messages"),
    *("state-export", "state-export-messages", "memory-export", "memory-export-markdown"),
}
PROMPTED = (
    *("prompt-log", "prompt-diff", "prompt-diff-one", "prompt-diff-file", "show-context-prompted"),
)
AGED = {
    *("memory-list", "memory-list-all", "memory-gc", "memory-gc-dry", "memory-profile"),
    *("memory-search", "memory-export", "memory-export-file", "memory-export-markdown"),
    *("memory-show", "memory-show-superseded", "memory-show-preference", "memory-show-experience"),
}
"""Asked of memories as they were at a time; the others of ones that are remembered just now."""
OWN_LOG = {"demo": "demo.db", **dict.fromkeys(PROMPTED, "prompted.db")}
OF_AN_AGENT = {"state-show", "state-export", "state-export-session"}
"""Asked of a session in the midst of an answer."""

PROMPT = """
version: 2.10
coder:
  description: reads a change
  system: |
    You know {language}.
    Answer as {"verdict": "fine"}.
  user: |
    {{diff}}
judge:
  description: says who is right
  version: 3
  system: You judge.
"""


def normalised(text: str, folder: Path) -> str:
    """Without what differs each time: ids and digests made at random, times of recording."""
    text = text.replace(str(folder), "<folder>").replace(f"{ROOT}/", "")
    text = re.sub(r"\b[0-9a-f]{64}\b", "<digest>", text)
    text = re.sub(
        r"\b(?!0{8})[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[0-9a-f-]{17}\b", "<id>", text
    )
    text = re.sub(r"\b(?!2026-09)20\d\d-\d\d-\d\dT[\d:]{8}\.\d{3}Z", "<recorded>", text)
    text = re.sub(r"(retry .{0,12}?)20\d\d-\d\d-\d\d \d\d:\d\d", r"\1<recorded      >", text)
    text = re.sub(r'("(?:bytes|seconds)": )[\d.]+', r"\1 <number>", text)
    text = re.sub(r"genai-prices \d[.\d]*\d", "genai-prices <version>", text)
    text = re.sub(r"wrote (\S+), [\d,]+ bytes", r"wrote \1, <number> bytes", text)
    return machine(text)


def machine(text: str) -> str:
    """Without what `doctor` says of the machine and not of the log."""
    own = r"versions|SQLite|full text|file system|space|transcripts"
    text = re.sub(rf"(?m)^(?:ok|warning|problem) +(?:{own}) .*\n(?: +.*\n)*", "", text)
    text = re.sub(
        rf'(?m)^ +{{\n +"name": "(?:{own})",\n +"state": .*\n +"message": .*\n +"advice": .*\n'
        r" +},?\n",
        "",
        text,
    )
    text = re.sub(r"(?m)^all is well$|^\d problems?, \d warnings?$", "<how many>", text)
    text = re.sub(r'("(?:warnings|problems)": )\d', r"\1 <number>", text)
    return re.sub(r"\d+ [KM]B\b", "<size>", text)


LATER = moment("2026-10-20T00:00:00Z", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small_log(tmp_path)
    with open_log(tmp_path / "prompted.db", durability="normal") as live:
        live.append(prompted.KEY, *prompted.session())
    (tmp_path / "talk.json").write_text('[{"role": "user", "content": "hello"}]')
    (tmp_path / "begin.json").write_text('[{"role": "system", "content": "Be brief."}]')
    (tmp_path / "prompts" / "team").mkdir(parents=True)
    (tmp_path / "prompts" / "review.yaml").write_text(PROMPT)
    (tmp_path / "prompts" / "team" / "greeting.yml").write_text("user: Say hello.\n")
    return tmp_path


def agent_log(folder: Path) -> Path:
    """The log of an agent that was stopped in the midst of an answer."""
    log = folder / "agent.db"
    with open_log(log) as live:
        live.append(KEY, *busy())
    return log


def answer(name: str, folder: Path, *more: str) -> str:
    args = [arg.replace("<folder>", str(folder)) for arg in COMMANDS[name]]
    log = folder / OWN_LOG.get(name, "small.db")
    if name in OF_AN_AGENT:
        log = agent_log(folder)
    if name.startswith("memory-"):
        log = memory_log(folder, timed=name in AGED)
    if name == "memory-import":
        run("memory", "export", folder / "memories.json", "--db", log)
    env = {"HOME": str(folder)} if name == "doctor" else {}
    later = patch("cli.memories.now_us", lambda: LATER) if name == "memory-gc" else nullcontext()
    with later:  # a moment ahead is refused
        result = run(*args, *more, "--db", log, PATH=on_path(folder), **env)
    assert result.exit_code == 0, result.output
    return normalised(result.stdout, folder)


def compare(file: Path, found: str) -> None:
    if os.environ.get("CTXLOG_GOLDEN") == "write":
        file.write_text(found)
    assert file.read_text() == found


class TestText:
    """What people read: a row that shifts or a word that goes is seen here first."""

    @pytest.mark.parametrize("name", COMMANDS)
    def test_text_is_as_it_was(self, name: str, folder: Path) -> None:
        compare(GOLDEN / f"{name}.txt", answer(name, folder))


class TestJson:
    """What scripts read: fields are only ever added."""

    @pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ONLY_TEXT])
    def test_json_is_as_it_was(self, name: str, folder: Path) -> None:
        compare(GOLDEN / f"{name}.json", answer(name, folder, "--json"))


def test_every_command_has_its_files() -> None:
    apart = {"chat", "record", "proxy"}  # they talk with others: test_chat, test_recording
    apart |= {"report", "serve"}  # a page is what they give: test_reporting, test_serving
    apart |= {"prompt test"}  # it asks a model: test_prompt_test
    names = {name for name in registered() if name}
    under = {name.partition(" ")[0] for name in names if " " in name}
    there = {" ".join(args[: 1 + (args[0] in under)]) for args in COMMANDS.values()}
    assert there | apart | under == names

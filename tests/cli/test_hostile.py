"""A log written by an attacker, shown by every command: no byte of it acts on a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from running import run
from small_log import TOOL

from cli.paths import current_program
from cli.safetext import display_width
from eventlog import Draft, Json, StreamKey
from eventlog.events import (
    CompactionDeclined,
    ContextCompacted,
    DecidedBy,
    Event,
    MessageAppended,
    MessageRevised,
    ModelCalled,
    ModelFailed,
    ModelResponded,
    NewMessage,
    PlaceholderSubstituted,
    RecordingInterrupted,
    RecordUnrecognized,
    RepairApplied,
    SessionStarted,
    SessionTitled,
    TaskClassified,
    ToolResultRecorded,
    ToolsDeclared,
    Usage,
)
from projections import open_log

EVIL = (
    "\x1b]52;c;QUJD\x07\x1b[2J\x9b31m\u202eevil\u2066\u200b\ud83d\x7f\r\x08\u2028"
    "\U000e0041\ufeff\x00[/x][link=http://e]x[/link]\x1b]8;;http://e\x1b\\<script>|=cmd`$(id)`"
)
LONG = EVIL + "A" * 200_000
KEY = StreamKey("o[bold]", "a[red]", "evil [link=x]/../../../etc/passwd @c5 \u3164")

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


def message(role: str, content: Any, call: int | None = None, **more: Any) -> MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    body = {"role": role, "content": content, **more}
    fields = {"dialect": "openai_chat", "source": source, "message": body, "call": call}
    return MessageAppended.model_validate({**fields, "label": EVIL})


EVENTS: tuple[Event, ...] = (
    SessionStarted(title=EVIL, metadata=Json({EVIL: EVIL}), format=EVIL, foreign_session_id=EVIL),
    SessionTitled(title=EVIL, by=EVIL),
    ToolsDeclared(dialect="openai_chat", definitions=Json([TOOL, {"type": EVIL, EVIL: EVIL}])),
    message("system", EVIL),
    message("user", LONG),
    message("user", [{"type": EVIL, EVIL: EVIL}, {"type": "text", "text": EVIL}]),
    message(EVIL, EVIL),
    ModelCalled(
        model=EVIL, dialect="openai_chat", parameters=Json({EVIL: EVIL}), strategy=EVIL
    ),  # 8
    message(
        "assistant",
        EVIL,
        call=8,
        reasoning=EVIL,
        tool_calls=[
            {"id": EVIL, "type": "function", "function": {"name": EVIL, "arguments": EVIL}},
            {
                "id": "b",
                "type": "function",
                "function": {"name": EVIL, "arguments": json.dumps({"command": EVIL})},
            },
        ],
    ),
    ModelResponded(call=8, finish_reason=EVIL, model=EVIL, response_id=EVIL, usage=Usage(input=1)),
    ToolResultRecorded(
        tool_call_id=EVIL, name=EVIL, dialect="openai_chat", content=LONG, is_error=True
    ),
    ToolResultRecorded(
        tool_call_id="c", name=EVIL, dialect="anthropic", native=Json({"type": EVIL})
    ),
    PlaceholderSubstituted(
        item="11", content=EVIL, reason=EVIL, pass_id=EVIL, by=DecidedBy(name=EVIL)
    ),
    MessageRevised(item="6", message=Json({"role": EVIL, "content": EVIL}), reason=EVIL),
    ModelCalled(model=EVIL, dialect="anthropic"),  # 15
    ModelFailed(call=15, error=EVIL, detail=Json({EVIL: EVIL})),
    CompactionDeclined(reason="no_gain", detail=EVIL, by=DecidedBy(name=EVIL)),
    ContextCompacted(
        covered=("4", "5"),
        messages=(
            NewMessage(
                dialect="openai_chat", message=Json({"role": "user", "content": LONG}), label=EVIL
            ),
        ),
        by=DecidedBy(name=EVIL, parameters=Json({EVIL: EVIL})),
        trigger=EVIL,
    ),
    RepairApplied(rule=EVIL, call_ids=(EVIL,)),
    RecordingInterrupted(calls_missed=3, reason=EVIL),
    RecordUnrecognized(file=EVIL, line=1, offset=0, raw=LONG),
    TaskClassified(task_type=EVIL, by=EVIL),
)

NAME = str(KEY)
PROGRAM = current_program()
"""A command that is told to be typed is never cut."""

FORMATS = ("openai", "anthropic", "responses", "json", "text")

WHAT_IFS: list[list[str]] = [
    ["diff", NAME, "--prefix"],
    ["diff", f"{NAME}@c2", "--prefix"],
    ["diff", f"{NAME}@k1", "--anchors", "--prefix"],
    ["diff", f"{NAME}@c2", "--side-by-side"],
    ["audit", NAME, "--rule", "bill", "--rule", "opaque"],
    ["diff", NAME, "--left", "observed", "--right", "cut:limit=20", "--word"],
    ["diff", NAME, "--left", "truncate:turns=1", "--right", "clear:keep=0", "--anchors"],
    [
        "compare",
        NAME,
        "--preset",
        "all",
        "-s",
        "cut:limit=20",
        "-s",
        "compress:max_messages=3,keep_recent=2",
    ],
    ["compare", NAME, "-s", "truncate:turns=1", "--prices", "in=1,out=2"],
    ["compare", NAME, "-s", "none", "--prices", "recorded", "--prices", "gpt-5"],
]
SEARCHES: list[list[str]] = [["search", "evil"], ["search", "link script"], ["search", "*A*", NAME]]
REASONS: list[list[str]] = [
    ["why", NAME, "4"],
    ["why", NAME, "11"],
    ["undo", NAME, "k1"],
    ["rewind", f"{NAME}@c1"],
    ["run", NAME, "-s", "cut:limit=20,at=model_call"],
]
COMMANDS: list[list[str]] = [
    [],
    ["sessions"],
    ["log", NAME],
    ["log", NAME, "--events", "--calls"],
    ["log", NAME, "--at", "8"],
    *(["show", f"{NAME}@{position}"] for position in range(1, len(EVENTS) + 1)),
    *(["show", f"{NAME}@{position}", "--raw"] for position in (1, 9, 11, 18, 21)),
    ["show", f"{NAME}@c1"],
    ["show", f"{NAME}@k1"],
    ["show", f"{NAME}@18.0"],
    ["show", f"{NAME}@11@13"],
    ["show", NAME, "--context"],
    ["show", f"{NAME}@c1", "--full"],
    *(["show", f"{NAME}@c1", "--request", "--as", form] for form in ("curl", "python")),
    ["replay", NAME, "--check"],
    *(["replay", NAME, "--format", form] for form in FORMATS),
    ["replay", f"{NAME}@c1"],
    ["replay", NAME, "--strategy", "truncate:turns=1", "--format", "text"],
    *WHAT_IFS,
    ["compare", NAME, "-s", "cut:limit=20", "--csv"],
    ["audit", NAME],
    ["audit", NAME, "--prefix", "--rule", "anchors"],
    ["audit", "--all"],
    ["stats", NAME],
    ["search", "evil"],
    ["search", "*A*", NAME, "-n", "0"],
    ["search", "evil", "--ids"],
    ["search", "script", f"{NAME}@k1^"],
    ["doctor"],
    ["backup", "\x1b[2J/no/such"],
    ["sql", "select * from messages_readable"],
    ["sql", "select * from decisions_readable", "--csv"],
    ["sql", "select payload from events_readable"],
    ["sql", "select '\x1b[2J' as \"\x1b[2J\", * from \"\u202e\""],
    *(["why", NAME, item] for item in ("4", "5", "6", "9", "11", "11@13", "18.0")),
    ["why", NAME, "11@c1"],
    ["recover", NAME, "4", "5", "6", "9", "11", "12", "18.0"],
    ["recover", NAME, "--lost", "k1", "--all"],
    ["recover", NAME, "--lost", "k1", "--all", "--whole"],
    ["recover", NAME, "--query", "EVIL", "--all"],
    ["recover", NAME, "4", "--format", "messages"],
    ["recover", NAME, "4", "--format", "json"],
    ["recover", NAME, "4", "11", "--into-context", "--yes"],
    ["recover", NAME, "4", "--into-context", "--only"],
    ["undo", NAME, "k1", "--reason", "\x1b[31m"],
    ["undo", NAME, "13", "--pass"],
    ["rewind", f"{NAME}@c1"],
    ["pin", NAME, "4", "--reason", "\x1b[31m"],
    ["unpin", NAME, "4"],
    ["run", NAME, "-s", "cut:limit=20 | truncate:turns=0,at=model_call"],
    ["verify"],
    ["verify", NAME],
    ["head"],
    ["rebuild"],
    ["fork", f"{NAME}@c1", "--reason", "\x1b[31m"],
    ["state", "show", NAME],
    *(["state", "export", NAME, "--as", form] for form in ("state", "messages", "session")),
    ["redact", NAME, "4", "--dry-run"],
    ["redact", "--pattern", "evil", "--dry-run"],
    ["redact", "--secrets", "--dry-run"],
    ["redact", NAME, "5", "6", "9", "11", "--with-copies", "--yes", "--reason", "\x1b[31m"],
    *(["export", "--all", "--format", form] for form in ("ctxlog", "openai", "markdown")),
    # and what cannot be done, with an error that names the hostile thing
    ["log", "no\x1b[2J\u202esuch"],
    ["show", f"{NAME}@\x1b[2J"],
    ["show", f"{NAME}@c99"],
    ["log", NAME, "--type", "\x1b[2J"],
    ["log", NAME, "--range", "\x1b[2J"],
    ["log", NAME, "--\x1b[2Jx"],
    ["\x1b[2J"],
    ["search", "\x1b[2J\u202e"],
    ["search", "\udcff\x00"],
    ["search", "evil", "--state", "\x1b[2J"],
    ["search", "evil", "--since", "\x1b[2J"],
    ["search", "evil", "no\x1b[2Jsuch"],
    ["import", "/no/\x1b[2J"],
    ["state", "import", "/no/\x1b[2J"],
    ["state", "\x1b[2J"],
    ["state", "show", f"{NAME}@\x1b[2J"],
    ["import", ".", "--format", "\x1b[2J"],
    ["fork", NAME, "--name", "\x1b[2J"],
    ["redact", "--pattern", "(\x1b[2J"],
    ["diff", NAME, "--left", "\x1b[2J\u202e"],
    ["replay", NAME, "--strategy", "cut:\x1b[2J=1"],
    ["compare", NAME, "-s", "no\x1b[2J.py:f"],
    ["compare", NAME, "--preset", "\x1b[2J"],
    ["compare", NAME, "--prices", "in=\x1b[2J"],
    ["compare", NAME, "--prices", "\x1b[2J"],
    ["compare", NAME, "-s", "none", "--prices", "recorded", "--csv"],
    ["why", NAME, "\x1b[2J"],
    ["why", NAME, "999"],
    ["recover", NAME, "--lost", "\x1b[2J"],
    ["recover", NAME, "--query", "no\x1b[2J\u202esuch"],
    ["undo", NAME, "\x1b[2J"],
    ["undo", NAME, "8"],
    ["rewind", f"{NAME}@\x1b[2J"],
    ["pin", NAME, "\x1b[2J"],
    ["run", NAME, "-s", "\x1b[2J"],
]  # fmt: skip


def named(args: object) -> str:
    """A test id without the session's name."""
    return ascii(" ".join(args).replace(NAME, "S"))[1:50] if isinstance(args, list) else ""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "evil.db"
    with open_log(path) as live:
        live.append(KEY, *(Draft(event, occurred_at="<script>[/x]") for event in EVENTS))
    return path


@pytest.fixture
def db(original: Path, tmp_path: Path) -> Path:
    path = tmp_path / "evil.db"
    path.write_bytes(original.read_bytes())
    return path


def shown(args: list[str], db: Path, *more: str) -> tuple[int, str, str]:
    result = run(*args, *more, "--db", db)
    out, err = result.stdout_bytes.decode(), result.stderr_bytes.decode()
    assert "Traceback" not in err
    assert "internal error" not in err
    for stream in (out, err):
        found = FORBIDDEN.search(stream)
        where = stream[max(0, found.start() - 60) : found.start() + 20] if found else ""
        assert found is None, ascii(where)
    return result.exit_code, out, err


class TestHostileLogs:
    """A log holds what tools and web pages said: one escape sequence sets a clipboard."""

    @pytest.mark.parametrize("args", COMMANDS, ids=named)
    def test_no_byte_acts(self, args: list[str], db: Path) -> None:
        shown(args, db)

    @pytest.mark.parametrize("args", COMMANDS, ids=named)
    def test_no_byte_acts_in_json(self, args: list[str], db: Path) -> None:
        code, out, err = shown(args, db, "--json")
        if code == 0 and out:
            assert json.loads(out)["ctxlog"] == 1
        elif code > 1:
            assert json.loads(err)["error"]["exit"] == code

    @pytest.mark.parametrize("args", [*COMMANDS[:5], *SEARCHES, *WHAT_IFS, *REASONS], ids=named)
    @pytest.mark.parametrize("more", [["--width", "60"], ["--width", "60", "--ascii"]])
    def test_long_lines_are_cut_to_the_terminal(
        self, args: list[str], more: list[str], db: Path
    ) -> None:
        _, out, _ = shown(args, db, *more)
        lines = [line for line in out.splitlines() if PROGRAM not in line]
        assert max(map(display_width, lines)) <= 60
        assert out.isascii() or "--ascii" not in more

    def test_what_is_hidden_is_made_visible(self, db: Path) -> None:
        _, out, _ = shown(["show", f"{NAME}@4"], db)
        assert r"\u{1b}]52;c;QUJD\u{7}" in out
        assert r"\u{202e}evil" in out
        assert "[/x][link=http://e]x[/link]" in out

    def test_the_value_in_json_is_the_true_one(self, db: Path) -> None:
        _, out, _ = shown(["show", f"{NAME}@4"], db, "--json")
        assert json.loads(out)["data"]["item"]["message"]["content"] == EVIL

    def test_markdown_holds_no_markup_of_the_log(self, db: Path) -> None:
        _, out, _ = shown(["export", "--all", "--format", "markdown"], db)
        outside = re.sub(r"(?m)^(`{3,})text\n.*?\n\1$", "", out, flags=re.S)
        assert "<script>" not in outside
        assert "](" not in outside


class TestNamesOfFiles:
    """A line feed in a name would let it write lines that read as if ctxlog said them."""

    def test_a_note_is_one_line(self, db: Path, tmp_path: Path) -> None:
        folder = tmp_path / "a\nctxlog: 99 new"
        folder.mkdir()
        (folder / "s\n1 session.jsonl").write_text("{")
        for args in (
            ["import", str(folder)],
            ["import", str(folder / "s\n1 session.jsonl")],
            ["backup", str(folder / "copy.db")],
            ["export", "--all", "--out", str(folder / "out.jsonl")],
            ["sessions", "--db", str(folder / "none.db")],
        ):
            more = [] if "--db" in args else ["--db", str(db)]
            result = run(*args, *more)
            said = (result.stdout + result.stderr).splitlines()
            assert said
            assert not [line for line in said if line.startswith(("ctxlog: 99", "1 session"))]


class TestHostileTranscripts:
    """An import tells the names of files, sessions and formats that it did not choose."""

    @pytest.mark.parametrize(
        "content",
        [
            json.dumps({"type": "user", "sessionId": EVIL, "uuid": EVIL,
                        "message": {"role": "user", "content": EVIL}}),
            json.dumps([{"role": "user", "content": EVIL}, {"role": EVIL, "content": EVIL}]),
            "\x1b[2J not json",
            '{"type": "user", "sessionId": "s", "message": \x1b[2J}\n',
            "[" * 100_000,
        ],
        ids=["claude", "openai", "noise", "broken", "deep"],
    )  # fmt: skip
    def test_no_byte_acts(self, content: str, tmp_path: Path) -> None:
        evil = tmp_path / "na\x1b[2Jme\u202e.jsonl"
        evil.write_text(content, encoding="utf-8", errors="surrogatepass")
        for more in ([], ["--json"], ["--final"], ["--dry-run"]):
            shown(["import", str(evil), *more], tmp_path / "i.db")
        shown(["sessions"], tmp_path / "i.db")

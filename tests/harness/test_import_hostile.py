from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_lines import Transcript, long_session
from imported import run, shape

from eventlog import EventLog
from harness.importers import Options, import_path
from projections.context import fold

SEED = 20_260_301
JUNK: list[Any] = [
    None,
    True,
    -1,
    10**40,
    1.5,
    "",
    "\ud83d",
    "\0\u202e\x1b[2J",
    "x" * 5000,
    [],
    [[]],
    [None, 7, "text", {"type": "tool_result"}, {"type": "tool_use", "id": 5, "input": []}],
    {},
    {"type": "text", "text": 5},
    {"content": {"content": {"content": []}}},
]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with EventLog(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def mutated(record: dict[str, Any], rng: random.Random) -> bytes:
    """A record with some of its values exchanged, removed or moved, or its bytes damaged."""
    value = json.loads(json.dumps(record))
    for _ in range(rng.randrange(1, 4)):
        places = [(value, key) for key in value]
        for child in (value.get("message"), value.get("attachment")):
            if isinstance(child, dict):
                places += [(child, key) for key in child]
                content = child.get("content")
                if isinstance(content, list):
                    places += [(b, key) for b in content if isinstance(b, dict) for key in b]
        if not places:
            break
        holder, key = rng.choice(places)
        if rng.random() < 0.2:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(rng.choice(JUNK))
    line = bytearray(json.dumps(value).encode())
    while rng.random() < 0.3:
        at = rng.randrange(len(line) + 1)
        match rng.randrange(4):
            case 0:
                line[at:at] = bytes([rng.choice([0, 10, 0x22, 0x5C, 0x7B, 0x7D, 0xFF])])
            case 1:
                del line[at : at + rng.randrange(1, 9)]
            case 2:
                line += json.dumps(value).encode()
            case _:
                line[at:at] = b"\0" * 16
    return bytes(line)


def damaged(line: bytes, rng: random.Random) -> bytes:
    """A line with bytes changed, cut out, put in or doubled."""
    found = bytearray(line)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(found) + 1)
        match rng.randrange(5):
            case 0:
                found[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del found[at : at + rng.randrange(1, 40)]
            case 2:
                found[at:at] = rng.choice(
                    [b'"', b"{", b"]", b"\\", b"\0", b"\xff", b"null", b"1e999"]
                )
            case 3:
                found += found[: rng.randrange(len(found) + 1)]
            case _:
                end = at + rng.randrange(1, 60)
                found[at:at] = found[at:end]
    return bytes(found.replace(b"\n", b" "))


class TestAnyBytes:
    """Transcripts are hostile input: what raises here ends somebody's import of a year of work."""

    def test_mutated_records_never_raise_and_import_the_same_again(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        rng = random.Random(SEED)
        records = long_session().records
        for number in range(60):
            t = Transcript(f"fuzz-{number}")
            t.user("A sound beginning.")
            lines = [t.bytes().strip()]
            lines += [mutated(rng.choice(records), rng) for _ in range(60)]
            path = tmp_path / f"{number}.jsonl"
            path.write_bytes(b"\n".join(lines))
            report = run(log, path, final=True)
            assert report.new > 0
            assert run(log, path, final=True).new == 0
        for info in log.streams():
            for event in log.read(info.key):
                assert event.event is not None  # decodes and validates
            fold(log.read(info.key))

    @pytest.mark.parametrize(
        "lines",
        [
            pytest.param(1_000, id="1,000"),
            pytest.param(20_000, id="20,000", marks=pytest.mark.slow),
        ],
    )
    def test_mutated_lines_of_real_transcripts_never_raise(
        self, log: EventLog, tmp_path: Path, samples: Path, lines: int
    ) -> None:
        rng = random.Random(SEED)
        folders = (samples / "claude-code", samples / "openai-chat")
        real = [
            line
            for folder in folders
            for path in sorted(folder.rglob("*.jsonl"))
            for line in path.read_bytes().split(b"\n")
            if 0 < len(line) < 20_000
        ]
        path, kept = tmp_path / "mutated.jsonl", 0
        for number in range(lines // 100):
            chosen = [damaged(rng.choice(real), rng) for _ in range(100)]
            path.write_bytes(b"\n".join(chosen))
            for format in ("", "claude-code", "openai-chat"):
                options = Options(final=True, format=format, session=f"m{number}{format}")
                report = import_path(log, path, options)
                kept += report.new
                assert import_path(log, path, options).new == 0
        assert kept > lines
        for info in log.streams():
            fold(log.read(info.key))

    def test_random_bytes_are_refused_or_kept_but_never_raise(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        rng = random.Random(SEED)
        path = tmp_path / "noise.jsonl"
        for _ in range(100):
            path.write_bytes(rng.randbytes(rng.randrange(400)))
            import_path(log, path, Options(final=True))
            import_path(log, path, Options(final=True, format="claude-code"))
            import_path(log, path, Options(final=True, format="openai-chat"))

    def test_unreadable_lines_are_kept_and_named_by_line_and_byte(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Before.")
        first = t.bytes()
        t.user("After.")
        path = tmp_path / "a.jsonl"
        path.write_bytes(first + b'{"type":"user",\xff\n' + t.bytes()[len(first) :])
        report = run(log, path)
        [session] = report.sessions
        assert session.unreadable == 1
        assert session.notes[0].startswith(f"line 2, byte {len(first)}: not JSON")
        kinds = [(e.type, e.data.get("kind")) for e in log.read(session.key)]
        assert kinds[2] == ("record_unrecognized", "unreadable")
        assert len(kinds) == 4

    def test_lone_surrogates_and_huge_integers_come_back_as_they_were(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        path = tmp_path / "a.jsonl"
        t.answer("m", {"type": "tool_use", "id": "a", "name": "f", "input": {"n": 2**70, "s": 0}})
        path.write_bytes(t.bytes().replace(b'"s": 0', b'"s": "\\ud83d"'))
        report = run(log, path, final=True)
        [message] = log.read(report.sessions[0].key, types=["message_appended"])
        [block] = message.data["message"]["content"]
        assert block["input"] == {"n": 2**70, "s": "\ud83d"}


class TestAnyHistoryOfAFile:
    """A file that grows, is torn, taken as final and rewritten, in any order."""

    @pytest.mark.parametrize("seed", range(12))
    def test_growth_never_forks_and_every_state_imports_once(
        self, log: EventLog, tmp_path: Path, seed: int
    ) -> None:
        rng = random.Random(SEED + seed)
        records = long_session().records
        t = Transcript("history")
        t.user("A sound beginning.")
        lines = [t.bytes().strip()]
        lines += [mutated(rng.choice(records), rng) for _ in range(30)]
        data = b"\n".join(lines) if seed % 2 else long_session().bytes()
        path = tmp_path / "a.jsonl"
        for end in [*sorted(rng.sample(range(len(data)), 8)), len(data)]:
            path.write_bytes(data[:end])
            options = Options(final=rng.random() < 0.4, format="claude-code")
            report = import_path(log, path, options)
            assert report.errors == []
            assert not any(s.forks or s.vanished for s in report.sessions)
        for _ in range(3):
            rewritten = data.split(b"\n")
            del rewritten[rng.randrange(1, len(rewritten))]
            rewritten.insert(rng.randrange(1, 20), mutated(rng.choice(records), rng))
            path.write_bytes(b"\n".join(rewritten))
            final = rng.random() < 0.5
            run(log, path, final=final, format="claude-code")
            before = shape(log)
            for again in (final, False, final):
                assert run(log, path, final=again, format="claude-code").new == 0
            assert shape(log) == before
        for info in log.streams():
            assert fold(log.read(info.key)).notes == []

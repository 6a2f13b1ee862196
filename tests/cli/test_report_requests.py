"""The requests of a page are those of ``show --request``, for every call, and no more than that."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from demo_log import demo_log
from hostile_transcripts import TEXTS
from hypothesis import given, settings
from joined import Table, joined
from running import ROOT, run
from small_log import small_log
from test_requests import ALL_TEXTS, PATHS, STYLES, answers, damage, evil, record, written

sys.path += [str(ROOT / "tests" / "harness"), str(ROOT / "tests" / "projections")]
from model_server import ModelServer, serving
from random_logs import LOG
from test_recorded_bodies import KEPT

from cli.naming import place
from cli.report.pieces import MOST_RUNS
from cli.report.requests import Bodies, bodies
from cli.requests import request_of_call
from eventlog import StreamKey, events
from eventlog.errors import CtxlogError
from harness.recording import Recorder, wrap
from projections import Live, open_log

KEY = StreamKey("local", "agent", "s")


def compare(live: Live, key: StreamKey) -> Bodies:
    """Each request of a session with the one that is made of its call alone."""
    table = Table()
    made = bodies(live, key, table.add, every=True)
    texts = joined(made.pieces, table.texts)
    calls = list(live.log.read(key, types=["model_called"]))
    assert made.left_out == ()
    faults = dict[int, str]()
    assert sorted([*made.bodies, *made.faults]) == list(range(1, len(calls) + 1))
    for number, call in enumerate(calls, 1):
        try:
            data = request_of_call(live, place(live, f"{key}@c{number}"))
        except CtxlogError as error:
            faults[number] = str(error)
            continue
        body = made.bodies[number]
        text = "".join(texts[n] for first, many in body.runs for n in range(first, first + many))
        assert text == data.text
        assert body.sha256 == hashlib.sha256(text.encode()).hexdigest()
        assert (body.call, body.position) == (number, call.position)
        assert list(body.notes) == data.notes
        for field in ("kind", "dialect", "same_bytes", "bytes", "url", "url_recorded", "headers"):
            assert getattr(body, field) == getattr(data, field)
    assert made.faults == faults
    return made


def compare_all(db: Path) -> list[Bodies]:
    with open_log(db) as live:
        return [compare(live, info.key) for info in live.log.streams()]


def literal(made: Bodies) -> int:
    """The characters that stand in pieces, and not in the table."""
    pieces = (piece for piece in made.pieces if not isinstance(piece, int))
    return sum(len(part) for piece in pieces for part in piece if isinstance(part, str))


class TestEveryCall:
    """A request on a page that is only like the one of the call explains nothing."""

    def test_of_the_demo(self, tmp_path: Path) -> None:
        (made,) = compare_all(demo_log(tmp_path))
        assert len(made.bodies) > 40
        assert {body.kind for body in made.bodies.values()} == {"as_sendable"}

    def test_of_a_small_log(self, tmp_path: Path) -> None:
        small_log(tmp_path)
        assert sum(len(made.bodies) for made in compare_all(tmp_path / "small.db")) > 5

    @pytest.mark.parametrize("dialect", PATHS)
    def test_of_any_text_from_any_client(self, dialect: str, tmp_path: Path) -> None:
        long = [text * (1 + 300 // len(text)) for text in TEXTS.values()]
        made = [
            written(evil(dialect, text), style)
            for text in (*TEXTS.values(), *long, ALL_TEXTS, "@text1" * 60)
            for style in STYLES
        ]
        record(tmp_path / "r.db", "https://api.test/v1" + PATHS[dialect], dialect, *made,
               headers={"anthropic-version": "1"})  # fmt: skip
        found = [body for made in compare_all(tmp_path / "r.db") for body in made.bodies.values()]
        assert len(found) == len(made)
        assert all(body.same_bytes for body in found)

    @pytest.mark.parametrize("kind", KEPT)
    def test_of_bodies_that_no_provider_takes(self, kind: str, tmp_path: Path) -> None:
        record(tmp_path / "r.db", "", "openai_chat", KEPT[kind])
        (made,) = compare_all(tmp_path / "r.db")
        assert len(made.bodies) == 1

    def test_of_requests_that_are_no_list_of_messages(self, tmp_path: Path) -> None:
        asked: list[dict[str, Any]] = [
            {"model": "m", "input": "hi"},
            {"input": "and again", "instructions": "Be brief.", "model": "m"},
            {"model": "m", "previous_response_id": "r1"},
        ]
        record(tmp_path / "r.db", "", "openai_responses", *(json.dumps(a).encode() for a in asked))
        found = compare_all(tmp_path / "r.db")
        assert sum(len(made.bodies) for made in found) >= 2

    def test_of_results_that_share_a_message(self, tmp_path: Path) -> None:
        messages: list[Any] = [{"role": "user", "content": "look"}]
        recorder = Recorder(tmp_path / "r.db", session="s")
        for turn in range(6):
            uses = [{"type": "tool_use", "id": f"t{turn}{n}", "name": "look", "input": {"n": n}}
                    for n in range(3)]  # fmt: skip
            results = [{"tool_use_id": use["id"], "content": "x" * 300, "type": "tool_result"}
                       for use in uses]  # fmt: skip
            said = {"type": "text", "text": "and go on"}
            messages += [{"role": "assistant", "content": uses}]
            messages += [{"content": [*results, said], "role": "user"}]
            body = {"model": "m", "max_tokens": 9 + turn, "messages": messages, "system": "brief"}
            recorder.begin("anthropic", json.dumps(body).encode()).failed("nobody was asked")
        recorder.close()
        (made,) = compare_all(tmp_path / "r.db")
        assert all(body.same_bytes for body in made.bodies.values())

    def test_of_transcripts(self, samples: Path, tmp_path: Path) -> None:
        db = tmp_path / "s.db"
        for folder in ("swe-agent", "openhands", "openai-chat"):
            assert run("import", samples / folder, "--db", db).exit_code in (0, 1)
        for name in ("claude-code/cc03*", "codex/cx01*"):
            for file in samples.glob(name):
                assert run("import", file, "--db", db).exit_code in (0, 1)
        found = list[Bodies]()
        with open_log(db) as live:
            for info in live.log.streams():
                if sum(1 for _ in live.log.read(info.key, types=["model_called"])) <= 30:
                    found.append(compare(live, info.key))
        assert sum(len(made.bodies) for made in found) > 100


@settings(max_examples=20)
@given(log=LOG)
def test_any_log(log: list[list[events.Event]], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Decisions and repairs of every kind, with a call behind each append, of each dialect."""
    with open_log(tmp_path_factory.mktemp("any") / "l.db") as live:
        for number, append in enumerate(log):
            dialect = list(PATHS)[number % 3]
            called = events.ModelCalled.model_validate({"model": "m", "dialect": dialect})
            live.append(KEY, *append, called)
        compare(live, KEY)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(answers) as found:
        yield found


def recorded(server: ModelServer, db: Path, calls: int = 12) -> None:
    """Calls of the real client; its context is begun anew now and then."""
    recorder = Recorder(db, session="s")
    with server.client() as client:
        wrapped = wrap(client, recorder)
        context: list[Any] = [{"role": "system", "content": "Be brief. " * 40}]
        for number in range(calls):
            context.append({"role": "user", "content": f"XYZZY-{number} {'no é ' * 60}"})
            said = wrapped.chat.completions.create(model="m", messages=context, seed=number % 4)
            context.append({"role": "assistant", "content": said.choices[0].message.content})
            if number % 5 == 4:
                context[1:] = [{"role": "user", "content": f"So far {number}."}]
    recorder.close()


class TestRecorded:
    """What was sent is known to the byte, and what happened to it since is told."""

    def test_by_the_real_client(self, server: ModelServer, tmp_path: Path) -> None:
        recorded(server, tmp_path / "r.db")
        (made,) = compare_all(tmp_path / "r.db")
        assert [body.sha256 for body in made.bodies.values()] == [
            hashlib.sha256(body).hexdigest() for body in server.bodies
        ]
        assert all(body.url_recorded for body in made.bodies.values())

    def test_and_redacted(self, server: ModelServer, tmp_path: Path) -> None:
        db = tmp_path / "r.db"
        recorded(server, db)
        done = run("redact", "--pattern", "XYZZY-3", "--yes", "--with-copies", "--db", db)
        assert done.exit_code < 2, done.output
        (made,) = compare_all(db)
        assert any(body.notes[0].startswith("erased: ") for body in made.bodies.values())
        assert any(body.same_bytes for body in made.bodies.values())

    def test_and_damaged(self, server: ModelServer, tmp_path: Path) -> None:
        db = tmp_path / "r.db"
        recorded(server, db)
        damage(db, "XYZZY-2", "XYZZY-9")
        (made,) = compare_all(db)
        assert any("not what was sent" in body.notes[0] for body in made.bodies.values())

    def test_what_cannot_be_rebuilt_stops_nothing(
        self, server: ModelServer, tmp_path: Path
    ) -> None:
        db = tmp_path / "r.db"
        recorded(server, db)
        damage(db, '"=3"', '"=3","999"')
        (made,) = compare_all(db)
        assert made.faults
        assert made.bodies


def test_behind_an_event_that_nobody_can_fold_there_are_reasons(tmp_path: Path) -> None:
    with open_log(tmp_path / "u.db") as live:
        live.append(KEY, *steps(3))
        at = live.log.version(KEY) + 1
        with closing(sqlite3.connect(live.log.path)) as db, db:
            db.execute(
                "insert into events (sequence, stream, position, id, type, schema_version,"
                " critical, recorded_at, salt, chain, payload) values "
                "(?, 1, ?, randomblob(16), 'context_folded', 1, 1, 0, x'', zeroblob(32), '{}')",
                (at, at),
            )
        live.append(KEY, *steps(3, first=7))
        made = compare(live, KEY)
    assert sorted(made.bodies) == [1, 2, 3]
    assert all("context_folded" in made.faults[number] for number in (4, 5, 6))


class TestSizes:
    """A page holds what is new in each call, not what stands in it."""

    def test_a_session_of_twice_the_calls_has_twice_of_everything(self, tmp_path: Path) -> None:
        sizes = list[list[int]]()
        for calls in (100, 200):
            with open_log(tmp_path / f"{calls}.db") as live:
                live.append(KEY, *steps(calls))
                made = bodies(live, KEY, Table().add, every=True)
            runs = sum(len(body.runs) for body in made.bodies.values())
            assert runs <= 3 * calls
            sizes.append([len(made.pieces), literal(made), runs])
        assert all(second < 2.1 * first for first, second in zip(*sizes, strict=True))

    def test_one_that_clears_a_result_in_each_call_stays_a_few_runs(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "c.db") as live:
            live.append(KEY, *steps(60, cleared=True))
            made = compare(live, KEY)
        assert max(len(body.runs) for body in made.bodies.values()) <= MOST_RUNS
        assert len(made.pieces) < 60 * 30
        assert literal(made) < 60 * 500

    def test_where_all_would_take_too_long_some_are_made(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cli.report.choosing.LOOKS", 1_500)
        with open_log(tmp_path / "c.db") as live:
            live.append(KEY, *steps(70))
            compacted = events.ContextCompacted(covered=("2", "3", "4"), messages=())
            live.append(KEY, compacted, *steps(10, first=500))
            done = list[tuple[int, int]]()
            made = bodies(live, KEY, Table().add, progress=lambda *told: done.append(told))
            whole = compare(live, KEY)
        assert {1, 70, 71, 80} <= made.bodies.keys()
        assert sorted([*made.bodies, *made.left_out]) == list(range(1, 81))
        assert len(made.left_out) > 40
        assert done == [(number, 80) for number in range(80)]
        assert {n: body.sha256 for n, body in made.bodies.items()}.items() <= {
            n: body.sha256 for n, body in whole.bodies.items()
        }.items()


def steps(calls: int, *, cleared: bool = False, first: int = 1) -> Iterator[events.Event]:
    """Calls of a tool whose long results all stand; the third before it is cleared, if asked."""
    at = first
    results = list[int]()
    asked = {"role": "user", "content": "go"}
    yield events.MessageAppended(dialect="openai_chat", source="human", message=asked)
    for number in range(first, first + calls):
        function = {"name": "run", "arguments": "{}"}
        call = {"id": f"c{number}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        yield events.ModelCalled(model="m", dialect="openai_chat")
        yield events.MessageAppended(
            dialect="openai_chat", source="model", call=at + 1, message=message
        )
        yield events.ToolResultRecorded(
            tool_call_id=f"c{number}", name="run", dialect="openai_chat", content=f"{number} " * 100
        )
        at += 3
        results.append(at)
        if cleared and len(results) > 3:
            yield events.PlaceholderSubstituted(item=str(results[-4]), content="[cleared]")
            at += 1

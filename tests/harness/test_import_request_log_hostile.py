"""Logs of requests that nobody wrote in good faith: nothing is raised, and nothing is lost."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hanging import no_hang
from request_logs import KEY, Agent, Recorder, small_session, streamed, text, thinking, use

from eventlog import EventLog, StreamKey
from harness.exchange.anthropic_stream import read_stream
from harness.exchange.openai_answers import read_chunks
from harness.exchange.secret_text import Withheld, text_without_secrets
from harness.exchange.withheld import address, record_without_secrets
from harness.importers import Options, conversations, import_path
from projections import open_log
from projections.context import fold
from projections.judging import judge_all
from projections.live import Live
from projections.sent import Requests

SEED = 20_260_302
DEEP: Any = []
for _ in range(90):
    DEEP = [DEEP]
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
    {},
    DEEP,
    [[]],
    [None, 7, "text", {"type": "tool_result"}, {"type": "tool_use", "id": 5, "input": []}],
    {"role": 5, "content": {"content": []}},
    {"type": "text", "text": 5, "cache_control": None},
    {"type": "tool_result", "tool_use_id": ["x"], "content": {"a": 1}},
]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place of a value where another may be put."""
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        node = stack.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], dict | list):
                stack.append(node[key])
    return found


def mutated(pair: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    value = copy.deepcopy(pair)
    for _ in range(rng.randrange(0, 4)):
        holder, key = rng.choice(places(value))
        if isinstance(holder, dict) and rng.random() < 0.2:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(rng.choice(JUNK))
    raw = value.get("response")
    if isinstance(raw, dict) and isinstance(raw.get("body_raw"), str) and rng.random() < 0.4:
        said = raw["body_raw"]
        at = rng.randrange(len(said) + 1)
        raw["body_raw"] = (
            said[:at] + rng.choice(["", "\0", "data: {\n\n", "\r\r", '"']) + said[at + 3 :]
        )
    return value


class TestMutated:
    """Whatever a recorder wrote, what was a request is proved and what was none is kept."""

    def test_no_exchange_is_lost_and_no_request_misremembered(
        self, live: Live, tmp_path: Path
    ) -> None:
        rng = random.Random(SEED)
        for number in range(60):
            pairs = [mutated(pair, rng) for pair in small_session().pairs]
            path = tmp_path / f"{number}.jsonl"
            path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
            options = Options(session=f"s{number}", format="anthropic", final=True)
            report = import_path(live.log, path, options)
            if not report.sessions:
                assert len(report.errors) == 1
                assert "\n" not in report.errors[0]
                continue
            assert report.errors == []
            lines = set()
            for session in report.sessions:
                key = StreamKey.parse(session.key)
                for event in live.log.read(key):
                    lines |= {r["line"] for r in event.data["origin"]["records"]}
                calls = list(live.log.read(key, types=["model_called"]))
                verdicts = judge_all(live, key, calls)
                assert {v.name for v in verdicts} <= {"exact", "partial"}, verdicts
                for call in calls:
                    pair = pairs[call.data["origin"]["records"][0]["line"] - 1]
                    request = pair["request"]
                    sent = request if "messages" in request else request["body"]
                    made = Requests(live).sent(key, call).body
                    assert json.dumps(made, sort_keys=True) == json.dumps(sent, sort_keys=True)
                assert live.view(key) == fold(live.log.read(key))
            assert lines == {1, 2, 3, 4}
            assert import_path(live.log, path, options).new == 0

    def test_damaged_lines_are_kept_and_the_others_go_in(self, live: Live, tmp_path: Path) -> None:
        rng = random.Random(SEED)
        for number in range(40):
            lines = [line.encode() for line in small_session().lines()]
            damaged = bytearray(lines[2])
            for _ in range(3):
                at = rng.randrange(len(damaged))
                damaged[at : at + rng.randrange(4)] = bytes([rng.choice([0, 34, 92, 125, 255])])
            lines[2] = bytes(damaged)
            path = tmp_path / f"{number}.jsonl"
            path.write_bytes(b"\n".join(lines) + b"\n")
            report = import_path(live.log, path, Options(session=f"d{number}"))
            assert report.errors == []
            assert sum(len(list(live.log.read(s.key))) for s in report.sessions) >= 15
            assert import_path(live.log, path, Options(session=f"d{number}")).new == 0


class TestSizes:
    """A line must not cost more than itself."""

    def test_a_line_of_ten_megabytes(self, live: Live, tmp_path: Path) -> None:
        recorder = Recorder()
        agent = Agent(recorder)
        agent.say("x" * 10_000_000)
        agent.ask(text("That was long."))
        report = import_path(live.log, recorder.write(tmp_path / "log.jsonl"))
        assert report.errors == []
        (call,) = live.log.read(report.sessions[0].key, types=["model_called"])
        assert Requests(live).sent(call.stream, call).body == recorder.bodies[0]

    @pytest.mark.parametrize("depth", [60, 200, 5_000, 200_000])
    def test_deep_input(self, live: Live, tmp_path: Path, depth: int) -> None:
        recorder = small_session()
        deep = "[" * depth + "]" * depth
        lines = recorder.lines()
        lines.insert(2, lines[1].replace('"def round(): ..."', deep))
        message = recorder.message([use("toolu_9", a=1)], "m")
        stream = streamed(message).replace('" 1}"', f'" {deep}}}"')
        assert stream != streamed(message)
        body = {**recorder.bodies[3], "messages": recorder.bodies[3]["messages"][:1]}
        lines.append(json.dumps({"request": body, "response": {"body_raw": stream}}))
        path = tmp_path / "log.jsonl"
        path.write_text("\n".join(lines) + "\n")
        report = import_path(live.log, path)
        assert report.errors == []
        found = [e for s in report.sessions for e in live.log.read(s.key)]
        assert sum(e.type == "model_called" for e in found) >= 5
        assert {r["line"] for e in found for r in e.data["origin"]["records"]} >= {1, 2, 4, 5, 6}

    def test_a_record_over_the_limit(
        self, live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.importers.exchange_records.MAX_DOCUMENT", 20_000)
        assert conversations.MAX_DOCUMENT > 20_000
        recorder = small_session()
        big = copy.deepcopy(recorder.pairs[0])
        big["note"] = ["x" * 1000] * 50
        pairs = [recorder.pairs[0], big, *recorder.pairs[1:]]
        path = tmp_path / "log.jsonl"
        path.write_text("".join(json.dumps(p, indent=2) + "\n---\n" for p in pairs))
        report = import_path(live.log, path)
        assert report.unreadable == 1
        found = [e for s in report.sessions for e in live.log.read(s.key)]
        (kept,) = [e.data for e in found if e.type == "record_unrecognized"]
        assert "is over the limit of 20,000" in kept["origin"]["rest"]["reason"]
        assert sum(e.type == "model_called" for e in found) == 4

    def test_a_hostile_text_is_gone_through(self) -> None:
        for piece in ('"cookie', '"authorization\\"', '{"api_key": "', "Bearer "):
            hostile = piece * 100_000
            with no_hang():
                text_without_secrets(hostile, Withheld())
                read_stream("data: " + hostile)


class TestNothing:
    """A file without a request says so in one line."""

    @pytest.mark.parametrize(
        "value",
        [
            {"request": {"url": "https://x", "body": None}, "response": None},
            {"request": {"messages": []}, "response": {}},
            {"request": {"messages": [5]}, "response": {}},
            {"log": {"entries": []}},
            {"request": 5, "response": 5},
        ],
    )
    def test_that_holds_no_request(self, live: Live, tmp_path: Path, value: Any) -> None:
        path = tmp_path / "log.jsonl"
        path.write_text(json.dumps(value) + "\n")
        report = import_path(live.log, path, Options(format="anthropic"))
        (error,) = report.errors
        assert "\n" not in error
        assert live.log.streams() == []


class TestStreams:
    """A stream is cut where the line broke; what came before still was said."""

    MESSAGE = Recorder().message([thinking("Hm."), text("Well, well."), use("t", a=[1])], "m")

    def test_any_prefix_is_read_and_only_the_whole_is_complete(self) -> None:
        whole = streamed(self.MESSAGE)
        for end in range(0, len(whole), 7):
            found = read_stream(whole[:end])
            assert not found.complete
            assert len(found.unread) <= 1
        found = read_stream(whole)
        assert (found.complete, found.message, found.unread) == (True, self.MESSAGE, [])

    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    def test_line_ends_comments_and_events_of_later_versions(self, newline: str) -> None:
        later = 'event: later\ndata: {"type":"later"}\n\n: a comment\n\n'
        raw = (later + streamed(self.MESSAGE) + "data: [DONE]\n\n").replace("\n", newline)
        found = read_stream(raw)
        assert found.message == self.MESSAGE
        assert found.unread == ['{"type":"later"}']

    def test_input_that_is_no_json_is_kept_as_it_came(self) -> None:
        raw = streamed(self.MESSAGE).replace("[1]}", "[1")
        found = read_stream(raw)
        assert found.message is not None
        assert found.message["content"][2]["input"] == '{"a": [1'

    def test_citations_and_usage_of_the_end(self) -> None:
        events: list[dict[str, Any]] = [
            {
                "type": "message_start",
                "message": {"usage": {"input_tokens": 3, "output_tokens": 1}},
            },
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "citations_delta", "citation": {"url": "x"}},
            },
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn"},
                "usage": {"output_tokens": 9, "input_tokens": None},
                "context_management": {"applied_edits": []},
            },
            {"type": "message_stop"},
        ]
        found = read_stream("".join(f"data:{json.dumps(e)}\n\n" for e in events))
        assert found.message == {
            "usage": {"input_tokens": 3, "output_tokens": 9},
            "content": [{"type": "text", "citations": [{"url": "x"}]}],
            "stop_reason": "end_turn",
            "context_management": {"applied_edits": []},
        }

    @pytest.mark.parametrize(
        "event",
        [
            {"type": "message_start", "message": 5},
            {"type": "content_block_start", "index": "0", "content_block": {}},
            {"type": "content_block_start", "index": 0, "content_block": []},
            {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 5}},
            {"type": "message_delta", "delta": None},
            {"type": []},
            [],
            7,
        ],
    )
    def test_what_does_not_fit_is_set_aside(self, event: Any) -> None:
        start = {"type": "message_start", "message": {"content": []}}
        raw = "".join(f"data: {json.dumps(e)}\n\n" for e in (start, event))
        found = read_stream(raw)
        assert found.message == {"content": []}
        assert found.unread == [json.dumps(event)]


class TestChunks:
    """OpenAI's chunks are joined by index and by name, whatever stands in them."""

    CHUNK: ClassVar[dict[str, Any]] = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "choices": [
            {
                "index": 0,
                "delta": {
                    "content": "Well",
                    "tool_calls": [{"index": 0, "id": "c", "function": {"arguments": "{"}}],
                },
                "finish_reason": None,
            }
        ],
    }

    def test_any_value_in_any_place(self) -> None:
        for junk in (*JUNK, {"a": DEEP}, 7):
            for number in range(len(places(self.CHUNK))):
                chunk = copy.deepcopy(self.CHUNK)
                holder, key = places(chunk)[number]
                holder[key] = copy.deepcopy(junk)
                events = [self.CHUNK, chunk, self.CHUNK]
                found = read_chunks("".join(f"data: {json.dumps(e)}\n\n" for e in events))
                assert found.message is not None
                assert len(found.unread) <= 1
                assert not found.complete or chunk["choices"][0].get("finish_reason")

    def test_depth_is_set_aside(self) -> None:
        deep = '{"choices":[{"delta":{"content":' + "[" * 5_000 + "]" * 5_000 + "}}]}"
        found = read_chunks(f"data: {deep}\n\ndata: {json.dumps(self.CHUNK)}\n\n")
        assert found.unread == [deep]
        assert found.message is not None


class TestWithheld:
    """What may hold a key is left out by what it is called, not by what it looks like."""

    def test_headers_of_any_form(self) -> None:
        left = Withheld()
        given = {
            "headers": [{"name": "Cookie", "value": KEY}, {"name": "Request-Id", "value": "r"}],
            "inner": [{"headers": {"X-Whatever": KEY, "retry-after": "5"}}],
            "more": {"headers": [["Authorization", KEY], 5], "clientSecret": KEY},
            "body": {"headers": {"x-api-key": "said in a conversation"}},
            "max_tokens": 5,
        }
        assert record_without_secrets(given, frozenset({"body"}), left) == {
            "headers": {"request-id": "r"},
            "inner": [{"headers": {"retry-after": "5"}}],
            "more": {"headers": {}},
            "body": {"headers": {"x-api-key": "said in a conversation"}},
            "max_tokens": 5,
        }
        assert set(left) == {"cookie", "x-whatever", "authorization", "clientSecret"}

    @pytest.mark.parametrize(
        ("url", "kept"),
        [
            (
                "https://api.anthropic.com/v1/messages?beta=true",
                "https://api.anthropic.com/v1/messages",
            ),
            ("https://me:secret@host:1/p#f", "https://host:1/p"),
            ("/v1/messages?key=1", "/v1/messages"),
            ("", ""),
        ],
    )
    def test_addresses(self, url: str, kept: str) -> None:
        assert address(url) == kept

    def test_text_that_cannot_be_read(self) -> None:
        headers = f'{{"headers": {{"X-Api-Key" : "{KEY}", "a": "b"}}'
        found = text_without_secrets(
            f'{headers}, "said": "Bearer {KEY}" "cookie":"x\\"y', Withheld()
        )
        assert KEY not in found
        assert '"a": "b"' in found
        assert 'x\\"y' not in found


def test_thousands_of_names_of_headers_are_one_short_note(live: Live, tmp_path: Path) -> None:
    recorder = small_session()
    names = {f"x-{number}" + "y" * 90: "z" for number in range(5_000)}
    recorder.pairs[0]["request"]["headers"] = names
    report = import_path(live.log, recorder.write(tmp_path / "log.jsonl"))
    (note,) = report.files[0].notes
    assert len(note) < 4_000
    assert note.endswith(" more")


def test_a_folder_of_logs_passes_over_what_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    folder.mkdir()
    small_session().write(folder / "log-1.jsonl")
    (folder / "log-1.json").write_text('{"settings": true}')
    with EventLog(tmp_path / "log.db") as log:
        report = import_path(log, folder)
        assert report.errors == []
        assert (len(report.sessions), report.passed_over) == (1, ["log-1.json"])

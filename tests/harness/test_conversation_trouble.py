"""Whatever a model's server does, a reply ends: as an answer, or as failed with what was wrong. The
session goes on with the next message, and each request that went out is proved."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from conversing import LOOK, Asked, InOrder, called, holds, said, scripted, told, types, usage
from model_server import Answer, Sse, chunk, completion, nowhere, serving, streamed
from openai import OpenAI

from eventlog.errors import Busy, LogFull
from eventlog.events import ModelFailed, ModelResponded, ToolResultRecorded
from harness import SubAgent
from harness.conversation import Conversation
from harness.conversation.happenings import Answered, CallFailed, Calling, Changed, Ended, ToolEnded
from harness.tools.tool import Tool, tool
from projections import Live, open_log
from projections.prompts.parsing import parse


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "talk.db") as opened:
        yield opened


def raw(
    data: bytes, kind: str = "text/event-stream", **headers: str
) -> Callable[[BaseHTTPRequestHandler], None]:
    """Bytes as they stand."""

    def send(to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        for name, value in {"content-type": kind, **headers}.items():
            to.send_header(name.replace("_", "-"), value)
        to.send_header("connection", "close")
        to.end_headers()
        to.wfile.write(data)
        to.close_connection = True

    return send


def no_head(to: BaseHTTPRequestHandler) -> None:
    to.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-ty")
    to.close_connection = True


def deltas(*given: dict[str, Any], finish: str = "stop") -> Sse:
    return Sse((*(chunk(**each) for each in given), chunk(finish=finish), usage()))


def refused(status: int, message: str = "boom", code: str | None = None) -> Answer:
    return status, {"error": {"message": message, "type": "t", "code": code}}


def call(index: int, call_id: str | None, n: int) -> dict[str, Any]:
    """All of a call in one piece."""
    function = {"name": "look", "arguments": json.dumps({"n": n})}
    given = {"index": index, "id": call_id, "type": "function", "function": function}
    return chunk(tool_calls=[given])


def talks(live: Live, answer: Answer, tools: Any = (LOOK,), **client: Any) -> list[Any]:
    """What happens when that is the first answer; the next message is answered in any case."""

    def answering(asked: Asked) -> Answer:
        last = asked["messages"][-1]
        if last["role"] == "user" and last["content"] == "go":
            return answer
        return said("done") if last["role"] in ("tool", "assistant") else scripted(asked)

    with serving(answering) as server:
        name = f"s{len(live.log.streams())}"
        talk = Conversation(live, server.client(**client), "m", session=name, tools=tools)
        happened = told(talk.say("go"))
        holds(talk)
        assert not talk.open_calls()
        assert told(talk.say("turn 1: look"))[-1] == Ended("answered")
        holds(talk)
    return happened


HALF = b"".join(p for p in list(said("one two three").pieces())[:4] if isinstance(p, bytes))
WHOLE = b"".join(p for p in said("fine").pieces() if isinstance(p, bytes))
NOT_JSON = b"data: {no json\n\ndata: [DONE]\n\n"
DEEP = b'data: {"x":' + b"[" * 5000 + b"]" * 5000 + b"}\n\n"

FAILURES: dict[str, tuple[Answer, str]] = {
    **{f"status {n}": (refused(n), f"boom (status {n})") for n in (400, 401, 404, 429, 500, 503)},
    "HTML": (raw(b"<html>hello</html>", "text/html"), "no message"),
    "an error of HTML": ((502, b"<html>bad gateway</html>"), "502"),
    "an error that is a text": ((500, {"error": "out of memory"}), "500"),
    "no body": (raw(b""), "not read"),
    "null": (raw(b"null", "application/json"), "nothing came back"),
    "a list": (raw(b"[1]", "application/json"), "no message"),
    "the head breaks off": (no_head, "RemoteProtocolError"),
    "the body breaks off": (streamed([HALF], is_whole=False), "RemoteProtocolError"),
    "it is shorter than it says": (raw(HALF, content_length="9999"), "RemoteProtocolError"),
    "it is not compressed": (raw(WHOLE, content_encoding="gzip"), "DecodingError"),
    "only its end": (raw(b"data: [DONE]\n\n"), "the stream ended before"),
    "no finish reason": (Sse((chunk(content="on"),)), "the stream ended before"),
    "no JSON": (raw(NOT_JSON), "cannot be read"),
    "no JSON behind a half": (raw(HALF + NOT_JSON), "cannot be read"),
    "nested too deep": (raw(DEEP), "cannot be read"),
    "an error in the stream": (raw(HALF + b'data: {"error": {"message": "full"}}\n\n'), "full"),
    "no choices": (Sse(({**chunk(), "choices": []},)), "the stream ended before"),
    "a whole answer without choices": ({**completion("x"), "choices": []}, "no message"),
    "nothing is said": (deltas({"role": "assistant", "content": None}), "held no message"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_is_no_answer_ends_the_reply_and_says_why(name: str, live: Live) -> None:
    answer, why = FAILURES[name]
    happened = talks(live, answer)
    end = happened[-1]
    assert isinstance(end, Ended)
    assert end.outcome == "failed"
    assert why in end.detail
    assert "\n" not in end.detail


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", ["status 429", "status 500", "the head breaks off"])
def test_each_attempt_of_the_client_is_a_call_with_its_own_end(name: str, live: Live) -> None:
    happened = talks(live, FAILURES[name][0], max_retries=2)
    assert [type(each) for each in happened] == [CallFailed, Ended]
    kinds = types(live, live.log.streams()[0].key)
    first = kinds[: kinds.index("reply_ended")]
    assert [each for each in first if each.startswith("model_")] == [
        *("model_called", "model_failed") * 3
    ]


@pytest.mark.usefixtures("impatient")
def test_a_client_that_succeeds_at_last(live: Live) -> None:
    answers = InOrder(refused(503), no_head, said("here it is"))
    with serving(answers) as server:
        talk = Conversation(live, server.client(max_retries=2), "m", session="s")
        assert talk.ask("go") == "here it is"
        holds(talk)
        assert types(live, talk.key).count("model_failed") == 2


@pytest.mark.usefixtures("impatient")
def test_no_server_at_all(live: Live) -> None:
    client = OpenAI(api_key="sk-test-1234567", base_url=nowhere(), max_retries=1)
    talk = Conversation(live, client, "m", session="s")
    end = told(talk.say("go"))[-1]
    assert isinstance(end, Ended)
    assert "refused" in end.detail
    assert types(live, talk.key).count("model_failed") == 2
    holds(talk)


ANSWERS: dict[str, tuple[Answer, str]] = {
    "no end of the stream": (Sse(said("fine").events, done=False), "fine"),
    "no usage": (Sse((chunk(content="fine"), chunk(finish="stop"))), "fine"),
    "a server that does not stream": (completion("fine"), "fine"),
    "a refusal": (deltas({"role": "assistant", "refusal": "I will not"}), "I will not"),
    "half a letter": (deltas({"content": "a\ud83d b"}), "a\ud83d b"),
    "NUL": (deltas({"content": "a\0b"}), "a\0b"),
    "two choices": (
        Sse((*said("one").events[:-1], chunk(choice=1, content="two", finish="stop"))),
        "one",
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_an_answer_all_the_same(name: str, live: Live) -> None:
    answer, text = ANSWERS[name]
    happened = talks(live, answer)
    assert happened[-1] == Ended("answered")
    assert [each.text for each in happened if isinstance(each, Answered)] == [text]
    (first, *_) = live.log.read(live.log.streams()[0].key, types=["model_responded"])
    assert isinstance(first.event, ModelResponded)
    assert (first.event.usage is None) is (name in ("no usage", "two choices"))


CALLS: dict[str, tuple[Answer, list[str]]] = {
    "one id twice": (called(("a", "look", {"n": 1}), ("a", "look", {"n": 2})), ["1 is", "2 is"]),
    "empty ids": (called(("", "look", {"n": 1}), ("", "look", {"n": 2})), ["1 is", "2 is"]),
    "no id": (Sse((call(0, None, 1), chunk(finish="tool_calls"))), ["1 is"]),
    "one index for all": (
        Sse((call(0, "a", 1), call(0, "b", 2), chunk(finish="tool_calls"))),
        ["1 is", "2 is"],
    ),
    "no such tool": (called(("a", "fly", {})), ["there is no tool 'fly'"]),
    "arguments that are no JSON": (called(("a", "look", '{"n": ')), ["no valid JSON"]),
    "arguments that are a list": (called(("a", "look", "[1]")), ["no JSON object"]),
    "no arguments": (called(("a", "look", "")), ["it is missing"]),
    "cut off at the most tokens": (
        Sse((*called(("a", "look", '{"n": 1}')).events[:2], chunk(finish="length"))),
        ["missing"],
    ),
    "fifty at once": (
        called(*((f"c{n}", "look", {"n": n}) for n in range(50))),
        [f"{n} is" for n in range(50)],
    ),
    "a server that does not stream": (
        completion(
            None,
            finish="tool_calls",
            tool_calls=[
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"n":1}'},
                }
            ],
        ),
        ["1 is"],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_tool_call_has_one_result(name: str, live: Live) -> None:
    answer, results = CALLS[name]
    happened = talks(live, answer)
    assert happened[-1] == Ended("answered")
    found = [each.content for each in happened if isinstance(each, ToolEnded)]
    assert len(found) == len(results)
    assert all(
        begin in content for begin, content in zip(sorted(results), sorted(found), strict=True)
    )


def test_ids_that_begin_anew_in_each_answer(live: Live) -> None:
    """Small servers number the calls of each answer from 0."""

    def answer(asked: Asked) -> Answer:
        last = asked["messages"][-1]
        if last["role"] == "tool":
            return said("done") if "5 is" in last["content"] else more(asked)
        return more(asked)

    def more(asked: Asked) -> Answer:
        done = sum(each["role"] == "tool" for each in asked["messages"])
        return called(("call_0", "look", {"n": done + 1}))

    with serving(answer) as server:
        talk = Conversation(live, server.client(), "m", session="s", tools=[LOOK])
        known = talk.charge._runner
        assert talk.ask("go") == "done"
        assert talk.charge._runner is known  # its repairs do not have it read the history anew
        holds(talk)
        results = [e.event for e in live.log.read(talk.key, types=["tool_result_recorded"])]
        assert [each.content[:4] for each in results if isinstance(each, ToolResultRecorded)] == [
            f"{n} is" for n in range(1, 6)
        ]


def test_sub_agents_whose_calls_have_the_same_id(live: Live) -> None:
    roles = parse("looker: {description: Looks at it., system: You look.}", "roles")
    role = roles["looker"]

    def answer(asked: Asked) -> Answer:
        text = asked["messages"][-1]["content"]
        if "tools" not in asked:
            return said(f"I looked at {text}")
        if asked["messages"][-1]["role"] == "tool":
            return said(text)
        return called(("call_0", "looker", {"task": text}))

    with serving(answer) as server:
        talk = Conversation(live, server.client(), "m", session="s", tools=[SubAgent(role)])
        assert talk.ask("the sea") == "I looked at the sea"
        assert talk.ask("the moon") == "I looked at the moon"
        holds(talk)
        assert len(live.log.streams()) == 3


def test_what_a_model_thought_is_kept_with_its_message(live: Live) -> None:
    thinking = ({"reasoning_content": "hm, "}, {"reasoning_content": "so"})
    with serving(InOrder(deltas(*thinking, {"content": "yes"}), said("again"))) as server:
        talk = Conversation(live, server.client(), "m", session="s")
        assert talk.ask("go") == "yes"
        assert talk.ask("go on") == "again"
        holds(talk)
        first = talk.items()[1].message
        assert first["reasoning_content"] == "hm, so"
        (_, sent, _) = server.requests[-1]["messages"]
        assert sent == first


# -- too large ------------------------------------------------------------------------------------

OVER = refused(400, "the maximum context length is 100 tokens", "context_length_exceeded")


def limited(size: int, summary: Answer) -> Callable[[Asked], Answer]:
    """A model whose window is that many characters."""

    def answer(asked: Asked) -> Answer:
        if not asked.get("stream"):
            return summary
        return OVER if len(json.dumps(asked["messages"])) > size else scripted(asked)

    return answer


@pytest.mark.parametrize("has_summary", [True, False])
def test_a_context_that_is_too_large_is_summarised_else_truncated(
    has_summary: bool, live: Live
) -> None:
    summary = completion("Short.") if has_summary else refused(500)
    with serving(limited(2500, summary)) as server:
        talk = Conversation(live, server.client(), "m", session="s", tools=[LOOK])
        for n in range(1, 7):
            happened = told(talk.say(f"turn {n}: look, look"))
            assert happened[-1] == Ended("answered")
        holds(talk)
        kinds = types(live, talk.key)
        first = kinds.index("model_failed")
        assert kinds[first + 1] == ("context_compacted" if has_summary else "compaction_declined")
        assert "context_compacted" in kinds
        again = [e.event for e in live.log.read(talk.key, types=["model_failed"])]
        assert all(isinstance(e, ModelFailed) and "maximum context" in e.error for e in again)


def test_a_model_that_takes_nothing_is_asked_three_times_at_most(live: Live) -> None:
    with serving(limited(0, completion("Short."))) as server:
        talk = Conversation(live, server.client(), "m", session="s")
        for n in range(1, 4):
            asked = len(server.requests)
            happened = told(talk.say(f"turn {n}"))
            assert happened[-1] == Ended(
                "failed",
                "the maximum context length is 100 tokens (status 400, context_length_exceeded)",
            )
            assert 1 <= sum(isinstance(each, CallFailed) for each in happened) <= 3
            assert sum(bool(r.get("stream")) for r in server.requests[asked:]) <= 3
            assert {type(each) for each in happened} <= {CallFailed, Changed, Ended, Calling}
        holds(talk)


# -- what people and tools say --------------------------------------------------------------------


def odd(n: int) -> str:
    """Half a letter, a NUL and a colour."""
    return "a\ud83d b \0 c \x1b[31m"


def huge(n: int) -> str:
    """More than an event holds."""
    return "h" * 80_000_000


@pytest.mark.parametrize("text", ["a\ud800b", "a\0b", "\x1b[2J\u202e", "z" * 1_000_000])
def test_whatever_a_person_says(text: str, live: Live) -> None:
    with serving(lambda asked: said("ok")) as server:
        talk = Conversation(live, server.client(), "m", session="s")
        assert talk.ask(text) == "ok"
        assert talk.ask("again") == "ok"
        holds(talk)
        sent = text.replace("\ud800", "\ufffd")  # which no request can carry
        assert [each["messages"][0]["content"] for each in server.requests] == [sent, sent]


@pytest.mark.parametrize("function", [odd, huge])
def test_whatever_a_tool_gives(function: Any, live: Live) -> None:
    made: Tool = tool(function)
    with serving(scripted) as server:
        talk = Conversation(live, server.client(), "m", session="s", tools=[made])
        assert told(talk.say(f"turn 1: {made.name}"))[-1] == Ended("answered")
        assert told(talk.say("turn 2"))[-1] == Ended("answered")
        holds(talk)


@pytest.mark.slow
def test_an_answer_of_twenty_megabytes(live: Live) -> None:
    with serving(InOrder(said("y" * 20_000_000, 1 << 16), said("ok"))) as server:
        talk = Conversation(live, server.client(), "m", session="s", strategy="none")
        assert len(talk.ask("go")) == 20_000_000
        assert talk.ask("again") == "ok"
        assert len(server.requests[-1]["messages"][1]["content"]) == 20_000_000


# -- an answer that cannot be recorded ------------------------------------------------------------


def test_an_answer_that_cannot_be_recorded_is_not_acted_on(live: Live, tmp_path: Path) -> None:
    """The disk is full just then: nothing runs that the log knows nothing of, and once there is
    room again the answer stands where it belongs."""
    ran_for: list[int] = []

    def act(n: int) -> str:
        """Do something."""
        ran_for.append(n)
        return "done"

    pages = [live.log.query("pragma page_count").fetchone()[0]]

    def answer(asked: Asked) -> Answer:
        if asked["messages"][-1].get("role") == "user":
            live.log.query(f"pragma max_page_count={pages[0]}")
            return called(("a", "act", {"n": 1}), text="x" * 4_000_000)
        return said("all of it is done")

    with serving(answer) as server:
        talk = Conversation(live, server.client(), "m", session="s", tools=[act])
        reply = talk.say("go")
        with pytest.raises(LogFull):
            told(reply)
        assert ran_for == []
        assert types(live, talk.key)[-1] == "model_called"
        live.log.query("pragma max_page_count=1000000")
        assert told(talk.go_on())[-1] == Ended("answered")
        assert ran_for == [1]
        assert [item.text[:11] for item in talk.items()][1::2] == ["xxxxxxxxxxx", "all of it i"]
        assert len(server.requests) == 2
        holds(talk)


def test_a_last_answer_that_could_not_be_recorded_is_not_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "busy.db"
    with serving(scripted) as server, open_log(path, lock_timeout=0.1) as live:
        talk = Conversation(live, server.client(), "m", session="s")
        reply = talk.say("turn 1")
        assert isinstance(next(reply), Calling)
        with path.with_name("busy.db.lock").open() as other:  # another process writes for long
            fcntl.flock(other, fcntl.LOCK_EX)
            with pytest.raises(Busy):
                told(reply)
        assert told(talk.go_on()) == [Ended("answered")]
        assert talk.last_answer() == "This is the answer to turn 1."
        assert len(server.requests) == 1
        holds(talk)
        assert told(talk.say("turn 2"))[-1] == Ended("answered")

"""Bodies that no provider takes and no log expects: each goes out as it is, and is recorded or
counted; and what is recorded is what was sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from model_server import completion, nowhere
from recorded_calls_of import KEY, Told

from eventlog.messages import Dialect
from harness.recording import Recorder
from harness.recording.transport import RecordingTransport
from projections import open_log
from projections.checking import check

HI = b'"messages":[{"role":"user","content":"hi"}]'

KEPT: dict[str, bytes] = {
    "int of 30 digits": b'{"model":"m","seed":123456789012345678901234567890,' + HI + b"}",
    "half a pair": b'{"model":"\\ud83d","messages":[{"role":"user","content":"a\\ud83d"}]}',
    "nul": b'{"model":"m\\u0000","messages":[{"role":"user","content":"a\\u0000b"}]}',
    "model": b'{"model":{"a":1},' + HI + b"}",
    "tools as an object": b'{"model":"m","tools":{"a":1},' + HI + b"}",
    "tools of nothing": b'{"model":"m","tools":[1,"x",null],' + HI + b"}",
    "calls": b'{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":5},7]},'
    b'{"role":"tool","tool_call_id":{"a":1},"content":[1]}]}',
    "long name": b'{"model":"m","messages":[{"role":"user","' + b"k" * 100_000 + b'":1}]}',
    "many names": b'{"model":"m",' + b"".join(b'"k%d":1,' % n for n in range(9999)) + HI + b"}",
    "roles": '{"model":"m","messages":[{"role":"\u202e<b>","content":"x"}]}'.encode(),
}

COUNTED: dict[str, bytes] = {
    "nothing": b"",
    "a form": b"model=m&messages=hi",
    "a list": b"[1,2]",
    "null": b"null",
    "no UTF-8": b'{"model":"m","messages":[{"role":"user","content":"\xff"}]}',
    "NaN": b'{"model":"m","temperature":NaN,' + HI + b"}",
    "too large a number": b'{"model":"m","messages":[{"role":"user","content":1e999}]}',
    "too many digits": b'{"model":"m","seed":' + b"9" * 6000 + b"," + HI + b"}",
    "deep": b'{"model":"m","messages":[{"content":' + b"[" * 10_000 + b"]" * 10_000 + b"}]}",
    "deep fields": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "something behind it": b'{"model":"m",' + HI + b"}{}",
    "messages that are none": b'{"model":"m","messages":[1,null,"x",[]]}',
}


def sent(body: bytes, folder: Path, session: str | None) -> tuple[bytes, Told, int]:
    """What went out, what the log says, and how many calls are not in it."""
    seen: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.content)
        return httpx2.Response(200, json=completion("ok"))

    recorder = Recorder(folder / "log.db", session=session, on_error="ignore")
    transport: Any = RecordingTransport(httpx2.MockTransport(answer), recorder)
    with httpx2.Client(transport=transport) as client:
        assert client.post(f"{nowhere()}/chat/completions", content=body).status_code == 200
    recorder.close()
    (found,) = seen
    return found, Told(folder / "log.db"), recorder.missed


@pytest.mark.parametrize("session", [None, "s"])
@pytest.mark.parametrize("name", KEPT)
def test_it_is_recorded_as_it_is(name: str, session: str | None, tmp_path: Path) -> None:
    out, told, missed = sent(KEPT[name], tmp_path, session)
    assert out == KEPT[name]
    assert not missed
    assert [v.name for v in told.verdicts] == ["exact"]
    assert told.bodies == [json.loads(KEPT[name])]


@pytest.mark.parametrize("session", [None, "s"])
@pytest.mark.parametrize("name", COUNTED)
def test_it_goes_out_and_is_counted(name: str, session: str | None, tmp_path: Path) -> None:
    out, told, missed = sent(COUNTED[name], tmp_path, session)
    assert out == COUNTED[name]
    assert missed == 1
    assert not told.bodies


class TestForms:
    """The same message in another form is another request: 1 is not 1.0, nor true, and the fields
    of a message stand in their order."""

    def test_the_same_in_the_eyes_of_python(self, tmp_path: Path) -> None:
        asked = {"role": "user", "content": "how many"}
        bodies = []
        for number in (1, 1.0, True, 1):
            answer = {"role": "assistant", "content": '{"n":1}', "parsed": {"n": number}}
            more = {"role": "user", "content": f"and now {len(bodies)}"}
            bodies.append({"model": "m", "messages": [asked, answer, more]})
        self.check(tmp_path, "openai_chat", [{"model": "m", "messages": [asked]}, *bodies])

    def test_another_order_of_fields(self, tmp_path: Path) -> None:
        block = {"type": "tool_result", "tool_use_id": "c1", "content": "r"}
        one = {"role": "user", "content": [block], "name": "x"}
        other = {"content": [block], "name": "x", "role": "user"}
        more = [{"role": "user", "content": f"go on {n}"} for n in range(3)]
        said = [[one], [other, more[0]], [one, more[0]], [other, *more]]
        both = [[one, more[0], other, more[1]]]
        bodies = [{"model": "m", "messages": messages, "max_tokens": 9} for messages in said + both]
        self.check(tmp_path, "anthropic", bodies)

    def test_a_system_prompt_of_null(self, tmp_path: Path) -> None:
        messages = [{"role": "user", "content": f"go on {n}"} for n in range(5)]
        bodies: list[dict[str, Any]] = [
            {"model": "m", "max_tokens": 9, "messages": messages[: n + 1], **system}
            for n, system in enumerate([{}, {"system": None}, {}, {"system": ""}, {"system": None}])
        ]
        self.check(tmp_path, "anthropic", bodies)

    def check(self, folder: Path, dialect: Dialect, bodies: list[dict[str, Any]]) -> None:
        recorder = Recorder(folder / "log.db", session="s", on_error="raise")
        wires = [json.dumps(body, separators=(",", ":")).encode() for body in bodies]
        for wire in wires:
            recorder.begin(dialect, wire).failed("nobody was asked")
        recorder.close()
        told = Told(folder / "log.db")
        told.check(bodies)
        told.check_bytes(wires)
        with open_log(folder / "log.db") as live:
            for info in live.log.streams():
                for call in check(live, info.key):
                    assert (call.outcome, call.same_bytes) == ("same", True), call


@pytest.mark.parametrize(
    ("dialect", "wire"),
    [
        ("openai_responses", b'{"model":"m","prompt":{"id":"pmpt_1"}}'),
        ("openai_responses", b'{"model":"m","input":[],"prompt":{"id":"pmpt_1"}}'),
        ("openai_responses", b'{"input":"hi","model":"m"}'),
        ("openai_chat", b'{"model":"m"}'),
        ("openai_chat", b'{"messages":[],"model":"m"}'),
        ("openai_chat", b"{}"),
    ],
)
def test_without_a_list_it_is_another_body(dialect: Dialect, wire: bytes, tmp_path: Path) -> None:
    """A stored prompt is asked without any input."""
    recorder = Recorder(tmp_path / "log.db", session="s", on_error="raise")
    recorder.begin(dialect, wire).failed("nobody was asked")
    recorder.close()
    told = Told(tmp_path / "log.db")
    assert told.wires == [(wire, True)]
    with open_log(tmp_path / "log.db") as live:
        (call,) = check(live, KEY)
        assert call.same_bytes

"""Bodies that no provider takes and no log expects: each goes out as it is, and is recorded or
counted; and what is recorded is what was sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from model_server import completion, nowhere
from recorded_calls_of import Told

from harness.recording import Recorder
from harness.recording.transport import RecordingTransport

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

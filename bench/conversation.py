"""A turn of a conversation, beside the same turn of a loop that keeps a plain list.

Both ask a server on this machine, which answers at once, in another process: the loop with the
client of OpenAI alone, appending to its list; the conversation with everything that it does (its
strategy is asked and decides nothing, four appends are flushed to disk). Each has a history of its
own that grows by two messages a turn; the turns are interleaved. The client itself reads every
message of a request that a plain loop hands it, which a conversation spares.

Opening a session again is taken beside reading its payloads and no more.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

from openai import OpenAI

from bench.harness import Row, compared, folder, interleaved
from bench.proxy import process
from bench.recording import history
from eventlog.events import MessageAppended, SessionStarted
from eventlog.jsonvalue import Json
from eventlog.recorded import StreamKey
from harness import Conversation
from projections import Live, open_log

KEY = StreamKey("local", "chat", "bench")


def run(rounds: int) -> list[Row]:
    rows: list[Row] = []
    own = (sys.executable, "-c", "from bench.streaming import serve; serve()")
    with process(*own) as port:
        client = OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0)
        for size in (100, 1_000):
            rows += _turns(client, size, rounds)
    return rows


def _turns(client: OpenAI, size: int, rounds: int) -> list[Row]:
    plain = history(size)
    with folder() as place, open_log(place / "log.db") as live:
        _written(live, size)
        conversation = Conversation(live, client, "m", session=KEY, strategy="none")
        unflushed = _unflushed(client, place, size)

        def loop() -> None:
            plain.append({"role": "user", "content": "go on"})
            stream = client.chat.completions.create(model="m", messages=plain, stream=True)  # type: ignore[call-overload]
            pieces = [piece.choices[0].delta.content or "" for piece in stream]
            plain.append({"role": "assistant", "content": "".join(pieces)})

        cases = {
            "plain loop": loop,
            "conversation": lambda: _say(conversation),
            "without flushes": lambda: _say(unflushed),
        }
        times = interleaved(cases, max(rounds, 9))
        opened = interleaved(
            {"opening": lambda: _open(live, client), "reading": lambda: _read(live)}, rounds
        )
        unflushed.live.close()
    name = f"after {size:,} messages"
    return [
        compared(f"a turn {name}", times, ours="conversation", base="plain loop"),
        compared(
            f"a turn {name}, without flushes", times, ours="without flushes", base="plain loop"
        ),
        compared(f"opening {name}", opened, ours="opening", base="reading"),
    ]


def _say(conversation: Conversation) -> None:
    for _ in conversation.say("go on"):
        pass


def _open(live: Live, client: OpenAI) -> float:
    began = time.perf_counter()
    Conversation(live, client, "m", session=KEY, strategy="none")
    return time.perf_counter() - began


def _read(live: Live) -> float:
    began = time.perf_counter()
    for event in live.log.read(KEY):
        assert event.payload is not None
    return time.perf_counter() - began


def _written(live: Live, size: int) -> None:
    said = [
        MessageAppended(
            dialect="openai_chat",
            source="human" if message["role"] == "user" else "model",
            message=Json(message),
        )
        for message in history(size)
    ]
    live.append(KEY, SessionStarted(), *said)


def _unflushed(client: OpenAI, place: Path, size: int) -> Conversation:
    live = open_log(place / "unflushed.db")
    _written(live, size)
    live.log.append = partial(live.log.append, durable=False)  # type: ignore[method-assign]
    return Conversation(live, client, "m", session=KEY, strategy="none")

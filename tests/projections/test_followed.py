"""A stream that is followed in memory records what one that is read from the log would record."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from recorded_calls import appended, record

from eventlog import StreamKey, events
from eventlog.messages import Dialect
from eventlog.recorded import Draft, RecordedEvent
from harness.recording.bodies import Bodies
from harness.recording.placing import Posted, asked_of
from projections import open_log
from projections.context import fold
from projections.erasure import apply, plan
from projections.followed import MESSAGES, Followed
from projections.judging import judge_all
from projections.live import Live
from projections.sent import Requests
from projections.verdicts import judge
from projections.wire import as_sent, ordered

FAST, ANEW = StreamKey("u", "a", "fast"), StreamKey("u", "a", "anew")
MARK = {"cache_control": {"type": "ephemeral"}}


class Twice:
    """The same requests, recorded by one that remembers, and by one that begins anew each time."""

    def __init__(self, live: Live, dialect: str) -> None:
        self.live, self.dialect = live, cast(Dialect, dialect)
        self.followed = Followed(live, FAST)
        self.bodies = Bodies(dialect)
        self.sent: dict[int, dict[str, Any]] = {}
        self.wires: dict[int, bytes] = {}
        self.erased = False

    def ask(self, body: dict[str, Any]) -> int:
        raw = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        read = self.bodies.read(raw)
        known = asked_of(Posted(self.dialect, raw), read)
        self.followed.catch_up()
        made = appended(self.live, self.followed, self.followed.plan(known))
        again = record(self.live, ANEW, self.dialect, body)
        assert (made.position, made.kind) == (again.position, again.kind)
        if made.position:
            self.bodies.take(read)
            self.sent[made.position] = body
            self.wires[made.position] = raw
        return made.position

    def told(self, *given: events.Event) -> None:
        """Events of the recorder's own, known to it without reading the log."""
        drafts = [Draft(event, salt=bytes(16)) for event in given]
        done = self.live.log.append(FAST, *drafts)
        if done.first == self.followed.version + 1:
            self.followed.followed(*drafts)
        self.live.append(ANEW, *given)

    def put(self, *given: events.Event) -> None:
        """Events of another writer."""
        self.live.append(FAST, *given)
        self.live.append(ANEW, *given)

    def erase(self, item: str) -> None:
        for key in (FAST, ANEW):
            apply(self.live, plan(self.live, key, [item]), with_copies=False)
        self.erased = True

    def check(self) -> None:
        one, other = ([*map(shown, self.live.log.read(key))] for key in (FAST, ANEW))
        assert one == other
        requests = Requests(self.live)
        calls = [self.live.log.at(FAST, [at])[at] for at in self.sent]
        verdicts = judge_all(self.live, FAST, calls)
        for call, verdict in zip(calls, verdicts, strict=True):
            assert verdict == judge(self.live, FAST, call)
            assert verdict.name in (("exact", "erased") if self.erased else ("exact",)), verdict
            if verdict.name == "exact":
                sent = requests.sent(FAST, call)
                assert sent.body == self.sent[call.position]
                salt = self.live.log.salts(FAST, [call.position])[call.position]
                whole = ordered(sent.body, call.data["places"])
                written, proved = as_sent(whole, call.data, salt)
                assert (proved, written) == (True, self.wires[call.position])
        assert self.live.view(FAST) == fold(self.live.log.read(FAST))


def shown(event: RecordedEvent) -> tuple[str, dict[str, Any]]:
    """An event without what is salted."""
    data = {k: v for k, v in event.data.items() if k not in ("request_digest", "wire_digest")}
    if event.type == "redacted":
        data = {"targets": len(data["targets"])}
    return event.type, data


# -- what an agent may do --------------------------------------------------------------------------


def answers(dialect: str, number: int, calls: int) -> dict[str, Any]:
    """An answer as the provider gives it."""
    if dialect == "anthropic":
        blocks: list[dict[str, Any]] = [{"type": "text", "text": f"I think {number}"}]
        blocks += [
            {"type": "tool_use", "id": f"t{number}_{n}", "name": "run", "input": {"n": n}}
            for n in range(calls)
        ]
        return {"role": "assistant", "content": blocks}
    if dialect == "openai_responses":
        items: list[dict[str, Any]] = [{"type": "reasoning", "id": f"r{number}", "summary": []}]
        said = [{"type": "output_text", "text": f"I think {number}", "annotations": []}]
        items.append({"type": "message", "role": "assistant", "content": said})
        items += [
            {
                "type": "function_call",
                "call_id": f"t{number}_{n}",
                "name": "run",
                "arguments": f'{{"n": {n}}}',
            }
            for n in range(calls)
        ]
        return {"items": items}
    made = [
        {
            "id": f"t{number}_{n}",
            "type": "function",
            "function": {"name": "run", "arguments": f'{{"n": {n}}}'},
        }
        for n in range(calls)
    ]
    message = {"role": "assistant", "content": f"I think {number}", "refusal": None}
    return {**message, **({"tool_calls": made} if made else {})}


def echoed(dialect: str, answer: dict[str, Any], how: str) -> list[dict[str, Any]]:
    """An answer as a client sends it back."""
    if dialect == "openai_responses":
        items = answer["items"]
        if how == "plain":
            return [item for item in items if item["type"] != "reasoning"]
        if how == "changed":
            return [{"role": "assistant", "content": items[1]["content"][0]["text"]}, *items[2:]]
        return [{**item, "status": None} for item in items] if how == "nulls" else items
    if how == "whole":
        return [answer]
    if how == "plain":
        return [{k: v for k, v in answer.items() if v is not None}]
    if how == "changed":
        return [{**answer, "extra": 1}]
    if dialect == "anthropic":
        return [{**answer, "content": [{"citations": None, **b} for b in answer["content"]]}]
    return [{**answer, "audio": None, "function_call": None, "annotations": []}]


def results(dialect: str, answer: dict[str, Any], text: str) -> list[dict[str, Any]]:
    """What the tools gave back."""
    if dialect == "anthropic":
        ids = [b["id"] for b in answer["content"] if b["type"] == "tool_use"]
        blocks = [{"type": "tool_result", "tool_use_id": i, "content": text} for i in ids]
        return [{"role": "user", "content": blocks}] if blocks else []
    if dialect == "openai_responses":
        ids = [i["call_id"] for i in answer["items"] if "call_id" in i]
        return [{"type": "function_call_output", "call_id": i, "output": text} for i in ids]
    calls = answer.get("tool_calls", [])
    return [{"role": "tool", "tool_call_id": c["id"], "content": text} for c in calls]


def is_result(message: dict[str, Any]) -> bool:
    content = message.get("content")
    if message.get("role") == "tool" or "output" in message:
        return True
    return isinstance(content, list) and bool(content) and content[0].get("type") == "tool_result"


def cleared(message: dict[str, Any]) -> dict[str, Any]:
    if "output" in message:
        return {**message, "output": "[cleared]"}
    if message["role"] == "tool":
        return {**message, "content": "[cleared]"}
    first, *rest = message["content"]
    return {**message, "content": [{**first, "content": "[cleared]"}, *rest]}


def marked(message: dict[str, Any]) -> dict[str, Any]:
    """With a cache mark on its last block."""
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not content:
        return message
    return {**message, "content": [*content[:-1], {**content[-1], **MARK}]}


MOVES = [
    *("go on",) * 8,
    *("clear", "cut", "compact", "swap", "tools", "prompt", "retry", "drop", "edit", "side"),
    *("pin", "erase", "foreign", "title", "other answer"),
]


class TestAnyConversation:
    """One that remembers may not remember wrongly."""

    @settings(
        max_examples=40,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.reuse],
    )
    @given(
        data=st.data(), dialect=st.sampled_from(["openai_chat", "anthropic", "openai_responses"])
    )
    def test_it_is_recorded_as_from_the_log(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, dialect: str
    ) -> None:
        path = tmp_path_factory.mktemp("followed") / "log.db"
        with open_log(path, durability="normal") as live:
            agent = Agent(Twice(live, dialect), dialect, data)
            agent.twice.put(events.SessionStarted(ownership="observed"))
            moves = data.draw(st.lists(st.sampled_from(MOVES), min_size=2, max_size=14))
            for number, move in enumerate(moves):
                agent.step(number, move)
            agent.twice.check()


class Agent:
    """A conversation with its request, changed step by step."""

    def __init__(self, twice: Twice, dialect: str, data: st.DataObject) -> None:
        self.twice, self.dialect, self.data = twice, dialect, data
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": "fix it é"}]
        self.prompt = "Be brief."
        self.tools: list[dict[str, Any]] | None = None
        self.marks = data.draw(st.booleans()) and dialect == "anthropic"

    def step(self, number: int, move: str) -> None:
        draw = self.data.draw
        at = draw(st.integers(0, len(self.messages) - 1))
        match move:
            case "clear":
                self.messages = [cleared(m) if is_result(m) else m for m in self.messages[: at + 1]]
            case "cut" if len(self.messages) > 1:
                self.messages = self.messages[at:] or self.messages
            case "compact" if len(self.messages) > 2:
                said = {"role": "user", "content": f"so far {number}"}
                self.messages = [self.messages[0], said, *self.messages[at + 1 :]]
            case "swap" if len(self.messages) > 1 and at:
                self.messages[at - 1 : at + 1] = self.messages[at], self.messages[at - 1]
            case "tools":
                self.tools = draw(st.sampled_from([None, [], [{"name": "a"}], [{"name": "b"}]]))
            case "prompt":
                self.prompt = f"Be brief. It is {number} o'clock."
            case "drop":
                self.messages = self.messages[: max(1, len(self.messages) - 2)]
            case "edit":
                self.messages[at] = {"role": "user", "content": f"edited {number}"}
            case "pin":
                self.put(events.ItemPinned(item=self.item()))
            case "title":
                self.put(events.SessionTitled(title=f"t{number}"))
            case "erase":
                self.twice.erase(self.item()) if self.twice.sent else None
            case "foreign":
                self.put(
                    events.MessageAppended(
                        dialect=cast(Dialect, self.dialect),
                        source="human",
                        message={"role": "user", "content": f"by another {number}"},
                    )
                )
            case "side":
                name = MESSAGES[self.dialect]
                self.twice.ask({"model": "small", name: [{"role": "user", "content": "a title?"}]})
        self.call(number, is_echoed=move != "other answer")

    def item(self) -> str:
        found = self.twice.live.view(FAST).standing()
        if not found:
            return "2"
        return str(self.data.draw(st.sampled_from(found))[0])

    def put(self, event: events.Event) -> None:
        if self.twice.sent:
            self.twice.put(event)

    def call(self, number: int, *, is_echoed: bool) -> None:
        draw = self.data.draw
        position = self.twice.ask(self.body())
        answer = answers(self.dialect, number, draw(st.integers(0, 2)))
        if position and draw(st.integers(0, 9)):
            said = events.MessageAppended(
                dialect=cast(Dialect, self.dialect), source="model", call=position, message=answer
            )
            self.twice.told(said, events.ModelResponded(call=position))
        elif position:
            self.twice.told(events.ModelFailed(call=position, error="HTTP 500"))
        if not is_echoed:
            answer = answers(self.dialect, number + 100, 0)
        back = echoed(
            self.dialect, answer, draw(st.sampled_from(["whole", "plain", "nulls", "changed"]))
        )
        given = results(self.dialect, answer, f"out {number} " * draw(st.sampled_from([1, 60])))
        self.messages = [*self.messages, *back, *given]
        if not given or draw(st.booleans()):
            self.messages.append({"role": "user", "content": f"then {number % 3}"})

    def body(self) -> dict[str, Any]:
        messages = [*self.messages]
        if self.marks:
            messages[-1] = marked(messages[-1])
        found: dict[str, Any] = {"model": "m"}
        if self.dialect == "anthropic":
            found |= {"max_tokens": 9, "system": self.prompt}
        elif self.dialect == "openai_responses":
            found["instructions"] = self.prompt
        else:
            messages = [{"role": "system", "content": self.prompt}, *messages]
        found[MESSAGES[self.dialect]] = messages
        return found if self.tools is None else {**found, "tools": self.tools}

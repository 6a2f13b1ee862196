"""The same of Anthropic's messages and OpenAI's responses, where results share a message, an answer
is many items, and cache marks move with each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import test_wrap_anthropic
import test_wrap_responses
import true_agent
from model_server import serving
from recorded_calls_of import KEY, Told
from test_own_contexts import decisions

from harness.recording import Recorder, wrap
from projections import open_log

anthropic = pytest.importorskip("anthropic")

OMITTED = "[cleared]"


def script(kind: str) -> Callable[[dict[str, Any]], Any]:
    """Reasoning, a text and two calls to a person; a text to their results."""
    asked: list[int] = []

    def answer(request: dict[str, Any]) -> Any:
        asked.append(len(asked) + 1)
        n = asked[-1]
        last = request["messages" if kind == "messages" else "input"][-1]
        if kind == "messages":
            thinking = {"type": "thinking", "thinking": f"hm {n}", "signature": "c2ln"}
            text = {"type": "text", "text": f"I look {n}."}
            calls = [
                {"type": "tool_use", "id": f"c{n}{k}", "name": "run", "input": {"n": n}}
                for k in "ab"
            ]
            if last["content"][0]["type"] == "tool_result":
                calls = []
            return test_wrap_anthropic.message(n, thinking, text, *calls)
        reasoning = {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": "x"}
        said = {**test_wrap_responses.message(f"I look {n}."), "id": f"msg_{n}"}
        calls = [
            {
                "type": "function_call",
                "id": f"fc{n}{k}",
                "call_id": f"c{n}{k}",
                "name": "run",
                "arguments": "{}",
                "status": "completed",
            }
            for k in "ab"
        ]
        if last.get("type") == "function_call_output":
            calls = []
        return test_wrap_responses.response(n, reasoning, said, *calls)

    return answer


def name(message: Mapping[str, Any]) -> str:
    """A message, a result or an answer in few words."""
    if message.get("type") in ("tool_result", "function_call_output"):
        return f"result {message.get('tool_use_id', message.get('call_id'))}"
    blocks = message.get("items", message.get("content", [message]))
    if isinstance(blocks, str):
        return f"{message['role']} {blocks!r}"
    ids = [b.get("call_id", b.get("id")) for b in blocks if b.get("name") == "run"]
    if ids:
        return "+".join(ids)
    texts = [b for b in blocks if b.get("type") in ("text", "message")]
    if message.get("role") in ("user", "system") and texts[0]["text"] != "Mind!":
        return f"{message['role']} {_text(texts[0])!r}"
    return f"said {_text(texts[0]) if texts else ''!r}"


def _text(block: Mapping[str, Any]) -> str:
    return str(block["text"] if "text" in block else block["content"][0]["text"])


class Agent:
    """One that changes nothing but its cache marks."""

    kinds = ("messages", "responses")

    def __init__(self, client: Any, kind: str) -> None:
        self.kind = kind
        self.talk = true_agent.KINDS[kind](client, {}, True)
        self.did: list[str] = []
        self.turn = 0

    @property
    def messages(self) -> list[Any]:
        return self.talk.messages

    def change(self) -> None:
        """Its own history, before a request."""

    def run(self) -> None:
        ids: list[str] = []
        for self.turn in range(8):
            if ids:
                self.talk.returned(ids, f"turn {self.turn}: " + "3 passed, 1 failed. " * 30)
            else:
                self.talk.say(f"Turn {self.turn}: what is red?")
            self.change()
            ids = self.talk.back(self.talk.whole(self.talk.client), "without nulls")

    def results(self) -> list[dict[str, Any]]:
        """The results in its history: blocks, or items."""
        if self.kind == "responses":
            return [m for m in self.messages if m.get("type") == "function_call_output"]
        blocks = (b for m in self.messages if isinstance(m["content"], list) for b in m["content"])
        return [b for b in blocks if b.get("type") == "tool_result"]

    def said(self, number: int) -> str:
        """What is left of the first turns: a question, its answer with two calls, their results
        and what was said to them."""
        first = 2 * number + 1
        return (
            f"user 'Turn {2 * number}: what is red?', c{first}a+c{first}b, result c{first}a, "
            f"result c{first}b, said 'I look {first + 1}.'"
        )

    def drop_turn(self) -> None:
        """The oldest turn, behind what stands first."""
        del self.messages[0]
        while self.messages and not _is_question(self.messages[0]):
            del self.messages[0]


def _is_question(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "user" and isinstance(message["content"], str)


class Clears(Agent):
    def change(self) -> None:
        field = "content" if self.kind == "messages" else "output"
        for each in self.results()[:-2]:
            if each[field] != OMITTED:
                self.did.append(f"cleared: {name(each)}")
                each[field] = OMITTED


class Truncates(Agent):
    """Whole turns, from the front."""

    def change(self) -> None:
        if self.turn in (4, 6):
            self.did.append(f"left: {self.said(self.turn // 2 - 2)}")
            self.drop_turn()


class Summarises(Agent):
    """Turn after turn goes into a summary that stands first."""

    def change(self) -> None:
        if self.turn in (4, 6):
            gone = self.said(self.turn // 2 - 2)
            if self.turn == 6:
                gone = f"user 'In short: 4', {gone}"
                del self.messages[0]
            made = {"role": "user", "content": f"In short: {self.turn}"}
            self.did.append(f"left: {gone}; for {name(made)}")
            self.drop_turn()
            self.messages.insert(0, made)


class ForgetsItsThoughts(Agent):
    """Reasoning of the turns before is not sent again."""

    def change(self) -> None:
        if not _is_question(self.messages[-1]):
            return
        for place in range(len(self.messages) - 1, -1, -1):
            message = self.messages[place]
            if self.kind == "responses":
                if message.get("type") == "reasoning":
                    self.did.append(f"revised: {self._answer(place)}")
                    del self.messages[place]
            elif message["role"] == "assistant" and message["content"][0]["type"] == "thinking":
                self.did.append(f"revised: {name(message)}")
                del message["content"][0]
        self.did[-2:] = sorted(self.did[-2:], key=lambda told: told.startswith("revised: said"))

    def _answer(self, place: int) -> str:
        items = []
        for item in self.messages[place:]:
            if item.get("type") not in ("reasoning", "message", "function_call"):
                break
            items.append(item)
        return name({"items": items})


class ClearsInputs(Agent):
    """What old calls were called with."""

    def change(self) -> None:
        for message in self.messages[:-4]:
            if self.kind == "responses" and message.get("type") == "function_call":
                if message["arguments"] == "{}":
                    message["arguments"] = '{"omitted": true}'
                    told = f"revised: {message['call_id'][:-1]}a+{message['call_id'][:-1]}b"
                    self.did += [told] if told not in self.did else []
            elif self.kind == "messages" and message["role"] == "assistant":
                calls = [b for b in message["content"] if b["type"] == "tool_use" and b["input"]]
                if calls:
                    self.did.append(f"revised: {name(message)}")
                for call in calls:
                    call["input"] = {}


class RemindsBesideResults(Agent):
    """A reminder stands behind the results, in the same message, once."""

    kinds = ("messages",)

    def change(self) -> None:
        for message in self.messages[:-1]:
            if (
                isinstance(message["content"], list)
                and message["content"][-1].get("text") == "Mind!"
            ):
                self.did.append("left: said 'Mind!'")
                del message["content"][-1]
        if not _is_question(self.messages[-1]):
            self.messages[-1]["content"].append({"type": "text", "text": "Mind!"})


class ChangesInstructions(Agent):
    def change(self) -> None:
        field = "system" if self.kind == "messages" else "instructions"
        if self.turn:
            self.did.append(f"revised: system {self.talk.ask[field]!r}")
        self.talk.ask[field] = f"You are an agent. Be brief. It is 10:0{self.turn}."


class AsksAgain(Agent):
    """The last answer is thrown away, and asked for again."""

    def run(self) -> None:
        super().run()
        at = max(n for n, m in enumerate(self.messages) if m.get("role") == "user")
        if self.kind == "responses":
            at = max(n for n, m in enumerate(self.messages) if "output" in m)
        del self.messages[at + 1 :]
        self.did.append("back: said 'I look 8.'")
        self.talk.whole(self.talk.client)


AGENTS = [
    (made, kind)
    for made in list(vars().values())
    if isinstance(made, type) and issubclass(made, Agent)
    for kind in made.kinds
]


@pytest.mark.parametrize(("made", "kind"), AGENTS, ids=lambda each: getattr(each, "__name__", each))
def test_the_log_says_what_the_agent_did(tmp_path: Path, made: type[Agent], kind: str) -> None:
    path = tmp_path / "log.db"
    with serving(script(kind)) as server:
        address = server.url.removesuffix("/v1")
        client = server.client()
        if kind == "messages":
            client = anthropic.Anthropic(base_url=address, api_key="k", max_retries=0)
        recorder = Recorder(path, session="s")
        with client:
            agent = made(wrap(client, recorder), kind)
            agent.run()
        recorder.close()
    told = Told(path)
    told.check(server.requests)
    told.check_bytes(server.bodies)
    assert bool(agent.did) == (made is not Agent)
    with open_log(path) as live:
        assert decisions(live, KEY, name) == agent.did

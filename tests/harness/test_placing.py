"""In which session a call is recorded: where agents begin alike, cut their context, begin anew."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from model_server import ModelServer, completion, serving
from openai import OpenAI
from proxied import proxied
from recorded_calls_of import Told
from test_wrap_responses import message, response

from eventlog.errors import Busy
from harness.exchange.outcomes import outcome_of
from harness.recording import Recorder, session, wrap
from harness.recording.recorder import RecordedCall
from projections import Live, open_log
from projections import last_answers as last_answers_module
from projections.audit.auditing import audit

SYSTEM = "You are a careful agent. Work step by step."
TASK = "Mend the failing test in tests/test_kiln.py."


class Model:
    """Answers each call with something that it never said before; short, as models are."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._mutex = threading.Lock()

    def number(self) -> int:
        with self._mutex:
            return next(self._numbers)

    def __call__(self, request: dict[str, Any]) -> Any:
        number = self.number()
        if "input" in request:
            return response(number, {**message(f"a{number}"), "id": f"msg_{number}"})
        if "max_tokens" in request:
            return {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [{"type": "text", "text": f"a{number}"}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        return completion(f"a{number}")


class Agent:
    """Sends all that was said, or no more than the last turns of it."""

    def __init__(self, ask: Callable[[list[Any]], str], name: str, keep: int | None = None) -> None:
        self.said: list[Any] = []
        self.answers: list[str] = []
        self._ask, self._name, self._keep = ask, name, keep

    def step(self) -> None:
        turn = len(self.answers)
        text = f"{self._name}: go on with {turn}" if turn else TASK
        self.said.append({"role": "user", "content": text})
        if self._keep is not None and turn >= self._keep:
            self.said = self.said[-2 * self._keep + 1 :]
        answer = self._ask(self.said)
        self.said.append({"role": "assistant", "content": answer})
        self.answers.append(answer)


def chat(client: OpenAI) -> Callable[[list[Any]], str]:
    def ask(messages: list[Any]) -> str:
        sent = [{"role": "system", "content": SYSTEM}, *messages]
        found = client.chat.completions.create(model="m", messages=sent)
        return str(found.choices[0].message.content)

    return ask


def responses(client: OpenAI) -> Callable[[list[Any]], Any]:
    """What comes back is sent back as it came: a list of items."""

    def ask(messages: list[Any]) -> str:
        sent: list[Any] = []
        for each in messages:
            items = each["content"] if each["role"] == "assistant" else None
            sent += json.loads(items) if items is not None else [each]
        found = client.responses.create(model="m", instructions=SYSTEM, input=sent, store=False)
        return json.dumps([item.model_dump() for item in found.output])

    return ask


def claude(client: Anthropic) -> Callable[[list[Any]], str]:
    def ask(messages: list[Any]) -> str:
        found = client.messages.create(model="m", max_tokens=9, system=SYSTEM, messages=messages)
        return str(found.content[0].text)  # type: ignore[union-attr]

    return ask


@contextmanager
def recording(
    server: ModelServer, folder: Path, how: str = "wrap", name: str | None = None
) -> Iterator[Callable[[list[Any]], str]]:
    """A client of the server, recorded into ``proxy.db``."""
    if how == "proxy":
        with proxied(server, folder, session=name) as found:
            yield chat(found.client())
        return
    recorder = Recorder(folder / "proxy.db", session=name)
    if how == "responses":
        yield responses(wrap(server.client(), recorder))
    elif how == "anthropic":
        url = server.url.removesuffix("/v1")
        yield claude(wrap(Anthropic(api_key="k", base_url=url, max_retries=0), recorder))
    else:
        yield chat(wrap(server.client(), recorder))
    recorder.close()


def told(folder: Path, server: ModelServer, agents: list[Agent]) -> Told:
    """All calls are exact, and each session holds the answers of one agent."""
    found = Told(folder / "proxy.db")
    found.check(server.requests)
    whose = {answer: n for n, agent in enumerate(agents) for answer in agent.answers}
    for key, events in found.events.items():
        own = {whose[text] for text in answers(events) if text in whose}
        assert len(own) <= 1, (key, own)
        assert any(e.type == "model_called" for e in events), f"{key} has no call"
    return found


def answers(events: list[Any]) -> list[str]:
    return [said_in(event.data["message"]) for event in events if is_answer(event)]


def said_in(answer: dict[str, Any]) -> str:
    if "items" in answer:
        return json.dumps(answer["items"])
    content = answer["content"]
    return str(content if isinstance(content, str) else content[0]["text"])


def is_answer(event: Any) -> bool:
    return bool(event.type == "message_appended" and event.data.get("call"))


def called(found: Told) -> list[int]:
    """How many calls each session has."""
    return [sum(e.type == "model_called" for e in events) for events in found.events.values()]


class TestRunsOfOneTask:
    """Evaluations run one task many times, at once or in turn, through one proxy."""

    @pytest.mark.parametrize("how", ["wrap", "proxy", "anthropic", "responses"])
    @pytest.mark.parametrize("keep", [None, 3], ids=["whole", "cut"])
    def test_two_that_take_turns(self, tmp_path: Path, how: str, keep: int | None) -> None:
        with serving(Model()) as server, recording(server, tmp_path, how) as ask:
            agents = [Agent(ask, "do", keep) for _ in range(2)]
            for _ in range(8):
                for agent in agents:
                    agent.step()
        found = told(tmp_path, server, agents)
        assert called(found) == [8, 8]
        assert found.types()["session_rewound"] == 0
        for events in found.events.values():
            compacted = [e for e in events if e.type == "context_compacted"]
            assert len(compacted) == (0 if keep is None else 5)

    @pytest.mark.parametrize("how", ["wrap", "proxy"])
    @pytest.mark.parametrize("keep", [None, 2], ids=["whole", "cut"])
    def test_four_that_begin_at_once(self, tmp_path: Path, how: str, keep: int | None) -> None:
        model, ready = Model(), threading.Barrier(4)

        def answer(request: dict[str, Any]) -> Any:
            if len(request["messages"]) == 2:
                ready.wait(60)
            return model(request)

        with serving(answer) as server, recording(server, tmp_path, how) as ask:
            agents = [Agent(ask, "do", keep) for _ in range(4)]

            def run(agent: Agent) -> None:
                for _ in range(6):
                    agent.step()

            threads = [threading.Thread(target=run, args=(agent,)) for agent in agents]
            for each in threads:
                each.start()
            for each in threads:
                each.join(120)
        found = told(tmp_path, server, agents)
        assert called(found) == [6, 6, 6, 6]
        assert found.types()["session_rewound"] == 0

    def test_one_after_the_other(self, tmp_path: Path) -> None:
        with serving(Model()) as server, recording(server, tmp_path) as ask:
            agents = [Agent(ask, "do") for _ in range(3)]
            for agent in agents:
                agent.step()
                if agent is not agents[0]:  # the first one ended after its first answer
                    agent.step()
        found = told(tmp_path, server, agents)
        assert called(found) == [1, 2, 2]
        assert found.types()["session_rewound"] == 0

    @pytest.mark.parametrize("turn", [0, 2])
    def test_what_failed_is_asked_again_in_its_own(self, tmp_path: Path, turn: int) -> None:
        model, failing = Model(), iter([True])

        def answer(request: dict[str, Any]) -> Any:
            if len(request["messages"]) == 2 + 2 * turn and next(failing, False):
                return 500, {"error": {"message": "overloaded"}}
            return model(request)

        with serving(answer) as server:
            recorder = Recorder(tmp_path / "proxy.db")
            agent = Agent(chat(wrap(server.client(max_retries=2), recorder)), "do")
            for _ in range(4):
                agent.step()
            recorder.close()
        found = told(tmp_path, server, [agent])
        assert called(found) == [5]
        assert found.types()["model_failed"] == 1
        assert found.types()["session_rewound"] == 0

    def test_calls_are_told_by_their_ids_where_answers_are_alike(self, tmp_path: Path) -> None:
        """A client may send an answer back in other words; the ids of its calls stay."""
        numbers = itertools.count(1)

        def answer(request: dict[str, Any]) -> Any:
            call = {"name": "ls", "arguments": "{}"}
            made = {"id": f"call_{next(numbers):024}", "type": "function", "function": call}
            return completion("I look.", tool_calls=[made])

        with serving(answer) as server, recording(server, tmp_path) as _:
            recorder = Recorder(tmp_path / "other.db")
            client = wrap(server.client(), recorder)
            runs: list[list[Any]] = [[], []]
            for turn in range(5):
                for said in runs:
                    sent = [
                        {"role": "system", "content": SYSTEM},
                        {"role": "user", "content": TASK},
                        *said[-4:],
                    ]
                    found = client.chat.completions.create(model="m", messages=sent)
                    (made,) = found.choices[0].message.tool_calls or ()
                    call = {"id": made.id, "type": "function", "function": {"name": "ls"}}
                    said.append({"role": "assistant", "content": "", "tool_calls": [call]})
                    said.append({"role": "tool", "tool_call_id": made.id, "content": f"{turn}"})
            recorder.close()
        found = Told(tmp_path / "other.db")
        found.check(server.requests)
        assert called(found) == [5, 5]

    def test_two_that_are_the_same_go_on_in_turns_and_that_is_told(self, tmp_path: Path) -> None:
        """Each call repeats the last to the byte, and both had the same answers."""
        with (
            serving(lambda request: completion("ok")) as server,
            recording(server, tmp_path) as ask,
        ):
            runs: list[list[Any]] = [[], []]
            for text in (TASK, "look first", "mend it"):
                for said in runs:
                    said.append({"role": "user", "content": text})
                    said.append({"role": "assistant", "content": ask(said)})
        found = told(tmp_path, server, [])
        assert called(found) == [3, 3]
        _, second = found.events
        doubts = [[*e["may_belong_to"]] for e in found.of("model_called") if "may_belong_to" in e]
        assert doubts == [[f"local/recorded/{second}"]] * 2

    def test_what_nothing_tells_apart_is_told(self, tmp_path: Path) -> None:
        """All answers are alike, and what was said differently is cut off."""
        with (
            serving(lambda request: completion("ok")) as server,
            recording(server, tmp_path) as ask,
        ):
            runs: list[list[Any]] = []
            for name in ("one", "other"):
                said: list[Any] = []
                for text in (TASK, f"{name}: look first", "mend it"):
                    said.append({"role": "user", "content": text})
                    said.append({"role": "assistant", "content": ask(said)})
                runs.append(said)
            for said in runs:
                ask([*said[-2:], {"role": "user", "content": "run the tests"}])
        found = told(tmp_path, server, [])
        assert called(found) == [4, 4]
        first, second = found.events
        doubts = [e["may_belong_to"] for e in found.of("model_called") if "may_belong_to" in e]
        assert doubts == [(f"local/recorded/{first}",)] or doubts == [[f"local/recorded/{first}"]]
        with open_log(tmp_path / "proxy.db") as live:
            told_of = [
                finding
                for info in live.log.streams()
                for finding in audit(live, info.key, ["verdicts"]).findings
            ]
        (finding,) = told_of
        assert finding.severity == "info"
        assert finding.refs == ("c4",)
        assert finding.message == (
            f"it may be {first} that goes on here: nothing in the request tells them apart (c4)"
        )
        assert second != first

    def test_tasks_that_begin_with_the_same_words(self, tmp_path: Path) -> None:
        """Agents say first where they are, and then what is to be done."""
        around = {"role": "user", "content": "<environment>folder: /kiln</environment>"}
        with serving(Model()) as server, recording(server, tmp_path) as ask:
            for task in range(3):
                said: list[Any] = [around, {"role": "user", "content": f"Task {task}."}]
                for turn in range(1 + task):
                    said.append({"role": "assistant", "content": ask(said)})
                    said.append({"role": "user", "content": f"{task}: go on with {turn}"})
        found = told(tmp_path, server, [])
        assert called(found) == [1, 2, 3]

    def test_examples_before_each_question_are_no_conversation(self, tmp_path: Path) -> None:
        shown = [{"role": "user", "content": "2+2"}, {"role": "assistant", "content": "4" * 100}]
        with serving(Model()) as server, recording(server, tmp_path) as ask:
            for number in range(3):
                ask([*shown, {"role": "user", "content": f"{number}+{number}"}])
        found = told(tmp_path, server, [])
        assert called(found) == [1, 1, 1]

    @pytest.mark.parametrize("seed", range(20))
    def test_any_order_of_any_runs(self, tmp_path: Path, seed: int) -> None:
        """Some begin at once, some keep their last turns, some calls fail, some never end."""
        chance = random.Random(seed)
        recorder = Recorder(tmp_path / "proxy.db")
        runs = [Run(recorder, number, chance) for number in range(4)]
        for _ in range(80):
            chance.choice(runs).step()
        recorder.close()
        found = Told(tmp_path / "proxy.db")
        assert {v.name for v in found.verdicts} == {"exact"}
        whose: dict[str, set[str]] = {}
        for key, events in found.events.items():
            own = {text.split()[0] for text in answers(events)}
            assert len(own) <= 1, (key, own)
            for run in own:
                whose.setdefault(run, set()).add(key)
        assert sum(map(len, whose.values())) == len(whose), whose


class Run:
    """One run of the task, a call at a time."""

    def __init__(self, recorder: Recorder, number: int, chance: random.Random) -> None:
        self.said: list[Any] = [{"role": "user", "content": TASK}]
        self.turn = 0
        self._recorder, self._number, self._chance = recorder, number, chance
        self._keep = chance.choice([None, 2, 3])
        self._call: RecordedCall | None = None

    def step(self) -> None:
        """Ask, or answer what was asked."""
        if self._call is None:
            sent = [{"role": "system", "content": SYSTEM}, *self.said]
            body = json.dumps({"model": "m", "messages": sent}).encode()
            self._call = self._recorder.begin("openai_chat", body)
            return
        call, self._call = self._call, None
        if self.turn and self._chance.random() < 0.15:  # the next one asks the same again
            call.failed("overloaded", 529)
            return
        text = f"r{self._number} {self.turn}"
        call.ended(outcome_of("openai_chat", json.dumps(completion(text)), 200))
        self.turn += 1
        self.said.append({"role": "assistant", "content": text})
        self.said.append({"role": "user", "content": f"go on with {self.turn}"})
        if self._keep is not None:
            self.said = self.said[-2 * self._keep + 1 :]


class TestCut:
    """An agent that keeps its last turns is one conversation."""

    @pytest.mark.parametrize("how", ["wrap", "proxy", "anthropic", "responses"])
    @pytest.mark.parametrize("keep", [2, 3])
    def test_it_goes_on_where_it_stood(self, tmp_path: Path, how: str, keep: int) -> None:
        with serving(Model()) as server, recording(server, tmp_path, how) as ask:
            agent = Agent(ask, "do", keep)
            for _ in range(7):
                agent.step()
        found = told(tmp_path, server, [agent])
        assert called(found) == [7]
        assert found.types()["context_compacted"] == 7 - keep

    def test_of_another_conversation_nothing_is_taken_for_it(self, tmp_path: Path) -> None:
        """Models say the same few words to everybody."""
        with serving(lambda request: completion("ok")) as server:
            recorder = Recorder(tmp_path / "proxy.db")
            ask = chat(wrap(server.client(), recorder))
            for name in ("one", "other", "third"):
                said: list[Any] = []
                for turn in range(3):
                    said.append({"role": "user", "content": f"{name}: {turn}"})
                    said.append({"role": "assistant", "content": ask(said)})
            recorder.close()
        found = Told(tmp_path / "proxy.db")
        found.check(server.requests)
        assert called(found) == [3, 3, 3]
        assert found.types()["context_compacted"] == 0


class TestStartedAgain:
    """What is not in memory any more is known from the log."""

    @pytest.mark.parametrize(
        ("how", "keep"),
        [("wrap", None), ("proxy", 2), ("anthropic", None), ("responses", 2),
         pytest.param("wrap", 2, marks=pytest.mark.slow),
         pytest.param("proxy", None, marks=pytest.mark.slow),
         pytest.param("anthropic", 2, marks=pytest.mark.slow),
         pytest.param("responses", None, marks=pytest.mark.slow)],
    )  # fmt: skip
    def test_a_process_for_each_turn(self, tmp_path: Path, how: str, keep: int | None) -> None:
        with serving(Model()) as server:
            agents: list[Agent] = []
            for turn in range(6):
                for number in range(2):
                    with recording(server, tmp_path, how) as ask:
                        if not turn:
                            agents.append(Agent(ask, f"n{number}", keep))
                        agents[number]._ask = ask
                        agents[number].step()
        found = told(tmp_path, server, agents)
        assert called(found) == [6, 6]
        assert found.types()["session_rewound"] == 0
        assert (found.types()["context_compacted"] == 0) == (keep is None)

    def test_one_that_ended_while_it_was_asked(self, tmp_path: Path) -> None:
        model = Model()
        with serving(model) as server:
            with recording(server, tmp_path) as ask:
                agent = Agent(ask, "do")
                agent.step()
                agent.step()
            body = {"model": "m", "messages": [{"role": "system", "content": SYSTEM}, *agent.said]}
            body["messages"].append({"role": "user", "content": "do: go on with 2"})  # type: ignore[attr-defined]
            recorder = Recorder(tmp_path / "proxy.db")
            recorder.begin("openai_chat", json.dumps(body).encode())
            server.requests.append(body)
            recorder.close()
            with recording(server, tmp_path) as ask:
                agent._ask = ask
                agent.step()
        found = Told(tmp_path / "proxy.db")
        found.check(server.requests, unknown=1)
        assert called(found) == [4]

    def test_a_named_session_is_left_to_its_name(self, tmp_path: Path) -> None:
        with serving(Model()) as server:
            with recording(server, tmp_path, name="monday") as ask:
                agent = Agent(ask, "do")
                agent.step()
                agent.step()
            with recording(server, tmp_path) as ask:
                agent._ask = ask
                agent.step()
        found = told(tmp_path, server, [])
        assert called(found) == [2, 1]

    def test_of_too_many_the_oldest_begin_anew(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The log is looked into as far as that costs the same whatever it holds."""
        monkeypatch.setattr(last_answers_module, "SESSIONS", 2)
        with serving(Model()) as server:
            said: list[list[Any]] = []
            for number in range(3):
                with recording(server, tmp_path) as ask:
                    said.append([{"role": "user", "content": f"task {number}"}])
                    said[-1].append({"role": "assistant", "content": ask(said[-1])})
            for messages in said[::-1]:
                with recording(server, tmp_path) as ask:
                    ask([*messages, {"role": "user", "content": "go on"}])
        found = told(tmp_path, server, [])
        assert called(found) == [1, 2, 2, 1]

    def test_a_named_session_may_be_compacted_next(self, tmp_path: Path) -> None:
        with serving(Model()) as server:
            with recording(server, tmp_path, name="s") as ask:
                agent = Agent(ask, "do")
                for _ in range(3):
                    agent.step()
            with recording(server, tmp_path, name="s") as ask:
                agent._ask = ask
                agent.step()
                agent.said = [{"role": "user", "content": "Summary: four steps were made."}]
                agent.step()
        found = told(tmp_path, server, [agent])
        assert called(found) == [5]
        assert found.types()["context_compacted"] == 1

    def test_a_fork_of_a_named_session_goes_on_where_it_stood(self, tmp_path: Path) -> None:
        asked, go, model = threading.Event(), threading.Event(), Model()

        def answer(request: dict[str, Any]) -> Any:
            if request["messages"][-1]["content"] == "slow":
                asked.set()
                go.wait(60)
            return model(request)

        with serving(answer) as server:
            with recording(server, tmp_path, name="s") as ask:
                agent = Agent(ask, "do")
                agent.step()
                agent.step()
                slow = [*agent.said, {"role": "user", "content": "slow"}]
                busy = threading.Thread(target=ask, args=(slow,))
                busy.start()
                assert asked.wait(60)
                agent.step()
                go.set()
                busy.join(60)
            with recording(server, tmp_path, name="s") as ask:
                agent._ask = ask
                agent.step()
        found = told(tmp_path, server, [])
        assert called(found) == [3, 2]


class TestNamed:
    """One name, and more than one conversation under it."""

    def single(self, server: ModelServer, folder: Path, count: int) -> Told:
        with recording(server, folder, name="batch") as ask:
            for number in range(count):
                ask([{"role": "user", "content": f"Classify text {number}."}])
        return told(folder, server, [])

    def test_single_calls_are_conversations_of_their_own(self, tmp_path: Path) -> None:
        with serving(Model()) as server:
            found = self.single(server, tmp_path, 4)
        assert list(found.events) == ["batch", "batch.2", "batch.3", "batch.4"]
        assert found.types()["context_compacted"] == 0
        parents = [e.get("parent_session", "") for e in found.of("session_started")]
        assert parents == ["", *["local/recorded/batch"] * 3]

    def test_single_calls_of_the_next_process(self, tmp_path: Path) -> None:
        with serving(Model()) as server:
            for _ in range(2):
                self.single(server, tmp_path, 2)
            found = told(tmp_path, server, [])
        assert called(found) == [2, 1, 1]
        assert found.types()["context_compacted"] == 0

    def test_single_calls_at_once(self, tmp_path: Path) -> None:
        model, ready = Model(), threading.Barrier(4)

        def answer(request: dict[str, Any]) -> Any:
            ready.wait(60)
            return model(request)

        with serving(answer) as server:
            recorder = Recorder(tmp_path / "proxy.db")
            ask = chat(wrap(server.client(), recorder))

            def run(number: int) -> None:
                with session("batch"):
                    ask([{"role": "user", "content": f"Classify text {number}."}])

            threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
            for each in threads:
                each.start()
            for each in threads:
                each.join(60)
            recorder.close()
        found = told(tmp_path, server, [])
        assert sorted(found.events) == ["batch", "batch.2", "batch.3", "batch.4"]
        assert found.types()["context_compacted"] == 0

    def test_one_message_that_grows_is_one_conversation(self, tmp_path: Path) -> None:
        """Agents that keep all in one text, as ReAct does."""
        text = "Question: how many files are there in the folder?\n"
        with serving(Model()) as server, recording(server, tmp_path, name="s") as ask:
            for turn in range(4):
                text += f"Thought: {ask([{'role': 'user', 'content': text}])}\nSeen: {turn}\n"
        found = told(tmp_path, server, [])
        assert list(found.events) == ["s"]

    def test_a_summary_stays_in_its_session(self, tmp_path: Path) -> None:
        """Whatever is compacted under a name, and into whatever."""
        with serving(Model()) as server, recording(server, tmp_path, name="s") as ask:
            agent = Agent(ask, "do")
            for _ in range(3):
                agent.step()
            agent.said = [{"role": "user", "content": "Summary: two steps were made."}]
            agent.step()
        found = told(tmp_path, server, [agent])
        assert list(found.events) == ["s"]
        assert found.types()["context_compacted"] == 1

    def test_what_is_cut_beside_another_goes_on_in_its_fork(self, tmp_path: Path) -> None:
        model, ready = Model(), threading.Barrier(2)

        def answer(request: dict[str, Any]) -> Any:
            if len(request["messages"]) == 2:
                ready.wait(60)
            return model(request)

        with serving(answer) as server, recording(server, tmp_path, name="s") as ask:
            agents = [Agent(ask, "do", 3) for _ in range(2)]
            begun = [threading.Thread(target=agent.step) for agent in agents]
            for each in begun:
                each.start()
            for each in begun:
                each.join(60)
            for _ in range(5):
                for agent in agents:
                    agent.step()
        found = told(tmp_path, server, agents)
        assert called(found) == [6, 6]
        assert list(found.events) == ["s", "s~2"]

    def test_no_session_is_begun_without_a_call(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Neither beside a conversation that is asked, nor where the log cannot be written."""
        model, asked, go = Model(), threading.Event(), threading.Event()

        def answer(request: dict[str, Any]) -> Any:
            if request["messages"][-1]["content"] == "wait":
                asked.set()
                go.wait(60)
            return model(request)

        with serving(answer) as server:
            recorder = Recorder(tmp_path / "proxy.db", session="twonamed")
            client = wrap(server.client(), recorder)
            ask = chat(client)
            said: list[Any] = [{"role": "user", "content": "begin"}]
            said.append({"role": "assistant", "content": ask(said)})
            said.append({"role": "user", "content": "wait"})
            waiting = threading.Thread(target=ask, args=(said,))
            waiting.start()
            assert asked.wait(60)
            for system in ("Give it a title.", "Is it a new topic?", SYSTEM):
                sent: list[Any] = [
                    {"role": "system", "content": system},
                    {"role": "user", "content": f"beside: {system}"},
                ]
                client.chat.completions.create(model="other", messages=sent)
            go.set()
            waiting.join(60)
            append, busy = Live.append, iter([True])

            def appended(live: Live, *given: Any, **named: Any) -> Any:
                if next(busy, False):
                    raise Busy("log.db", 0.1)
                return append(live, *given, **named)

            monkeypatch.setattr(Live, "append", appended)
            with session("new"), pytest.warns(RuntimeWarning):
                ask([{"role": "user", "content": "another"}])
            monkeypatch.undo()
            recorder.close()
        found = told(tmp_path, server, [])
        assert Counter(called(found)) == Counter({1: 4, 2: 1})

"""OpenAI's Agents SDK: real runs, whose session and calls stand in one stream."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="the extra agents is not installed")

from agents import (
    Agent,
    GuardrailFunctionOutput,
    OpenAIChatCompletionsModel,
    OpenAIResponsesCompactionSession,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SessionSettings,
    SQLiteSession,
    function_tool,
    input_guardrail,
    output_guardrail,
    set_trace_processors,
)
from agents.exceptions import OutputGuardrailTripwireTriggered
from agents.memory import Session
from agents.run_config import CallModelData, ModelInputData
from model_server import ModelServer, completion, serving
from openai import AsyncOpenAI
from recorded_calls_of import Told, ctxlog, held
from test_wrap_responses import message, response, streamed

from eventlog.errors import Busy
from harness.adapters.agents import LogSession
from harness.adapters.agents_spans import SPANS
from harness.recording import Recorder, session, wrap

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def local() -> None:
    """Spans go to nobody."""
    set_trace_processors([SPANS])


@function_tool
def read(path: str) -> str:
    """Read a file."""
    return f"content of {path}: order ORD-7712{path[-1]}"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


class Scene:
    """A server, a recorder of its calls, and agents that ask it."""

    def __init__(self, log: Path, server: ModelServer) -> None:
        self.log, self.server = log, server
        self.recorder = Recorder(log, on_error="raise")
        self.client = wrap(
            AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0), self.recorder
        )
        self.model = OpenAIResponsesModel("gpt-5", self.client)

    def agent(self, name: str = "main", instructions: str | None = "Be brief.", **more: Any) -> Any:
        return Agent(name=name, instructions=instructions, model=self.model, **more)

    def session(self, name: str = "monday", **more: Any) -> LogSession:
        return LogSession(name, self.recorder, **more)

    def ask(self, agent: Any, text: str, *, to: Session | None = None, **more: Any) -> Any:
        async def run() -> Any:
            return await Runner.run(agent, text, session=to or self.session(), **more)

        return asyncio.run(run()).final_output

    def items(self, of: Session | None = None, limit: int | None = None) -> list[Any]:
        return asyncio.run((of or self.session()).get_items(limit))

    def told(self) -> Told:
        self.recorder.close()
        return Told(self.log)


def answering() -> Callable[[dict[str, Any]], Any]:
    """Calls its first tool for a question, and says that it is done for anything else."""
    count = 0

    def answer(request: dict[str, Any]) -> Any:
        nonlocal count
        count += 1
        said = message(f"done {count}") | {"id": f"msg_{count}"}
        output = [said]
        if request["input"][-1].get("role") == "user" and request.get("tools"):
            name = request["tools"][0]["name"]
            arguments = {"read": {"path": f"f{count}"}, "helper": {"input": "sub question"}}
            arguments["research"] = arguments["helper"]
            call = {
                "id": f"fc_{count}",
                "type": "function_call",
                "status": "completed",
                "call_id": f"call_{count}",
                "name": name,
                "arguments": json.dumps(arguments.get(name, {})),
            }
            output = [{"id": f"rs_{count}", "type": "reasoning", "summary": []}, call]
        whole = response(count, *output)
        return streamed(whole) if request.get("stream") else whole

    return answer


@pytest.fixture
def scene(log: Path) -> Iterator[Scene]:
    with serving(answering()) as server:
        made = Scene(log, server)
        yield made
        made.recorder.close()


def nothing_inferred(told: Told) -> None:
    for kind in ("context_compacted", "message_revised", "placeholder_substituted"):
        assert not [each for each in told.of(kind) if each.get("inferred")], kind
    assert not told.of("session_rewound")
    assert not told.of("decision_undone")


class TestOneStream:
    """What the session keeps and what the calls show is recorded once."""

    def test_turns_with_tools(self, scene: Scene) -> None:
        agent = scene.agent(tools=[read])
        said = [scene.ask(agent, f"question {n}") for n in range(3)]
        assert said == ["done 2", "done 4", "done 6"]
        kept = scene.items()
        told = scene.told()
        told.check(scene.server.requests)  # exact, and the very bytes
        assert list(told.events) == ["monday"]
        nothing_inferred(told)
        items = told.types()["message_appended"] + told.types()["tool_result_recorded"]
        # The system prompt; for each turn a question, a call, a result and an answer.
        assert items == 1 + 3 * 4
        assert [item.get("type") or item["role"] for item in kept] == [
            *("user", "reasoning", "function_call", "function_call_output", "message") * 3
        ]

    def test_it_gives_back_what_the_sdks_own_session_gives(self, scene: Scene) -> None:
        def conversation(kept: Session) -> list[Any]:
            agent = scene.agent(tools=[read])
            for n in range(2):
                scene.ask(agent, f"question {n}", to=kept)
            return [
                {k: v for k, v in item.items() if k not in ("id", "call_id", "arguments")}
                for item in scene.items(kept)
            ]

        def plain(items: list[Any]) -> str:
            text = json.dumps(items, sort_keys=True)
            for number in range(20):
                text = text.replace(f"done {number}", "done").replace(f"f{number}:", "f:")
                text = text.replace(f"ORD-7712{number}", "ORD")
            return text

        theirs = conversation(SQLiteSession("theirs"))
        assert plain(conversation(scene.session())) == plain(theirs)

    def test_another_process_goes_on(self, scene: Scene) -> None:
        agent = scene.agent(tools=[read])
        scene.ask(agent, "question 0")
        before = scene.items()
        other = Scene(scene.log, scene.server)
        assert other.items() == before
        other.ask(other.agent(tools=[read]), "question 1")
        other.recorder.close()
        assert len(scene.items()) == 10
        scene.ask(agent, "question 2")
        told = scene.told()
        told.check(scene.server.requests)
        assert list(told.events) == ["monday"]
        nothing_inferred(told)

    def test_a_tool_that_a_person_approves(self, scene: Scene) -> None:
        """The answer is kept when the run stops, its result when it goes on."""

        @function_tool(needs_approval=True, name_override="read")
        def asked(path: str) -> str:
            """Read a file."""
            return f"content of {path}"

        agent = scene.agent(tools=[asked])

        async def run(kept: Session) -> list[list[str]]:
            found = []
            for text in ("question 0", "question 1"):
                result = await Runner.run(agent, text, session=kept)
                found.append(kinds(await kept.get_items()))
                state = result.to_state()
                if text == "question 0":
                    state.approve(result.interruptions[0])
                else:
                    state.reject(result.interruptions[0])
                await Runner.run(agent, state, session=kept)
                found.append(kinds(await kept.get_items()))
            return found

        def kinds(items: list[Any]) -> list[str]:
            return [item.get("role") or item["type"] for item in items]

        assert asyncio.run(run(scene.session())) == asyncio.run(run(SQLiteSession("theirs")))
        told = scene.told()
        told.check(scene.server.requests)
        nothing_inferred(told)

    def test_a_run_that_is_broken_off(self, scene: Scene) -> None:
        agent = scene.agent(tools=[read])

        async def run() -> None:
            result = Runner.run_streamed(agent, "question 0", session=scene.session())
            async for event in result.stream_events():
                if event.type == "raw_response_event":
                    result.cancel()
            await Runner.run(agent, "question 1", session=scene.session())

        asyncio.run(run())
        kept = [item.get("role") or item["type"] for item in scene.items()]
        assert kept[:2] == ["user", "user"]  # what came of it the SDK does not keep
        told = scene.told()
        told.check(scene.server.requests)
        assert list(told.events) == ["monday"]

    def test_a_stream(self, scene: Scene) -> None:
        agent = scene.agent(tools=[read])

        async def run() -> list[str]:
            result = Runner.run_streamed(agent, "question", session=scene.session())
            return [event.type async for event in result.stream_events()]

        assert "run_item_stream_event" in asyncio.run(run())
        assert len(scene.items()) == 5
        told = scene.told()
        told.check(scene.server.requests)
        nothing_inferred(told)

    def test_a_path_is_that_of_the_recorder_that_is_open(self, log: Path) -> None:
        with serving(answering()) as server:
            client = wrap(AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0), log)
            agent = Agent(name="a", model=OpenAIResponsesModel("gpt-5", client), tools=[read])
            for n in range(2):
                kept = LogSession("monday", log)
                asyncio.run(Runner.run(agent, f"question {n}", session=kept))
            kept.recorder.close()
        told = Told(log)
        told.check(server.requests)
        assert list(told.events) == ["monday"]

    def test_without_recorded_calls(self, log: Path) -> None:
        with serving(answering()) as server:
            client = AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0)
            agent = Agent(name="a", model=OpenAIResponsesModel("gpt-5", client), tools=[read])
            kept = LogSession("monday", log)
            for n in range(2):
                asyncio.run(Runner.run(agent, f"question {n}", session=kept))
            kept.recorder.close()
        told = Told(log)
        assert told.verdicts == []
        assert told.types()["tool_result_recorded"] == 2
        assert len(asyncio.run(LogSession("monday", log).get_items())) == 10

    def test_a_model_of_chat_completions(self, log: Path) -> None:
        calls = 0

        def answer(request: dict[str, Any]) -> Any:
            nonlocal calls
            calls += 1
            if request["messages"][-1]["role"] != "user":
                return completion(f"done {calls}")
            call = {"id": f"c{calls}", "type": "function"}
            call["function"] = {"name": "read", "arguments": '{"path": "f1"}'}
            return completion("I look.", finish="tool_calls", tool_calls=[call])

        with serving(answer) as server:
            scene = Scene(log, server)
            model = OpenAIChatCompletionsModel("gpt-5", scene.client)
            agent = Agent(name="a", instructions="Be brief.", model=model, tools=[read])
            for n in range(2):
                scene.ask(agent, f"question {n}")
            kept = scene.items()
            told = scene.told()
        told.check(server.requests)
        nothing_inferred(told)
        items = told.types()["message_appended"] + told.types()["tool_result_recorded"]
        assert items == 1 + 2 * 4
        assert [item.get("type") for item in kept] == [
            *(None, "message", "function_call", "function_call_output", "message") * 2
        ]


class TestWhatIsTakenAway:
    """Pops and clears are events: what they take out of the context stays in the log."""

    def test_pop(self, scene: Scene) -> None:
        scene.ask(scene.agent(tools=[read]), "question")
        kept = scene.items()
        popped = [asyncio.run(scene.session().pop_item()) for _ in range(6)]
        assert popped == [*reversed(kept), None]
        assert scene.items() == []
        told = scene.told()
        assert [each["trigger"] for each in told.of("context_compacted")] == ["pop_item"] * 4
        [revised] = told.of("message_revised")  # of an answer of two parts the second was popped
        assert [part["type"] for part in revised["message"]["items"]] == ["reasoning"]
        assert "ORD-77121" in ctxlog(scene.log, "search", "ORD-77121")

    def test_what_was_popped_is_not_sent(self, scene: Scene) -> None:
        agent = scene.agent()
        scene.ask(agent, "question 0")

        async def take_back() -> None:
            kept = scene.session()
            await kept.pop_item()
            await kept.pop_item()

        asyncio.run(take_back())
        scene.ask(agent, "question 1")
        assert len(scene.server.requests[-1]["input"]) == 1
        told = scene.told()
        told.check(scene.server.requests)
        nothing_inferred(told)

    def test_clear(self, scene: Scene) -> None:
        agent = scene.agent(tools=[read])
        scene.ask(agent, "question 0")
        asyncio.run(scene.session().clear_session())
        assert scene.items() == []
        assert scene.ask(agent, "question 1") == "done 4"
        assert len(scene.items()) == 5
        told = scene.told()
        told.check(scene.server.requests)
        [cleared] = told.of("context_compacted")
        assert (cleared["trigger"], cleared.get("messages")) == ("clear_session", None)
        assert not cleared.get("inferred")
        assert "content of f1: order ORD-77121" in ctxlog(scene.log, "recover", "monday", "9")

    def test_a_fork_from_before_it_goes_on_with_everything(self, scene: Scene) -> None:
        agent = scene.agent(tools=[read])
        scene.ask(agent, "question 0")
        kept = scene.items()
        asyncio.run(scene.session().clear_session())
        scene.ask(agent, "question 1")
        ctxlog(scene.log, "fork", "monday@k1^", "--name", "retry")
        retry = LogSession("local/recorded/retry", scene.recorder)
        assert scene.items(retry) == kept
        scene.ask(agent, "question 2", to=retry)
        assert len(scene.items(retry)) == 10
        assert len(scene.items()) == 5
        told = scene.told()
        told.check(scene.server.requests)
        assert sorted(told.events) == ["monday", "retry"]
        nothing_inferred(told)

    def test_nothing_to_take_is_no_event(self, scene: Scene) -> None:
        async def take() -> None:
            kept = scene.session()
            await kept.clear_session()
            assert await kept.pop_item() is None

        asyncio.run(take())
        told = scene.told()
        assert told.types() == {"session_started": 1}

    def test_what_is_put_back_at_once_was_never_gone(self, scene: Scene) -> None:
        scene.ask(scene.agent(), "question 0")
        kept = scene.session()
        before = scene.items(kept)

        async def again() -> list[Any]:
            popped = [await kept.pop_item(), await kept.pop_item()]
            await kept.add_items([item for item in reversed(popped) if item is not None])
            return list(await kept.get_items())

        assert asyncio.run(again()) == before
        scene.ask(scene.agent(), "question 1", to=kept)
        told = scene.told()
        told.check(scene.server.requests)
        assert told.types()["message_appended"] == 5  # each once
        assert not [e for e in told.of("context_compacted") if e.get("inferred")]

    def test_a_person_who_begins_anew_with_the_same_words(self, scene: Scene) -> None:
        agent = scene.agent()
        scene.ask(agent, "hello")
        asyncio.run(scene.session().clear_session())
        scene.ask(agent, "hello")
        told = scene.told()
        told.check(scene.server.requests)
        assert told.types()["decision_undone"] == 0
        assert [
            e.data["source"] for e in told.events["monday"] if e.type == "message_appended"
        ].count("human") == 2


def compacting(answer: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    """A server that compacts as OpenAI's does: the questions stay, the rest is sealed."""
    count = 0

    def handle(request: dict[str, Any]) -> Any:
        nonlocal count
        if "tools" in request or "instructions" in request:
            return answer(request)
        count += 1
        output: list[Any] = []
        for item in request["input"]:
            if item.get("role") == "user":
                content = item["content"]
                if isinstance(content, str):
                    content = [{"type": "input_text", "text": content}]
                more = {"id": f"cmsg_{len(output)}", "type": "message", "status": "completed"}
                output.append({**more, "role": "user", "content": content})
        output.append({"id": f"cmp_{count}", "type": "compaction", "encrypted_content": "gAAA"})
        whole = response(count)
        return {**whole, "object": "response.compaction", "output": output}

    return handle


class TestCompaction:
    """The SDK's compaction clears the session and adds what shall stand; originals stay."""

    def test_originals_survive(self, log: Path) -> None:
        with serving(compacting(answering())) as server:
            scene = Scene(log, server)
            agent = scene.agent(tools=[read])
            kept = OpenAIResponsesCompactionSession(
                "monday",
                scene.session(),
                client=scene.client,
                model="gpt-5",
                compaction_mode="input",
                should_trigger_compaction=lambda c: len(c["compaction_candidate_items"]) >= 6,
            )
            for n in range(4):
                scene.ask(agent, f"question {n}", to=kept)
            left = scene.items()
            told = scene.told()
            sent = [r for r in server.requests if "instructions" in r]
        assert [item.get("role") or item["type"] for item in left] == ["user"] * 4 + ["compaction"]
        assert {v.name for v in told.verdicts} == {"exact", "opaque"}
        assert [v.name for v in told.verdicts][:4] == ["exact"] * 4  # before the first compaction
        assert [v.name for v in told.verdicts][4:] == ["opaque"] * 4
        assert len(told.verdicts) == len(sent)
        assert [len(body["input"]) for body in told.bodies] == [len(r["input"]) for r in sent]
        assert told.bodies == sent
        assert not [e for e in told.of("context_compacted") if e.get("inferred")]
        assert not told.of("session_rewound")
        compactions = [e for e in told.of("context_compacted") if e.get("messages")]
        assert all(each["opaque"] for each in compactions)
        first = compactions[0]
        assert [m["message"]["type"] for m in first["messages"]] == ["compaction"]
        brought = {str(e.position): e for e in told.events["monday"]}
        gone = [brought[name] for name in first["covered"]]
        assert {e.type for e in gone} == {"message_appended", "tool_result_recorded"}
        assert all(e.data.get("source") != "human" for e in gone)  # the questions stay
        humans = [e for e in told.of("message_appended") if e["source"] == "human"]
        assert len(humans) == 4  # and are no second ones
        original = next(e for e in gone if e.type == "tool_result_recorded")
        assert str(original.position) in ctxlog(log, "search", "ORD-77121")
        shown = ctxlog(log, "recover", "monday", str(original.position))
        assert "content of f1: order ORD-77121" in shown
        assert "opaque: k2 is encrypted" in ctxlog(log, "audit", "monday")


class TestWhoIsAsked:
    """An agent in a tool or in a guardrail is a session of its own, whose parent is the run's."""

    def test_an_agent_as_a_tool(self, scene: Scene) -> None:
        helper = scene.agent("helper", tools=[])
        boss = scene.agent("boss", tools=[helper.as_tool("helper", "helps")])
        scene.ask(boss, "question 0")
        scene.ask(boss, "question 1")
        told = scene.told()
        told.check(scene.server.requests)
        inner = [name for name in told.events if name != "monday"]
        assert len(inner) == 2
        begun = [told.events[name][0].data for name in inner]
        assert all(name.startswith("monday.helper-") for name in inner)
        assert all(each["parent_session"] == "local/recorded/monday" for each in begun)
        assert sorted(each["parent_call"] for each in begun) == ["call_1", "call_4"]
        nothing_inferred(told)

    def test_several_at_once(self, log: Path) -> None:
        """Asked in the same way, in the same moment, by one answer."""

        def answer(request: dict[str, Any]) -> Any:
            if request["instructions"] != "Lead.":
                return response(1, message("found"))
            if request["input"][-1].get("role") != "user":
                return response(2, message("done"))
            calls = [
                {
                    "id": f"fc_{n}",
                    "type": "function_call",
                    "status": "completed",
                    "call_id": f"call_{n}",
                    "name": "helper",
                    "arguments": '{"input": "the same"}',
                }
                for n in range(3)
            ]
            return response(3, *calls)

        with serving(answer) as server:
            scene = Scene(log, server)
            helper = scene.agent("helper", "Help.")
            boss = scene.agent("boss", "Lead.", tools=[helper.as_tool("helper", "helps")])
            assert scene.ask(boss, "question") == "done"
            told = scene.told()
        told.check(server.requests)
        assert len(told.events) == 1 + 3
        begun = [events[0].data for name, events in told.events.items() if name != "monday"]
        assert not any("parent_call" in each for each in begun)  # nobody knows which
        nothing_inferred(told)

    def test_an_agent_in_a_tool_with_a_session_of_its_own(self, scene: Scene) -> None:
        @function_tool
        async def research(input: str) -> str:
            """Find out."""
            found = await Runner.run(scene.agent("r"), input, session=scene.session("research"))
            return str(found.final_output)

        scene.ask(scene.agent(tools=[research]), "question")
        told = scene.told()
        told.check(scene.server.requests)
        assert sorted(told.events) == ["monday", "research"]
        assert told.events["research"][0].data["parent_session"] == "local/recorded/monday"
        assert told.events["research"][0].data["parent_call"] == "call_1"
        nothing_inferred(told)

    def test_with_tracing_disabled(self, scene: Scene) -> None:
        helper = scene.agent("helper", "Help.")
        boss = scene.agent("boss", tools=[helper.as_tool("helper", "helps")])
        scene.ask(boss, "question", run_config=RunConfig(tracing_disabled=True))
        told = scene.told()
        told.check(scene.server.requests)
        [inner] = [name for name in told.events if name != "monday"]
        assert told.events[inner][0].data["parent_session"] == "local/recorded/monday"
        nothing_inferred(told)

    def test_a_guardrail_that_asks_about_the_same_words(self, scene: Scene) -> None:
        judge = scene.agent("judge", "Judge.")

        @input_guardrail(run_in_parallel=False)
        async def check(context: Any, agent: Any, given: Any) -> GuardrailFunctionOutput:
            await Runner.run(judge, given)
            return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

        scene.ask(scene.agent(tools=[read], input_guardrails=[check]), "question")
        told = scene.told()
        told.check(scene.server.requests)
        assert sorted(name.partition("-")[0] for name in told.events) == ["monday", "monday.check"]
        nothing_inferred(told)

    def test_a_hand_off(self, scene: Scene) -> None:
        helper = scene.agent("helper", "Help.")
        triage = scene.agent("triage", "Triage.", handoffs=[helper])
        scene.ask(triage, "question")
        told = scene.told()
        told.check(scene.server.requests)
        assert list(told.events) == ["monday"]
        [revised] = told.of("message_revised")  # the other agent's system prompt
        assert (revised["message"]["content"], revised["inferred"]) == ("Help.", True)
        assert told.types()["context_compacted"] == 0

    def test_what_a_task_asks_after_its_run(self, scene: Scene) -> None:
        async def run() -> None:
            await Runner.run(scene.agent(), "question", session=scene.session())
            await scene.client.responses.create(
                model="m", input=[{"role": "user", "content": "else"}]
            )

        asyncio.run(run())
        told = scene.told()
        told.check(scene.server.requests)
        [other] = [name for name in told.events if name != "monday"]
        assert not told.events[other][0].data.get("parent_session")

    def test_two_runs_at_once(self, scene: Scene) -> None:
        async def run() -> None:
            agent = scene.agent(tools=[read])
            await asyncio.gather(
                *(
                    Runner.run(agent, "the same question", session=scene.session(f"day{n}"))
                    for n in range(4)
                )
            )

        asyncio.run(run())
        told = scene.told()
        told.check(scene.server.requests)
        assert sorted(told.events) == [f"day{n}" for n in range(4)]
        nothing_inferred(told)

    def test_a_block_around_it_is_its_parent(self, scene: Scene) -> None:
        with session("workflow"):
            scene.ask(scene.agent(), "question")
        told = scene.told()
        assert list(told.events) == ["monday"]
        assert told.events["monday"][0].data["parent_session"] == "local/recorded/workflow"


class TestOtherThanTheContext:
    """What is kept and what the model is shown are two lists."""

    def test_a_limit(self, scene: Scene) -> None:
        kept = scene.session(session_settings=SessionSettings(limit=2))
        for n in range(3):
            scene.ask(scene.agent(), f"question {n}", to=kept)
        assert len(scene.items()) == 6
        assert len(scene.items(kept)) == 2
        assert scene.items(limit=0) == []
        told = scene.told()
        told.check(scene.server.requests)
        [left] = told.of("context_compacted")  # which the model no longer saw
        assert left["inferred"]
        assert "messages" not in left

    def test_a_filter_that_adds(self, scene: Scene) -> None:
        def filtered(data: CallModelData[Any]) -> ModelInputData:
            given = data.model_data
            extra: Any = {"role": "user", "content": "the time is noon"}
            return ModelInputData(input=[*given.input, extra], instructions=given.instructions)

        config = RunConfig(call_model_input_filter=filtered)
        scene.ask(scene.agent(), "question", run_config=config)
        assert scene.items()[0]["content"] == "question"
        assert len(scene.items()) == 2
        told = scene.told()
        told.check(scene.server.requests)

    def test_an_answer_that_was_stopped(self, scene: Scene) -> None:
        @output_guardrail
        async def stop(context: Any, agent: Any, output: Any) -> GuardrailFunctionOutput:
            return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

        with pytest.raises(OutputGuardrailTripwireTriggered):
            scene.ask(scene.agent(output_guardrails=[stop]), "question")
        theirs = SQLiteSession("theirs")
        with pytest.raises(OutputGuardrailTripwireTriggered):
            scene.ask(scene.agent(output_guardrails=[stop]), "question", to=theirs)
        assert len(scene.items()) == len(scene.items(theirs))
        told = scene.told()
        told.check(scene.server.requests)
        assert told.types()["model_responded"] == 2

    def test_what_was_erased_is_not_given_back(self, scene: Scene) -> None:
        scene.ask(scene.agent(tools=[read]), "question")
        scene.recorder.close()
        ctxlog(scene.log, "redact", "monday", "9", "--yes")
        other = Scene(scene.log, scene.server)
        kept = other.items()
        assert [item.get("type") or item["role"] for item in kept] == [
            "user",
            "reasoning",
            "message",
        ]
        other.recorder.close()


class TestTrouble:
    """A conversation that cannot be kept is an error; the log is waited for."""

    def test_a_log_that_is_busy_is_waited_for(self, scene: Scene) -> None:
        scene.items()
        released = threading.Event()

        def hold() -> None:
            with held(scene.log):
                taken.set()
                released.wait()

        taken = threading.Event()
        holder = threading.Thread(target=hold)
        holder.start()
        taken.wait()
        threading.Timer(0.6, released.set).start()
        asyncio.run(scene.session().add_items([{"role": "user", "content": "hi"}]))
        holder.join()
        assert len(scene.items()) == 1

    def test_one_that_stays_busy(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("harness.recording.recorder.STORING", 0.1)
        scene.items()
        with held(scene.log), pytest.raises(Busy):
            asyncio.run(scene.session().add_items([{"role": "user", "content": "hi"}]))
        assert scene.items() == []

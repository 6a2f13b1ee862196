"""Agents of LangChain, recorded by the middleware, on real graphs and chat models."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain", reason="the extra langchain is not installed")

from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
)
from langchain.agents.structured_output import (
    StructuredOutputValidationError,
    ToolStrategy,
)
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from model_server import ModelServer, Sse, chunk, completion, serving
from openai import APIStatusError
from pydantic import BaseModel
from recorded_calls_of import Told, ctxlog, held

from eventlog.errors import Busy
from harness.adapters.langchain import RecordingMiddleware
from harness.recording import Recorder, RecordingWarning, session, wrap
from projections import open_log

BY_LANGCHAIN = "as langchain "


class Scripted(GenericFakeChatModel):
    """A chat model that says what it was told to, and keeps what it was given."""

    given: list[list[BaseMessage]]

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return self.bind(tools=tools, **more)

    def _generate(self, messages: Any, *rest: Any, **more: Any) -> Any:
        self.given.append(list(messages))
        said = next(self.messages)
        if isinstance(said, Exception):
            raise said
        return ChatResult(generations=[ChatGeneration(message=said)])


def scripted(*said: Any) -> Scripted:
    return Scripted(messages=iter(said), given=[])


def calling(call: str, name: str = "read", **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"id": call, "name": name, "args": arguments}])


@tool
def read(path: str) -> str:
    """Read a file."""
    return f"content of {path}: order ORD-7712{path[-1]} " + "x" * 400


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@pytest.fixture
def recorder(log: Path) -> Iterator[Recorder]:
    made = Recorder(log, on_error="raise")
    yield made
    made.close()


def answering() -> Callable[[dict[str, Any]], Any]:
    """A model that reads one file for each question, and summarises where it has no tools."""
    count = 0

    def answer(request: dict[str, Any]) -> Any:
        nonlocal count
        if "tools" not in request:
            return completion(f"Summary after {count}: files were read.")
        count += 1
        if request["messages"][-1]["role"] != "user":
            return completion(f"done {count}")
        arguments = json.dumps({"path": f"f{count}"})
        call = {"id": f"c{count}", "type": "function"}
        call["function"] = {"name": "read", "arguments": arguments}
        return completion(None, finish="tool_calls", tool_calls=[call])

    return answer


def chat(server: ModelServer) -> ChatOpenAI:
    return ChatOpenAI(model="m", base_url=server.url, api_key="sk-x", max_retries=0)


THREAD: Any = {"configurable": {"thread_id": "monday"}}


def ask(agent: Any, text: str, config: Any = THREAD) -> str:
    return str(agent.invoke({"messages": [("user", text)]}, config)["messages"][-1].text)


def role(message: BaseMessage) -> str:
    return {"human": "user", "ai": "assistant"}.get(message.type, message.type)


def within(entries: list[str]) -> set[int]:
    """The positions that runs name."""
    bounds = [entry.partition("-") for entry in entries]
    return {n for low, _, high in bounds for n in range(int(low), int(high or low) + 1)}


class TestWhatTheModelIsGiven:
    """The request as the last middleware hands it on, and the answer."""

    def test_messages_tools_prompt_and_answer(self, log: Path, recorder: Recorder) -> None:
        said = AIMessage(
            "It is green.",
            id="run-1",
            response_metadata={"finish_reason": "stop", "model_name": "m-2026"},
            usage_metadata={
                "input_tokens": 10,
                "output_tokens": 4,
                "total_tokens": 14,
                "input_token_details": {"cache_read": 6, "cache_creation": 1},
                "output_token_details": {"reasoning": 2},
            },
        )
        model = scripted(calling("c1", path="f1"), said)
        agent = create_agent(
            model, [read], system_prompt="Be brief.", middleware=[RecordingMiddleware(recorder)]
        )
        assert ask(agent, "How is it?") == "It is green."
        recorder.close()
        told = Told(log)
        assert list(told.events) == ["monday"]
        assert [v.name for v in told.verdicts] == ["exact", "exact"]
        assert all(v.detail.startswith(BY_LANGCHAIN) for v in told.verdicts)
        assert [[(m["role"], m["content"]) for m in body["messages"]] for body in told.bodies] == [
            [(role(m), m.content) for m in given] for given in model.given
        ]
        assert told.bodies[0]["tools"][0]["function"]["name"] == "read"
        assert told.bodies[1]["messages"][2]["tool_calls"][0]["id"] == "c1"
        responded = told.of("model_responded")[1]
        usage = {k: v for k, v in responded["usage"].items() if k != "provider"}
        assert usage == {"input": 3, "cached": 6, "cache_write": 1, "output": 4, "reasoning": 2}
        assert (responded["model"], responded["finish_reason"]) == ("m-2026", "stop")
        assert told.types()["context_compacted"] == told.types()["message_revised"] == 0
        assert all(call.get("wire_digest") is None for call in told.of("model_called"))

    def test_what_openai_has_no_place_for_is_kept(self, log: Path, recorder: Recorder) -> None:
        thought = AIMessage(
            [
                {"type": "thinking", "thinking": "hm", "signature": "S"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "f1"}},
            ],
            tool_calls=[{"id": "c1", "name": "read", "args": {"path": "f1"}}],
        )
        agent = create_agent(
            scripted(thought, AIMessage("ok")), [read], middleware=[RecordingMiddleware(recorder)]
        )
        ask(agent, "Look.")
        recorder.close()
        told = Told(log)
        sent = told.bodies[1]["messages"][1]
        assert [block["type"] for block in sent["content"]] == ["thinking", "text"]
        assert [v.name for v in told.verdicts] == ["exact", "exact"]
        assert told.types()["message_revised"] == 0

    def test_awaited(self, log: Path, recorder: Recorder) -> None:
        agent = create_agent(
            scripted(calling("c1", path="f1"), AIMessage("done")),
            [read],
            middleware=[RecordingMiddleware(recorder)],
        )

        async def run() -> Any:
            return await agent.ainvoke({"messages": [("user", "hi")]}, THREAD)

        assert asyncio.run(run())["messages"][-1].text == "done"
        recorder.close()
        told = Told(log)
        assert [v.name for v in told.verdicts] == ["exact", "exact"]
        assert told.types()["model_responded"] == 2

    def test_a_failure_is_the_end_of_its_call(self, log: Path, recorder: Recorder) -> None:
        agent = create_agent(
            scripted(RuntimeError("overloaded")), [read], middleware=[RecordingMiddleware(recorder)]
        )
        with pytest.raises(RuntimeError, match="overloaded"):
            ask(agent, "hi")
        recorder.close()
        told = Told(log)
        assert told.of("model_failed")[0]["error"] == "RuntimeError: overloaded"
        assert not any(v.outcome_unknown for v in told.verdicts)

    def test_an_answer_that_does_not_fit_its_schema_was_given(
        self, log: Path, recorder: Recorder
    ) -> None:
        class City(BaseModel):
            name: str

        agent = create_agent(
            scripted(calling("c1", "City", wrong=1)),
            [],
            response_format=ToolStrategy(City, handle_errors=False),
            middleware=[RecordingMiddleware(recorder)],
        )
        with pytest.raises(StructuredOutputValidationError):
            ask(agent, "Where?")
        recorder.close()
        told = Told(log)
        assert told.types()["model_responded"] == 1
        assert told.types()["model_failed"] == 0
        assert told.bodies[0]["response_format"]["strategy"] == "ToolStrategy"


class TestWhatLeftTheContext:
    """Decisions of other middlewares, read off the requests; the originals stay."""

    def run(self, log: Path, *before: Any, turns: int = 4) -> Told:
        with serving(answering()) as server:
            model = chat(server)
            recorder = Recorder(log, on_error="raise")
            agent = create_agent(
                model,
                [read],
                system_prompt="Be brief.",
                checkpointer=InMemorySaver(),
                middleware=[
                    *(each(model) if callable(each) else each for each in before),
                    RecordingMiddleware(recorder),
                ],
            )
            for turn in range(turns):
                ask(agent, f"read file {turn}")
            recorder.close()
            self.sent = [r for r in server.requests if "tools" in r]
        return Told(log)

    def test_cleared_tool_results(self, log: Path) -> None:
        edit = ClearToolUsesEdit(trigger=150, keep=1, placeholder="[gone]")
        told = self.run(log, ContextEditingMiddleware(edits=[edit]))
        assert {v.name for v in told.verdicts} == {"exact"}
        results = [e.position for e in told.events["monday"] if e.type == "tool_result_recorded"]
        cleared = told.of("placeholder_substituted")
        # Of four results the newest is kept; each other one is cleared once, when it is not it.
        assert [int(each["item"]) for each in cleared] == results[:3]
        assert all(each["content"] == "[gone]" and each["inferred"] for each in cleared)
        assert all("kind" not in each for each in cleared)  # cleared, not cut
        assert told.types()["context_compacted"] == told.types()["session_rewound"] == 0
        assert told.types()["message_revised"] == 0
        as_sent = [[m.get("content") or "" for m in r["messages"]] for r in self.sent]
        recorded = [[m.get("content") or "" for m in b["messages"]] for b in told.bodies]
        assert recorded == as_sent
        original = str(results[0])
        assert original in ctxlog(log, "search", "ORD-77121")
        assert "content of f1: order ORD-77121" in ctxlog(log, "recover", "monday", original)

    def test_cleared_arguments_too(self, log: Path) -> None:
        edit = ClearToolUsesEdit(trigger=150, keep=1, clear_tool_inputs=True)
        told = self.run(log, ContextEditingMiddleware(edits=[edit]), turns=2)
        assert {v.name for v in told.verdicts} == {"exact"}
        [cleared], [revised] = told.of("placeholder_substituted"), told.of("message_revised")
        answers = [e for e in told.events["monday"] if e.data.get("source") == "model"]
        assert revised["item"] == str(answers[0].position)
        assert revised["message"]["tool_calls"][0]["function"]["arguments"] == "{}"
        results = [e.position for e in told.events["monday"] if e.type == "tool_result_recorded"]
        assert cleared["item"] == str(results[0])
        assert told.types()["context_compacted"] == 0

    def test_a_summary(self, log: Path) -> None:
        def summarizing(model: Any) -> Any:
            return SummarizationMiddleware(model, trigger=("messages", 8), keep=("messages", 3))

        told = self.run(log, summarizing)
        assert {v.name for v in told.verdicts} == {"exact"}
        compactions = told.of("context_compacted")
        assert compactions
        for each in compactions:
            assert each["inferred"]
            assert "layout" not in each
            assert len(each["messages"]) == 1
            assert ": files were read." in json.dumps(each["messages"])
        first = compactions[0]
        kept = [e for e in told.events["monday"] if e.type == "message_appended"]
        users = [e.position for e in kept if e.data["source"] == "human"]
        assert users[0] in within(first["covered"])
        assert users[-1] not in within(first["covered"])
        assert told.types()["placeholder_substituted"] == told.types()["session_rewound"] == 0
        assert len(told.of("model_called")) == len(self.sent)  # the summarizer's are no calls of it
        assert "Σ k1 monday" in ctxlog(log, "search", "ORD-77121")
        original = next(e for e in told.events["monday"] if e.type == "tool_result_recorded")
        shown = ctxlog(log, "recover", "monday", str(original.position))
        assert "content of f1: order ORD-77121" in shown


class TestWhichSession:
    """A thread is a session; an agent inside a tool is one of its own."""

    def test_an_agent_inside_a_tool(self, log: Path, recorder: Recorder) -> None:
        recording = RecordingMiddleware(recorder)
        # Asked in the same way as the one around it: nothing but the graph tells them apart.
        helper = create_agent(
            scripted(AIMessage("found it"), AIMessage("again")),
            [],
            middleware=[recording],
            name="helper",
        )

        @tool
        def delegate(question: str) -> str:
            """Ask a helper."""
            return str(helper.invoke({"messages": [("user", question)]})["messages"][-1].text)

        main = create_agent(
            scripted(
                calling("c1", "delegate", question="where?"),
                calling("c2", "delegate", question="and when?"),
                AIMessage("done"),
            ),
            [delegate],
            middleware=[recording],
            checkpointer=InMemorySaver(),
        )
        assert ask(main, "go") == "done"
        recorder.close()
        told = Told(log)
        assert {v.name for v in told.verdicts} == {"exact"}
        helpers = [name for name in told.events if name.startswith("monday.helper-")]
        assert len(helpers) == 2
        assert set(told.events) == {"monday", *helpers}
        for name in helpers:
            started = told.events[name][0].data
            assert started["parent_session"] == "local/recorded/monday"
        assert told.types()["context_compacted"] == 0

    def test_a_block_names_it(self, log: Path, recorder: Recorder) -> None:
        agent = create_agent(
            scripted(AIMessage("hi")), [], middleware=[RecordingMiddleware(recorder)]
        )
        with session("ann/bot/tuesday"):
            ask(agent, "hi")
        recorder.close()
        assert list(Told(log).events) == ["tuesday"]

    def test_without_any_name(self, log: Path, recorder: Recorder) -> None:
        agent = create_agent(
            scripted(*(AIMessage("hi") for _ in range(3))),
            [],
            middleware=[RecordingMiddleware(recorder)],
        )
        first = agent.invoke({"messages": [("user", "one")]})["messages"]
        agent.invoke({"messages": [*first, ("user", "two")]})
        agent.invoke({"messages": [("user", "quite another one")]})
        recorder.close()
        told = Told(log)
        assert sorted(
            len([e for e in own if e.type == "model_called"]) for own in told.events.values()
        ) == [1, 2]

    def test_a_thread_whose_name_names_no_session(self, log: Path) -> None:
        recorder = Recorder(log)
        agent = create_agent(
            scripted(AIMessage("hi")), [], middleware=[RecordingMiddleware(recorder)]
        )
        with pytest.warns(RecordingWarning, match="a call was not recorded"):
            assert ask(agent, "hi", {"configurable": {"thread_id": "a\nb"}}) == "hi"
        recorder.close()
        assert len(Told(log).verdicts) == 1


class TestNothingTwice:
    """A call is recorded on the wire or as LangChain tells of it, never both."""

    @pytest.mark.parametrize("awaited", [False, True])
    def test_a_client_that_is_recorded(self, log: Path, awaited: bool) -> None:
        with serving(answering()) as server:
            model = chat(server)
            recorder = Recorder(log, on_error="raise")
            wrap(model.root_async_client if awaited else model.root_client, recorder)
            agent = create_agent(model, [read], middleware=[RecordingMiddleware(recorder)])
            if awaited:
                asked = agent.ainvoke({"messages": [("user", "hi")]}, THREAD)
                asyncio.run(asked)  # type: ignore[arg-type]
            else:
                ask(agent, "hi")
            recorder.close()
            sent = server.requests
        told = Told(log)
        told.check(sent)  # on the wire: the bytes that the server got
        assert list(told.events) == ["monday"]
        assert not any(v.detail for v in told.verdicts)

    def test_only_the_other_client_is_recorded(self, log: Path) -> None:
        with serving(answering()) as server:
            model = chat(server)
            recorder = Recorder(log, on_error="raise")
            wrap(model.root_async_client, recorder)
            ask(create_agent(model, [read], middleware=[RecordingMiddleware(recorder)]), "hi")
            recorder.close()
        told = Told(log)
        assert len(told.verdicts) == 2
        assert all(v.detail.startswith(BY_LANGCHAIN) for v in told.verdicts)

    def test_a_recorded_client_that_nobody_can_see(self, log: Path) -> None:
        with serving(answering()) as server:
            recorder = Recorder(log, on_error="raise")
            client = wrap(server.client(), recorder)

            class Own(Scripted):
                def _generate(self, messages: Any, *rest: Any, **more: Any) -> Any:
                    client.chat.completions.create(
                        model="m", messages=[{"role": "user", "content": "hi"}]
                    )
                    return super()._generate(messages, *rest, **more)

            model = Own(messages=iter([AIMessage("hi")]), given=[])
            ask(create_agent(model, [], middleware=[RecordingMiddleware(recorder)]), "hi")
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
            recorder.close()
        told = Told(log)
        assert [bool(v.detail) for v in told.verdicts] == [True, False]


class TestTrouble:
    """Recording breaks no agent, unless it was asked to."""

    def test_a_log_that_cannot_be_written(self, log: Path) -> None:
        with open_log(log):
            pass
        recorder = Recorder(log, patience=0.01)
        agent = create_agent(
            scripted(AIMessage("hi")), [], middleware=[RecordingMiddleware(recorder)]
        )
        with held(log), pytest.warns(RecordingWarning, match="calls are not recorded now"):
            assert ask(agent, "hi") == "hi"
        recorder.close()
        assert [v.name for v in Told(log).verdicts] == ["exact"]

    def test_asked_to_raise(self, log: Path) -> None:
        with open_log(log):
            pass
        recorder = Recorder(log, patience=0.01, on_error="raise")
        model = scripted(AIMessage("hi"))
        agent = create_agent(model, [], middleware=[RecordingMiddleware(recorder)])
        with held(log), pytest.raises(Busy):
            ask(agent, "hi")
        assert model.given == []
        recorder.close()

    def test_an_http_error(self, log: Path) -> None:
        with serving(lambda request: (429, {"error": {"message": "slow down"}})) as server:
            recorder = Recorder(log, on_error="raise")
            agent = create_agent(chat(server), [read], middleware=[RecordingMiddleware(recorder)])
            with pytest.raises(APIStatusError):
                ask(agent, "hi")
            recorder.close()
        assert "slow down" in Told(log).of("model_failed")[0]["error"]


class TestEachAttempt:
    """What other middlewares do around the last one."""

    def test_retries_and_fallbacks(self, log: Path, recorder: Recorder) -> None:
        first = scripted(RuntimeError("busy"), RuntimeError("busy"))
        second = scripted(AIMessage("hi"))
        agent = create_agent(
            first,
            [],
            middleware=[
                ModelFallbackMiddleware(second),
                ModelRetryMiddleware(max_retries=1, initial_delay=0.0, on_failure="error"),
                RecordingMiddleware(recorder),
            ],
        )
        assert ask(agent, "hi") == "hi"
        recorder.close()
        told = Told(log)
        assert [v.name for v in told.verdicts] == ["exact"] * 3
        assert told.types()["model_failed"] == 2
        assert told.types()["model_responded"] == 1
        assert list(told.events) == ["monday"]

    def test_a_stream_of_tokens(self, log: Path) -> None:
        pieces = [chunk(role="assistant", content=""), chunk(content="it is "), chunk(content="so")]
        with serving(lambda request: Sse((*pieces, chunk(finish="stop")))) as server:
            recorder = Recorder(log, on_error="raise")
            agent = create_agent(chat(server), [], middleware=[RecordingMiddleware(recorder)])
            stream = agent.stream({"messages": [("user", "hi")]}, THREAD, stream_mode="messages")
            assert "".join(message.text for message, _ in stream) == "it is so"
            recorder.close()
        told = Told(log)
        assert told.of("message_appended")[-1]["message"]["content"] == "it is so"
        assert [v.name for v in told.verdicts] == ["exact"]

    def test_a_setting_that_is_no_json(self, log: Path, recorder: Recorder) -> None:
        class Setting(AgentMiddleware[Any, Any, Any]):
            def wrap_model_call(self, request: Any, handler: Any) -> Any:
                return handler(request.override(model_settings={"timeout": Path("soon")}))

        model = scripted(AIMessage("hi"))
        ask(create_agent(model, [], middleware=[Setting(), RecordingMiddleware(recorder)]), "hi")
        recorder.close()
        told = Told(log)
        assert [v.name for v in told.verdicts] == ["exact"]
        assert told.bodies[0]["timeout"] == "soon"

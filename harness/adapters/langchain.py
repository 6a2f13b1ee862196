"""An agent of LangChain, recorded by a middleware that stands last.

    from harness.adapters.langchain import RecordingMiddleware

    agent = create_agent(
        model, tools,
        middleware=[SummarizationMiddleware(...), RecordingMiddleware("calls.db")],
    )
    agent.invoke({"messages": [...]}, {"configurable": {"thread_id": "monday"}})

The last middleware of the list is the innermost: it sees the messages, the system prompt and the
tools as every other one has left them, which is what the chat model is given. Each call is in the
log before the model is asked, and its outcome after it.

What goes over the wire the chat model makes of that. Where its client is recorded by ``wrap`` into
the same log, the wire says more, and a call is recorded there, once; the middleware names the
session.

Source: langchain 1.5.2, langgraph 1.2.24.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain.agents.middleware.types import ExtendedModelResponse, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.config import get_config

from eventlog.errors import CtxlogError
from eventlog.jsonvalue import dumps
from eventlog.recorded import StreamKey
from harness.adapters.langchain_requests import answer_of, body_of
from harness.exchange.outcomes import Failure, Outcome
from harness.recording.calls import BegunCall, RecordedCall
from harness.recording.complaints import OnError
from harness.recording.recorder import Recorder
from harness.recording.sessions import Began, covered, current, parent, session, session_key
from harness.recording.transport import begun
from harness.recording.wire import said
from harness.recording.wrapping import is_recorded
from projections import Live

_Result = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]


class RecordingMiddleware(AgentMiddleware[Any, Any, Any]):
    """Records every model call of an agent. It stands last in ``middleware``.

    ``log`` is a path, an open log, or a recorder that others share. ``session`` is that of all its
    calls; without it a block ``with session(…)`` around the agent names it, else the ``thread_id``;
    without any, conversations are told apart by what they share. An agent that runs inside a tool
    of another one has a session of its own, whose parent is the other's.
    """

    def __init__(
        self,
        log: Live | Recorder | str | os.PathLike[str],
        *,
        session: StreamKey | str | None = None,
        on_error: OnError = "warn",
    ) -> None:
        super().__init__()
        self.recorder = log if isinstance(log, Recorder) else Recorder(log, on_error=on_error)
        self.session = None if session is None else session_key(session)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> Any:
        """Ask the model; the call is in the log before."""
        where = self._where()
        begin = self._begin(request, where, awaited=False)
        if begin is None:
            with _within(where):
                return handler(request)
        call = begin()
        with _ending(call) as ended, covered(self.recorder):
            return ended(handler(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        """The same, awaited."""
        where = self._where()
        begin = self._begin(request, where, awaited=True)
        if begin is None:
            with _within(where):
                return await handler(request)
        call = await begun(begin)
        with _ending(call) as ended, covered(self.recorder):
            return ended(await handler(request))

    # -- parts of it ----------------------------------------------------------------------------

    def _begin(
        self, request: ModelRequest[Any], where: _Where, *, awaited: bool
    ) -> Callable[[], RecordedCall] | None:
        """What records the call; None where the wire does, or nothing can."""
        if is_recorded(vars(request.model).values(), self.recorder, awaited=awaited):
            return None
        try:
            body = dumps(body_of(request, _FRAMEWORK)).encode("utf-8", "surrogatepass")
        except Exception as error:
            self.recorder.cannot(error)
            return None
        return lambda: self.recorder.begin("openai_chat", body, where[0], Began(where[1]))

    def _where(self) -> _Where:
        """The session of a call, and the one in which that began."""
        try:
            config = get_config()
        except RuntimeError:  # asked by something else than a graph
            config = {}
        known = config.get("configurable", {})
        home = self.session or current() or self.recorder.session
        thread = known.get("thread_id")
        try:
            if home is None and thread:
                home = session_key(str(thread))
            inside = _tools(known.get("checkpoint_ns", ""))
            if home is None or self.session is not None or not inside:
                return home, current() if home != current() else parent()
            *around, run = inside
            outer = next((_AGENTS[each] for each in reversed(around) if each in _AGENTS), home)
            name = config.get("metadata", {}).get("lc_agent_name") or "agent"
            own = home._replace(session=f"{outer.session}.{name}-{run[:8]}").checked()
            if _AGENTS.setdefault(run, own) is own and len(_AGENTS) > _MOST_AGENTS:
                del _AGENTS[next(iter(_AGENTS))]
            return own, outer
        except CtxlogError as error:  # the name of a thread that can name no session
            self.recorder.cannot(error)
            return None, None


_FRAMEWORK = f"langchain {version('langchain')}"

_Where = tuple[StreamKey | None, StreamKey | None]


_AGENTS: dict[str, StreamKey] = {}
"""The sessions of agents that run in tools, by the runs of those."""

_MOST_AGENTS = 1024


def _tools(namespace: str) -> list[str]:
    """The runs of tools that a node of a graph runs in, the innermost last."""
    *around, _ = namespace.split("|")
    runs = (node.partition(":") for node in around)
    return [run for name, _, run in runs if name == "tools"]


@contextmanager
def _within(where: _Where) -> Iterator[None]:
    """What is recorded in here belongs to that session."""
    home, outer = where
    if home is None or home == current():
        yield
    elif outer is None or outer == current():
        with session(home):
            yield
    else:
        with session(outer), session(home):
            yield


@contextmanager
def _ending(call: BegunCall) -> Iterator[Callable[[_Result], _Result]]:
    """Tell the end of a call: what is handed through, or the error that is raised."""

    def ended(result: _Result) -> _Result:
        try:
            answer = answer_of(_messages(result))
        except Exception as error:  # never the agent's
            call.failed(f"the answer cannot be read: {said(error)}")
        else:
            failure = Failure("the model gave no message") if answer is None else None
            call.ended(Outcome(answer, failure))
        return result

    try:
        yield ended
    except BaseException as error:
        answered = getattr(error, "ai_message", None)  # which did not fit the schema it was to have
        if isinstance(answered, AIMessage):
            ended(answered)
        call.failed(said(error))
        raise


def _messages(result: _Result) -> Sequence[BaseMessage]:
    if isinstance(result, ExtendedModelResponse):
        result = result.model_response
    return [result] if isinstance(result, AIMessage) else result.result

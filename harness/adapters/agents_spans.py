"""Where a call of OpenAI's Agents SDK belongs, read off what the SDK traces.

A run calls tools, and a tool may run an agent, or ask a model itself; so may a guardrail. What is
asked in there is no part of the conversation around it, even where it looks the same. The SDK's
spans say in which tool or guardrail a call is made. Nothing of them is sent or kept here.

Source: openai-agents 0.24.0, ``agents.tracing``.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from agents import Span, Trace, TracingProcessor, add_trace_processor
from agents.tracing import get_current_span, get_current_trace

from eventlog.errors import CtxlogError
from eventlog.recorded import StreamKey
from harness.recording.sessions import TELLERS, Began, Where, current

_INNER = frozenset({"function", "guardrail"})
"""Spans in which something else than the run's own agent is at work."""


class _Inner(NamedTuple):
    """A tool or a guardrail that is at work."""

    label: str
    """Its name, as no other has it."""
    tool: str
    arguments: str


class _Run(NamedTuple):
    """A run whose conversation a session keeps."""

    session: StreamKey
    began: Began
    inside: tuple[str, ...]
    """The tools and guardrails that it began in, the innermost last."""


class _Known(NamedTuple):
    """A span that has not ended."""

    data: Any
    """Of a tool or a guardrail; None of any other span."""
    parent: str | None


_RUN: ContextVar[_Run | None] = ContextVar("ctxlog_agents_run", default=None)


class Spans(TracingProcessor):
    """Knows the spans that are open. A session adds one to those that trace; who sets processors
    with ``set_trace_processors`` after that names ``SPANS`` among them."""

    def __init__(self) -> None:
        self._open: dict[str, _Known] = {}

    def on_span_start(self, span: Span[Any]) -> None:
        """Something begins."""
        data = span.span_data
        known = _Known(data if data.type in _INNER else None, span.parent_id)
        self._open[span.span_id] = known

    def on_span_end(self, span: Span[Any]) -> None:
        """It ended."""
        self._open.pop(span.span_id, None)

    def inside(self) -> tuple[_Inner, ...]:
        """The tools and guardrails that are at work here, the innermost last."""
        found: list[_Inner] = []
        span = get_current_span()
        at = span.span_id if span is not None else None
        while at is not None and (known := self._open.get(at)) is not None:
            if known.data is not None:
                tool = known.data.name if known.data.type == "function" else ""
                given = str(getattr(known.data, "input", None) or "")
                found.append(_Inner(f"{known.data.name}-{at[-8:]}", tool, given))
            at = known.parent
        return tuple(reversed(found))

    def on_trace_start(self, trace: Trace) -> None:
        """Of no interest."""

    def on_trace_end(self, trace: Trace) -> None:
        """Of no interest."""

    def shutdown(self) -> None:
        """Nothing is held."""

    def force_flush(self) -> None:
        """Nothing waits."""


SPANS = Spans()
"""The spans of this process."""


def follow() -> None:
    """Know of every run from here on. Once is enough."""
    if _here not in TELLERS:
        add_trace_processor(SPANS)
        TELLERS.append(_here)


def entered(session: StreamKey) -> Began:
    """The run that this is called in keeps its conversation in that session. Where that began."""
    run, inside = _RUN.get(), SPANS.inside()
    labels = tuple(each.label for each in inside)
    if run is None or run.session != session or run.inside != labels:
        began = Began(current())
        if run is not None and inside:
            began = Began(run.session, inside[-1].tool, inside[-1].arguments)
        run = _Run(session, began if began.parent != session else Began(), labels)
        _RUN.set(run)
    return run.began


def _here() -> Where | None:
    run = _RUN.get()
    if run is None or get_current_trace() is None:  # what a task asks after its run is none of it
        return None
    return _within(run, SPANS.inside())


def _within(run: _Run, inside: tuple[_Inner, ...]) -> Where:
    """The session of what is asked in those tools and guardrails."""
    session, began = run.session, run.began
    if tuple(each.label for each in inside[: len(run.inside)]) != run.inside:
        return session, began
    for label, tool, arguments in inside[len(run.inside) :]:
        try:
            inner = session._replace(session=f"{session.session}.{label}").checked()
        except CtxlogError:  # the name of a tool that can be none of a session
            inner = session._replace(session=f"{session.session}.{label[-8:]}")
        session, began = inner, Began(session, tool, arguments)
    return session, began

"""Items to and from the requests of the three dialects, by name.

Each module has ``NAME``, ``render`` (items to a request body), ``validate`` (a strict reading of
the provider's own rules, for tests and audits), and ``from_request`` and ``to_request``, which take
a real request apart and put it together again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from eventlog.errors import InputRefused
from projections.dialects import anthropic, openai_chat, openai_responses
from projections.dialects.entries import RequestEntry
from projections.dialects.translate import Cleaned, cleaned
from projections.items import Item

__all__ = ["DIALECTS", "DialectModule", "RequestEntry", "dialect"]


class _Render(Protocol):
    def __call__(
        self,
        items: Sequence[Item],
        tools: Sequence[Mapping[str, Any]] | None = None,
        parameters: Mapping[str, Any] | None = None,
        cleaned: Cleaned = cleaned,
    ) -> dict[str, Any]: ...


class _ToRequest(Protocol):
    def __call__(
        self,
        entries: Sequence[RequestEntry],
        tools: Sequence[Mapping[str, Any]] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]: ...


class DialectModule(NamedTuple):
    """What can be done in one dialect."""

    name: str
    render: _Render
    """Items to a request body."""
    validate: Callable[[Mapping[str, Any]], list[str]]
    """The reasons for which the provider would refuse a request."""
    problems: Callable[[Mapping[str, Any]], list[str]]
    """The same of a request that is known to be JSON."""
    from_request: Callable[[Mapping[str, Any]], tuple[RequestEntry, ...]]
    to_request: _ToRequest
    parameters: Callable[[Mapping[str, Any]], dict[str, Any]]
    """What a request holds besides messages and tools."""


DIALECTS: dict[str, DialectModule] = {
    module.NAME: DialectModule(
        module.NAME,
        module.render,
        module.validate,
        module.problems,
        module.from_request,
        module.to_request,
        module.parameters,
    )
    for module in (openai_chat, openai_responses, anthropic)
}


def dialect(name: str) -> DialectModule:
    """The dialect of that name; raises InputRefused for another."""
    found = DIALECTS.get(name)
    if found is None:
        raise InputRefused(f"{name!r} is no dialect; there are {', '.join(DIALECTS)}")
    return found

"""The tools of one conversation, by name and by group."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from eventlog.errors import InputRefused
from harness.tools.tool import Tool, tool


class Toolbox:
    """Tools in their order. Raises InputRefused for a name that stands twice."""

    def __init__(self, tools: Iterable[Tool | Callable[..., object]] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for given in tools:
            each = given if isinstance(given, Tool) else tool(given)
            if each.name in self._tools:
                raise InputRefused(f"there are two tools called {each.name!r}")
            self._tools[each.name] = each

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that there are, in the order of their first tools."""
        return tuple(dict.fromkeys(each.group for each in self if each.group))

    def definitions(self, groups: Collection[str]) -> list[dict[str, Any]]:
        """What a model is told: the tools without a group, and those of active groups. The order is
        always the same, so that a provider's cache holds."""
        return [each.definition for each in self if _is_active(each, groups)]

    def find(self, name: str, groups: Collection[str]) -> Tool | None:
        """The active tool of that name."""
        found = self._tools.get(name)
        return found if found is not None and _is_active(found, groups) else None

    def missing(self, name: str, groups: Collection[str]) -> str:
        """What a model is told that called a tool that is not there, or not active."""
        found = self._tools.get(name)
        if found is not None:
            return f"the tool {name!r} belongs to the group {found.group!r}, which is not active"
        active = [each.name for each in self if _is_active(each, groups)]
        return f"there is no tool {name!r}; there are: {', '.join(active) or 'none at all'}"


def _is_active(each: Tool, groups: Collection[str]) -> bool:
    return not each.group or each.group in groups

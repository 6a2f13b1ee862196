"""The tools of one conversation, by name and by group."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from eventlog.errors import InputRefused
from harness.tools.files import file_tools
from harness.tools.planner import planner_tools
from harness.tools.shell import shell_tools
from harness.tools.tool import Tool, tool

BUILT_IN = ("files", "shell")
"""The groups that come with this program."""


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


def toolbox(names: str, root: Path, environment: Mapping[str, str] | None = None) -> Toolbox:
    """The built-in tools of these groups, ``files,shell``, and the planner, which is always there;
    ``none`` is no tool at all.

    ``root`` is the folder that files are confined to and that commands begin in; ``environment`` is
    what commands see, once the keys are taken out of it. Raises InputRefused for another name, and
    for a root that is no folder.
    """
    wanted = dict.fromkeys(name.strip() for name in names.split(",") if name.strip())
    if "none" in wanted:
        if len(wanted) > 1:
            raise InputRefused("either tools or `none`")
        return Toolbox()
    for name in wanted:
        if name not in BUILT_IN:
            raise InputRefused(
                f"there are no tools called {name!r}; there are: {', '.join(BUILT_IN)}"
            )
    try:
        folder = root.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputRefused(f"{root} cannot be the folder of tools: {why}") from None
    if not folder.is_dir():
        raise InputRefused(f"{root} cannot be the folder of tools: it is no folder")
    tools: list[Tool] = planner_tools()
    if "files" in wanted:
        tools += file_tools(folder)
    if "shell" in wanted:
        tools += shell_tools(folder, environment)
    return Toolbox(tools)

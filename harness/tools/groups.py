"""A tool that lets the model have more tools: those of a group, once it asks for them.

Until then it is not told about them, which keeps the context small.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from eventlog.agent import ToolGroupsSet
from eventlog.errors import InputRefused
from harness.errors import ToolFailed
from harness.tools.context import Context
from harness.tools.tool import Tool, tool


def group_tool(groups: Mapping[str, str]) -> Tool:
    """The tool ``activate_tools`` for these groups: what each is good for, by its name.

    Whether a tool of an active group may run is for the permissions to say. Raises InputRefused
    where there is no group.
    """
    if not groups:
        raise InputRefused("there are no groups of tools that could be activated")
    known = dict(groups)

    def activate_tools(
        groups: Annotated[list[str], "the names of the groups"], *, context: Context
    ) -> str:
        unknown = [name for name in groups if name not in known]
        if unknown or not groups:
            said = f"there is no group {unknown[0]!r:.80}" if unknown else "name a group"
            raise ToolFailed(f"{said}; there are: {', '.join(known)}")
        active = tuple(dict.fromkeys((*context.state.tools.groups, *groups)))
        if active != tuple(context.state.tools.groups):
            context.record(ToolGroupsSet(groups=active))
        return f"active from the next call on: {', '.join(active)}"

    listed = "; ".join(f"{name}: {purpose}" for name, purpose in known.items())
    return tool(
        activate_tools,
        description=f"Get the tools of more groups. {listed}",
        has_effects=False,
        in_order=True,
        needs_permission=False,
    )

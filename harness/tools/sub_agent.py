"""Another agent as a tool: it is given a task, and its answer is the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from harness.tools.tool import Tool, tool


def agent_tool(
    name: str, description: str, run: Callable[[str], str], *, has_effects: bool = True
) -> Tool:
    """A tool that gives ``run`` a task; ``description`` is that of the agent's role.

    It may take as long as it wants. Agents whose tools change nothing (``has_effects=False``) work
    beside each other. Raises InputRefused for a name that no provider takes.
    """

    def ask(
        task: Annotated[str, "what is to be done, with everything that it takes to do it"],
    ) -> str:
        return run(task)

    return tool(
        ask,
        name=name,
        description=" ".join(description.split()),
        has_effects=has_effects,
        timeout=None,
        subject="task",
    )

"""Tools for a live conversation: functions that a model may call, run so that nothing it asks for
raises, hangs or is forgotten."""

from harness.tools.attempt import ToolOutcome
from harness.tools.context import Context, ToolState
from harness.tools.groups import group_tool
from harness.tools.running import Pending, refused, run, run_all
from harness.tools.tool import Tool, tool
from harness.tools.toolbox import Toolbox, toolbox

__all__ = [
    "Context",
    "Pending",
    "Tool",
    "ToolOutcome",
    "ToolState",
    "Toolbox",
    "group_tool",
    "refused",
    "run",
    "run_all",
    "tool",
    "toolbox",
]

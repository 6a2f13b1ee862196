"""``ctxlog state``: the commands under it, each in a file of its own."""

from __future__ import annotations

from cli.commanding import SubApp
from cli.commands import state_export, state_import, state_show

app = SubApp(
    """The state of an agent: look at it, take it out, begin a session with it.

    It is what going on with a session takes: the context, the reply, permissions, tools and files
    that are known, tasks, and what middleware keeps.

    Example: ctxlog state show last
    """,
    {
        "show": state_show.command,
        "export": state_export.command,
        "import": state_import.command,
    },
)

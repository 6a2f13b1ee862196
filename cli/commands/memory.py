"""``ctxlog memory``: the commands under it, each in a file of its own."""

from __future__ import annotations

from cli.commanding import SubApp
from cli.commands import (
    memory_add,
    memory_export,
    memory_forget,
    memory_gc,
    memory_graph,
    memory_import,
    memory_list,
    memory_profile,
    memory_restore,
    memory_revise,
    memory_search,
    memory_show,
)

app = SubApp(
    """What is remembered of a person from session to session.

    M names a memory: m12, or 12. Nothing is lost by what is done here: what was revised, forgotten
    or superseded stays readable (list --all, show M). To erase a text for good: ctxlog redact

    Example: ctxlog memory list
    """,
    {
        "list": memory_list.command,
        "search": memory_search.command,
        "add": memory_add.command,
        "show": memory_show.command,
        "revise": memory_revise.command,
        "forget": memory_forget.command,
        "restore": memory_restore.command,
        "profile": memory_profile.command,
        "graph": memory_graph.command,
        "gc": memory_gc.command,
        "export": memory_export.command,
        "import": memory_import.command,
    },
)

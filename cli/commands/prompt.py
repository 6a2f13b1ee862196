"""``ctxlog prompt``: the commands under it, each in a file of its own."""

from __future__ import annotations

from cli.commanding import SubApp
from cli.commands import (
    prompt_diff,
    prompt_list,
    prompt_log,
    prompt_render,
    prompt_show,
    prompt_test,
)

app = SubApp(
    """Prompts in files, and those that sessions were given.

    They are YAML files in a folder, or in one file: --prompts, else CTXLOG_PROMPTS, else ./prompts,
    else those that come along, which are also there as --prompts bundled.

    Example: ctxlog prompt list
    """,
    {
        "list": prompt_list.command,
        "show": prompt_show.command,
        "render": prompt_render.command,
        "log": prompt_log.command,
        "diff": prompt_diff.command,
        "test": prompt_test.command,
    },
)

"""Running the command line in this process, and as a real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from cli.main import app

ROOT = Path(__file__).parents[2]
WIDTH = 100
CLEAN = {
    "COLUMNS": str(WIDTH),
    "CTXLOG_DB": None,
    "CTXLOG_DEBUG": None,
    "CTXLOG_PROMPTS": None,
    "FORCE_COLOR": None,
    "NO_COLOR": None,
    "XDG_CACHE_HOME": None,
    "XDG_DATA_HOME": None,
}
"""An environment in which nothing of the person who runs the tests counts."""


def run(*args: str | Path, input: str | bytes | None = None, **env: str) -> Result:
    """A command line in this process."""
    runner = CliRunner(env={**CLEAN, **env})
    return runner.invoke(app, [str(arg) for arg in args], input=input)


def data(*args: str | Path, **env: str) -> Any:
    """The ``data`` of a command that succeeds, asked with ``--json``."""
    result = run(*args, "--json", **env)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["ctxlog"] == 1
    return answer["data"]


def on_path(folder: Path) -> str:
    """A PATH on which ``ctxlog`` is found."""
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "ctxlog").touch(mode=0o755)
    return str(folder / "bin")


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a real process: nothing but what it needs."""
    base = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(home)}
    return {**base, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100", "LANG": "C.UTF-8", **more}


def process(
    *args: str | Path, home: Path, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """A command line as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "cli.main", *map(str, args)],
        env=environment(home, **(env or {})),
        cwd=home,
        check=False,
        timeout=60,
        **{"capture_output": True, **options},
    )

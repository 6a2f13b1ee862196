"""Running the command line in this process, and as a real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
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


FORKING = """
import importlib, json, os, pkgutil, sys
from concurrent.futures import ThreadPoolExecutor
import cli, eventlog, projections
from cli.main import run

for package in (cli, eventlog, projections):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(found.name)

def told(fd):
    with open(fd, "rb") as stream:
        return stream.read().decode("latin-1")

for arguments, more in json.loads(sys.stdin.readline()):
    pipes = [os.pipe() for _ in range(2)]
    if (child := os.fork()) == 0:
        for fd, (_, end) in enumerate(pipes, 1):
            os.dup2(end, fd)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(more)
        sys.argv[1:] = arguments
        try:
            run()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        sys.stdout.flush()
        os._exit(code)
    for _, end in pipes:
        os.close(end)
    with ThreadPoolExecutor(2) as readers:
        out, err = readers.map(told, [start for start, _ in pipes])
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([arguments, code, out, err]), flush=True)
"""


def processes(
    commands: Sequence[Sequence[str | Path]],
    home: Path,
    *,
    by: Sequence[str] = (),
    env: Sequence[Mapping[str, str]] = (),
    **options: Any,
) -> list[subprocess.CompletedProcess[bytes]]:
    """Command lines, each in a process of its own that is forked from one that has loaded all.

    ``by`` is a program that starts the one, such as ``setpriv``; ``env`` is what each finds in its
    environment, besides the usual. None has anything on its standard input.
    """
    lines = [[str(arg) for arg in command] for command in commands]
    given = json.dumps(list(zip(lines, env or [{}] * len(lines), strict=True)))
    done = subprocess.run(
        [*by, sys.executable, "-c", FORKING],
        input=given.encode() + b"\n",
        env=environment(home),
        cwd=home,
        check=True,
        stdout=subprocess.PIPE,
        timeout=120,
        **options,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(lines)
    return [
        subprocess.CompletedProcess(args, code, out.encode("latin-1"), err.encode("latin-1"))
        for args, code, out, err in told
    ]

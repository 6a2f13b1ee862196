"""Values that are taken as they are mean what Typer would make of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
import typer.main
from hypothesis import given
from hypothesis import strategies as st
from running import ROOT, run
from small_log import small_log

from cli.plain_values import take_plainly
from projections import open_log
from projections.sessions import listed


def _declared(
    text: Annotated[str, typer.Argument()],
    number: Annotated[int | None, typer.Option("-n", min=1, max=50)] = None,
    bound: Annotated[int, typer.Option("--bound")] = 7,
    part: Annotated[float | None, typer.Option("--part", min=0)] = None,
    word: Annotated[Literal["auto", "always"], typer.Option("--word")] = "auto",
    several: Annotated[list[str] | None, typer.Option("--several")] = None,
    flag: Annotated[bool, typer.Option("--flag")] = False,
) -> None: ...


def parsed(args: list[str], *, plainly: bool) -> Any:
    """The values of a line, or the message with which it is refused."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(_declared)
    command: Any = typer.main.get_command(app)
    if plainly:
        command.params = [take_plainly(take_plainly(param)) for param in command.params]
    try:
        return dict(command.make_context("x", list(args)).params)
    except Exception as error:
        return type(error).__name__, str(error)


NUMBERS = ["0", "1", "50", "51", "-3", "007", "1e3", "٣", " 4", "1_0", "9" * 30, "", "x", "1.0"]
OPTION = st.one_of(
    st.sampled_from(["-n", "--bound", "--part"]).flatmap(
        lambda name: st.sampled_from(NUMBERS).map(lambda value: [name, value])
    ),
    st.sampled_from(["auto", "always", "Auto", "never", ""]).map(lambda word: ["--word", word]),
    st.sampled_from(["a", "", "1", "\ud83d"]).map(lambda text: ["--several", text]),
    st.just(["--flag"]),
)


@given(st.lists(OPTION, max_size=4), st.sampled_from(["t", "", "12", "true"]))
def test_a_line_means_the_same_or_is_refused_in_the_same_words(
    options: list[list[str]], text: str
) -> None:
    args = [text, *(word for option in options for word in option)]
    assert parsed(args, plainly=True) == parsed(args, plainly=False)


@pytest.mark.parametrize("args", [[], ["a", "b"], ["a", "-n"], ["--no-such", "a"]])
def test_a_line_that_is_incomplete_is_refused_in_the_same_words(args: list[str]) -> None:
    assert parsed(args, plainly=True) == parsed(args, plainly=False)


def test_a_list_of_sessions_loads_neither_pydantic_nor_the_events(tmp_path: Path) -> None:
    """Half of the time of a start: without this nobody notices when it comes back."""
    path = small_log(tmp_path)
    with open_log(path) as live:
        listed(live)
    code = (
        "import sys; from cli.main import app\n"
        "try: app()\n"
        "except SystemExit as stop: assert not stop.code, stop\n"
        "heavy = [n for n in ('pydantic', 'eventlog.events', 'sqlite_utils') if n in sys.modules]\n"
        "assert not heavy, heavy"
    )
    for args in (["sessions", "-n", "5", "--color", "never"], ["--version"], []):
        done = subprocess.run(
            [sys.executable, "-c", code, *args, "--db", str(path)],
            env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert run("sessions", "-n", "5", "--db", path).stdout.count("refunds-0001") == 1

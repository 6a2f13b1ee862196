"""The shell: what a command prints, how it ends, and that nothing of it is left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.tools import Context, ToolOutcome, process, run
from harness.tools.process import HEAD, TAIL
from harness.tools.shell import shell_tools, without_keys
from projections.agent_state import AgentState

ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "TERM_SECONDS", 0.2)
    monkeypatch.setattr(process, "KILL_SECONDS", 0.2)


def shell(
    folder: Path, command: str, timeout: float = 60, context: Context | None = None
) -> ToolOutcome:
    [tool] = shell_tools(folder, ENVIRONMENT)
    arguments = json.dumps({"command": command, "timeout": timeout})
    return run(tool, "t1", arguments, context or Context(AgentState(), "t1"))


def ends(file: Path) -> bool:
    """Whether the process whose id a file holds ends. One that ended, and that nobody took note of
    yet, has ended; one that was killed may take a moment."""
    stat = Path(f"/proc/{pid_in(file)}/stat")
    for _ in range(3_000):
        try:
            if stat.read_text().rpartition(")")[2].split()[0] in ("Z", "X"):
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        threading.Event().wait(0.01)
    return False


def pid_in(file: Path) -> int:
    return int(file.read_text())


class TestResult:
    """What a model sees of a command is all that it knows of it."""

    @pytest.mark.parametrize(
        ("command", "content", "is_error"),
        [
            ("echo out; echo err >&2; echo out", "out\nerr\nout\n", False),
            ("true", "[exit code 0, no output]", False),
            ("printf 'no end'", "no end", False),
            ("printf 'no end'; exit 3", "no end\n[exit code 3]", True),
            ("false", "[exit code 1]", True),
            ("no-such-program 2>/dev/null", "[exit code 127]", True),
            ("kill -SEGV $$", "[ended by SIGSEGV]", True),
            ("cat; echo $?", "0\n", False),
            ("printf '\\033[31mred\\377\\000'", "\x1b[31mred\ufffd\x00", False),
            ("printf 'a\\r\\nb'", "a\r\nb", False),
        ],
    )
    def test_it_is_what_was_printed_and_how_it_ended(
        self, tmp_path: Path, command: str, content: str, is_error: bool
    ) -> None:
        outcome = shell(tmp_path, command)
        assert (outcome.content, outcome.is_error) == (content, is_error)

    def test_each_begins_in_the_folder(self, tmp_path: Path) -> None:
        assert shell(tmp_path, "mkdir a; cd a; echo x > y").is_error is False
        assert shell(tmp_path, "cat a/y").content == "x\n"

    def test_of_a_huge_output_without_a_line_the_ends_are_kept(self, tmp_path: Path) -> None:
        script = "import sys; sys.stdout.write('b' + 'é' * 3_000_000 + 'e')"
        outcome = shell(tmp_path, f'{sys.executable} -c "{script}"')
        head, told, tail = outcome.content.split("\n")
        assert head == "b" + "é" * ((HEAD - 1) // 2)
        assert tail == "é" * ((TAIL - 1) // 2) + "e"
        assert told == f"[{6_000_002 - HEAD - TAIL:,} bytes of the output were left out here]"
        assert "\ufffd" not in outcome.content

    @pytest.mark.parametrize("command", ["a\0b", "\ud800", "x" * 5_000_000])
    def test_a_command_that_no_system_takes_is_told(self, tmp_path: Path, command: str) -> None:
        outcome = shell(tmp_path, command)
        assert outcome.is_error
        assert outcome.content.startswith("the command could not be started: ")
        assert len(outcome.content) < 200

    def test_a_folder_that_is_gone_is_told(self, tmp_path: Path) -> None:
        outcome = shell(tmp_path / "gone", "true")
        assert outcome.content == "the command could not be started: No such file or directory"

    @pytest.mark.parametrize("timeout", [0, -1, 601])
    def test_the_time_has_its_bounds(self, tmp_path: Path, timeout: float) -> None:
        assert "timeout: Input should be" in shell(tmp_path, "true", timeout).content


class TestSurroundings:
    """A command sees no key, no terminal, and nobody to ask."""

    def test_keys_are_left_out(self) -> None:
        kept = {"PATH": "/bin", "HOME": "/h", "EOS_TOKEN": "x", "URL": "https://a.b/c"}
        keys = dict.fromkeys(
            (
                "OPENAI_API_KEY",
                "GH_TOKEN",
                "CLIENT_SECRET",
                "DB_PASSWORD",
                "AWS_SECRET_ACCESS_KEY",
                "AWS_SESSION_TOKEN",
                "GOOGLE_APPLICATION_CREDENTIALS",
                "openai_api_key",
            ),
            "x",
        )
        keys["DATABASE_URL"] = "postgres://ann:pw@host/db"
        assert without_keys({**kept, **keys}) == kept

    def test_the_environment_is_what_was_given(self, tmp_path: Path) -> None:
        given = {**ENVIRONMENT, "A_TOKEN": "hidden", "SHOWN": "yes"}
        for environment, shown in ((given, "yes"), (None, "none")):
            [tool] = shell_tools(tmp_path, environment)
            command = 'echo "${A_TOKEN-none} ${SHOWN-none} ${HOME-none} $PAGER $TERM"'
            outcome = run(tool, "t", json.dumps({"command": command}), Context(AgentState(), "t"))
            assert outcome.content == f"none {shown} none cat dumb\n"

    def test_there_is_no_input(self, tmp_path: Path) -> None:
        """What a person types is the program's own, not a command's."""
        reader, writer = os.pipe()
        os.write(writer, b"typed")
        os.close(writer)
        own = os.dup(0)
        os.dup2(reader, 0)
        try:
            assert shell(tmp_path, "cat; echo $?").content == "0\n"
        finally:
            os.dup2(own, 0)
            os.close(own)
            os.close(reader)

    def test_there_is_no_terminal(self, tmp_path: Path) -> None:
        assert shell(tmp_path, "(echo x > /dev/tty) 2>/dev/null").is_error
        assert shell(tmp_path, "test -t 0 || test -t 1").is_error


class TestEnding:
    """What a command leaves behind runs on for days, unless it is ended with it."""

    def test_its_time_ends_it(self, tmp_path: Path) -> None:
        outcome = shell(tmp_path, "echo begun; exec sleep 600", timeout=0.3)
        assert outcome.content == "begun\n[timed out after 0.3 s, and was ended]"
        assert (outcome.is_error, outcome.is_interrupted) == (True, False)

    def test_it_may_clean_up_before_it_ends(self, tmp_path: Path) -> None:
        command = "trap 'echo bye; exit 7' TERM; while :; do sleep 0.05; done"
        content = shell(tmp_path, command, timeout=0.3).content
        assert content.endswith("bye\n[timed out after 0.3 s, and was ended]")

    @needs_proc
    @pytest.mark.usefixtures("_soon")
    def test_whoever_ignores_the_first_signal_gets_another(self, tmp_path: Path) -> None:
        deaf = "trap '' TERM; echo $$ > {}; while :; do sleep 1; done"
        (tmp_path / "inner").write_text(deaf.format("b"))
        command = deaf.format("a").replace("sleep 1", "sh inner")
        outcome = shell(tmp_path, command, timeout=0.5)
        assert outcome.content.endswith("[timed out after 0.5 s, and was ended]")
        assert ends(tmp_path / "a")
        assert ends(tmp_path / "b")

    @needs_proc
    def test_what_it_leaves_in_the_background_is_ended(self, tmp_path: Path) -> None:
        """Also where that does not hold the pipe, and where it does not listen."""
        outcome = shell(
            tmp_path,
            "(trap '' TERM HUP; echo go; sleep 600) & echo $! > a;"
            "sleep 600 >/dev/null 2>&1 & echo $! > b; until [ -s b ]; do :; done; echo done",
        )
        assert outcome.content in ("go\ndone\n", "done\ngo\n", "done\n")
        assert ends(tmp_path / "a")
        assert ends(tmp_path / "b")

    @pytest.mark.usefixtures("_soon")
    def test_one_that_left_the_group_and_holds_the_pipe_is_not_waited_for(
        self, tmp_path: Path
    ) -> None:
        code = "import os,time; os.setsid(); open('a','w').write(str(os.getpid())); time.sleep(600)"
        command = f'{sys.executable} -c "{code}" & until [ -s a ]; do sleep 0.01; done; echo done'
        try:
            assert shell(tmp_path, command).content == "done\n"
        finally:
            os.kill(pid_in(tmp_path / "a"), signal.SIGKILL)

    def test_one_that_closed_its_output_is_waited_for(self, tmp_path: Path) -> None:
        outcome = shell(tmp_path, "exec >&- 2>&-; sleep 0.2; echo x > a; exit 4")
        assert outcome.content == "[exit code 4]"
        assert (tmp_path / "a").exists()

    def test_who_writes_for_ever_is_ended_by_its_time(self, tmp_path: Path) -> None:
        content = shell(tmp_path, "yes", timeout=0.3).content
        assert content.endswith("y\n[timed out after 0.3 s, and was ended]")
        assert len(content) < HEAD + TAIL + 200

    @needs_proc
    @pytest.mark.usefixtures("_soon")
    def test_an_interruption_ends_it(self, tmp_path: Path) -> None:
        context = Context(AgentState(), "t1")

        def interrupt() -> None:
            while not (tmp_path / "a").exists():
                threading.Event().wait(0.01)
            context.cancelled.set()

        threading.Thread(target=interrupt, daemon=True).start()
        outcome = shell(tmp_path, "sleep 600 & echo $! > b; mv b a; wait", context=context)
        assert outcome.content == "[interrupted, and was ended]"
        assert (outcome.is_error, outcome.is_interrupted) == (True, True)
        assert ends(tmp_path / "a")


SCRIPT = """
import os, sys, threading
from pathlib import Path
from harness.tools import Pending, run_all, toolbox
from projections.agent_state import AgentState

folder = Path(sys.argv[1])
box = toolbox("shell", folder, dict(os.environ))
shell = box.find("shell", box.groups)
commands = ["(trap '' TERM INT; sleep 600) & echo $! > b; mv b a; echo begun; wait", "echo > c"]
calls = [
    Pending(shell, str(i), '{"command": "%s"}' % command, AgentState)
    for i, command in enumerate(commands)
]
cancelled = threading.Event()
for outcome in run_all(calls, cancelled):
    print(outcome.tool_call_id, outcome.is_interrupted, repr(outcome.content))
print("cancelled", cancelled.is_set())
"""


@needs_proc
def test_ctrl_c_in_a_command_ends_it_and_each_call_has_its_outcome(tmp_path: Path) -> None:
    """In a process of its own, with the signal that a terminal sends."""
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "a").exists():
        assert running.poll() is None
        threading.Event().wait(0.01)
    os.killpg(running.pid, signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert said.splitlines() == [
        "0 True 'begun\\n[interrupted, and was ended]'",
        "1 True 'interrupted before it began: it was not run'",
        "cancelled True",
    ]
    assert running.returncode == 0
    assert ends(tmp_path / "a")
    assert not (tmp_path / "c").exists()


@needs_proc
def test_what_runs_when_the_program_ends_is_ended(tmp_path: Path) -> None:
    """Also what does not listen: interrupted twice, nobody waits for it any more."""
    script = """
import sys, threading, time
from pathlib import Path
from harness.tools.process import run_command
folder = Path(sys.argv[1])
command = "trap '' TERM HUP INT; echo $$ > b; mv b a; while :; do sleep 1; done"
given = (command, folder, {"PATH": "/usr/bin:/bin"}, 600, threading.Event())
threading.Thread(target=run_command, args=given, daemon=True).start()
while not (folder / "a").exists():
    time.sleep(0.01)
"""
    here = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=here, check=True)
    assert ends(tmp_path / "a")

"""``ctxlog record`` and ``ctxlog proxy`` as real processes, with the real client of a provider."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from running import ROOT, data, environment, process, processes, run

from eventlog.events import SessionStarted
from projections import open_log

sys.path.insert(0, str(ROOT / "tests" / "harness"))
from model_server import chunks, completion, nowhere, serving, streamed

AGENT = """
import sys
from openai import OpenAI
client = OpenAI(api_key="sk-SECRET-123456789", max_retries=0)
messages = [{"role": "user", "content": "hello"}]
for number in range(int(sys.argv[1])):
    answer = client.chat.completions.create(model="m", messages=messages)
    messages.append(answer.choices[0].message)
    messages.append({"role": "user", "content": f"go on {number}"})
    print(answer.choices[0].message.content, flush=True)
stream = client.chat.completions.create(model="m", messages=messages, stream=True)
print("".join(chunk.choices[0].delta.content or "" for chunk in stream))
print("said on stderr", file=sys.stderr)
sys.exit(7)
"""


def answers(asked: dict[str, Any]) -> Any:
    return streamed(chunks("streamed")) if asked.get("stream") else completion()


def started(*args: str | Path, home: Path, **env: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "cli.main", *map(str, args)],
        env=environment(home, **env),
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Who runs the tests in the background has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def python(home: Path, code: str) -> list[str]:
    file = home / "agent.py"
    file.write_text(code)
    return [sys.executable, str(file)]


@contextmanager
def listening(*args: str | Path, home: Path, **env: str) -> Iterator[tuple[Any, dict[str, str]]]:
    """A long-lived proxy, and the variables that it tells."""
    running = started("proxy", *args, home=home, **env)
    try:
        assert running.stdout is not None
        lines = [running.stdout.readline().decode() for _ in range(3)]
        exports = [line.removeprefix("export ").strip() for line in lines[1:]]
        yield running, dict(line.split("=", 1) for line in exports)
    finally:
        running.kill()
        running.communicate()


class TestRecord:
    """The agent must not notice, and whoever reads the log must see all of it."""

    def test_an_agent_is_recorded_and_does_not_notice(self, tmp_path: Path) -> None:
        with serving(answers) as server:
            agent = python(tmp_path, AGENT)
            env = {"OPENAI_BASE_URL": server.url}
            plain = subprocess.run(
                [*agent, "3"], env=environment(tmp_path, **env), capture_output=True, check=False
            )
            done = process(
                "record", "--db", "r.db", "--session", "monday", "--", *agent, "3",
                home=tmp_path, env=env,
            )  # fmt: skip
            assert server.bodies[:4] == server.bodies[4:]
        assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
        assert done.returncode == 7
        said, told = done.stderr.decode().splitlines()
        assert said == "said on stderr"
        assert told.startswith("ctxlog: 4 calls in 1 session; to look: ")
        look = told.split("cli.main ")[1].split()
        assert look[:2] == ["audit", "monday"]
        calls = data(*look[:2], "--db", tmp_path / "r.db")["calls"]
        assert [call["verdict"] for call in calls] == ["exact"] * 4
        for file in tmp_path.glob("r.db*"):
            assert b"SECRET" not in file.read_bytes()

    @pytest.mark.parametrize(
        ("name", "key"),
        [("a/b c", "local/recorded/a/b c"), ("ann/bot/feature/x", "ann/bot/feature/x"),
         pytest.param("feature/x", "local/recorded/feature/x", marks=pytest.mark.slow),
         pytest.param("it's $HOME", "local/recorded/it's $HOME", marks=pytest.mark.slow),
         pytest.param("last", "local/recorded/last", marks=pytest.mark.slow),
         pytest.param("ann/bot/monday", "ann/bot/monday", marks=pytest.mark.slow)],
    )  # fmt: skip
    def test_what_is_to_be_typed_finds_the_session(
        self, name: str, key: str, tmp_path: Path
    ) -> None:
        db = tmp_path / "r.db"
        with open_log(db) as live:  # of the same name, somebody else's
            live.append("ben/bot/monday", SessionStarted())
        with serving(answers) as server:
            done = process(
                "record", "--db", "r.db", "--session", name, "--", *python(tmp_path, AGENT), "1",
                home=tmp_path, env={"OPENAI_BASE_URL": server.url},
            )  # fmt: skip
        told = done.stderr.decode().splitlines()[-1]
        look = shlex.split(told.split("cli.main ")[1])
        shown = process(*look, "--json", home=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert [s["key"] for s in json.loads(shown.stdout)["data"]["sessions"]] == [key]

    def test_a_name_that_is_an_option_is_refused(self, tmp_path: Path) -> None:
        names = ("--", "-x", "ann/bot/--json")
        commands = [["record", "--session", name, "touch", "ran"] for name in names]
        for done in processes(commands, tmp_path):
            assert done.returncode == 2
            assert done.stderr.count(b"\n") == 1
            assert b"cannot begin with '-'" in done.stderr
        assert not (tmp_path / "ran").exists()

    def test_a_session_that_goes_on_is_told_before_anything_runs(self, tmp_path: Path) -> None:
        with serving(answers) as server:
            for more, lines in (([], 2), ([], 3), (["-q"], 1)):
                done = process(
                    "record", "--db", "r.db", *more, "--session", "monday", "--",
                    *python(tmp_path, AGENT), "3",
                    home=tmp_path, env={"OPENAI_BASE_URL": server.url},
                )  # fmt: skip
                told = done.stderr.decode().splitlines()
                assert len(told) == lines
                if lines == 3:
                    assert told[0] == "ctxlog: goes on in monday (4 calls before)"
                    assert told[1] == "said on stderr"

    def test_the_clock_of_what_was_recorded_is_the_logs_own(self, tmp_path: Path) -> None:
        with serving(answers) as server:
            process(
                "record", "--db", "r.db", "--session", "monday", "--",
                *python(tmp_path, AGENT), "2",
                home=tmp_path, env={"OPENAI_BASE_URL": server.url},
            )  # fmt: skip
        db = tmp_path / "r.db"
        (listed,) = data("sessions", "--db", db)["sessions"]
        assert listed["is_clocked"] is True
        when = listed["happened_at"][:16].replace("T", " ")
        assert f" {when} " in run("sessions", "--db", db).stdout
        shown = run("stats", "monday", "--db", db).stdout
        assert f"last went on   {listed['happened_at']}\n" in shown
        rows = data("diff", "monday", "--prefix", "--db", db)["rows"]
        assert [row["seconds"] is not None for row in rows] == [False, True, True]

    def test_an_option_of_ours_behind_the_command_is_told(self, tmp_path: Path) -> None:
        given = ["true", "--session", "foo"]
        other = (["--", *given], ["true", "--", "--session=x"], ["true", "session"])
        told, *others = processes([["record", *args] for args in (given, *other)], tmp_path)
        hint = b"ctxlog: --session goes to true, since it stands behind it"
        assert told.stderr.splitlines()[0].startswith(hint)
        assert [hint in done.stderr for done in others] == [False] * 3

    def test_its_input_is_its_own(self, tmp_path: Path) -> None:
        done = process("record", "--", "cat", home=tmp_path, input=b"from outside")
        assert done.stdout == b"from outside"

    def test_options_behind_the_command_are_its_own(self, tmp_path: Path) -> None:
        code = "import sys; print(sys.argv[1:])"
        for dashes in ([], ["--"]):
            args = [*dashes, *python(tmp_path, code), "--json", "--session", "-q", "--", "x"]
            done = process("record", "--db", "r.db", *args, home=tmp_path)
            assert done.stdout == b"['--json', '--session', '-q', '--', 'x']\n"
            assert b"no call of a model came" in done.stderr

    def test_the_summary_is_json_when_that_is_asked_for(self, tmp_path: Path) -> None:
        with serving(answers) as server:
            agent = python(tmp_path, AGENT)
            done = process(
                "record", "--json", "--db", "r.db", "--", *agent, "1",
                home=tmp_path, env={"OPENAI_BASE_URL": server.url},
            )  # fmt: skip
        answer = json.loads(done.stderr.splitlines()[-1])
        assert (answer["ctxlog"], answer["command"]) == (1, "record")
        told = answer["data"]
        (session,) = told.pop("sessions")
        assert session.startswith("local/recorded/")
        assert told == {
            "calls": 2, "failed": 0, "missed": 0, "is_lost": False, "log": "r.db", "exit": 7,
        }  # fmt: skip

    def test_quiet_says_nothing(self, tmp_path: Path) -> None:
        done = process("record", "-q", "--", "true", home=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    def test_what_the_environment_named_before_is_where_calls_go(self, tmp_path: Path) -> None:
        code = (
            "import httpx2, os\n"
            "body = {'model': 'm', 'messages': [{'role': 'user', 'content': 'x'}]}\n"
            "for url in (os.environ['OPENAI_BASE_URL'] + '/chat/completions',\n"
            "            os.environ['ANTHROPIC_BASE_URL'] + '/v1/messages'):\n"
            "    print(httpx2.post(url, json=body).status_code)\n"
        )
        with serving(answers) as one, serving(answers) as other, serving(answers) as third:
            env = {"OPENAI_BASE_URL": one.url, "ANTHROPIC_BASE_URL": other.url[:-3]}
            given = ["--upstream", f"anthropic={third.url[:-3]}"]
            for more in ([], given):
                agent = python(tmp_path, code)
                done = process("record", *more, "--", *agent, home=tmp_path, env=env)
                assert done.stdout.split() == [b"200", b"200"], done.stderr
            assert [len(server.seen) for server in (one, other, third)] == [2, 1, 1]

    def test_what_older_clients_read_leads_there_too(self, tmp_path: Path) -> None:
        code = (
            "import httpx2, os\n"
            "body = {'model': 'm', 'messages': [{'role': 'user', 'content': 'x'}]}\n"
            "for name in ('OPENAI_BASE_URL', 'OPENAI_API_BASE'):\n"
            "    url = os.environ[name] + '/chat/completions'\n"
            "    print(httpx2.post(url, json=body).status_code)\n"
        )
        with serving(answers) as one, serving(answers) as other:
            agent = python(tmp_path, code)
            same = {"OPENAI_BASE_URL": one.url + "/", "OPENAI_API_BASE": one.url}
            older = {"OPENAI_API_BASE": one.url}
            two = {"OPENAI_API_BASE": other.url, "OPENAI_BASE_URL": one.url}
            for env in (same, older):
                done = process("record", "--db", "r.db", "--", *agent, home=tmp_path, env=env)
                assert done.stdout.split() == [b"200", b"200"], done.stderr
                assert b"2 calls" in done.stderr
            done = process("record", "--", *agent, home=tmp_path, env=two)
            assert (done.returncode, done.stdout) == (2, b"")
            assert b"--upstream" in done.stderr
            given = ["--upstream", one.url]
            done = process("record", *given, "--", *agent, home=tmp_path, env=two)
            assert done.stdout.split() == [b"200", b"200"], done.stderr
            assert [len(server.seen) for server in (one, other)] == [6, 0]

    def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(self, tmp_path: Path) -> None:
        with serving(answers) as server:
            env = {"OPENAI_BASE_URL": server.url, "HTTP_PROXY": nowhere(), "http_proxy": nowhere()}
            done = process("record", "--", *python(tmp_path, AGENT), "1", home=tmp_path, env=env)
            assert done.returncode == 7, done.stderr

    def test_what_needs_no_proxy_stays_so(self, tmp_path: Path) -> None:
        found = {
            "": "127.0.0.1",
            "a.example, b.example": "a.example,b.example,127.0.0.1",
            "*": "*",
        }
        env = [{"HTTP_PROXY": nowhere(), "NO_PROXY": given, "no_proxy": given} for given in found]
        command = ["record", "--", "sh", "-c", "echo $NO_PROXY; echo $no_proxy"]
        for each, done in zip(
            found.values(), processes([command] * 3, tmp_path, env=env), strict=True
        ):
            assert done.stdout.decode().split() == [each, each]

    def test_a_password_in_an_address_is_not_shown(self, tmp_path: Path) -> None:
        addresses = (
            "https://u:SECRET@x:99999/v1", "ftp://u:SECRET@x", "https://u:SECRET@x/ v1",
            "u:SECRET@x", "https://u:SEC/RET@[", "ftp://x/v1?key=SECRET",
        )  # fmt: skip
        env = [{"OPENAI_BASE_URL": address} for address in addresses]
        for address, done in zip(
            addresses, processes([["record", "--", "true"]] * 6, tmp_path, env=env), strict=True
        ):
            assert done.returncode == 2, address
            assert b"RET" not in done.stderr, address
            assert b"provider" in done.stderr, address

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
    def test_a_summary_that_cannot_be_written_changes_no_exit_code(self, tmp_path: Path) -> None:
        command = [sys.executable, "-m", "cli.main", "record", "--", "sh", "-c", "exit 4"]
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                command, env=environment(tmp_path), cwd=tmp_path, stderr=full, check=False
            )
        assert done.returncode == 4

    def test_a_command_that_cannot_be_run(self, tmp_path: Path) -> None:
        expected = [
            ("nosuch", 127, b"there is no such command"),
            ("/etc/passwd", 126, b"cannot be run"),
            ("", 126, b"cannot be run"),
        ]
        commands = [["record", "--", command] for command, *_ in expected]
        for (_, code, said), done in zip(expected, processes(commands, tmp_path), strict=True):
            assert (done.returncode, done.stdout) == (code, b""), done
            assert done.stderr.count(b"\n") == 1, done
            assert said in done.stderr, done

    def test_what_is_wrong_is_said_before_anything_runs(self, tmp_path: Path) -> None:
        wrong: list[tuple[list[str], dict[str, str], int]] = [
            (["--db", "/"], {}, 5), (["--upstream", "ftp://x"], {}, 2),
            (["--upstream", "openai=http://a", "--upstream", "http://b"], {}, 2),
            ([], {"OPENAI_BASE_URL": "http://u:p@x"}, 2), (["--session", ""], {}, 2),
            ([], {"HTTPS_PROXY": "socks5://x"}, 2),
        ]  # fmt: skip
        commands = [["record", *args, "--", "touch", "ran"] for args, *_ in wrong]
        done = processes(commands, tmp_path, env=[env for _, env, _ in wrong])
        assert [each.returncode for each in done] == [code for *_, code in wrong], done
        assert [each.stderr.count(b"\n") for each in done] == [1] * len(wrong), done
        assert not (tmp_path / "ran").exists()

    def test_without_a_command_it_says_how(self, tmp_path: Path) -> None:
        done = process("record", "--", home=tmp_path)
        assert done.returncode == 2
        assert b"CMD" in done.stderr

    def test_a_provider_that_is_not_there_is_told_by_both(self, tmp_path: Path) -> None:
        env = {"OPENAI_BASE_URL": nowhere()}
        args = ["record", "--db", "r.db", "--", *python(tmp_path, AGENT), "1"]
        done = process(*args, home=tmp_path, env=env)
        assert done.returncode == 1
        assert b"502" in done.stderr
        assert b"Connection refused" in done.stderr
        assert b"1 call in 1 session, 1 without an answer" in done.stderr


class TestSignals:
    """Whoever stops the agent stops it, and gets its own way of ending."""

    CODE = r"""
import os, signal, sys, time
def got(number, _):
    os.write(1, f"got {signal.Signals(number).name}\n".encode())
for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), got)
signal.signal(signal.SIGUSR2, lambda *_: sys.exit(5))
print("ready", flush=True)
while True:
    time.sleep(10)
"""

    @pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGWINCH"])
    def test_it_is_passed_on(self, name: str, tmp_path: Path) -> None:
        running = started("record", "--", *python(tmp_path, self.CODE), name, home=tmp_path)
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == b"ready\n"
            running.send_signal(getattr(signal, name))
            got = running.stdout.readline()
            assert got == f"got {name}\n".encode(), running.communicate()[1]
            running.send_signal(signal.SIGUSR2)
            assert running.wait(20) == 5
        finally:
            running.kill()
            out, err = running.communicate()
        assert out == b""
        assert err.count(b"\n") == 1

    @pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
    def test_one_that_kills_is_told_by_the_exit_code(self, name: str, tmp_path: Path) -> None:
        number = int(getattr(signal, name))
        code = "import os, signal, time; signal.signal(2, signal.SIG_DFL)\n"
        code += f"os.kill(os.getpid(), {number}); time.sleep(9)"
        done = process("record", "--", *python(tmp_path, code), home=tmp_path)
        assert done.returncode == 128 + number
        assert b"Traceback" not in done.stderr

    def test_ctrl_c_of_a_terminal_comes_once(self, tmp_path: Path) -> None:
        """The terminal sends it to both; sent on, an agent would take it as twice, and quit."""
        import pty

        leader, follower = pty.openpty()
        running = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "cli.main",
                "record",
                "--",
                *python(tmp_path, self.CODE),
                "SIGINT",
            ],
            env=environment(tmp_path),
            cwd=tmp_path,
            stdin=follower,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: _take_terminal(follower),
        )
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == b"ready\n"
            os.write(leader, b"\x03")
            assert running.stdout.readline() == b"got SIGINT\n"
            time.sleep(0.3)  # in which a second one would come
            running.send_signal(signal.SIGUSR2)
            out, _ = running.communicate(timeout=20)
            assert (running.returncode, out) == (5, b"")
        finally:
            running.kill()
            running.wait()
            os.close(leader)
            os.close(follower)

    def test_what_was_ignored_stays_ignored(self, tmp_path: Path) -> None:
        code = "import signal as s; print(int(s.getsignal(s.SIGHUP)), s.pthread_sigmask(0, []))"
        done = subprocess.run(
            ["nohup", sys.executable, "-m", "cli.main", "record", "--", *python(tmp_path, code)],
            env=environment(tmp_path), cwd=tmp_path, capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.stdout == b"1 set()\n"


def _take_terminal(terminal: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)


class TestProxy:
    """It runs for days beside many agents, and says at the end what came."""

    @pytest.mark.parametrize(
        "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
    )
    def test_agents_are_recorded_until_it_is_stopped(
        self, number: signal.Signals, tmp_path: Path
    ) -> None:
        with (
            serving(answers) as server,
            listening("--db", "p.db", "--upstream", server.url, home=tmp_path) as (running, told),
        ):
            for _ in range(2):
                agent = subprocess.run(
                    [*python(tmp_path, AGENT), "1"],
                    env=environment(tmp_path, **told), capture_output=True, check=False,
                )  # fmt: skip
                assert agent.returncode == 7, agent.stderr
            running.send_signal(number)
            assert running.wait(20) == 0
            out, err = running.communicate()
        assert out == b""
        assert b"4 calls in 2 sessions; to look: " in err
        assert b"Traceback" not in err

    def test_json_says_where_it_listens(self, tmp_path: Path) -> None:
        running = started("proxy", "--json", "--db", "p.db", home=tmp_path)
        try:
            assert running.stdout is not None
            text = b""
            while not text.endswith(b"\n}\n"):
                text += running.stdout.readline()
            told = json.loads(text)["data"]
            assert told["environment"] == {
                "OPENAI_BASE_URL": told["url"] + "/v1",
                "OPENAI_API_BASE": told["url"] + "/v1",
                "ANTHROPIC_BASE_URL": told["url"],
            }
            assert told["upstreams"]["anthropic"] == "https://api.anthropic.com"
            # A thread of a library (numpy's) that took the signal would end the program without it.
            blocked = [
                int(line.split()[1], 16)
                for status in Path(f"/proc/{running.pid}/task").glob("*/status")
                for line in status.read_text().splitlines()
                if line.startswith("SigBlk") and status.parent.name != str(running.pid)
            ]
            assert all(mask >> (signal.SIGTERM - 1) & 1 for mask in blocked)
        finally:
            running.send_signal(signal.SIGTERM)
            _, err = running.communicate(timeout=20)
        assert json.loads(err.splitlines()[-1])["data"]["calls"] == 0

    @pytest.mark.parametrize(
        ("args", "said"),
        [(["--host", "0.0.0.0"], "needs a token"),
         (["--host", "192.0.2.1", "--token", "t"], "listen"),
         (["--token", "a\nb"], "token"), (["--port", "99999"], "port"),
         (["--port", "8790", "--upstream", "http://localhost:8790/v1"], "this proxy itself")],
    )  # fmt: skip
    def test_what_cannot_be_is_said_at_once(
        self, args: list[str], said: str, tmp_path: Path
    ) -> None:
        done = process("proxy", *args, home=tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")
        assert said.encode() in done.stderr
        assert done.stderr.count(b"\n") == 1


class TestLogs:
    """Whatever goes wrong with the log, the agent goes on, and it is told."""

    @pytest.mark.parametrize(
        "when",
        [
            *("before", "replaced"),
            *(pytest.param(when, marks=pytest.mark.slow) for when in ("between", "after")),
        ],
    )
    def test_a_log_that_is_deleted_meanwhile_is_told_as_lost(
        self, when: str, tmp_path: Path
    ) -> None:
        take = "import os; [os.unlink(n) for n in os.listdir() if n.startswith('d.db')]\n"
        if when == "replaced":
            take = "import os, shutil; shutil.copy('d.db', 'o'); os.rename('o', 'd.db')\n"
        loop, end = "for number in", 'print("".join'
        at = {"before": loop, "between": "stream = ", "after": end, "replaced": end}[when]
        code = AGENT.replace(f"\n{at}", f"\n{take}{at}")
        assert code != AGENT
        with serving(answers) as server:
            done = process(
                "record", "--db", "d.db", "--session", "d", "--", *python(tmp_path, code), "1",
                home=tmp_path, env={"OPENAI_BASE_URL": server.url},
            )  # fmt: skip
        assert done.returncode == 7
        told = done.stderr.decode().splitlines()[-1]
        assert told == (
            "ctxlog: 2 calls NOT recorded: ./d.db was moved, deleted or replaced meanwhile"
        )

    def test_a_proxy_that_lost_calls_does_not_end_as_if_all_were_well(self, tmp_path: Path) -> None:
        with (
            serving(answers) as server,
            listening("--db", "p.db", "--upstream", server.url, home=tmp_path) as (running, told),
        ):
            agent = subprocess.run(
                [*python(tmp_path, AGENT), "1"],
                env=environment(tmp_path, **told), capture_output=True, check=False,
            )  # fmt: skip
            assert agent.returncode == 7, agent.stderr
            (tmp_path / "p.db").unlink()
            running.send_signal(signal.SIGTERM)
            _, err = running.communicate(timeout=20)
        assert running.returncode == 5
        assert b"2 calls NOT recorded: " in err

    def test_a_log_that_somebody_else_locks_is_written_later(self, tmp_path: Path) -> None:
        lock = (
            "import sqlite3, sys, time\n"
            "from eventlog import EventLog\n"
            "c = sqlite3.connect('r.db', isolation_level=None); c.execute('begin immediate')\n"
            "print('locked', flush=True); sys.stdin.read()\n"
        )
        process("record", "--db", "r.db", "--", "true", home=tmp_path)
        holder = subprocess.Popen(
            [sys.executable, "-c", lock], cwd=tmp_path, env=environment(tmp_path),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert holder.stdout is not None
        try:
            with (
                serving(answers) as server,
                listening("--db", "r.db", "--upstream", server.url, home=tmp_path) as (proxy, told),
            ):
                assert holder.stdout.readline() == b"locked\n"
                agent = subprocess.run(
                    [*python(tmp_path, AGENT), "2"],
                    env=environment(tmp_path, **told), capture_output=True, check=False,
                )  # fmt: skip
                assert agent.returncode == 7, agent.stderr
                holder.communicate()
                proxy.send_signal(signal.SIGTERM)
                _, err = proxy.communicate(timeout=20)
        finally:
            holder.kill()
            holder.communicate()
        assert b"ctxlog: calls are not recorded now, and wait: " in err
        assert b"try again" not in err
        assert b"3 calls in 1 session; " in err
        calls = data("audit", "last", "--db", tmp_path / "r.db")["calls"]
        assert [call["verdict"] for call in calls] == ["exact"] * 3

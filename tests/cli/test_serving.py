"""``serve``: who is answered, with what, and how it follows a log that others write to."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from running import environment, process, run
from small_log import FORK, KEY, said, small_log

from cli.report.made import Makings
from cli.report.report import Report, report
from cli.report.served_log import PART, ServedLog
from cli.report.server import Server, Shown
from eventlog import StreamKey
from projections import open_log

PATIENCE = 60


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Client:
    """One that knows the address."""

    def __init__(self, url: str) -> None:
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{32})/", url)
        assert found is not None, url
        self.port, self.token = int(found[1]), found[2]

    def ask(self, path: str, method: str = "GET", **headers: str) -> Got:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as line:
            line.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            answer = line.getresponse()
            return Got(answer.status, dict(answer.getheaders()), answer.read())

    def get(self, name: str, **headers: str) -> Got:
        return self.ask(f"/{self.token}/{name}", **headers)

    def raw(self, request: str) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as line:
            line.sendall(request.replace("TOKEN", self.token).encode())
            found = b""
            while piece := line.recv(65536):
                found += piece
            return found


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
LONG = "The key of the vault is 8217-4411. " * 20


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A small log, with a text that is long enough for a chunk at its end."""
    path = small_log(tmp_path)
    append(path, LONG)
    return path


@contextmanager
def served(db: Path, *keys: StreamKey, **shown: Any) -> Iterator[Client]:
    with (
        open_log(db, read_only=True) as live,
        closing(Server(ServedLog(live, keys), shown=Shown(**shown))) as server,
    ):
        server.start()
        yield Client(server.url)


@pytest.fixture
def client(db: Path) -> Iterator[Client]:
    with served(db) as found:
        yield found


def reported(db: Path, key: StreamKey) -> Report:
    with open_log(db, read_only=True) as live:
        return report(live, [key], {str(key): "refunds-0001"})


def append(db: Path, *texts: str) -> None:
    with open_log(db, durability="normal") as live:
        live.append(KEY, *(said("user", text) for text in texts))


class TestWhoMayAsk:
    """Without it any page in the browser, and any other user of the machine, reads all sessions."""

    def test_without_the_token_nothing_is_told(self, client: Client) -> None:
        paths = ["/", "/head", f"/{client.token[:-1]}/", f"/{client.token}x/head", "/x/"]
        paths += [f"/head/{client.token}", f"/?{client.token}"]
        answers = [client.ask(path) for path in paths]
        assert {(each.status, each.body) for each in answers} == {(404, b"")}
        assert all(client.token not in str(each.headers) for each in answers)

    def test_another_method_is_told_nothing_either(self, client: Client) -> None:
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            assert client.ask("/", method).status == 404
            assert client.ask(f"/{client.token}/", method).status == 405
        assert client.ask(f"/{client.token}/", "BREW").status == 501

    def test_a_server_by_another_name_is_not_this_one(self, client: Client) -> None:
        assert client.get("head", Host=f"localhost:{client.port}").status == 200
        for host in ("evil.example", f"evil.example:{client.port}", "127.0.0.1", ""):
            assert client.get("head", Host=host).status == 404, host
        twice = "GET /TOKEN/head HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nHost: 127.0.0.1:{0}\r\n\r\n"
        assert client.raw(twice.format(client.port)).startswith(b"HTTP/1.1 404 ")

    def test_a_page_from_elsewhere_is_not_answered(self, client: Client) -> None:
        assert client.get("head", Origin=f"http://127.0.0.1:{client.port}").status == 200
        for origin in ("http://evil.example", "null", f"http://127.0.0.1:{client.port + 1}"):
            assert client.get("head", Origin=origin).status == 404

    @pytest.mark.parametrize(
        "name",
        [
            *("../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "head/", "HEAD", "x", "%68ead"),
            *("session-", "session-99", "session-1e9", "session-0/..", "chunk-", "chunk-0"),
            *(f"session-{2**70}", "chunk-" + "0" * 32, "pulse-1", "head-1", "a" * 5000),
        ],
    )
    def test_what_is_not_there_is_not_found(self, client: Client, name: str) -> None:
        assert client.get(name).status == 404

    def test_what_is_no_request_gets_no_answer_to_read(self, client: Client) -> None:
        for line in ("nonsense", "GET", f"GET /{'a' * 70000} HTTP/1.1", "GET /TOKEN/ HTTP/9.9"):
            answer = client.raw(f"{line}\r\n\r\n")
            assert re.match(rb"HTTP/1\.1 [45]\d\d |$", answer), line
            assert answer.endswith(b"\r\n\r\n") or not answer


class TestAnswers:
    def test_each_of_them_is_kept_from_others_and_from_caches(self, client: Client) -> None:
        for name in ("", "head", "pulse", "sessions", "session-0", "x"):
            headers = client.get(name).headers
            assert headers["Cache-Control"] == "no-store"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["X-Frame-Options"] == "DENY"
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "default-src 'none'" in headers["Content-Security-Policy"]
            assert "Access-Control-Allow-Origin" not in headers

    def test_the_page_may_ask_its_server_and_nobody_else(self, client: Client) -> None:
        got = client.get("")
        policy = got.headers["Content-Security-Policy"]
        assert "connect-src 'self';" in policy
        assert "unsafe" not in policy
        assert policy.removesuffix("; frame-ancestors 'none'") in got.body.decode()
        assert client.ask(f"/{client.token}").headers["Location"] == f"/{client.token}/"

    def test_the_head_of_each_is_that_of_the_whole(self, client: Client) -> None:
        for name in ("", "session-0"):
            head = client.ask(f"/{client.token}/{name}", "HEAD")
            assert (head.status, head.body) == (200, b"")
            assert int(head.headers["Content-Length"]) == len(client.get(name).body)

    def test_a_session_is_what_report_says_of_it(self, client: Client, db: Path) -> None:
        there = reported(db, KEY)
        got = client.get("session-0")
        data = got.data
        names = data["texts"].pop("names")
        requests = data["requests"].pop("names")
        (made,) = there.sessions
        assert data == json.loads(made.json)
        texts = [client.get(f"chunk-{name}").body.decode() for name in [*names, *requests]]
        assert texts == [*made.texts.chunks.texts, *made.pieces.texts]
        assert len(names) > 0
        packed = client.get("session-0", Accept_Encoding="br, gzip")
        assert gzip.decompress(packed.body) == got.body

    def test_secrets_are_masked_unless_they_are_asked_for(self, db: Path) -> None:
        append(db, f"it is {SECRET}")
        for asked, is_there in ((False, False), (True, True)):
            with served(db, with_secrets=asked) as client:
                assert (SECRET in client.get("session-0").body.decode()) is is_there

    def test_strategies_are_compared_as_in_a_report(self, db: Path) -> None:
        specs = ["truncate:turns=1", "clear:keep=1"]
        with served(db, specs=specs) as client:
            lanes = client.get("session-0").data["lanes"]
            assert [lane["name"] for lane in lanes] == specs
            compared = client.get("compare-0").data
            assert [row["strategy"] for row in compared["strategies"]] == ["observed", *specs]
        with served(db) as client:
            assert client.get("compare-0").data is None

    def test_only_what_was_named_is_there(self, db: Path) -> None:
        with served(db, FORK) as client:
            (named,) = client.get("head").data["sessions"]
            assert named["key"] == str(FORK)
            assert client.get(f"session-{named['number']}").data["key"] == str(FORK)
            assert client.get("session-0").status == 404
            assert client.get("pulse?session=0").status == 404
            assert [each["key"] for each in client.get("sessions").data["sessions"]] == [str(FORK)]


class TestTheList:
    """A log may hold ten thousand sessions: nobody reads them all to show a page."""

    def test_it_is_told_a_part_at_a_time_the_newest_first(self, db: Path) -> None:
        with open_log(db, durability="normal") as live:
            for number in range(PART + 5):
                live.append(
                    StreamKey("ann", "bot", f"s-{number:03}"), said("user", f"Task {number}")
                )
            live.append(StreamKey("ann", "_", "memory"), said("user", "no session"))
        with served(db) as client:
            first, second = client.get("sessions").data, client.get(f"sessions?skip={PART}").data
            assert (first["total"], first["is_more"]) == (PART + 7, True)
            assert (len(second["sessions"]), second["is_more"]) == (7, False)
            assert first["sessions"][0]["title"] == f"Task {PART + 4}"
            rows = first["sessions"] + second["sessions"]
            assert len({row["number"] for row in rows}) == PART + 7
            assert {row["key"]: row["tokens"] for row in rows}[str(KEY)] == 410
            for row in rows[:3]:
                assert client.get(f"session-{row['number']}").data["key"] == row["key"]

    def test_one_is_found_by_a_part_of_its_title_agent_or_id(self, client: Client) -> None:
        for text, keys in (("REFUND", [KEY]), ("retry", [FORK]), ("bot", [FORK, KEY]), ("%", [])):
            found = client.get(f"sessions?find={text}").data["sessions"]
            assert {row["key"] for row in found} >= {str(key) for key in keys}
            assert bool(found) == bool(keys)

    def test_a_new_one_is_in_it_at_once(self, client: Client, db: Path) -> None:
        before = client.get("sessions").data["total"]
        with open_log(db) as live:
            live.append("ann/bot/new", said("user", "Something else"))
        assert client.get("sessions").data["sessions"][0]["title"] == "Something else"
        assert client.get("sessions").data["total"] == before + 1


class TestFollowing:
    def test_what_is_appended_moves_the_pulse_and_is_there(self, client: Client, db: Path) -> None:
        before = client.get("pulse?session=0").data
        first = client.get("session-0")
        assert first.headers["X-State"] == before["state"]
        assert client.get(f"session-0?not={before['state']}").status == 204
        append(db, "And now something longer. " * 30)
        after = client.get("pulse?session=0").data
        assert after["sequence"] == before["sequence"] + 1
        assert after["state"] != before["state"]
        assert client.get("pulse?session=1").data["state"] == "15.0"
        while (got := client.get(f"session-0?not={before['state']}")).headers["X-State"] != after[
            "state"
        ]:
            assert got.status == 204
        data = got.data
        assert data["texts"].pop("names")
        assert data["requests"].pop("names")
        assert data == json.loads(reported(db, KEY).sessions[0].json)
        assert all(
            client.get(f"chunk-{name}").status == 200 for name in first.data["texts"]["names"]
        )

    def test_what_is_erased_is_not_there_any_more(self, client: Client, db: Path) -> None:
        before = client.get("session-0")
        fork = client.get("session-1").headers["X-State"]
        (name,) = before.data["texts"]["names"]
        done = run("redact", KEY.session, "27", "--reason", "a secret", "--yes", "--db", db)
        assert done.exit_code == 0, done.output
        assert client.get("pulse?session=1").data["state"] != fork
        assert b"8217" not in client.get("session-0").body
        assert client.get(f"chunk-{name}").status == 404

    def test_who_makes_one_rests_for_twice_as_long_but_not_before_what_was_erased(
        self, db: Path
    ) -> None:
        now, states = [100.0], ["1.0"]

        def make(key: StreamKey) -> tuple[str, Report]:
            now[0] += 7
            append(db, f"{states[0]} {LONG}")
            return states[0], reported(db, key)

        makings = Makings(lambda key: states[0], make, lambda: now[0])
        first = makings.newest(KEY)
        assert makings.newest(KEY) is first
        states[0] = "2.0"
        now[0] += 13.9
        assert makings.newest(KEY) is first
        now[0] += 0.1
        assert makings.newest(KEY).state == "2.0"
        kept = [name for name in first.chunks if makings.chunk(name) is not None]
        assert kept == list(first.chunks)
        states[0] = "3.1"
        last = makings.newest(KEY)
        assert last.state == "3.1"
        gone = first.chunks.keys() - last.chunks.keys()
        assert len(gone) > 0
        assert [makings.chunk(name) for name in gone] == [None] * len(gone)

    def test_what_is_told_is_of_one_moment(self, db: Path) -> None:
        is_over = threading.Event()

        def write() -> None:
            with open_log(db, durability="normal") as live:
                while not is_over.wait(0.005):
                    live.append(KEY, said("user", "and on"))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(2):
                with served(db) as client:
                    got = client.get("session-0")
                data = got.data
                assert got.headers["X-State"] == f"{data['version']}.0"
                assert data["rows"][-1]["position"] == data["version"]
        finally:
            is_over.set()
            writer.join()


class TestALogThatGoes:
    """The server outlives it, and says what happened in one line."""

    def test_it_is_moved_away_and_comes_back(self, client: Client, db: Path) -> None:
        assert client.get("session-0").status == 200
        away = db.rename(db.with_name("away.db"))
        assert client.get("pulse?session=0").data["fault"] == f"no log at {db}"
        got = client.get("session-0")
        assert (got.status, got.data["fault"]) == (503, f"no log at {db}")
        assert client.get("").status == 200
        away.rename(db)
        assert client.get("pulse?session=0").data["fault"] == ""

    def test_it_is_replaced_by_another_one(self, client: Client, db: Path, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        small_log(tmp_path / "other").rename(db)
        assert "it is another file now" in client.get("pulse?session=0").data["fault"]
        assert client.get("session-0").status == 503
        assert client.get("sessions").status == 503

    def test_it_is_damaged(self, db: Path) -> None:
        with open_log(db) as live:
            live.log.query("pragma wal_checkpoint(truncate)", ()).fetchone()
        with served(db) as client:
            content = db.read_bytes()
            db.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
            got = client.get("session-0")
            assert got.status == 503
            assert "\n" not in got.data["fault"]
            assert "is damaged" in got.data["fault"]
            assert client.get("").status == 200


@contextmanager
def serving(*args: str | Path, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    running = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "serve", *map(str, args)],
        env=environment(home),
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Who runs the tests in the background has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


class TestTheProcess:
    @pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
    def test_it_says_where_it_is_and_ends_when_it_is_told_to(
        self, name: str, db: Path, tmp_path: Path
    ) -> None:
        before = db.read_bytes()
        with serving("--db", db, home=tmp_path) as running:
            assert running.stdout is not None
            client = Client(running.stdout.readline().decode().strip())
            assert client.get("session-0").data["key"] == str(KEY)
            assert client.get("sessions").data["total"] == 2
            with closing(socket.create_connection(("127.0.0.1", client.port))):  # silent, and open
                running.send_signal(getattr(signal, name))
                out, err = running.communicate(timeout=PATIENCE)
        assert (running.returncode, out, err) == (0, b"", b"serving until Ctrl-C\n")
        assert db.read_bytes() == before

    def test_with_json_and_a_port_of_its_own(self, db: Path, tmp_path: Path) -> None:
        with serving(KEY.session, "--json", "--quiet", "--db", db, home=tmp_path) as running:
            assert running.stdout is not None
            answer = json.loads(b"".join(iter(running.stdout.readline, b"}\n")) + b"}")
            assert (answer["ctxlog"], answer["command"]) == (1, "serve")
            data = answer["data"]
            assert (data["sessions"], data["log"]) == ([str(KEY)], str(db))
            client = Client(data["url"])
            taken = process("serve", "--port", client.port, "--db", db, home=tmp_path)
            assert taken.returncode == 2
            assert taken.stderr.decode() == (
                f"ctxlog: cannot listen on 127.0.0.1, port {client.port}: Address already in use\n"
            )
            assert client.get("head").data["sessions"][0]["title"] == "Refunds"

    def test_what_cannot_be_served_is_said_as_everywhere(self, db: Path, tmp_path: Path) -> None:
        for args, code in (
            (["--db", tmp_path / "none.db"], 5),
            (["nothing", "--db", db], 3),
            ([f"{KEY.session}@5", "--db", db], 2),
            (["--compare", "clear:keeep=1", "--db", db], 2),
            (["--prices", "recorded", "--db", db], 2),
        ):
            done = run("serve", *args)
            assert done.exit_code == code, done.output
            assert done.stdout == ""
            assert done.stderr.startswith("ctxlog: ")


class TestOpening:
    """A browser's command line can be read by everybody on the machine."""

    def browser(self, folder: Path) -> Path:
        script = folder / "browser"
        script.write_text(
            f'#!/bin/sh\nprintf %s "$1" > {folder}/asked\ncp "${{1#file://}}" {folder}/page\n'
        )
        script.chmod(0o755)
        return script

    def test_the_address_is_in_a_private_file_and_not_in_its_command_line(
        self, db: Path, tmp_path: Path
    ) -> None:
        env = environment(tmp_path, BROWSER=str(self.browser(tmp_path)))
        with subprocess.Popen(
            [sys.executable, "-m", "cli.main", "serve", "--open", "--db", str(db)],
            env=env,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            url = running.stdout.readline().decode().strip()
            assert running.stderr.readline() == b"serving until Ctrl-C\n"
            running.terminate()
            assert running.wait(PATIENCE) == 0
        asked = (tmp_path / "asked").read_text()
        assert url not in asked
        assert f"url={url}" in (tmp_path / "page").read_text()
        assert not Path(asked.removeprefix("file://")).exists()

    def test_report_opens_the_file_that_it_wrote(self, db: Path, tmp_path: Path) -> None:
        args = ("report", KEY.session, "--open", "-o", "r.html", "--db", db)
        env = {"BROWSER": str(self.browser(tmp_path))}
        assert process(*args, home=tmp_path, env=env).returncode == 0
        assert (tmp_path / "asked").read_text() == (tmp_path / "r.html").as_uri()

    def test_without_a_browser_one_line_says_so(self, db: Path, tmp_path: Path) -> None:
        args = ("report", KEY.session, "--open", "-o", "r.html", "--db", db)
        done = process(*args, home=tmp_path, env={"PATH": str(tmp_path)})
        assert done.returncode == 0
        assert done.stderr == b"no browser could be opened here; open it yourself\n"

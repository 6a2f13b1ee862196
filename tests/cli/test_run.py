"""``run``: what a what-if showed becomes what is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from demo_log import demo_log
from model_server import completion, serving
from running import ROOT, data, environment, process, run
from small_log import KEY, small_log

from eventlog.integrity import verify
from projections import open_log

S = KEY.session
DEMO = "local/claude-code/8f31c0a9-5d2e-4b7a-9c1f-6e0d3a7b4c21"


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """The demo's session, and a fork of it from before its agent took any decision."""
    path = demo_log(tmp_path)
    assert run("fork", f"{DEMO}@76", "--name", "raw", "--db", path).exit_code == 0
    return path


def texts(request: Any) -> list[str]:
    return [json.dumps(message, sort_keys=True) for message in request["messages"]]


class TestRun:
    """Whoever likes a what-if types one word less, and has it."""

    @pytest.mark.parametrize(
        "spec",
        [
            "cut:limit=400",
            "clear:keep=2",
            "truncate:turns=1",
            "compact:keep_turns=1,trigger_tokens=2000",
            "window:tokens=3000",
            "cut:limit=900 | clear:keep=4 | window:tokens=4000",
        ],
    )
    def test_the_request_is_the_one_that_replay_showed(self, spec: str, demo: Path) -> None:
        def replayed(*more: str) -> list[str]:
            result = run("replay", "raw", "--format", "openai", *more, "--db", demo)
            return texts(json.loads(result.stdout))

        wanted, before = replayed("--strategy", spec), replayed()
        done = data("run", "raw", "-s", spec, "--db", demo)
        assert replayed() == wanted
        assert (wanted != before) == bool(done["back"] or done["gone"] or done["changed"])
        again = run("run", "raw", "-s", spec, "--db", demo)
        assert again.exit_code == 0
        assert "nothing to decide" in again.stderr
        with open_log(demo) as live:
            assert verify(live.log).problems == ()

    def test_a_dry_run_says_the_same_and_writes_nothing(self, demo: Path) -> None:
        args = ["run", "raw", "-s", "truncate:turns=1", "--db", str(demo)]
        dry = data(*args, "--dry-run")
        assert dry["events"]
        done = data(*args)
        assert (dry["undo"], done["undo"]) == ([], ["undo raw 79", "undo raw 78"])
        assert {**dry, "dry_run": False, "undo": done["undo"]} == done

    @pytest.mark.parametrize(
        ("spec", "commands"),
        [
            ("clear:keep=2,at=model_call | truncate:turns=0,at=model_call", ["rewind"]),
            ("window:tokens=9000", ["undo"]),
            ("mask:n=6,polling=6", ["undo", "undo"]),
        ],
    )
    def test_all_of_it_can_be_taken_back_as_it_says(
        self, spec: str, commands: list[str], demo: Path
    ) -> None:
        with open_log(demo) as live:
            key = live.log.stream(DEMO).key._replace(session="raw")
            before = live.view(key)
        done = data("run", "raw", "-s", spec, "--db", demo)
        assert [line.split()[0] for line in done["undo"]] == commands
        for line in done["undo"]:
            assert run(*line.split(), "--db", demo).exit_code == 0
        with open_log(demo) as live:
            assert live.view(key) == before

    def test_what_another_program_decided_stays_and_its_session_is_forked(self, demo: Path) -> None:
        result = run("run", DEMO, "-s", "cut:limit=400", "--name", "mine", "--db", demo)
        assert result.exit_code == 0
        assert "was forked after event 229" in result.stdout
        assert "what came since event 150 was gone through" in result.stderr
        with open_log(demo) as live:
            mine = live.log.stream(DEMO).key._replace(session="mine")
            assert "150.0" in live.view(mine).items
            assert live.log.version(DEMO) == 229

    def test_what_its_summarizer_is_not_shown_is_told_before_an_audit_does(
        self, demo: Path
    ) -> None:
        args = [
            "run",
            "raw",
            "-s",
            "compress:max_messages=20,keep_recent=2,at=model_call",
            "--db",
            str(demo),
        ]
        told = re.compile(r"summarised \d+ items \((\d+) of them not shown to the summarizer\)")
        dry, done = run(*args, "--dry-run"), run(*args)
        counts = [int(count) for count in told.findall(" ".join(done.stdout.split()))]
        assert counts
        assert [int(count) for count in told.findall(" ".join(dry.stdout.split()))] == counts
        audit = run("audit", "raw", "--rule", "summaries", "--json", "--db", demo)
        found = [
            f for f in json.loads(audit.stdout)["data"]["findings"] if f["severity"] == "error"
        ]
        assert [finding["count"] for finding in found] == counts

    def test_the_moments_at_which_it_decided_are_named(self, demo: Path) -> None:
        args = ["run", "raw", "-s", "clear:keep=1 | window:tokens=90000", "--db", str(demo)]
        found = data(*args, "--dry-run")
        with open_log(demo) as live:
            key = live.log.stream(DEMO).key._replace(session="raw")
            turns = [
                e.position
                for e in live.log.read(key, types=["message_appended"])
                if e.data["source"] == "human"
            ]
        clear, window = found["attention"]
        assert (clear["times"], clear["at"]) == (len(turns), "user_turn")
        assert (clear["first"], clear["last"]) == (
            f"at the user turn {turns[0]}",
            f"at the user turn {turns[-1]}",
        )
        assert {one["position"] for one in found["moments"]} <= set(turns)
        cleared = sum(
            made["items"]
            for one in found["moments"]
            for made in one["decided"]
            if made["kind"] == "cleared"
        )
        assert cleared == len(found["changed"])
        assert window["first"] == "before c1"
        assert window["last"] == "now"
        assert window["waits"].endswith(" tokens stand, and it begins over 90,000")
        shown = run(*args, "--dry-run").stdout
        moment = found["moments"][0]["moment"]
        assert f"  {moment}: cleared " in shown
        assert "  now: nothing, " in shown

    def test_which_event_is_what_can_be_read(self, demo: Path) -> None:
        shown = run("run", "8f31", "-s", "clear:keep=3", "--dry-run", "--db", demo).stdout
        assert " 9 times cleared (all but the last 3): 231-234, 236, 238-241\n" in shown
        assert " 3 times declined: no gain: 235, 237, 242\n" in shown

    def test_why_it_did_nothing_is_told(self, demo: Path) -> None:
        result = run("run", "raw", "-s", "condense:tokens=90000", "--db", demo)
        text = " ".join(result.stdout.split())
        assert "condense:tokens=90000 decides before each call: asked " in text
        assert "tokens stand, and it begins over 90,000" in text
        assert result.stderr == "condense:tokens=90000: nothing to decide\n"
        none = run("run", DEMO, "-s", "compact", "--db", demo)
        assert "human turns stand, and it begins over 3" in " ".join(none.stdout.split())
        assert "what came since event 150 was gone through" in none.stderr

    def test_what_cannot_be_reduced_is_said_and_leaves_with_1(self, demo: Path) -> None:
        result = run("run", "raw", "-s", "window:tokens=20", "--db", demo)
        assert result.exit_code == 1
        assert "over budget:" in result.stderr
        assert "last human message" in result.stderr
        again = run("run", "raw", "-s", "window:tokens=20", "--db", demo)
        assert (again.exit_code, "nothing to decide" in again.stderr) == (0, True)

    def test_without_a_summarizer_the_step_down_is_recorded(self, demo: Path) -> None:
        spec = "users:tokens=6000"
        done = data("run", "raw", "-s", spec, "--summarizer", "none", "--db", demo)
        types = [event["type"] for event in done["events"]]
        assert types[:2] == ["compaction_declined", "context_compacted"]
        with open_log(demo) as live:
            key = live.log.stream(DEMO).key._replace(session="raw")
            declined, dropped = (
                live.log.at(key, [e["position"]])[e["position"]].data for e in done["events"][:2]
            )
        assert declined["reason"] == "failed"
        assert (dropped["fell_back_from"], dropped.get("messages", [])) == ("summary", [])

    @pytest.mark.parametrize(
        ("more", "code"),
        [
            (["-s", "nosuch"], 2),
            (["-s", "clear:keep=x"], 2),
            (["-s", "none", "--expect", "1"], 5),
            ([], 2),
        ],
    )
    def test_bad_input_is_refused(self, more: list[str], code: int, demo: Path) -> None:
        assert run("run", "raw", *more, "--db", demo).exit_code == code

    def test_a_session_without_a_message_has_nothing_to_decide(self, tmp_path: Path) -> None:
        from eventlog.events import SessionStarted

        with open_log(tmp_path / "e.db") as live:
            live.append("a/b/empty", SessionStarted())
        result = run("run", "empty", "-s", "clear", "--db", tmp_path / "e.db")
        assert (result.exit_code, "nothing to decide" in result.stderr) == (0, True)


class TestSummariesByAModel:
    """A summary that was paid for stays with who wrote it, from what, and what it cost."""

    def test_the_compaction_names_its_summarizer(self, demo: Path) -> None:
        spec = "compact:keep_turns=1,trigger_tokens=2000"
        said = "They found the rounding of refunds to be the cause; nothing is mended."
        with serving(lambda request: completion(said)) as server:
            args = ["run", "raw", "-s", spec, "--summarizer", "some-model"]
            done = data(*args, "--base-url", server.url, "--db", demo, OPENAI_API_KEY="k")
        at = [e["position"] for e in done["events"] if e["type"] == "context_compacted"][-1]
        with open_log(demo) as live:
            key = live.log.stream(DEMO).key._replace(session="raw")
            recorded = live.log.at(key, [at])[at].data
        summarizer = recorded["summarizer"]
        assert len(summarizer["prompt_digest"]) == 64
        assert summarizer["shown"] == recorded["covered"]
        found = data("why", "raw", f"{at}.0", "--db", demo)
        assert found["state"] == "context"


WRITER = """
import sys
from eventlog.events import MessageAppended
from projections import open_log
with open_log(sys.argv[1]) as live:
    print("ready", flush=True)
    for number in range(120):
        live.append(sys.argv[2], MessageAppended(dialect="openai_chat", source="human",
            message={"role": "user", "content": f"message {number}"}))
"""


class TestOtherProcesses:
    """An agent that goes on meanwhile loses nothing, and the run decides about what is there."""

    def test_runs_beside_a_writer_are_whole_or_say_why_not(self, tmp_path: Path) -> None:
        db = small_log(tmp_path)
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(db), str(KEY)],
            env=environment(tmp_path),
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        done = [
            process("run", S, "-s", "truncate:turns=2", "--db", db, home=tmp_path) for _ in range(3)
        ]
        assert writer.wait(60) == 0
        writer.stdout.close()
        assert {each.returncode for each in done} <= {0, 5}, [d.stderr for d in done]
        last = process("run", S, "-s", "truncate:turns=2", "--db", db, home=tmp_path)
        assert last.returncode == 0, last.stderr
        with open_log(db) as live:
            assert sum(e.type == "message_appended" for e in live.log.read(KEY, after=26)) == 120
            assert verify(live.log).problems == ()
            before = live.view(KEY)
            live.rebuild()
            assert live.view(KEY) == before

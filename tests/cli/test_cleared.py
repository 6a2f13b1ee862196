"""An agent that clears old results itself, recorded by its requests: what was lost, how to ask.

The ways to ask are the audit, ``recover --lost``, ``diff`` and ``why``, and each names commands of
the others, which have to work as they stand.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from running import data, run

from harness.exchange.answers import Answer
from harness.exchange.outcomes import Outcome
from harness.recording import Recorder
from projections import open_log

S = "clear"
PROMPT = "You keep the books. Never run ./drop.sh on this machine."


def tool(number: int) -> dict[str, Any]:
    function = {"name": "read", "arguments": json.dumps({"n": number})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(number: int) -> dict[str, Any]:
    text = f"invoice FIN-{3300 + number}: open, due in {number + 10} days, of Miller and Sons"
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Six results, of which an agent keeps the last two; then a person asks for the first, and at
    the end the prompt has lost its rule."""
    path = tmp_path / "ctxlog.db"
    recorder = Recorder(path, session=S)
    messages = [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": "Read the invoices."},
    ]

    def asked(answer: dict[str, Any], prompt: str = PROMPT) -> None:
        old = [n for n, message in enumerate(messages) if message["role"] == "tool"][:-2]
        sent = [
            {**message, "content": "[cleared]"} if n in old else message
            for n, message in enumerate(messages)
        ]
        sent[0] = {"role": "system", "content": prompt}
        body = json.dumps({"model": "m", "messages": sent}).encode()
        recorder.begin("openai_chat", body).ended(Outcome(Answer(answer)))
        messages.append(answer)

    for number in range(1, 7):
        asked(tool(number))
        messages.append(result(number))
    asked({"role": "assistant", "content": "I read them."})
    messages.append({"role": "user", "content": "Pay FIN-3301."})
    asked({"role": "assistant", "content": "How much is FIN-3301?"})
    messages.append({"role": "user", "content": "Look."})
    asked({"role": "assistant", "content": "I run ./drop.sh first."}, "You keep the books.")
    recorder.close()
    return path


def found(db: Path) -> list[dict[str, Any]]:
    result = run("audit", S, "--rule", "anchors", "--json", "--db", db)
    assert result.exit_code == 1, result.output
    listed: list[dict[str, Any]] = json.loads(result.stdout)["data"]["findings"]
    return listed


class TestAudit:
    def test_it_tells_what_was_needed_by_the_decision_that_took_it(self, db: Path) -> None:
        warnings = [f for f in found(db) if f["severity"] == "warning"]
        told = {f["refs"][0]: {a["text"]: a["by"] for a in f["anchors"]} for f in warnings}
        cleared, revised = told
        assert told[cleared] == {"FIN-3301": "person", "11 days": ""}
        assert told[revised] == {"Never run ./drop.sh on this machine": "", "./drop.sh": "model"}
        with open_log(db) as live:
            key = live.log.streams()[0].key
            events = live.log.at(key, [int(cleared), int(revised)])
        assert events[int(cleared)].type == "placeholder_substituted"
        assert events[int(revised)].type == "message_revised"

    def test_what_nobody_needed_is_one_line(self, db: Path) -> None:
        (info,) = [f for f in found(db) if f["severity"] == "info"]
        ids = {a["text"] for a in info["anchors"] if a["kind"] == "id"}
        assert ids == {"FIN-3302", "FIN-3303", "FIN-3304"}

    def test_every_command_that_it_names_works(self, db: Path) -> None:
        result = run("audit", S, "--json", "--db", db)
        commands = [f["next"] for f in json.loads(result.stdout)["data"]["findings"] if f["next"]]
        assert any("--lost" in command for command in commands)
        for command in commands:
            done = run(*shlex.split(command), "--db", db)
            assert done.exit_code == 0, (command, done.output)

    def test_what_it_calls_needed_is_needed_for_recover_and_diff_too(self, db: Path) -> None:
        for finding in found(db):
            at = finding["refs"][0]
            lost = data("recover", S, "--lost", at, "--db", db)
            recovered = {one["text"]: one for s in lost["sentences"] for one in s["literals"]}
            compared = {one["text"]: one for one in data("diff", f"{S}@{at}", "--db", db)["lost"]}
            for anchor in finding["anchors"]:
                if anchor["by"] in ("person", "model"):
                    assert anchor["used"][0] in recovered[anchor["text"]]["used_by"]
                    assert anchor["used"][0] in compared[anchor["text"]]["used_by"]


class TestAsking:
    @pytest.fixture
    def cleared(self, db: Path) -> str:
        """The event that cleared the first result."""
        with open_log(db) as live:
            key = live.log.streams()[0].key
            events = live.log.read(key, types=["placeholder_substituted"])
            return str(next(iter(events)).position)

    @pytest.fixture
    def item(self, db: Path, cleared: str) -> str:
        """That result."""
        with open_log(db) as live:
            key = live.log.streams()[0].key
            return str(live.log.at(key, [int(cleared)])[int(cleared)].data["item"])

    def test_recover_gives_the_sentence(self, db: Path, cleared: str, item: str) -> None:
        lost = data("recover", S, "--lost", cleared, "--db", db)
        assert (lost["lost_with"], lost["lost_how"]) == (cleared, "cleared")
        assert [(s["item"], "FIN-3301" in s["text"]) for s in lost["sentences"]] == [(item, True)]
        for name in (f"@{cleared}", cleared):
            text = run("recover", S, "--lost", name, "--db", db).stdout
            assert text.startswith(f"Recovered from what {cleared} cleared in `local/recorded/{S}`")
        whole = run("recover", S, "--lost", cleared, "--full", "--db", db)
        assert "of Miller and Sons" in whole.stdout

    def test_the_item_or_a_call_in_its_place_is_refused_with_what_to_say(
        self, db: Path, cleared: str, item: str
    ) -> None:
        refused = run("recover", S, "--lost", item, "--db", db)
        assert refused.exit_code == 2
        assert f"it stands as {item}@{cleared}, so --lost {cleared}" in refused.stderr
        refused = run("recover", S, "--lost", "c3", "--db", db)
        assert refused.exit_code == 2
        assert "took nothing out of sight" in refused.stderr

    def test_diff_holds_what_was_against_what_is_left(
        self, db: Path, cleared: str, item: str
    ) -> None:
        compared = data("diff", f"{S}@{cleared}", "--db", db)
        assert {row["item"]: row["state"] for row in compared["rows"]}[item] == "cleared"
        assert [one["text"] for one in compared["lost"]] == ["FIN-3301", "11 days"]
        refused = run("diff", f"{S}@{item}", "--db", db)
        assert refused.exit_code == 2
        assert "the event of a substitution or a revision" in refused.stderr

    def test_why_names_the_decision_and_its_commands_work(
        self, db: Path, cleared: str, item: str
    ) -> None:
        back = [way["command"] for way in data("why", S, item, "--db", db)["back"]]
        assert f"recover {S} --lost {cleared}" in back
        for command in back:
            done = run(*shlex.split(command), "--yes", "--db", db)
            assert done.exit_code == 0, (command, done.output)

    def test_why_of_the_prompt_leads_to_its_rule(self, db: Path) -> None:
        with open_log(db) as live:
            key = live.log.streams()[0].key
            (revised,) = live.log.read(key, types=["message_revised"])
        back = [way["command"] for way in data("why", S, revised.data["item"], "--db", db)["back"]]
        (command,) = [each for each in back if "--lost" in each]
        text = run(*shlex.split(command), "--db", db).stdout
        assert "Never run ./drop.sh on this machine" in text

    def test_what_was_lost_can_be_brought_back(self, db: Path, cleared: str, item: str) -> None:
        done = run(
            *("recover", S, "--lost", cleared, "--into-context", "--yes", "--name", "got"),
            *("--db", db),
        )
        assert done.exit_code == 0, done.output
        window = data("show", "got", "--context", "--db", db)
        texts = {i["item"]: i["text"] for i in window["items"]}
        assert "FIN-3301" in texts[item]

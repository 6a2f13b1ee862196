"""Trajectories with anything in any place: imported, or refused in one line; the same again."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from test_import_hostile import JUNK, SEED
from test_import_mini_swe_agent import CALLS, END, TEXT, document
from trajectories_made import Agent, run_of

from eventlog.errors import NoContext
from harness.importers import Options, import_path
from projections import open_log
from projections.context import fold
from projections.judging import judge_all
from projections.live import Live
from projections.sent import Requests
from projections.source_counts import source_counts

JUNK = [*JUNK, {"role": "user"}, [{"role": "tool", "content": 7}], [{}], "\ud83d"]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def agents() -> list[Any]:
    found: list[Any] = []
    for version in ("0.7", "1.0", "1.1"):
        for text in (False, True):
            agent = Agent(version=version, text=text)
            agent.demonstrate()
            agent.task()
            for number in range(7):
                agent.step(refused=number == 2, call_id="same" if number > 4 else "")
            agent.step(gave_up=True)
            agent.end()
            found.append(agent.value())
    found.append({**found[-1], "attempts": [found[0], found[-1]]})
    found.append(document(*CALLS, END))
    found.append(document(*TEXT, version="1"))
    return found


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (holder, key) of a value."""
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        node = stack.pop()
        keys = node if isinstance(node, dict) else range(len(node))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], dict | list):
                stack.append(node[key])
    return found


def check(live: Live, path: Path, **options: Any) -> int:
    """Import a file twice, and ask everything of what came in."""
    first = import_path(live.log, path, Options(final=True, **options))
    again = import_path(live.log, path, Options(final=True, **options))
    assert again.new == 0
    assert [len(error.splitlines()) for error in first.errors] == [1] * len(first.errors)
    for session in first.sessions:
        for key in (session.key, *session.forks):
            if not live.log.exists(key):
                continue
            assert fold(live.log.read(key)).notes == []
            source_counts(live.log.read(key))
            stream = live.log.stream(key).key
            calls = list(live.log.read(key, types=["model_called"]))
            names = {verdict.name for verdict in judge_all(live, stream, calls)}
            assert names <= {"exact", "rebuilt", "partial"}
            for call in calls:
                if call.data.get("manifest") is not None:
                    Requests(live).sent(stream, call)
            with suppress(NoContext):
                live.sendable(key)
    return first.new


class TestAnythingAnywhere:
    """What raises here ends somebody's import of a folder of runs."""

    @pytest.mark.parametrize("number", range(9))
    def test_wrong_types_and_missing_parts(self, live: Live, tmp_path: Path, number: int) -> None:
        rng = random.Random(SEED + number)
        sound = agents()[number]
        path, new = tmp_path / "a.traj", 0
        for each in range(12):
            value = copy.deepcopy(sound)
            for _ in range(rng.randrange(1, 6)):
                holder, key = rng.choice(places(value))
                if rng.random() < 0.2:
                    del holder[key]
                else:
                    holder[key] = copy.deepcopy(rng.choice(JUNK))
            path.write_text(json.dumps(value))
            new += check(live, path, session=f"s{each}")
        assert new > 120

    @pytest.mark.parametrize("format", ["swe-agent", "mini-swe-agent"])
    def test_every_value_in_the_place_of_each_part(
        self, live: Live, tmp_path: Path, format: str
    ) -> None:
        sound = agents()[4] if format == "swe-agent" else agents()[7]
        path = tmp_path / "a.traj"
        for number, junk in enumerate(JUNK):
            for name in sound:
                path.write_text(json.dumps({**sound, name: junk}))
                check(live, path, format=format, session=f"{name}{number}")

    def test_damaged_bytes(self, live: Live, tmp_path: Path) -> None:
        rng = random.Random(SEED)
        path = tmp_path / "a.traj"
        for value in agents():
            text = bytearray(json.dumps(value).encode())
            for number in range(10):
                found = bytearray(text)
                at = rng.randrange(len(found))
                found[at : at + rng.randrange(9)] = rng.choice(
                    [b"", b'"', b"\0", b"\xff", b"1e999"]
                )
                path.write_bytes(found)
                for format in ("", "swe-agent", "mini-swe-agent"):
                    check(live, path, format=format, session=f"d{number}")


class TestSizes:
    """Long runs are what people want to look into."""

    def test_a_run_of_many_steps_costs_what_its_file_is_long(
        self, live: Live, tmp_path: Path
    ) -> None:
        agent = run_of(150)
        agent.end()
        path = agent.write(tmp_path / "a.traj")
        report = import_path(live.log, path)
        key = live.log.stream(report.sessions[0].key).key
        calls = list(live.log.read(key, types=["model_called"]))
        assert {v.name for v in judge_all(live, key, calls)} == {"exact"}
        stored = sum(len(event.payload) for event in live.log.read(key))
        assert stored < path.stat().st_size / 10

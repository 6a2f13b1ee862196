"""Any sequence of what people do to a session: the commands that tell of it agree afterwards."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running import run
from small_log import KEY, small_log

from eventlog.integrity import verify
from projections import Live, open_log, runs
from projections.runs import Origin

ITEM = st.sampled_from(["3", "4", "6", "8", "10", "13", "16.0", "18", "22", "27", "29", "31"])
PLACE = st.sampled_from(["1", "3", "13", "16", "k1", "k1^", "c1", "c3", "20", "26", "28", "30"])

STEP = st.one_of(
    st.just(["undo", "{s}"]),
    st.just(["undo", "{s}"]),
    st.builds(lambda at: ["undo", "{s}", str(at)], st.integers(12, 40)),
    st.builds(lambda at: ["undo", "{s}", str(at), "--pass"], st.integers(12, 40)),
    st.just(["undo", "{s}", "k1"]),
    st.builds(lambda place: ["rewind", f"{{s}}@{place}"], PLACE),
    st.builds(lambda item: ["pin", "{s}", item], ITEM),
    st.builds(lambda item: ["unpin", "{s}", item], ITEM),
    st.builds(lambda item: ["recover", "{s}", item, "--into-context", "--yes"], ITEM),
    st.builds(lambda item: ["recover", "{s}", item, "--into-context", "--only"], ITEM),
    st.just(["recover", "{s}", "--lost", "k1", "--into-context", "--yes"]),
    st.just(["run", "{s}", "-s", "clear:keep=0,at=model_call"]),
    st.just(["run", "{s}", "-s", "truncate:turns=1,at=model_call | cut:limit=12,at=model_call"]),
    st.builds(lambda place: ["fork", f"{{s}}@{place}"], PLACE),
)


def answer(*args: str, db: Path, codes: tuple[int, ...] = (0,)) -> Any:
    result = run(*args, "--json", "--db", db)
    assert result.exit_code in codes, (args, result.output)
    return json.loads(result.stdout)["data"]


def standing(live: Live, key: str) -> dict[Origin, str]:
    return {item: runs.label(item, r) for item, r in live.view(key).standing()}


def agrees(db: Path, key: str) -> None:
    """What log, why, audit, stats and the live view say of a session is one thing."""
    with open_log(db) as live:
        stands = standing(live, key)
        pins = {str(item) for item in live.view(key).pins}
        live.rebuild()
        assert standing(live, key) == stands
        assert verify(live.log).problems == ()
    rows = {
        row["ref"]: row
        for row in answer("log", key, db=db)["rows"]
        if row["type"] in ("message_appended", "tool_result_recorded") or "." in row["ref"]
    }
    assert {ref for ref, row in rows.items() if row["state"] in ("context", "placeholder")} == {
        str(item) for item in stands
    }
    for ref, row in rows.items():
        why = answer("why", key, ref, db=db)
        assert why["state"] == row["state"], (key, ref)
        assert why["rendition"] == stands.get(runs.origin(ref)), (key, ref)
        assert why["pinned"] == (ref in pins), (key, ref)
        assert sorted(why["calls"]) == sorted(call for g in why["given"] for call in g["calls"])
        told = [step["position"] for step in why["steps"]]
        assert row["left_at"] is None or row["left_at"] in told, (key, ref)
    audit = answer("audit", key, db=db, codes=(0, 1))
    coverage = audit["sessions"][0]["coverage"]
    assert coverage["context_items"] == len(stands)
    assert "error" not in [f["severity"] for f in audit["findings"] if f["rule"] == "coverage"]


def does(step: list[str], session: str, db: Path) -> str:
    """Do it, first dry where that can be, and take it back as it says; the session it is in now."""
    args = [part.replace("{s}", session) for part in step]
    if args[0] == "fork":
        result = run(*args, "--json", "--db", db)
        if result.exit_code == 3:  # no such place
            return session
        return str(json.loads(result.stdout)["data"]["key"])
    dry = run(*args, "--dry-run", "--json", "--db", db)
    result = run(*args, "--json", "--db", db)
    assert result.exit_code in (0, 1, 2, 3), (args, result.output)
    assert "internal error" not in result.output, (args, result.output)
    if result.exit_code > 1:
        assert dry.exit_code == result.exit_code, (args, dry.output, result.output)
        assert json.loads(result.stderr)["error"]["message"]
        return session
    found, foretold = (json.loads(one.stdout)["data"] for one in (result, dry))
    if args[0] == "recover":
        found, foretold = found["into"], foretold["into"]
        if found is None:
            return session
    same = ("key", "events", "before", "after", "back", "gone", "changed")
    assert {n: found[n] for n in same} == {n: foretold[n] for n in same}, args
    with open_log(db) as live:
        if not found["events"]:
            assert found["undo"] == []
            assert found["key"] in [str(info.key) for info in live.log.streams()]
            return session
        view = live.view(found["key"])
        assert found["after"]["items"] == len(view.items)
        now = {str(item): runs.label(item, r) for item, r in view.standing()}
    for shift in (*found["back"], *found["changed"]):
        assert now[shift["item"]] == shift["after"], args
    assert not {shift["item"] for shift in found["gone"]} & now.keys()
    return str(found["key"])


def taken_back(found_key: str, step: list[str], db: Path) -> None:
    """A step, and what it says takes it back: the context is as it was."""
    with open_log(db) as live:
        before = live.view(found_key)
    args = [part.replace("{s}", found_key) for part in step]
    result = run(*args, "--json", "--db", db)
    if result.exit_code > 1 or args[0] == "fork":
        return
    found = json.loads(result.stdout)["data"]
    found = found["into"] if args[0] == "recover" else found
    for line in found["undo"] if found is not None else []:
        assert run(*shlex.split(line), "--db", db).exit_code == 0, line
    with open_log(db) as live:
        assert live.view(found_key).standing() == before.standing(), args


class TestAnySequence:
    """Two commands that tell of one session in two ways are worse than one that tells nothing."""

    @settings(
        max_examples=6,
        suppress_health_check=[HealthCheck.data_too_large],
    )
    @given(steps=st.lists(STEP, min_size=1, max_size=7))
    def test_every_command_says_the_same_of_what_came_out(self, steps: list[list[str]]) -> None:
        with TemporaryDirectory() as folder:
            db = small_log(Path(folder))
            session = str(KEY)
            for step in steps:
                session = does(step, session, db)
            agrees(db, session)
            agrees(db, str(KEY))

    @settings(max_examples=6)
    @given(steps=st.lists(STEP, max_size=4), last=STEP)
    def test_what_it_says_to_type_takes_any_step_back(
        self, steps: list[list[str]], last: list[str]
    ) -> None:
        with TemporaryDirectory() as folder:
            db = small_log(Path(folder))
            session = str(KEY)
            for step in steps:
                session = does(step, session, db)
            taken_back(session, last, db)

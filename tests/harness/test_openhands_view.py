"""The lists that the agent's own code makes, written down again, against what is imported."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from imported import run
from openhands_sessions import KEY_V1, V1

from eventlog import EventLog, messages
from projections import open_log

Event = dict[str, Any]


def drop_unmatched(view: list[Event]) -> list[Event]:
    """A call without its result is not shown, nor a result without its call."""
    calls = {e["tool_call_id"] for e in view if e["kind"] == "ActionEvent"}
    results = {e["tool_call_id"] for e in view if e["kind"] == "ObservationEvent"}
    return [e for e in view if e.get("tool_call_id") in {None, *(calls & results)}]


def old_view(events: list[Event]) -> list[Event]:
    """2025-09: made from all events; only the last summary is there."""
    forgotten: set[str] = set()
    for event in events:
        forgotten.update(event.get("forgotten_event_ids", ()))
    view = [e for e in events if e["id"] not in forgotten and e["kind"] != "Condensation"]
    for event in reversed(events):
        if event["kind"] == "Condensation" and "summary" in event:
            view.insert(event["summary_offset"], event)
            break
    return drop_unmatched(view)


def new_view(events: list[Event]) -> list[Event]:
    """Since 2026: each condensation is applied to what the ones before it left; at the end calls
    and results that stand alone leave, and batches that are not whole."""
    view: list[Event] = []
    for event in events:
        if event["kind"] != "Condensation":
            view.append(event)
            continue
        view = [e for e in view if name_of(e) not in event["forgotten_event_ids"]]
        if "summary" in event:
            view.insert(event["summary_offset"], event)
    batches: dict[str, set[str]] = {}
    for event in events:
        if event["kind"] == "ActionEvent":
            batches.setdefault(event["llm_response_id"], set()).add(event["id"])
    while True:
        before = len(view)
        view = drop_unmatched(view)
        ids = {e["id"] for e in view}
        broken = {batch for batch, members in batches.items() if not members <= ids}
        view = [e for e in view if e.get("llm_response_id", "") not in broken or "summary" in e]
        if len(view) == before:
            return view


def name_of(event: Event) -> str:
    """What a condensation names it by."""
    return f"{event['id']}-summary" if event["kind"] == "Condensation" else str(event["id"])


def as_messages(view: list[Event]) -> list[tuple[str, tuple[str, ...]]]:
    """Who speaks, and the texts or the ids of the calls; actions side by side are one message."""
    found: list[tuple[str, tuple[str, ...]]] = []
    batch = ""
    for event in view:
        kind = event["kind"]
        if kind == "ActionEvent":
            if batch == event["llm_response_id"]:
                found[-1] = ("assistant", (*found[-1][1], event["tool_call_id"]))
            else:
                found.append(("assistant", (event["tool_call_id"],)))
        elif kind == "ObservationEvent":
            found.append(("tool", (event["tool_call_id"],)))
        else:
            said = event.get("summary") or event["llm_message"]["content"][0]["text"]
            found.append(("user", (said,)))
        batch = event["llm_response_id"] if kind == "ActionEvent" else ""
    return found


def in_the_log(log: EventLog) -> list[tuple[str, tuple[str, ...]]]:
    found: list[tuple[str, tuple[str, ...]]] = []
    with open_log(log.path) as live:
        for item in live.items(KEY_V1):
            calls = messages.calls("openai_chat", item.message)
            if calls:
                found.append(("assistant", tuple(call.id for call in calls)))
            elif item.kind == "tool_result":
                found.append(("tool", (item.message["tool_call_id"],)))
            else:
                found.append(("user", (item.text,)))
    return found


def random_session(rng: random.Random, new: bool) -> V1:
    """Some steps, with batches among them, and condensations of runs of what is shown."""
    v1 = V1()
    v1.user("Task.")
    for number in range(30):
        made = rng.random()
        if made < 0.2:
            v1.user(f"Go on {number}.")
        elif made < 0.75:
            calls = [f"c{number}{letter}" for letter in "abc"[: rng.choice((1, 1, 2, 3))]]
            actions = [v1.action(call, f"r{number}") for call in calls]
            for call, action in zip(calls, actions, strict=True):
                v1.observes(call, action, f"{call} done")
        else:
            shown = (new_view if new else old_view)(v1.events)
            first = rng.randrange(len(shown) + 1)
            ids = [name_of(event) for event in shown[first : first + rng.randrange(1, 9)]]
            if not new:
                ids = [i if not i.endswith("-summary") else i.replace("-summary", "f") for i in ids]
            more = {"llm_response_id": f"s{number}"} if new else {}
            offset = rng.randrange(max(1, len(shown) - len(ids)))
            v1.condenses(ids, f"Summary {number}.", offset, **more)
            view = new_view if new else old_view
            if rng.random() < 0.2 or parts_an_answer(view(v1.events)):
                del v1.events[-1]
                v1.condenses(ids, None, None, **more)
            if parts_an_answer(view(v1.events)):
                del v1.events[-1]
    return v1


def parts_an_answer(view: list[Event]) -> bool:
    """Whether a summary stands between two calls of one answer: one item cannot stand so."""
    around = zip(view, view[1:], view[2:], strict=False)
    kinds = ("ActionEvent", "Condensation", "ActionEvent")
    return any(
        (a["kind"], b["kind"], c["kind"]) == kinds and a["llm_response_id"] == c["llm_response_id"]
        for a, b, c in around
    )


class TestAnyHistory:
    """One event more or less in the list, and every context behind it is another one."""

    @pytest.mark.parametrize("seed", range(60))
    @pytest.mark.parametrize("new", [False, True], ids=["2025-09", "2026"])
    def test_the_context_is_what_the_agent_showed(
        self, log: EventLog, tmp_path: Path, seed: int, new: bool
    ) -> None:
        v1 = random_session(random.Random(seed), new)
        if new:  # what tells the newer SDK from the older one
            v1.events[0]["parent_id"] = "none"
        run(log, v1.write(tmp_path / "c"), final=True)
        view = (new_view if new else old_view)(v1.events)
        assert in_the_log(log) == as_messages(view)

    def test_a_summary_inside_an_answer_stands_before_it_and_is_told(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        v1.user("Task.")
        old = v1.user("More.")
        actions = [v1.action(call, "r") for call in "ab"]
        for call, action in zip("ab", actions, strict=True):
            v1.observes(call, action)
        v1.condenses([old], "Summary.", 2)
        report = run(log, v1.write(tmp_path / "c"), final=True)
        assert [said for _, said in in_the_log(log)][:3] == [("Task.",), ("Summary.",), ("a", "b")]
        [note] = report.sessions[0].notes
        assert note.endswith("its summary stood inside an answer, and is put before it")

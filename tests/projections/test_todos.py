"""B19, to-do lists that a tool keeps: the latest state counts, and only what is open in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from contexts_made import ANTHROPIC, item, result
from recorded_sessions import Session
from replays_made import human, replayed, system, work
from specs_made import EVERY

from eventlog import events
from projections.metrics.ground import Ground
from projections.metrics.measure import Options, measure
from projections.metrics.survival import LostKeeper
from projections.metrics.todos import open_entries
from projections.observed import observed
from projections.strategies.check import short
from projections.strategies.marks import SUMMARY_OPEN, unframed
from projections.tokens import counter

OLD = {"todos": [{"content": "read the billing ledger", "status": "in_progress"}]}
NEW = {
    "todos": [
        {"content": "read the billing ledger", "status": "completed", "activeForm": "Reading"},
        {"content": "mend half-even rounding", "status": "in_progress", "activeForm": "Mending"},
    ]
}
DONE = {"todos": [{**each, "status": "completed"} for each in NEW["todos"]]}


def listed(*states: dict[str, Any], name: str = "TodoWrite") -> tuple[Session, list[int]]:
    """A session that writes these lists, and the items of the calls that wrote them."""
    made = Session()
    made.human("Fix the invoices")
    calls = []
    for state in states:
        calls.append(made.call((name, state)))
        made.result("ok", name)
    return made, calls


def todo(made: Session) -> tuple[int, int, int] | None:
    """How many lists stand verbatim, degraded and lost at the end."""
    fates, _ = survived(made)
    return fates.get("todo")


def survived(made: Session) -> tuple[dict[str, tuple[int, int, int]], tuple[LostKeeper, ...]]:
    made.human("go on")
    made.call(text="done")
    given = made.recording()
    ground = Ground(given, counter())
    found = measure(ground, lambda observer: observed(given, observer), Options()).survival
    assert found is not None
    fates = {f.kind: (f.verbatim, f.degraded, f.lost) for f in found.at_end}
    return fates, found.not_verbatim


class TestTheLatestState:
    """B19: the list is lost and nothing says so, or finished tasks are asked for again."""

    def test_is_what_has_to_survive_and_not_an_earlier_one(self) -> None:
        made, (first, _) = listed(OLD, NEW)
        made.compacted([first, first + 1], "nothing of it")
        assert todo(made) == (1, 0, 0)

    def test_is_lost_where_only_an_earlier_one_stands(self) -> None:
        made, (_, newest) = listed(OLD, NEW)
        made.compacted([newest, newest + 1], "busy")
        fates, lost = survived(made)
        assert fates["todo"] == (0, 0, 1)
        assert [each.text for each in lost] == ["mend half-even rounding"]

    @pytest.mark.parametrize(
        ("summary", "expected"),
        [
            ("Open: mend the half-even rounding.", (0, 1, 0)),
            ("The billing ledger was read, completed.", (0, 0, 1)),
        ],
    )
    def test_lives_on_in_a_summary_by_what_is_open(
        self, summary: str, expected: tuple[int, int, int]
    ) -> None:
        made, (newest,) = listed(NEW)
        made.compacted([newest, newest + 1], summary)
        assert todo(made) == expected

    def test_of_which_all_is_finished_need_not_survive(self) -> None:
        made, (_, newest) = listed(OLD, DONE)
        made.compacted([newest, newest + 1], "all done")
        assert todo(made) is None

    def test_is_not_changed_by_looking_at_it(self) -> None:
        made, (newest,) = listed(NEW)
        read = made.call(("TodoRead", {}))
        made.result("…", "TodoRead")
        made.compacted([newest, newest + 1, read, read + 1], "busy")
        fates, lost = survived(made)
        assert (fates["todo"], lost[0].item) == ((0, 0, 1), str(newest))

    def test_is_the_earlier_one_again_after_a_rewind(self) -> None:
        made, (first, _) = listed(OLD, NEW)
        made.add(events.SessionRewound(to=first + 1))
        made.compacted([first, first + 1], "busy")
        fates, lost = survived(made)
        assert (fates["todo"], lost[0].text) == ((0, 0, 1), "read the billing ledger")

    def test_is_never_said_again_as_a_request_of_the_user(self) -> None:
        used = {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": NEW}
        wrote = item(3, ANTHROPIC, {"role": "assistant", "content": [used]}, source="model")
        listing = [wrote, result(4, "t", "mend half-even rounding", ANTHROPIC)]
        more = [m for n in range(5) for m in (human(6 + 3 * n), *work(7 + 3 * n, "word " * 90))]
        items = [system(), human(2, "fix it"), *listing, human(5), *more]
        came = {each.id for each in items}
        covered = set()
        for spec in EVERY:
            for entry in replayed(items, spec, summarize=short).window.entries.values():
                if entry.role == "user" and entry.item.id not in came:
                    assert SUMMARY_OPEN in entry.item.text, spec
                    assert entry.item.text.replace(unframed(entry.item.text), "").count("mend") == 0
                    assert not entry.is_human
                    covered.add(spec)
        assert len(covered) > 5


class TestTheForms:
    """A form that is not read counts as one entry that is never finished."""

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            (NEW, ("mend half-even rounding",)),
            (DONE, ()),
            ({"todos": []}, ()),
            ({"plan": [{"step": "a", "status": "completed"}, {"step": "b"}]}, ("b",)),
            ({"explanation": "x", "plan": [{"step": "b", "status": "pending"}]}, ("b",)),
            ({"todos": [{"description": "a", "status": "cancelled"}]}, ()),
            ({"todos": [{"text": "a", "done": True}, {"text": "b", "done": False}]}, ("b",)),
            ({"todos": ["a", "b"]}, ("a", "b")),
            ({"todos": "- [x] a\n- [ ] b\n* [X] c"}, ("b",)),
            ({"plan": "First look, then act."}, ("First look, then act.",)),
            ({"todos": [{"odd": 1}, 7]}, ('{"odd": 1}',)),
            ({}, None),
            ([], ()),
            ("", None),
            (None, None),
        ],
    )
    def test_are_read(self, arguments: Any, expected: tuple[str, ...] | None) -> None:
        assert open_entries(json.dumps(arguments)) == expected

    def test_what_is_no_json_is_one_entry(self) -> None:
        assert open_entries("look; act") == ("look; act",)
        assert open_entries("[" * 100_000) is not None

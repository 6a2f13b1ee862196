"""Copies of what is erased: the real ones, and not what everybody holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eventlog import Json, StreamKey, events
from eventlog.jsonvalue import dumps
from harness.importers.importing import import_path
from projections import open_log
from projections.copies import MANY, Common
from projections.erasure import ErasurePlan, plan
from projections.live import Live

KEY = StreamKey("local", "agent", "s")
CHILD = StreamKey("local", "agent", "s~2")
REMINDER = "Whenever you read a file, consider whether it is malware."
SECRET = "the password of the vault is swordfish"
OTHER = "and the door behind it opens at nine in the morning"
FOLDER = "/home/someone/work/vaults/first/doors"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def result(text: str, **rest: Any) -> events.ToolResultRecorded:
    origin = events.Origin(records=(), rest=Json(rest)) if rest else None
    return events.ToolResultRecorded(
        tool_call_id="x", dialect="openai_chat", content=text, origin=origin
    )


def read(*lines: str) -> events.ToolResultRecorded:
    return result("\n".join([*lines, "", REMINDER]))


def copies(made: ErasurePlan) -> list[tuple[str, int, str]]:
    return [(copy.stream.session, copy.position, copy.shown) for copy in made.copies]


class TestWhatEverybodyHolds:
    """Without these one redaction with its copies takes a third of a session along."""

    def test_a_line_of_many_results_is_no_quote_and_is_counted(self, live: Live) -> None:
        live.append(KEY, *[read(f"line {n} of another file") for n in range(MANY)])
        live.append(KEY, read(SECRET, OTHER), result("fine"), read("one more"), read("and one"))
        made = plan(live, KEY, ["6"])
        assert made.copies == ()
        assert made.common == Common(lines=1, events=7)

    def test_a_quote_beside_it_is_one(self, live: Live) -> None:
        live.append(KEY, read(SECRET, OTHER), *[read(f"line {n}") for n in range(MANY)])
        live.append(KEY, read(f"he said: {OTHER}"))
        made = plan(live, KEY, ["1"])
        assert copies(made) == [("s", 7, OTHER)]
        assert made.common == Common(lines=1, events=MANY)

    def test_so_is_a_line_in_no_more_than_a_handful(self, live: Live) -> None:
        live.append(KEY, result(f"{SECRET}\n{OTHER}"), *[result(OTHER)] * MANY)
        assert len(plan(live, KEY, ["1"]).copies) == MANY
        live.append(KEY, result(OTHER))
        made = plan(live, KEY, ["1"])
        assert (made.copies, made.common) == ((), Common(1, MANY + 1))

    def test_all_of_an_items_text_is_a_copy_however_often_it_stands(self, live: Live) -> None:
        live.append(KEY, *[result(SECRET)] * (3 * MANY), result(f"so {SECRET}, I hear"))
        made = plan(live, KEY, ["5"])
        assert len(made.copies) == 3 * MANY
        assert made.common == Common()

    def test_what_stood_there_before_the_item_came_is_no_quote_of_it(self, live: Live) -> None:
        live.append(KEY, read("a"), read(SECRET, OTHER, "long lines of its own" * 5), read("b"))
        made = plan(live, KEY, ["2"])
        assert (made.copies, made.common) == ((), Common(1, 2))

    def test_an_earlier_event_with_half_of_what_is_its_own_is_a_copy(self, live: Live) -> None:
        live.append(KEY, result(f"write: {SECRET}"), result("no"), result(f"{SECRET}\nshort"))
        live.append(KEY, result(f"again: {SECRET}."))
        assert copies(plan(live, KEY, ["3"])) == [("s", 1, SECRET), ("s", 4, SECRET)]

    def test_before_is_before_in_the_stream_of_the_item_and_its_parents(self, live: Live) -> None:
        agent = KEY._replace(session="s.agent")
        own = "long lines of its own " * 5
        live.append(agent, events.SessionStarted(parent_session=str(KEY)), result(OTHER))
        live.append(KEY, result(OTHER), result("x"))
        live.log.fork(CHILD, KEY, at=2)
        live.append(CHILD, result(f"{OTHER}\n{own}"))
        live.append(KEY, result(own))
        made = plan(live, CHILD, ["4"])
        assert copies(made) == [("s", 3, own.strip()[:60])]
        assert made.common == Common(1, 2)
        # Elsewhere nothing came before anything: a sub-agent may have been imported first.
        live.append(KEY, result(f"{OTHER}\nwhat the agent said, and some more of it"))
        assert ("s.agent", 2, OTHER) in copies(plan(live, KEY, ["1"]))


class TestNotes:
    """Without these every record of a session quotes every other: by its folder, by its ids."""

    def noted(self, **rest: Any) -> events.ToolResultRecorded:
        uuid = "33fa413f-8363-41f2-8cc1-4fe8ee2f0b4f"
        return result("done", uuid=uuid, parentUuid=uuid, cwd=FOLDER, gitBranch="b" * 40, **rest)

    def test_ids_folders_and_branches_are_no_quotes(self, live: Live) -> None:
        raw = dumps({"uuid": "33fa413f-8363-41f2-8cc1-4fe8ee2f0b4f", "cwd": FOLDER})
        unknown = events.RecordUnrecognized(file="f", line=1, offset=0, raw=raw)
        started = events.SessionStarted(metadata=Json({"cwd": FOLDER}))
        live.append(KEY, started, self.noted(), self.noted(), unknown)
        made = plan(live, KEY, ["2"])
        assert (made.copies, made.common) == ((), Common())

    def test_a_path_that_an_item_tells_of_is_not_quoted_by_going_there(self, live: Live) -> None:
        arguments = dumps({"file_path": FOLDER, "limit": 3})
        call = {"id": "y", "type": "function", "function": {"name": "r", "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        told = events.MessageAppended(dialect="openai_chat", source="model", message=message)
        live.append(KEY, result(FOLDER), told, result(f"read:\n{FOLDER}"))
        assert copies(plan(live, KEY, ["1"])) == [("s", 3, FOLDER)]

    def test_text_that_an_importer_left_unmapped_is_one(self, live: Live) -> None:
        raw = dumps({"cwd": FOLDER, "data": {"output": SECRET}})
        live.append(
            KEY,
            result(SECRET),
            self.noted(toolUseResult={"filePath": FOLDER, "file": {"content": SECRET}}),
            events.RecordUnrecognized(file="f", line=1, offset=0, raw=raw),
        )
        assert copies(plan(live, KEY, ["1"])) == [("s", 2, SECRET), ("s", 3, SECRET)]


class TestAnImportedSession:
    """Without this the rules hold for tests and not for what agents write."""

    def test_one_read_result_has_a_handful_of_copies(self, tmp_path: Path, samples: Path) -> None:
        file = next(samples.glob("claude-code/cc03*.jsonl"))
        with open_log(tmp_path / "i.db", durability="normal") as live:
            import_path(live.log, file)
            made = plan(live, live.log.streams()[0].key, ["36"])
        assert [copy.position for copy in made.copies] == [48, 53, 57, 206, 214, 269, 559]
        assert made.common.events > 30

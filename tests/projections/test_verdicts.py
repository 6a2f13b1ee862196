"""The verdict of a call: the weakest that holds, and what was erased of what it saw."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded_calls

from eventlog import Draft, StreamKey, events
from eventlog.redaction import Target, redact
from projections import erasure, open_log
from projections.judging import judge_all
from projections.live import Live
from projections.sent import Requests
from projections.session_state import weakest
from projections.sessions import session_stats
from projections.verdicts import Verdict, judge

KEY = StreamKey("local", "agent", "s")
CALLED = events.ModelCalled(model="m", dialect="openai_chat")
CALLING = events.MessageAppended(
    dialect="openai_chat",
    source="model",
    message={
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "t", "type": "function", "function": {"name": "run"}}],
    },
)
RESULT = events.ToolResultRecorded(tool_call_id="t", dialect="openai_chat", content="done")
TOOLS = [{"type": "function", "function": {"name": "run", "description": "runs swordfish"}}]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(text: str, role: str = "user") -> events.MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    return events.MessageAppended(
        dialect="openai_chat", source=source, message={"role": role, "content": text}
    )


def recorded(live: Live, *texts: str, **more: Any) -> int:
    messages = [{"role": "user", "content": text} for text in texts]
    body = {"model": "m", "messages": messages, **more}
    position = recorded_calls.record(live, KEY, "openai_chat", body).position
    live.append(KEY, events.ModelResponded(call=position))
    return position


def verdict(live: Live, position: int) -> Verdict:
    call = live.log.at(KEY, [position])[position]
    found = judge(live, KEY, call)
    assert judge_all(live, KEY, [call]) == [found]
    return found


def erase(live: Live, *items: str, positions: tuple[int, ...] = ()) -> None:
    erasure.apply(live, erasure.plan(live, KEY, items, positions=positions, quotes=False))


class TestFolded:
    """Without these an erased part makes a guessed context look better known, or goes untold."""

    def test_partial_stays_partial_and_tells_what_was_erased(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"), CALLED, events.ModelResponded(call=3))
        erase(live, "1")
        found = verdict(live, 3)
        assert (found.name, found.erased) == ("partial", 1)
        assert found.detail == "the system prompt was never recorded; 1 item was erased since"
        erase(live, "2")
        assert verdict(live, 3).detail.endswith("; 2 items were erased since")

    def test_rebuilt_is_weaker_than_erased(self, live: Live) -> None:
        live.append(KEY, said("s", "system"), said("b"), CALLED, events.ModelResponded(call=3))
        erase(live, "2")
        found = verdict(live, 3)
        assert (found.name, found.erased) == ("rebuilt", 1)
        assert found.detail == "no request was recorded; 1 item was erased since"

    def test_an_item_that_no_longer_stood_is_not_counted(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"), events.ContextCompacted(covered=("1",)))
        live.append(KEY, CALLED, events.ModelResponded(call=4))
        erase(live, "1")
        assert verdict(live, 4).erased == 0


class TestTools:
    """Without these a request of which the tools are unknown passes for one that is known."""

    def folded(self, live: Live, *drafts: events.Event) -> list[tuple[str, str]]:
        live.append(KEY, said("s", "system"), said("a"), *drafts)
        calls = list(live.log.read(KEY, types=["model_called"]))
        found = [judge(live, KEY, call) for call in calls]
        assert judge_all(live, KEY, calls) == found
        assert session_stats(live, KEY).provenance == weakest(each.name for each in found)
        return [(each.name, each.detail) for each in found]

    def test_a_session_without_any_tool_is_rebuilt(self, live: Live) -> None:
        found = self.folded(live, CALLED, said("b", "assistant"), events.ModelResponded(call=3))
        assert found == [("rebuilt", "no request was recorded")]

    def test_tools_that_were_called_and_never_declared_are_missing_from_that_call_on(
        self, live: Live
    ) -> None:
        found = self.folded(
            live,
            *(CALLED, said("b", "assistant"), events.ModelResponded(call=3)),
            *(CALLED, CALLING, events.ModelResponded(call=6), RESULT),
            *(events.ContextCompacted(covered=("2-9",)), said("c")),
            *(CALLED, said("d", "assistant"), events.ModelResponded(call=12)),
        )
        missing = ("partial", "the tool definitions were never recorded")
        assert found == [("rebuilt", "no request was recorded"), missing, missing]

    def test_a_result_tells_of_tools_too(self, live: Live) -> None:
        found = self.folded(live, RESULT, CALLED, events.ModelResponded(call=4))
        assert [name for name, _ in found] == ["partial"]

    def test_those_of_a_declaration_are_known(self, live: Live) -> None:
        declared = events.ToolsDeclared(dialect="openai_chat", definitions=TOOLS)
        found = self.folded(live, declared, CALLED, CALLING, events.ModelResponded(call=4))
        assert [name for name, _ in found] == ["rebuilt"]

    def test_all_that_is_missing_is_told(self, live: Live) -> None:
        live.append(KEY, said("a"), CALLED, CALLING, events.ModelResponded(call=2))
        detail = "the system prompt and the tool definitions were never recorded"
        assert verdict(live, 2) == Verdict("partial", False, detail)

    def test_a_recorded_request_without_tools_had_none(self, live: Live) -> None:
        call = recorded(live, "a")
        live.append(KEY, CALLING)
        assert verdict(live, call).name == "exact"
        live.append(KEY, RESULT)
        assert verdict(live, recorded(live, "b")).name == "exact"


class TestRecorded:
    """Without these an erasure hides that a request was never exactly known."""

    def test_of_a_request_that_is_messages_alone_it_is_told_that_it_is(self, live: Live) -> None:
        bare = {"messages": [{"role": "user", "content": "a"}]}
        alone = recorded_calls.record(live, KEY, "openai_chat", bare).position
        tooled = recorded_calls.record(live, KEY, "openai_chat", {**bare, "tools": TOOLS}).position
        live.append(KEY, events.ModelResponded(call=alone), events.ModelResponded(call=tooled))
        detail = "its messages; its tools and parameters were not recorded"
        assert verdict(live, alone) == Verdict("exact", False, detail)
        detail = "its messages; its parameters were not recorded"
        assert verdict(live, tooled) == Verdict("exact", False, detail)
        assert verdict(live, recorded(live, "a", "b")) == Verdict("exact")

    def test_erased_items_are_counted(self, live: Live) -> None:
        call = recorded(live, "a", "b", "c")
        erase(live, "1", "3")
        assert verdict(live, call) == Verdict("erased", False, "2 items were erased since", 2)

    def test_what_the_provider_completes_stays_partial(self, live: Live) -> None:
        call = recorded(live, "a", "b")
        event = live.log.at(KEY, [call])[call].event
        assert isinstance(event, events.ModelCalled)
        edited = event.model_copy(update={"server_edited": ("truncation",)})
        live.append(KEY, Draft(edited, salt=live.log.salts(KEY, [call])[call]))
        erase(live, "1")
        assert verdict(live, call + 2).name == "partial"
        assert verdict(live, call + 2).detail.endswith("; 1 item was erased since")

    def test_erased_tools_are_erased_and_not_broken(self, live: Live) -> None:
        call = recorded(live, "a", tools=TOOLS)
        declared = next(live.log.read(KEY, types=["tools_declared"])).position
        erase(live, positions=(declared,))
        assert verdict(live, call) == Verdict("erased", False, "its tools were erased since")

    def test_so_are_erased_parameters(self, live: Live) -> None:
        call = recorded(live, "a", user="someone")
        redact(live.log, [Target(KEY, call)], stream=KEY)
        assert verdict(live, call) == Verdict("erased", False, "its parameters were erased since")

    def test_behind_an_unknown_critical_event_the_fold_is_not_known(self, live: Live) -> None:
        recorded(live, "a")
        live.append(KEY, events.TaskClassified(task_type="x"))
        call = recorded(live, "a", "b")
        path = live.log.path
        live.close()
        with sqlite3.connect(path) as db:
            schema = db.execute("select name, sql from sqlite_master where type = 'trigger'")
            triggers = schema.fetchall()
            for name, _ in triggers:
                db.execute(f"drop trigger {name}")
            db.execute(
                "update events set type = 'unheard_of', critical = 1 where type = 'task_classified'"
            )
            for _, sql in triggers:
                db.execute(sql)
        with open_log(path) as again:
            again.rebuild()
            found = verdict(again, call)
            assert found.name == "drift"
            assert "unheard_of" in found.detail


class TestSentBehindAnErasure:
    """Without these a session in which something was erased has a finding at every later call."""

    def named(self, live: Live, call: int) -> list[str]:
        found: list[str] = live.log.at(KEY, [call])[call].data["manifest"]
        return found

    def again(self, live: Live, *more: str) -> int:
        """A call with all that stands, and something new."""
        messages = [*live.messages(KEY), *({"role": "user", "content": text} for text in more)]
        body = {"model": "m", "messages": messages}
        position = recorded_calls.record(live, KEY, "openai_chat", body).position
        live.append(KEY, events.ModelResponded(call=position))
        return position

    def revised(self, live: Live) -> None:
        recorded(live, "a", "b")
        live.append(KEY, events.MessageRevised(item="1", patch={"content": "c"}))
        erase(live, "1")

    def test_a_revised_item_that_went_is_erased(self, live: Live) -> None:
        self.revised(live)
        for call in (self.again(live, "x"), self.again(live, "y")):
            assert self.named(live, call)[0] == "1@redacted"
            assert verdict(live, call) == Verdict("erased", False, "1 item was erased since", 1)

    def test_so_is_each_of_many(self, live: Live) -> None:
        recorded(live, *"abcde")
        revisions = (events.MessageRevised(item=i, patch={"content": "z" + i}) for i in "235")
        live.append(KEY, *revisions)
        erase(live, "1", "2", "3", "5")
        found = verdict(live, self.again(live, "x"))
        assert found == Verdict("erased", False, "4 items were erased since", 4)

    def test_one_that_no_longer_stands_is_a_difference(self, live: Live) -> None:
        self.revised(live)
        call = self.again(live, "x")
        draft = Draft(live.log.at(KEY, [call])[call].event, salt=live.log.salts(KEY, [call])[call])
        live.append(KEY, events.ContextCompacted(covered=("1",)), draft)
        found = verdict(live, live.log.version(KEY))
        assert found.name == "drift"
        assert found.detail.startswith("entry 1: 1@redacted was sent, 2 stands there")

    def test_the_form_in_which_it_was_sent_holds(self, live: Live) -> None:
        self.revised(live)
        parts = [{"type": "text", "text": "[redacted]"}]
        messages = [{"role": "user", "content": parts}, *live.messages(KEY)[1:]]
        body = {"model": "m", "messages": messages}
        call = recorded_calls.record(live, KEY, "openai_chat", body).position
        live.append(KEY, events.ModelResponded(call=call))
        assert verdict(live, call).name == "erased"
        sent = Requests(live).sent(KEY, live.log.at(KEY, [call])[call])
        assert sent.body["messages"] == messages

    @pytest.mark.parametrize("item", ["1", "2"])
    def test_it_keeps_the_call_id_that_a_repair_gave_it(self, live: Live, item: str) -> None:
        renamed = [{"item": item, "old": "t", "new": "t_1"} for item in ("1", "2")]
        repair = events.RepairApplied.model_validate(
            {"rule": "repeated_call_id", "renamed": renamed}
        )
        live.append(KEY, CALLING, RESULT, repair)
        erase(live, item)
        calling, result = live.messages(KEY)[-2:]
        assert calling["tool_calls"][0]["id"] == result["tool_call_id"] == "t_1"
        call = self.again(live, "x")
        assert f"{item}@redacted" in self.named(live, call)
        assert verdict(live, call).name == "erased"


class TestWhatIsSealed:
    """Without it one part of a strange shape takes the audit down, or hides a sealed part."""

    @pytest.mark.parametrize("strange", [[], {}, 5, None, ["compaction"]])
    def test_a_sealed_part_counts_beside_parts_of_any_shape(
        self, live: Live, strange: object
    ) -> None:
        blob = {"type": "compaction", "encrypted_content": "x"}
        message = {"items": [strange, {"type": strange}, blob]}
        new = events.MessageAppended(dialect="openai_responses", source="injected", message=message)
        live.append(KEY, new, CALLED)
        assert verdict(live, 2).name == "opaque"

    @pytest.mark.parametrize("items", [5, "compaction", {"type": "compaction"}, True])
    def test_what_is_no_list_of_parts_holds_none(self, live: Live, items: object) -> None:
        message = {"role": "user", "content": "Hi.", "items": items}
        new = events.MessageAppended(dialect="openai_chat", source="human", message=message)
        live.append(KEY, new, CALLED)
        assert verdict(live, 2).name != "opaque"

"""Some items of a session, with what they need to be sent."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from random_logs import LOG

from eventlog import StreamKey, events
from eventlog.errors import NoContext
from projections import open_log
from projections.context import ITEM_TYPES
from projections.dialects import DIALECTS, dialect
from projections.excerpt import excerpt
from projections.legality import check

KEY = StreamKey("local", "agent", "s")


def answer(*call_ids: str, text: str = "I look.") -> events.MessageAppended:
    calls = [
        {"id": each, "type": "function", "function": {"name": "run", "arguments": "{}"}}
        for each in call_ids
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text, "tool_calls": calls}
    return events.MessageAppended(dialect="openai_chat", source="model", message=message)


def result(call_id: str, text: str) -> events.ToolResultRecorded:
    return events.ToolResultRecorded(
        tool_call_id=call_id, name="run", dialect="openai_chat", content=text
    )


def asked(text: str) -> events.MessageAppended:
    return events.MessageAppended(
        dialect="openai_chat", source="human", message={"role": "user", "content": text}
    )


SESSION = (
    asked("Look."),  # 1
    answer("a", "b"),  # 2
    result("a", "one"),  # 3
    result("b", "two"),  # 4
    answer("a", text="Again."),  # 5: ids repeat in real logs
    result("a", "three"),  # 6
    asked("Thanks."),  # 7
)


class TestPairs:
    """A list to paste that a provider refuses is not ready to paste."""

    def test_a_result_comes_with_its_call_and_the_other_results_of_it(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, *SESSION)
            found = excerpt(live, KEY, ["4"])
            assert [item.id for item in found.items] == ["2+start", "2", "3", "4"]
            assert found.added == ("2", "3")
            assert [repair.rule for repair in found.repairs] == ["no_user_first"]

    def test_a_call_comes_with_its_results_and_the_nearest_call_is_meant(
        self, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, *SESSION)
            found = excerpt(live, KEY, ["6", "1"])
            assert [item.id for item in found.items] == ["1", "5", "6"]
            assert found.added == ("5",)
            assert found.repairs == ()

    def test_a_message_stands_alone(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, *SESSION)
            found = excerpt(live, KEY, ["7"])
            assert ([item.id for item in found.items], found.added) == (["7"], ())

    @settings(max_examples=80)
    @given(log=LOG, choice=st.data())
    def test_any_items_of_any_log_can_be_sent_in_every_dialect(
        self, log: list[list[events.Event]], choice: st.DataObject
    ) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "l.db") as live:
            for append in log:
                live.append(KEY, *append)
            every = [
                f"{e.position}{dot}"
                for e in live.log.read(KEY)
                for dot in (
                    [""]
                    if e.type in ITEM_TYPES
                    else [f".{n}" for n in range(len(e.data.get("messages", ())))]
                    if e.type == "context_compacted"
                    else []
                )
            ]
            if not every:
                return
            names = choice.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
            try:
                found = excerpt(live, KEY, names)
            except NoContext:
                return
            assert check(found.items) == ()
            assert not {*names} & {*found.added}
            for name in DIALECTS:
                assert dialect(name).validate(dialect(name).render(found.items)) == []

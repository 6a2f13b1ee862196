"""Which prompt was in force at call N: what was sent, else what stood."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prompted import (
    FIRST,
    KEY,
    SALT,
    SECOND,
    appended,
    called,
    revised,
    said,
    session,
    told_of,
    tool,
)
from random_logs import LOG
from recorded_calls import record

from eventlog import events
from eventlog.events import Event
from eventlog.messages import SYSTEM_ROLES
from projections import open_log
from projections.erasure import apply, plan
from projections.live import Live
from projections.prompts.in_force import InForce
from projections.prompts.template import Template, rendered_event
from projections.sent import Requests


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def shown(call: InForce) -> list[tuple[str, str, str]]:
    return [(p.item.rendition, p.version, p.text) for p in call.prompts]


class TestARenderedPrompt:
    """Without these nobody can say which version of a prompt an answer was given under."""

    def test_each_call_has_the_one_that_stood_then(self, live: Live) -> None:
        live.append(KEY, *session())
        calls = told_of(live).calls
        assert [shown(call) for call in calls] == [
            [("1", "1", "You review Python. Be kind.")],
            [("1", "1", "You review Python. Be kind.")],
            [("1@8", "1", "You review Rust. Be kind.")],
            [("1@11", "2", "You review Rust. Say why.")],
            [("1@15", "", "Do as you like.")],
        ]
        assert calls[0].prompts[0].variables == {"language": "Python", "tone": "kind"}
        assert calls[0].prompts[0].template_text == FIRST.system
        assert (calls[4].prompts[0].event, calls[4].prompts[0].template) == (None, "")

    def test_a_place_has_what_stands_behind_it(self, live: Live) -> None:
        live.append(KEY, *session())
        places = told_of(live, 0, 4, 9, 16).places
        assert [shown(places[at]) for at in (0, 4, 9)] == [
            [],
            [("1", "1", "You review Python. Be kind.")],
            [("1@8", "1", "You review Rust. Be kind.")],
        ]
        assert (places[16].call, places[16].is_sent) == (0, False)

    def test_one_that_is_taken_back_is_the_one_before_again(self, live: Live) -> None:
        live.append(KEY, *session()[:10], events.DecisionUndone(target=8), called())
        assert shown(told_of(live).calls[-1]) == [("1", "1", "You review Python. Be kind.")]

    def test_a_human_message_of_a_template_is_one_and_others_are_none(self, live: Live) -> None:
        asking = Template("ask", user="What of {file}?")
        live.append(KEY, said("user", "x"), *appended(asking, 2, "user", file="a.py"), called())
        assert shown(told_of(live).calls[0]) == [("2", "", "What of a.py?")]

    def test_it_belongs_to_its_item_also_where_other_messages_lie_between(self, live: Live) -> None:
        message, event = appended(FIRST, 1, language="C", tone="kind")
        live.append(KEY, message, said("system", "second"), said("user", "x"), event, called())
        found = told_of(live).calls[0].prompts
        assert [(p.item.id, p.template) for p in found] == [("1", "review"), ("2", "")]

    def test_it_may_stand_in_front_of_the_bytes_that_it_gave(self, live: Live) -> None:
        message, event = appended(FIRST, 2, language="C", tone="kind")
        again, second = revised(SECOND, 2, language="C")
        live.append(KEY, event, message, called(), second, again, called())
        assert [call.prompts[0].version for call in told_of(live).calls] == ["1", "2"]

    def test_another_template_of_the_same_text_holds_from_there_on(self, live: Live) -> None:
        later = FIRST.render(language="Python", tone="kind")
        later = replace(later, template=replace(FIRST, version="1.1"))
        again = rendered_event(later, "1", salt=SALT)
        live.append(KEY, *session()[:7], again, called(), called())
        told = told_of(live)
        assert [call.prompts[0].version for call in told.calls] == ["1", "1", "1.1", "1.1"]
        assert told.unused == []

    def test_one_that_no_call_was_given_yet_is_told_apart(self, live: Live) -> None:
        live.append(KEY, *session()[:9])
        told = told_of(live)
        assert [prompt.item.rendition for prompt in told.unused] == ["1@8"]

    def test_in_a_fork_it_is_the_parents_up_to_there(self, live: Live) -> None:
        live.append(KEY, *session())
        child = KEY._replace(session="fork")
        live.log.fork(child, KEY, at=9)
        live.append(child, called())
        assert shown(told_of(live, key=child).calls[2]) == [
            ("1@8", "1", "You review Rust. Be kind.")
        ]


class TestATextWithoutATemplate:
    """Without these an imported session seems to have had no prompt at all."""

    def test_system_prompts_of_any_message_are_prompts(self, live: Live) -> None:
        live.append(KEY, said("system", "a"), said("user", "b"), said("developer", "c"), called())
        assert shown(told_of(live).calls[0]) == [("1", "", "a"), ("3", "", "c")]

    def test_a_summary_is_none_however_it_was_put_in(self, live: Live) -> None:
        new = {"dialect": "openai_chat", "message": {"role": "system", "content": "so far"}}
        live.append(KEY, said("system", "a"), said("user", "b"))
        live.append(
            KEY, events.ContextCompacted.model_validate({"covered": ["2"], "messages": [new]})
        )
        live.append(KEY, called())
        assert shown(told_of(live).calls[0]) == [("1", "", "a")]

    def test_they_stand_in_the_order_of_the_context(self, live: Live) -> None:
        live.append(KEY, said("system", "a"), said("system", "b"), said("user", "c"), called())
        live.append(KEY, events.ContextCompacted(covered=("3",), layout=("2", "1")), called())
        assert [[p.text for p in call.prompts] for call in told_of(live).calls] == [
            ["a", "b"],
            ["b", "a"],
        ]

    @pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses", "anthropic"])
    def test_of_a_recorded_request_it_is_what_was_sent(self, live: Live, dialect: str) -> None:
        turn = [{"role": "user", "content": "hi"}]
        for text in ("Be brief.", "Be kind."):
            body = {
                "openai_chat": {"messages": [{"role": "system", "content": text}, *turn]},
                "openai_responses": {"instructions": text, "input": turn},
                "anthropic": {"system": text, "messages": turn, "max_tokens": 9},
            }[dialect]
            record(live, KEY, dialect, {"model": "m", **body})
        calls = told_of(live).calls
        assert [[prompt.text for prompt in call.prompts] for call in calls] == [
            ["Be brief."],
            ["Be kind."],
        ]
        assert all(call.is_sent for call in calls)

    def test_a_manifest_is_believed_and_not_what_stands(self, live: Live) -> None:
        live.append(KEY, said("system", "sent"), said("system", "left out"), said("user", "x"))
        live.append(KEY, called(manifest=["1", "3"]), called())
        first, second = told_of(live).calls
        assert shown(first) == [("1", "", "sent")]
        assert len(second.prompts) == 2


class TestErased:
    """Without these an erased prompt is told by its template."""

    def test_of_it_stay_its_name_and_its_version(self, live: Live) -> None:
        live.append(KEY, *session())
        apply(live, plan(live, KEY, ["1"]))
        first = told_of(live).calls[0].prompts[0]
        assert (first.is_erased, first.text, first.template_text) == (True, "", "")
        assert (first.template, first.version, dict(first.variables)) == ("review", "1", {})
        assert b"You review" not in live.log.path.read_bytes()


class TestTools:
    """Without these what a model could call is looked for in another place."""

    def test_a_call_has_those_that_it_names(self, live: Live) -> None:
        declared = [[tool("a")], [tool("b")]]
        live.append(
            KEY,
            *(events.ToolsDeclared(dialect="openai_chat", definitions=each) for each in declared),
            said("user", "x"),
            called(tools=1, manifest=["3"]),
            called(tools=2, manifest=["=1"]),
            called(manifest=["=1"]),
        )
        tools = [call.tools for call in told_of(live).calls]
        assert [each.position for each in tools] == [1, 2, None]
        assert all(each.is_known for each in tools)

    def test_where_nothing_was_sent_the_last_ones_hold(self, live: Live) -> None:
        live.append(KEY, *session())
        assert [call.tools.position for call in told_of(live).calls] == [3, 3, 3, 13, 13]

    def test_where_none_were_written_down_nobody_knows(self, live: Live) -> None:
        live.append(KEY, said("user", "x"), called())
        assert told_of(live).calls[0].tools.is_known is False


class TestAnyLog:
    """Without these what is carried from call to call goes astray somewhere in a long session."""

    @given(LOG)
    @settings(max_examples=40)
    def test_of_a_fold_it_is_what_the_view_holds(self, log: list[list[Event]]) -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            open_log(f"{folder}/l.db", durability="normal") as live,
        ):
            for each in log:
                live.append(KEY, *each)
            live.append(KEY, called())
            for call in told_of(live).calls:
                standing = live.items(KEY, call.position - 1)
                expected = [
                    item.rendition
                    for item in standing
                    if item.role in SYSTEM_ROLES and not item.is_summary
                ]
                assert [prompt.item.rendition for prompt in call.prompts] == expected

    @given(
        st.lists(
            st.tuples(st.integers(0, 5), st.lists(st.sampled_from(["1", "2", "3", "1-3", "4"]))),
            min_size=1,
        )
    )
    @settings(max_examples=40)
    def test_of_a_manifest_it_is_what_that_names(
        self, manifests: list[tuple[int, list[str]]]
    ) -> None:
        roles = ("system", "user", "developer", "system")
        with (
            tempfile.TemporaryDirectory() as folder,
            open_log(f"{folder}/l.db", durability="normal") as live,
        ):
            live.append(KEY, *[said(role, str(n)) for n, role in enumerate(roles)])
            for kept, names in manifests:
                live.append(KEY, called(manifest=[*([f"={kept}"] if kept else []), *names]))
            calls = list(live.log.read(KEY, types=["model_called"]))
            every = [told_of(live).calls[at] for at in range(len(calls))]
            for (_, expanded), call in zip(
                Requests(live).all_expanded(KEY, calls), every, strict=True
            ):
                named = dict.fromkeys(str(p.item) for entry in expanded.entries for p in entry)
                assert [prompt.item.id for prompt in call.prompts] == [n for n in named if n != "2"]

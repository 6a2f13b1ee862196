"""What changed between two calls in what a model was told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompted import FIRST, KEY, appended, called, said, session, told_of, tool

from eventlog import events
from projections import open_log
from projections.live import Live
from projections.prompts.difference import Difference, Variable, by_name, difference, is_other
from projections.prompts.in_force import Tools
from projections.prompts.template import Template


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def between(live: Live, left: int, right: int) -> Difference:
    calls = told_of(live).calls
    return difference(calls[left - 1], calls[right - 1])


class TestPrompts:
    """Without these "something changed" is all that can be said."""

    def test_the_same_between_two_calls_is_the_same(self, live: Live) -> None:
        live.append(KEY, *session())
        found = between(live, 1, 2)
        assert found.is_same
        assert [pair.state for pair in found.prompts] == ["same"]

    def test_a_variable_that_changed_and_the_text_that_came_of_it(self, live: Live) -> None:
        live.append(KEY, *session())
        [pair] = between(live, 2, 3).prompts
        assert (pair.state, pair.changed) == ("changed", ("variables", "text"))
        assert pair.variables == (Variable("language", "Python", "Rust", "changed"),)

    def test_a_template_that_changed_and_a_variable_that_went(self, live: Live) -> None:
        live.append(KEY, *session())
        [pair] = between(live, 3, 4).prompts
        assert pair.changed == ("version", "template_text", "variables", "text")
        assert pair.variables == (Variable("tone", "kind", None, "removed"),)

    def test_a_text_in_the_place_of_a_template(self, live: Live) -> None:
        live.append(KEY, *session())
        [pair] = between(live, 4, 5).prompts
        assert "template" in pair.changed
        assert [each.state for each in pair.variables] == ["removed"]

    def test_one_that_came_and_one_that_went(self, live: Live) -> None:
        values = {"language": "C", "tone": "kind"}
        live.append(KEY, said("system", "a"), said("user", "x"), called())
        live.append(KEY, *appended(FIRST, 4, **values), called())
        assert [pair.state for pair in between(live, 1, 2).prompts] == ["same", "added"]
        assert [pair.state for pair in between(live, 2, 1).prompts] == ["same", "removed"]

    def test_one_of_the_same_template_in_another_item_is_held_against_it(self, live: Live) -> None:
        other = Template("other", system="Other {x}.")
        live.append(KEY, *appended(FIRST, 1, language="C", tone="kind"), *appended(other, 3, x="a"))
        live.append(KEY, called(manifest=["1", "3"]))
        live.append(KEY, *appended(other, 6, x="b"), *appended(FIRST, 8, language="D", tone="kind"))
        live.append(KEY, called(manifest=["6", "8"]))
        pairs = between(live, 1, 2).prompts
        assert [(p.left and p.left.item.id, p.right and p.right.item.id) for p in pairs] == [
            ("3", "6"),
            ("1", "8"),
        ]
        assert all(pair.state == "changed" for pair in pairs)

    def test_values_in_another_order_are_no_change(self, live: Live) -> None:
        live.append(KEY, *appended(FIRST, 1, language="C", tone="kind"), called(manifest=["1"]))
        live.append(KEY, *appended(FIRST, 4, tone="kind", language="C"), called(manifest=["4"]))
        assert between(live, 1, 2).is_same


class TestTools:
    """Without these a tool that lost a parameter looks like the same tool."""

    def test_each_that_came_went_or_changed(self, live: Live) -> None:
        live.append(KEY, *session())
        found = between(live, 3, 4)
        assert [(t.name, t.state, t.fields) for t in found.tools] == [
            ("read", "changed", ("description",)),
            ("run", "removed", ()),
        ]
        assert [t.state for t in between(live, 4, 3).tools] == ["changed", "added"]

    def test_what_nobody_wrote_down_is_no_difference(self, live: Live) -> None:
        live.append(KEY, said("user", "x"), called())
        live.append(
            KEY, events.ToolsDeclared(dialect="openai_chat", definitions=[tool("a")]), called()
        )
        found = between(live, 1, 2)
        assert (found.tools, found.tools_known, found.is_same) == ((), False, True)

    def test_the_same_tools_in_another_declaration_are_the_same(self, live: Live) -> None:
        for definitions in ([tool("a"), tool("b")], [tool("b"), tool("a")]):
            live.append(KEY, events.ToolsDeclared(dialect="openai_chat", definitions=definitions))
            live.append(KEY, called())
        assert not is_other(*told_of(live).calls)

    @pytest.mark.parametrize(
        ("definitions", "names"),
        [
            ([tool("a")], ["a"]),
            ([{"name": "a", "input_schema": {}}], ["a"]),
            ([{"type": "web_search"}], ["web_search"]),
            ([tool("a"), tool("a")], ["a", "a (2)"]),
            ([{}, 7, {"name": 7}], ["tool 1", "tool 2", "tool 3"]),
            ({"a": 1}, []),
            (None, []),
        ],
    )
    def test_they_have_names_in_every_dialect(self, definitions: object, names: list[str]) -> None:
        assert list(by_name(definitions)) == names

    def test_no_tools_and_none_that_are_known_are_two_things(self) -> None:
        assert Tools().is_known
        assert not Tools(is_known=False).is_known

"""The prompts of a session, each with the calls that had it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompted import FIRST, KEY, called, revised, said, session, told_of

from projections import open_log
from projections.live import Live
from projections.prompts.history import history


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


class TestHistory:
    """Without these a prompt that came back is told twice, and one that changed not at all."""

    def test_each_prompt_once_with_its_calls_and_what_it_changed(self, live: Live) -> None:
        live.append(KEY, *session())
        spans = history(told_of(live)).prompts
        assert [(s.prompt.version, s.calls, s.change.changed) for s in spans] == [
            ("1", [1, 2], ()),
            ("1", [3], ("variables", "text")),
            ("2", [4], ("version", "template_text", "variables", "text")),
            ("", [5], ("template", "version", "template_text", "variables", "text")),
        ]

    def test_one_that_comes_back_is_the_same_one(self, live: Live) -> None:
        values = {"language": "Python", "tone": "kind"}
        live.append(KEY, *session()[:10], *revised(FIRST, 1, **values), called())
        spans = history(told_of(live)).prompts
        assert [(s.calls, s.renditions) for s in spans] == [
            ([1, 2, 4], ["1", "1@11"]),
            ([3], ["1@8"]),
        ]

    def test_one_that_waits_for_its_first_call_has_none(self, live: Live) -> None:
        live.append(KEY, *session()[:9])
        spans = history(told_of(live)).prompts
        assert [(s.calls, s.renditions) for s in spans] == [([1, 2], ["1"]), ([], ["1@8"])]

    def test_one_that_stands_twice_in_a_call_was_in_that_call_once(self, live: Live) -> None:
        live.append(KEY, said("system", "a"), said("system", "a"), called(), called())
        [span] = history(told_of(live)).prompts
        assert (span.calls, span.renditions) == ([1, 2], ["1", "2"])

    def test_tools_likewise(self, live: Live) -> None:
        live.append(KEY, *session())
        found = history(told_of(live)).tools
        assert [(s.calls, len(s.changes)) for s in found] == [([1, 2, 3], 0), ([4, 5], 2)]

    def test_calls_of_which_nothing_is_known_are_counted(self, live: Live) -> None:
        live.append(KEY, said("user", "x"), called(), called())
        found = history(told_of(live))
        assert (found.prompts, found.tools) == ([], [])
        assert (found.calls, found.without_prompt, found.without_tools) == (2, [1, 2], [1, 2])

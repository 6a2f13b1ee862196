"""Exact counts are kept, and a kept count is the count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from random_logs import LOG

from eventlog import StreamKey, events
from eventlog.redaction import Target, redact
from projections import open_log, tokens
from projections.items import Item
from projections.live import Live
from projections.token_counts import counts

KEY = StreamKey("local", "agent", "s")
CHILD = StreamKey("local", "agent", "s~2")


class Words:
    """An exact counter that can be watched: a token a word."""

    name = "words"
    exact = True

    def __init__(self) -> None:
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return len(text.split())


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(text: str) -> events.MessageAppended:
    return events.MessageAppended(
        dialect="openai_chat", source="human", message={"role": "user", "content": text}
    )


def directly(items: list[Item]) -> dict[str, int]:
    return {item.rendition: tokens.count_item(Words(), item) for item in items}


class TestCounts:
    """Without these a context is shown with the size of another one."""

    def test_with_the_default_counter_nothing_is_kept(self, live: Live) -> None:
        live.append(KEY, said("12345678"))
        found = counts(live, KEY, live.items(KEY))
        assert found == {"1": tokens.MESSAGE_TOKENS + 2}
        assert not is_kept(live)

    def test_an_exact_count_is_made_once(self, live: Live) -> None:
        counter = Words()
        live.append(KEY, said("one two three"), said("four"))
        first = counts(live, KEY, live.items(KEY), counter)
        asked = counter.asked
        assert first == directly(live.items(KEY))
        assert counts(live, KEY, live.items(KEY), counter) == first
        assert counter.asked == asked
        live.append(KEY, said("five"))
        assert len(counts(live, KEY, live.items(KEY), counter)) == 3
        assert counter.asked == asked + 1

    def test_each_rendition_has_its_own(self, live: Live) -> None:
        live.append(KEY, said("one two three"))
        counts(live, KEY, live.items(KEY), Words())
        live.append(KEY, events.PlaceholderSubstituted(item="1", content="gone"))
        assert counts(live, KEY, live.items(KEY), Words()) == {"1@2": tokens.MESSAGE_TOKENS + 1}
        assert counts(live, KEY, live.items(KEY, 1), Words()) == {"1": tokens.MESSAGE_TOKENS + 3}

    def test_a_fork_shares_what_it_inherits_and_nothing_else(self, live: Live) -> None:
        live.append(KEY, said("one two"), said("three"))
        live.log.fork(CHILD, KEY, at=1)
        live.append(KEY, said("of the parent"))
        live.append(CHILD, said("own words of the fork"))
        for key in (KEY, CHILD):
            assert counts(live, key, live.items(key), Words()) == directly(live.items(key))
        counter = Words()
        counts(live, CHILD, live.items(CHILD), counter)
        assert counter.asked == 0

    def test_what_was_erased_is_counted_as_it_stands(self, live: Live) -> None:
        live.append(KEY, said("one two three"))
        counts(live, KEY, live.items(KEY), Words())
        redact(live.log, [Target(KEY, 1)], stream=KEY)
        found = counts(live, KEY, live.items(KEY), Words())
        assert found == {"1@redacted": tokens.MESSAGE_TOKENS + 1}

    def test_what_is_erased_bit_by_bit_is_counted_anew_each_time(self, live: Live) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '"a b c"'}}
        message = {"role": "assistant", "content": "x", "tool_calls": [call]}
        live.append(
            KEY,
            events.MessageAppended(dialect="openai_chat", source="model", message=message),
            events.PlaceholderSubstituted(item="1", content="gone for now"),
        )
        for position in (2, 1):
            redact(live.log, [Target(KEY, position)], stream=KEY)
            items = live.items(KEY)
            assert [item.rendition for item in items] == ["1@redacted"]
            assert counts(live, KEY, items, Words()) == directly(items)

    def test_a_log_that_is_only_read_is_counted_with_or_without_the_table(self, live: Live) -> None:
        live.append(KEY, said("one two three"))
        for asked in (1, 0):
            counter = Words()
            with open_log(live.log.path, read_only=True) as reader:
                assert counts(reader, KEY, reader.items(KEY), counter) == directly(live.items(KEY))
            assert counter.asked == asked
            counts(live, KEY, live.items(KEY), Words())

    def test_a_counter_is_taken_by_its_name(self, live: Live) -> None:
        live.append(KEY, said("hello world"))
        found = counts(live, KEY, live.items(KEY), "o200k_base")
        assert found == {"1": tokens.MESSAGE_TOKENS + 2}
        with pytest.raises(tokens.UnknownCounter):
            counts(live, KEY, [], "no such")

    @settings(max_examples=30)
    @given(LOG)
    def test_kept_counts_are_the_counts_at_every_position(
        self, tmp_path_factory: pytest.TempPathFactory, drawn: list[list[events.Event]]
    ) -> None:
        with open_log(tmp_path_factory.mktemp("log") / "log.db", durability="normal") as live:
            for appended in drawn:
                live.append(KEY, *appended)
                items = live.items(KEY)
                assert counts(live, KEY, items, Words()) == directly(items)
            for position in range(live.log.version(KEY)):
                items = live.items(KEY, position)
                assert counts(live, KEY, items, Words()) == directly(items)


def is_kept(live: Live) -> bool:
    found = live.log.query("select 1 from sqlite_schema where name = 'token_counts'").fetchone()
    return found is not None

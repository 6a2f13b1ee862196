"""A person names a session and a place in it; a wrong guess here shows the wrong context."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog import Draft, StreamKey, events
from eventlog.errors import (
    Ambiguous,
    CtxlogError,
    InputRefused,
    ItemNotFound,
    PositionNotFound,
    StreamNotFound,
)
from eventlog.redaction import Target, redact
from projections import open_log
from projections.live import Live
from projections.one_session import in_one_session
from projections.references import (
    Reference,
    find_session,
    items,
    parse,
    place_in,
    reads_otherwise,
    resolve,
)

KEY = StreamKey("ann", "coder", "0198c0de-aaaa")


def said(text: str, role: str = "user") -> events.MessageAppended:
    source = "human" if role == "user" else "model"
    return events.MessageAppended(
        dialect="openai_chat", source=source, message={"role": role, "content": text}
    )


def named(session: str, agent: str = "coder") -> StreamKey:
    return StreamKey("ann", agent, session)


CALLED = events.ModelCalled(model="m", dialect="openai_chat")
SUMMARY = events.NewMessage(dialect="openai_chat", message={"role": "user", "content": "so far"})


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


@pytest.fixture
def told(live: Live) -> Live:
    """One session: items 2, 4 and 7.0, calls at 3 and 8, a substitution at 6, a compaction at 7."""
    live.append(
        KEY,
        events.SessionStarted(title="fix the build"),
        said("fix it"),
        CALLED,
        said("done", "assistant"),
        events.ModelResponded(call=3),
        events.PlaceholderSubstituted(item="4", content="[cleared]"),
        events.ContextCompacted(covered=("2",), messages=(SUMMARY,)),
        CALLED,
    )
    return live


class TestLast:
    """Without these a session of another program hides all others behind its id."""

    def test_it_is_the_newest_also_where_a_session_has_that_id(self, live: Live) -> None:
        live.append(named("last"), events.SessionStarted(title="old"))
        live.append(named("newer"), events.SessionStarted(title="new"))
        assert find_session(live, "last") == named("newer")
        assert resolve(live, "last@1").stream == named("newer")
        assert find_session(live, "last~1") == named("last")
        assert find_session(live, "ann/coder/last") == named("last")

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            *((name, True) for name in ("last", "last~2", "c5", "k1^", "12", "now", "a@12")),
            *((name, False) for name in ("retry", "last-try", "a@b", "lasting", "c5x")),
        ],
    )
    def test_a_name_that_reads_otherwise_is_known(self, name: str, expected: bool) -> None:
        assert reads_otherwise(name) is expected

    def test_a_number_of_any_length_is_told_as_it_was_typed(self, told: Live) -> None:
        with pytest.raises(PositionNotFound, match="has no position 99999999999999999999999; it"):
            resolve(told, f"{KEY}@99999999999999999999999")


class TestText:
    """Without these an ``@`` in a name is taken for a place, or the other way round."""

    @pytest.mark.parametrize(
        ("text", "session", "place"),
        [
            ("s", "s", None),
            ("s@12", "s", "12"),
            ("s@57.0", "s", "57.0"),
            ("s@12@340", "s", "12@340"),
            ("s@57.0@340", "s", "57.0@340"),
            ("s@12@redacted", "s", "12@redacted"),
            ("s@c5", "s", "c5"),
            ("s@k1", "s", "k1"),
            ("s@k1^", "s", "k1^"),
            ("s@now", "s", "now"),
            ("me@home@c5", "me@home", "c5"),
            ("me@home", "me@home", None),
            ("ann/coder/a b@c", "ann/coder/a b@c", None),
            ("s@c0", "s@c0", None),
            ("s@c5^", "s@c5^", None),
            ("s@", "s@", None),
            ("@12", "@12", None),
            ("s@١٢", "s@١٢", None),
            ("s@12\n", "s@12\n", None),
            ("", "", None),
        ],
    )
    def test_it_splits_at_the_last_at_whose_right_side_is_a_place(
        self, text: str, session: str, place: str | None
    ) -> None:
        assert parse(text) == (session, place)

    @given(st.text(st.sampled_from("s@12.ck^~/ #-"), max_size=12))
    def test_nothing_of_a_text_gets_lost(self, text: str) -> None:
        session, place = parse(text)
        assert text == (session if place is None else f"{session}@{place}")


class TestSessions:
    """Without these a command runs on another session than the one that was meant."""

    def test_by_key_id_prefix_and_title(self, told: Live) -> None:
        for name in ("ann/coder/0198c0de-aaaa", "0198c0de-aaaa", "0198", "fix the build"):
            assert find_session(told, name) == KEY

    def test_three_characters_are_no_prefix(self, told: Live) -> None:
        with pytest.raises(StreamNotFound):
            find_session(told, "019")

    def test_too_few_characters_are_told_as_that(self, told: Live) -> None:
        with pytest.raises(StreamNotFound, match="at least 4 characters"):
            find_session(told, "01")
        with pytest.raises(StreamNotFound, match="ctxlog sessions"):
            find_session(told, "xy")

    def test_a_short_id_means_the_session_also_when_others_grew_out_of_it(self, told: Live) -> None:
        for name in (".fork1", ".fork2", ".a21e2f5", "~2"):
            told.log.fork(named(KEY.session + name), KEY, at=4)
        assert find_session(told, "0198") == KEY
        assert find_session(told, "0198c0de-aa") == KEY
        assert find_session(told, "0198.fork2") == named(KEY.session + ".fork2")
        assert find_session(told, "0198~2") == named(KEY.session + "~2")
        assert resolve(told, "0198.a21@c1").stream == named(KEY.session + ".a21e2f5")
        with pytest.raises(Ambiguous):
            find_session(told, "0198.f")

    def test_an_exact_id_is_taken_before_a_longer_one(self, live: Live) -> None:
        for name in ("abcd", "abcd-2"):
            live.append(named(name), said("x"))
        assert find_session(live, "abcd") == named("abcd")

    @pytest.mark.parametrize("name", ["abcd", "same title", "abcd-1"])
    def test_several_are_listed_and_none_is_chosen(self, live: Live, name: str) -> None:
        keys = [named("abcd-1"), named("abcd-1", agent="other"), named("abcd-3")]
        for key in keys:
            live.append(key, events.SessionStarted(title="same title"))
        with pytest.raises(Ambiguous) as raised:
            find_session(live, name)
        wanted = [key for key in keys if name != "abcd-1" or key.session == name]
        assert raised.value.candidates == tuple(sorted(map(str, wanted)))

    def test_last_is_the_one_that_was_updated_last(self, live: Live) -> None:
        for day, name in ((3, "third"), (1, "first"), (2, "second")):
            live.append(named(name), Draft(said("x"), occurred_at=f"2026-01-0{day}T00:00:00Z"))
        agent = events.SessionStarted(parent_session=str(named("third")))
        live.append(named("third.agent"), agent)
        assert find_session(live, "last") == named("third")
        assert find_session(live, "last~0") == named("third")
        assert find_session(live, "last~2") == named("first")
        with pytest.raises(StreamNotFound):
            find_session(live, "last~3")

    def test_last_is_what_nobody_spoke_with_only_where_nothing_else_is_there(
        self, live: Live
    ) -> None:
        started = events.SessionStarted(parent_session="x/y/elsewhere", parent_call="call_1")
        tested = named("review-1", "prompt-test")
        judge = events.SessionStarted(parent_session=str(tested))
        live.append(named("agent"), started)
        assert find_session(live, "last") == named("agent")
        live.append(tested, said("which?"))
        live.append(named("review-1.judge1", "prompt-test"), judge)
        live.append(named("agent"), said("later"))
        assert find_session(live, "last") == tested
        live.append(named("spoken"), Draft(said("x"), occurred_at="2020-01-01T00:00:00Z"))
        assert find_session(live, "last") == named("spoken")
        with pytest.raises(StreamNotFound, match="there is 1"):
            find_session(live, "last~1")

    def test_a_name_that_begins_with_last_does_not_take_its_place(self, live: Live) -> None:
        live.append(named("last-minute-fix"), Draft(said("x"), occurred_at="2026-01-01"))
        live.append(named("newer"), Draft(said("x"), occurred_at="2026-01-02"))
        assert find_session(live, "last") == named("newer")

    def test_a_fork_does_not_make_its_parents_title_ambiguous(self, told: Live) -> None:
        told.log.fork(named("fork"), KEY, at=4)
        assert find_session(told, "fix the build") == KEY

    def test_a_tombstone_hides_from_all_but_the_exact_name(self, told: Live) -> None:
        told.append(KEY, events.SessionDeleted())
        assert find_session(told, "0198c0de-aaaa") == KEY
        for name in ("0198", "fix the build", "last"):
            with pytest.raises(StreamNotFound):
                find_session(told, name)

    @pytest.mark.parametrize("name", ["", "x/y/z", "a/b", "//", "\x00", "no such", "\ud83d"])
    def test_what_is_not_there_is_not_found(self, told: Live, name: str) -> None:
        with pytest.raises(StreamNotFound):
            find_session(told, name)


class TestPlaces:
    """Without these a context is shown that was never there."""

    @pytest.mark.parametrize(
        ("place", "found"),
        [
            (None, Reference(KEY, "now", 8)),
            ("now", Reference(KEY, "now", 8)),
            ("5", Reference(KEY, "position", 5)),
            ("c1", Reference(KEY, "call", 2, number=1)),
            ("c2", Reference(KEY, "call", 7, number=2)),
            ("k1", Reference(KEY, "compaction", 7, number=1)),
            ("k1^", Reference(KEY, "before_compaction", 6, number=1)),
            ("7.0", Reference(KEY, "item", 7, "7.0", "7.0")),
            ("4@6", Reference(KEY, "item", 6, "4", "4@6")),
        ],
    )
    def test_each_form_names_its_place(
        self, told: Live, place: str | None, found: Reference
    ) -> None:
        assert place_in(told, KEY, place) == found
        text = str(KEY) if place is None else f"{KEY}@{place}"
        assert resolve(told, text) == found

    def test_what_a_call_was_given_is_the_view_at_the_call(self, told: Live) -> None:
        at = resolve(told, "0198@c2").position
        assert told.view(KEY, at).labels() == told.view(KEY, 8).labels() == ["7.0", "4@6"]

    def test_around_a_compaction(self, told: Live) -> None:
        assert told.view(KEY, resolve(told, "0198@k1^").position).labels() == ["2", "4@6"]
        assert told.view(KEY, resolve(told, "0198@k1").position).labels() == ["7.0", "4@6"]

    def test_an_erased_item_has_a_redacted_rendition(self, told: Live) -> None:
        with pytest.raises(ItemNotFound):
            place_in(told, KEY, "2@redacted")
        redact(told.log, [Target(KEY, 2)], stream=KEY)
        assert place_in(told, KEY, "2@redacted").rendition == "2@redacted"

    @pytest.mark.parametrize(
        ("place", "error", "says"),
        [
            ("9", PositionNotFound, "it ends at 8"),
            ("0", PositionNotFound, "the first is 1"),
            ("9" * 400, PositionNotFound, "it ends at 8"),
            ("c3", PositionNotFound, "it has 2 calls$"),
            ("k2", PositionNotFound, "it has 1 compaction$"),
            ("7.1", ItemNotFound, "no item 7.1"),
            ("4.0", ItemNotFound, "no item 4.0"),
            ("4@7", ItemNotFound, "no item 4@7"),
            ("2@6", ItemNotFound, "no item 2@6"),
            ("3@6", ItemNotFound, "no item 3"),
            ("c0", InputRefused, "'c0' is no place"),
            ("x", InputRefused, "'x' is no place"),
            ("", InputRefused, "'' is no place"),
        ],
    )
    def test_what_is_not_there_is_refused_with_what_there_is(
        self, told: Live, place: str, error: type[CtxlogError], says: str
    ) -> None:
        with pytest.raises(error, match=says):
            place_in(told, KEY, place)
        with pytest.raises(error, match=says):
            resolve(told, f"{KEY}@{place}")

    def test_a_session_may_be_named_like_a_place(self, live: Live) -> None:
        for name in ("home@12", "home@12@1"):
            live.append(named(name), said("x"))
        assert resolve(live, "home@12").stream == named("home@12")
        assert resolve(live, "home@12@1") == Reference(named("home@12"), "position", 1)
        assert resolve(live, "home@12@1@now").stream == named("home@12@1")
        live.append(named("home"), *[said("y")] * 12)
        assert resolve(live, "home@12") == Reference(named("home"), "position", 12)

    def test_an_exact_name_is_taken_before_the_prefix_of_another(self, live: Live) -> None:
        live.append(named("home@1"), said("x"))
        live.append(named("homework"), said("x"))
        assert resolve(live, "home@1").stream == named("home@1")

    def test_a_session_that_is_not_there_is_named_as_it_was_typed(self, told: Live) -> None:
        with pytest.raises(StreamNotFound) as raised:
            resolve(told, "nobody@c1")
        assert raised.value.stream == "nobody"


class TestItems:
    """Without these a redaction or a pin takes another item than the one that was typed."""

    def test_one_several_and_ranges(self, told: Live) -> None:
        assert items(told, KEY, ["4", "#2,7.0"]) == ["4", "2", "7.0"]
        assert items(told, KEY, ["1-8"]) == ["2", "4"]
        assert items(told, KEY, ["#2-#4 4"]) == ["2", "4"]

    @pytest.mark.parametrize("word", ["3", "7", "99", "7.1", "5-8", "8-5", "100-900", "9" * 99])
    def test_what_is_no_item_is_not_found(self, told: Live, word: str) -> None:
        with pytest.raises(ItemNotFound):
            items(told, KEY, [word])

    @pytest.mark.parametrize("word", ["x", "c1", "-5", "0", "4@6", "2-", "١"])
    def test_what_is_not_written_as_one_is_refused(self, told: Live, word: str) -> None:
        with pytest.raises(InputRefused):
            items(told, KEY, [word])


class TestPlacesInForks:
    """A fork holds what its parent did before it: what both have is compared in either."""

    @pytest.fixture
    def forked(self, live: Live) -> Live:
        """A session of 6 events with a compaction at 5; forks of it from 4, and of that from 6."""
        live.append(KEY, said("a"), CALLED, said("b"), said("c"))
        live.append(KEY, events.ContextCompacted(covered=("1",), messages=(SUMMARY,)), said("d"))
        live.log.fork(named("one"), KEY, 4)
        live.append(named("one"), said("e"))
        live.log.fork(named("two"), named("one"), 6)
        live.append(named("two"), said("f"))
        live.append(named("other"), said("g"))
        return live

    @pytest.mark.parametrize(
        ("one", "other", "found"),
        [
            (("one", None), ("", "c1"), ("one", "call", 1)),
            (("one", None), ("", "4"), ("one", "position", 4)),
            (("one", None), ("", "k1^"), ("one", "position", 4)),
            (("two", None), ("", "3"), ("two", "position", 3)),
            (("two", None), ("one", None), ("two", "position", 6)),
            (("", "k1"), ("one", "4"), ("", "position", 4)),
        ],
    )
    def test_the_place_that_both_have_is_moved(
        self,
        one: tuple[str, str | None],
        other: tuple[str, str | None],
        found: tuple[str, str, int],
        forked: Live,
    ) -> None:
        first, second = (
            place_in(forked, named(name) if name else KEY, place) for name, place in (one, other)
        )
        stream = named(found[0]) if found[0] else KEY
        moved = in_one_session(forked, first, second)
        assert moved[0] == first
        assert (moved[1].stream, moved[1].kind, moved[1].position) == (stream, *found[1:])
        turned = in_one_session(forked, second, first)
        assert turned == (moved[1], moved[0])

    @pytest.mark.parametrize(
        ("name", "words"),
        [("one", "part after event 4: "), ("other", "two places of one session")],
    )
    def test_what_neither_has_is_refused(self, name: str, words: str, forked: Live) -> None:
        here = place_in(forked, KEY, None)
        with pytest.raises(InputRefused, match=words):
            in_one_session(forked, here, place_in(forked, named(name), None))

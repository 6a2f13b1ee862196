"""Titles that a model gives: asked at a real endpoint, taken only where they are titles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import completion, nowhere, serving

from eventlog import StreamKey, events
from eventlog.errors import InputRefused
from harness.agent_sessions import Sessions
from harness.endpoint import Endpoint
from harness.errors import RequestRejected, Unreachable
from harness.prompts import Prompts
from harness.titles import LONGEST, TURNS, Retitled, is_due, retitle, title_fault
from projections import Live, open_log


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


@pytest.fixture
def key(live: Live) -> StreamKey:
    """A session with six turns."""
    key = Sessions(live).create("You are a system prompt.")
    for number in range(TURNS):
        live.append(key, said(f"question {number}"), said(f"answer {number}", "assistant"))
    return key


def said(text: str, role: str = "user") -> events.MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    message = {"role": role, "content": text}
    return events.MessageAppended(dialect="openai_chat", source=source, message=message)


def title(live: Live, key: StreamKey) -> str:
    return next(one.title for one in Sessions(live).list() if one.key == key)


def titled(live: Live, key: StreamKey) -> list[dict[str, Any]]:
    return [event.data for event in live.log.read(key, types=["session_titled"])]


class TestAsking:
    """Without these a list names conversations after their greeting, or after an injection."""

    def test_the_title_is_recorded_with_the_model_that_gave_it(
        self, live: Live, key: StreamKey
    ) -> None:
        with serving(lambda request: completion("  “Mending the kiln” \n")) as server:
            assert retitle(live, key, server.endpoint()) == Retitled("Mending the kiln")
        assert titled(live, key) == [{"title": "Mending the kiln", "by": "model m"}]
        assert title(live, key) == "Mending the kiln"

    def test_the_model_sees_how_it_began_and_how_it_went_on(
        self, live: Live, key: StreamKey
    ) -> None:
        with serving(lambda request: completion("t")) as server:
            retitle(live, key, server.endpoint())
        [request] = server.requests
        system, shown = (message["content"] for message in request["messages"])
        assert system == Prompts.bundled().get("title").system.replace("{longest}", str(LONGEST))
        assert shown.startswith("user: question 0\n\nassistant: answer 0")
        assert shown.endswith("user: question 5\n\nassistant: answer 5")
        assert "question 2" not in shown
        assert "system prompt" not in shown

    @pytest.mark.parametrize(
        ("answer", "why"),
        [
            (completion(""), "empty"),
            (completion(None), "empty"),
            (completion("one\ntwo"), "several lines"),
            (completion("one\u2028two"), "several lines"),
            (completion("x" * (LONGEST + 1)), "61 characters"),
            (completion("a\x1b[2J"), "cannot be shown"),
            (completion("a\u202eb"), "cannot be shown"),
            (completion("half a ti", finish="length"), "cut off"),
            (completion("no", refusal="I will not"), "refused: I will not"),
        ],
    )
    def test_what_is_no_title_leaves_the_old_one_and_says_why(
        self, live: Live, key: StreamKey, answer: Any, why: str
    ) -> None:
        with serving(lambda request: answer) as server:
            found = retitle(live, key, server.endpoint())
        assert found.title == "question 0"
        assert why in found.fault
        assert titled(live, key) == []

    def test_a_person_who_names_it_meanwhile_is_right(self, live: Live, key: StreamKey) -> None:
        def answer(request: Any) -> Any:
            with open_log(live.log.path) as other:
                Sessions(other).rename(key, "mine")
            return completion("theirs")

        with serving(answer) as server:
            found = retitle(live, key, server.endpoint())
        assert found == Retitled("mine", "somebody else gave a title meanwhile")
        assert title(live, key) == "mine"

    def test_of_a_session_that_is_purged_meanwhile_none_is_kept(
        self, live: Live, key: StreamKey, tmp_path: Path
    ) -> None:
        def answer(request: Any) -> Any:
            Sessions(live).purge(key, confirm=key.session)
            return completion("ZZTITLE")

        with serving(answer) as server, pytest.raises(InputRefused, match="purged meanwhile"):
            retitle(live, key, Endpoint(server.client(), "m"))
        files = [each.read_bytes() for each in tmp_path.iterdir() if each.is_file()]
        assert files
        assert b"ZZTITLE" not in b"".join(files)

    def test_what_is_said_meanwhile_is_no_obstacle(self, live: Live, key: StreamKey) -> None:
        def answer(request: Any) -> Any:
            with open_log(live.log.path) as other:
                other.append(key, said("and another thing"))
            return completion("theirs")

        with serving(answer) as server:
            assert retitle(live, key, server.endpoint()) == Retitled("theirs")

    def test_the_same_title_is_not_written_twice(self, live: Live, key: StreamKey) -> None:
        with serving(lambda request: completion("same")) as server:
            for _ in range(2):
                assert retitle(live, key, server.endpoint()).title == "same"
        assert len(titled(live, key)) == 1

    def test_a_session_in_which_nobody_spoke_gets_none(self, live: Live) -> None:
        key = Sessions(live).create("s")
        with serving() as server, pytest.raises(InputRefused, match="nothing was said"):
            retitle(live, key, server.endpoint())
        assert server.requests == []

    def test_a_model_that_is_not_there_changes_nothing(self, live: Live, key: StreamKey) -> None:
        from openai import OpenAI

        client = OpenAI(api_key="sk-test", base_url=nowhere(), max_retries=0)
        with pytest.raises(Unreachable):
            retitle(live, key, Endpoint(client, "m"))
        with (
            serving(lambda request: (400, {"error": {"message": "no"}})) as server,
            pytest.raises(RequestRejected),
        ):
            retitle(live, key, server.endpoint())
        assert titled(live, key) == []


class TestWhen:
    """Without it a model is asked at every turn, or in place of a person."""

    def test_it_is_due_after_six_turns_where_nobody_gave_one(
        self, live: Live, key: StreamKey
    ) -> None:
        assert is_due(live, key)
        assert not is_due(live, key, turns=7)
        assert not is_due(live, live.log.fork(forked(key), key, at=5) and forked(key))
        Sessions(live).rename(key, "mine")
        assert not is_due(live, key)

    def test_a_session_that_began_with_a_title_keeps_it(self, live: Live) -> None:
        key = Sessions(live).create(title="given")
        live.append(key, *(said(str(number)) for number in range(9)))
        assert not is_due(live, key)


def forked(key: StreamKey) -> StreamKey:
    return key._replace(session=f"{key.session}.fork1")


@pytest.mark.parametrize("text", ["x", "x" * LONGEST, "修复窑", "a 🧱 b", "naïve – “so”"])
def test_a_line_that_can_be_shown_is_a_title(text: str) -> None:
    assert title_fault(text) == ""

"""Erasing an item: every event that carries it, what was made of it, and who had seen it."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import recorded_calls

from eventlog import StreamKey, events, integrity
from eventlog.errors import InputRefused, ItemNotFound, PositionNotFound, SourceForgotten
from eventlog.redaction import Target
from projections import open_log, verdicts
from projections.erasure import ErasurePlan, apply, plan, plans
from projections.findings import matching, standing
from projections.live import Live
from projections.sent import Requests
from projections.sessions import list_sessions

KEY = StreamKey("local", "agent", "s")
CHILD = StreamKey("local", "agent", "s~2")
SECRET = "the password of the vault is swordfish"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(text: object, role: str = "user") -> events.MessageAppended:
    source = "human" if role == "user" else "model"
    return events.MessageAppended(
        dialect="openai_chat", source=source, message={"role": role, "content": text}
    )


def summarised(text: str, *covered: str) -> events.ContextCompacted:
    new = events.NewMessage(dialect="openai_chat", message={"role": "user", "content": text})
    return events.ContextCompacted(covered=covered, messages=(new,) if text else ())


def cleared(item: str) -> events.PlaceholderSubstituted:
    return events.PlaceholderSubstituted(item=item, content="[cleared]")


def revised(item: str) -> events.MessageRevised:
    return events.MessageRevised(item=item, patch={"content": "changed"})


def rendered(item: str, text: str = "Answer {who}.", **variables: str) -> events.PromptRendered:
    return events.PromptRendered(
        item=item,
        template="review",
        template_text=text,
        variables=variables,
        salt="00",
        template_digest="0a",
        rendered_digest="0b",
    )


CALLED = events.ModelCalled(model="m", dialect="openai_chat")


def at(made: ErasurePlan) -> list[tuple[str, int]]:
    return [(target.stream.session, target.position) for target in made.targets]


def copies(made: ErasurePlan) -> list[tuple[str, int, str]]:
    return [(copy.stream.session, copy.position, copy.how) for copy in made.copies]


class TestTargets:
    """Without these an erased text is read again one placeholder further."""

    def test_every_event_that_carries_a_rendition(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"), cleared("1"), cleared("2"), revised("1"))
        assert at(plan(live, KEY, ["1"])) == [("s", 1), ("s", 3), ("s", 5)]

    def test_the_template_and_the_variables_that_its_text_was_made_of(self, live: Live) -> None:
        live.append(KEY, said(f"Answer {SECRET}.", "system"), rendered("1", who=SECRET))
        live.append(KEY, revised("1"), rendered("1", "Answer nobody."), rendered("12"))
        made = plan(live, KEY, ["1"])
        assert at(made) == [("s", 1), ("s", 2), ("s", 3), ("s", 4)]
        apply(live, made)
        assert SECRET.encode() not in live.log.path.read_bytes()
        [left, *_] = live.log.read(KEY, types=["prompt_rendered"])
        assert (left.data["item"], left.data["template"]) == ("1", "review")

    def test_a_prompt_in_which_something_is_found_goes_with_its_item(self, live: Live) -> None:
        live.append(KEY, said("Answer.", "system"), rendered("1", who="hunter22"))
        [made] = plans(live, matching(live, re.compile("hunter22")))
        assert (made.items, at(made)) == (("1",), [("s", 1), ("s", 2)])

    def test_a_prompt_that_quotes_another_item_is_a_copy(self, live: Live) -> None:
        live.append(KEY, said(SECRET), said("Answer.", "system"), rendered("2", who=SECRET))
        assert copies(plan(live, KEY, ["1"])) == [("s", 3, "quote")]

    def test_that_a_file_was_seen_is_no_quote_of_its_path(self, live: Live) -> None:
        path = "/home/someone/work/vaults/first/door.py"
        live.append(KEY, said(path), events.FileSeen(path=path, size=1, modified_ns=1))
        assert plan(live, KEY, ["1"]).copies == ()

    def test_one_digit_is_not_taken_for_the_beginning_of_another(self, live: Live) -> None:
        live.append(KEY, *[said(str(number)) for number in range(12)], cleared("11"))
        assert at(plan(live, KEY, ["1"])) == [("s", 1)]

    def test_an_item_that_a_patch_only_speaks_of_is_another_one(self, live: Live) -> None:
        speaking = events.MessageRevised(item="2", patch={"item": "1"})
        live.append(KEY, said("a"), said("b"), speaking)
        assert at(plan(live, KEY, ["1"])) == [("s", 1)]

    def test_in_forks_too_asked_from_either_side(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"))
        live.log.fork(CHILD, KEY, at=1)
        live.append(CHILD, cleared("1"), said("c"))
        live.append(KEY, cleared("2"), cleared("1"))
        for stream in (KEY, CHILD):
            assert at(plan(live, stream, ["1"])) == [("s", 1), ("s", 4), ("s~2", 3)]

    def test_the_same_number_behind_the_fork_is_another_item(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"), said("c"))
        live.log.fork(CHILD, KEY, at=1)
        live.append(CHILD, said("other"), cleared("3"))
        live.append(KEY, cleared("3"))
        assert at(plan(live, CHILD, ["3"])) == [("s~2", 3), ("s~2", 4)]
        assert at(plan(live, KEY, ["3"])) == [("s", 3), ("s", 4)]

    def test_a_summary_is_erased_with_its_compaction(self, live: Live) -> None:
        live.append(KEY, said("a"), summarised("sum", "1"), cleared("2.0"))
        assert at(plan(live, KEY, ["2.0"])) == [("s", 2), ("s", 3)]

    def test_what_was_erased_before_is_no_target(self, live: Live) -> None:
        live.append(KEY, said("a"), cleared("1"))
        apply(live, plan(live, KEY, ["1"]))
        again = plan(live, KEY, ["1"])
        assert again.targets == again.copies == ()
        assert apply(live, again).redaction.position is None

    @pytest.mark.parametrize("item", ["2", "3", "1.0", "9" * 30])
    def test_what_is_no_item_is_not_found(self, live: Live, item: str) -> None:
        live.append(KEY, said("a"), CALLED)
        with pytest.raises(ItemNotFound):
            plan(live, KEY, [item])

    @pytest.mark.parametrize("item", ["", "x", "1@2", "0", "1-2", "١"])
    def test_what_is_not_written_as_one_is_refused(self, live: Live, item: str) -> None:
        live.append(KEY, said("a"))
        with pytest.raises(InputRefused):
            plan(live, KEY, [item])

    def test_an_event_without_an_item_is_named_by_its_position(self, live: Live) -> None:
        live.append(KEY, events.SessionTitled(title=SECRET), said(SECRET))
        made = plan(live, KEY, [], positions=[1])
        assert at(made) == [("s", 1)]
        assert copies(made) == [("s", 2, "quote")]
        apply(live, made)
        with pytest.raises(InputRefused):
            plan(live, KEY, [], positions=[3])
        with pytest.raises(PositionNotFound):
            plan(live, KEY, [], positions=[4])


class TestCopies:
    """Without these the text is gone and its summary tells it to everybody."""

    def test_a_summary_that_covered_it_and_what_was_made_of_that(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"), summarised("one", "1-2"), cleared("3.0"))
        live.append(KEY, said("c"), summarised("two", "3.0"), summarised("", "6.0"))
        live.append(KEY, summarised("of others", "5"))
        wanted = [("s", at, "reference") for at in (3, 4, 6)]
        assert copies(plan(live, KEY, ["1"])) == wanted

    def test_a_summary_in_a_fork(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"))
        live.log.fork(CHILD, KEY, at=2)
        live.append(CHILD, summarised("one", "1"))
        assert copies(plan(live, KEY, ["1"])) == [("s~2", 4, "reference")]
        assert copies(plan(live, KEY, ["2"])) == []

    def test_what_the_summarizer_was_shown_counts_as_covered(self, live: Live) -> None:
        shown = summarised("sum", "1").model_copy(
            update={"summarizer": events.Summarizer(shown=("2@9",))}
        )
        live.append(KEY, said("a"), said("b"), shown)
        assert copies(plan(live, KEY, ["2"])) == [("s", 3, "reference")]

    def test_quotes_in_the_session_and_in_its_sub_agents(self, live: Live) -> None:
        agent, stranger = KEY._replace(session="s.agent"), KEY._replace(session="else")
        live.append(KEY, said(SECRET), said(f"you said: {SECRET}.", "assistant"), said("fine"))
        live.append(agent, events.SessionStarted(parent_session=str(KEY)), said(SECRET))
        live.append(stranger, said(SECRET))
        made = plan(live, KEY, ["1"])
        assert copies(made) == [("s", 2, "quote"), ("s.agent", 2, "quote")]
        assert made.copies[0].shown == SECRET
        assert ("else", 1, "quote") in copies(plan(live, KEY, ["1"], everywhere=True))

    def test_a_quote_inside_the_arguments_of_a_call(self, live: Live) -> None:
        arguments = '{"content": "first\\n' + SECRET + '\\nlast"}'
        call = {"id": "x", "type": "function", "function": {"name": "w", "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        live.append(
            KEY,
            said(f"first\n{SECRET}\nlast"),
            events.MessageAppended(dialect="openai_chat", source="model", message=message),
        )
        assert copies(plan(live, KEY, ["1"])) == [("s", 2, "quote")]

    def test_an_event_that_shares_a_picture(self, live: Live) -> None:
        data = base64.b64encode(os.urandom(40_000)).decode()
        url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        live.append(KEY, said([url]), said("no"), said([url]))
        made = plan(live, KEY, ["1"])
        assert copies(made) == [("s", 3, "blob")]
        assert apply(live, made, with_copies=True).redaction.blobs == 1


class TestCalls:
    """Without these nobody knows which model was shown what has to go."""

    def test_those_at_which_it_stood_in_the_view(self, live: Live) -> None:
        live.append(KEY, CALLED, said("a"), CALLED, summarised("sum", "2"), CALLED)
        live.log.fork(CHILD, KEY, at=3)
        live.append(CHILD, CALLED)
        live.append(KEY, events.DecisionUndone(target=4), CALLED)
        calls = plan(live, KEY, ["2"]).calls
        assert [(c.stream.session, c.number, c.position) for c in calls] == [
            ("s", 2, 3),
            ("s", 4, 7),
            ("s~2", 3, 5),
        ]

    def test_those_whose_manifest_names_it(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"), CALLED.model_copy(update={"manifest": ("2",)}))
        assert plan(live, KEY, ["1"]).calls == ()
        assert [call.number for call in plan(live, KEY, ["2"]).calls] == [1]


class TestDoingIt:
    """Without these the promise of an erasure is worth nothing."""

    def recorded(self, live: Live) -> int:
        messages = [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": SECRET},
            {"role": "user", "content": "open it"},
        ]
        body = {"model": "m", "messages": messages}
        position = recorded_calls.record(live, KEY, "openai_chat", body).position
        live.append(KEY, events.ModelResponded(call=position))
        return position

    def test_nothing_of_it_is_left_in_the_file_and_the_log_still_verifies(self, live: Live) -> None:
        live.append(KEY, said(SECRET), said("ok", "assistant"), cleared("1"))
        live.append(KEY, summarised(f"he told me: {SECRET}", "1"))
        assert list_sessions(live)[0].title == SECRET
        done = apply(
            live, plan(live, KEY, ["1"]), with_copies=True, reason="leak", needles=["swordfish"]
        )
        assert done.scrub.complete
        assert done.scrub.found == ()
        for suffix in ("", "-wal", "-shm"):
            file = live.log.path.with_name(live.log.path.name + suffix)
            if file.exists():
                assert b"swordfish" not in file.read_bytes()
        assert not integrity.verify(live.log).problems
        assert [item.form for item in live.items(KEY, 2)] == ["redacted", "original"]
        assert list_sessions(live)[0].title == "[redacted]"

    def test_copies_stay_unless_asked_for(self, live: Live) -> None:
        live.append(KEY, said(SECRET), said(SECRET))
        apply(live, plan(live, KEY, ["1"]))
        assert [item.form for item in live.items(KEY)] == ["redacted", "original"]

    def test_a_call_that_saw_it_is_erased_and_not_broken(self, live: Live) -> None:
        call = self.recorded(live)
        event = live.log.at(KEY, [call])[call]
        assert verdicts.judge(live, KEY, event).name == "exact"
        apply(live, plan(live, KEY, ["2"]))
        assert verdicts.judge(live, KEY, event).name == "erased"
        assert Requests(live).sent(KEY, event).digest == event.data["request_digest"]

    def test_and_so_it_is_when_two_redactions_follow_each_other(self, live: Live) -> None:
        call = self.recorded(live)
        for item in ("2", "3"):
            apply(live, plan(live, KEY, [item]))
        event = live.log.at(KEY, [call])[call]
        assert verdicts.judge(live, KEY, event).name == "erased"
        assert Requests(live).sent(KEY, event).digest == event.data["request_digest"]

    def test_the_source_is_forgotten_only_when_that_is_asked_for(self, live: Live) -> None:
        live.log.append(KEY, said(SECRET), said("b"), import_key=os.urandom(32))
        made = plan(live, KEY, ["1"])
        assert made.sources == (KEY,)
        assert apply(live, made).forgotten == ()
        assert live.log.import_key(KEY) is not None
        assert apply(live, plan(live, KEY, ["2"]), forget_source=True).forgotten == (KEY,)
        with pytest.raises(SourceForgotten):
            live.log.import_key(KEY)

    def test_what_a_pattern_finds_is_planned_by_session(self, live: Live) -> None:
        other = KEY._replace(session="other")
        live.append(KEY, said("x"), said(SECRET), events.SessionTitled(title=SECRET))
        live.append(other, said("a"), summarised(f"so: {SECRET}", "1"))
        found = matching(live, re.compile("swordfish"))
        made = plans(live, found)
        assert [(p.stream.session, p.items, at(p)) for p in made] == [
            ("s", ("2",), [("s", 2), ("s", 3)]),
            ("other", ("2.0",), [("other", 2)]),
        ]

    def test_a_text_that_was_found_is_no_reason_to_look_for_quotes(self, live: Live) -> None:
        beside = "a long line that has nothing to do with it"
        live.append(KEY, said(f"{SECRET}\n{beside}"), said(beside), said("x"))
        (made,) = plans(live, matching(live, re.compile("swordfish")))
        assert (at(made), made.copies) == ([("s", 1)], ())

    def test_it_is_a_copy_in_a_session_that_was_not_asked_for(self, live: Live) -> None:
        other = KEY._replace(session="other")
        live.append(KEY, said("a"), said(SECRET), summarised("so", "2"))
        live.append(other, said(SECRET), said("b"))
        found = matching(live, re.compile("pass.* swordfish"), [KEY])
        (made,) = plans(live, found, elsewhere=standing(live, found, [other]))
        assert copies(made) == [("s", 3, "reference"), ("other", 1, "match")]
        assert SECRET not in made.copies[1].shown
        apply(live, made, with_copies=True)
        assert matching(live, re.compile("swordfish")) == []

    def test_each_event_is_erased_by_one_plan(self, live: Live) -> None:
        live.append(KEY, said(SECRET))
        live.log.fork(CHILD, KEY, at=1)
        live.append(CHILD, summarised(f"so: {SECRET}", "1"))
        made = plans(live, matching(live, re.compile("swordfish")))
        assert [(at(each), copies(each)) for each in made] == [
            ([("s", 1)], []),
            ([("s~2", 3)], []),
        ]

    def test_a_placeholder_of_an_item_that_is_not_there_is_erased_too(self, live: Live) -> None:
        hostile = events.PlaceholderSubstituted(item="99", content=SECRET)
        live.append(KEY, said("a"), hostile)
        (made,) = plans(live, matching(live, re.compile("swordfish")))
        assert (made.items, at(made)) == ((), [("s", 2)])

    def test_targets_are_named_by_the_streams_that_own_them(self, live: Live) -> None:
        live.append(KEY, said(SECRET), said("b"))
        live.log.fork(CHILD, KEY, at=2)
        done = apply(live, plan(live, CHILD, ["1"]), by="ann")
        assert done.redaction.erased == (Target(KEY, 1),)
        assert [item.form for item in live.items(KEY)] == ["redacted", "original"]

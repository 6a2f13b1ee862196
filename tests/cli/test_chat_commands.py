"""What can be typed into a chat behind a ``/``: each looks, or is an event that can be undone."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chatting import Talk, Typed, opened, talk
from model_server import Answer, ModelServer, serving
from scripted import Reply, following

from cli.chat.render_help import render_help
from cli.chat.slash import commands, complete
from cli.safetext import display_width
from cli.style import Style
from eventlog.events import ContextCompacted
from eventlog.messages import text as text_of
from projections import Live

SUMMARY = "they spoke of one and of two"
LONG = "tell me everything about it, and then some more " * 8


def script(said: str, rounds: int) -> Reply:
    if said.startswith("show") and rounds == 0:
        return [("shell", {"command": "seq 1 200"})]
    return f"an answer to {said[:20]}: " + "it is so " * 20


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(following(script, SUMMARY)) as found:
        yield found


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "CTXLOG_MODEL", "CTXLOG_PROMPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path) as found:
        yield found


Captured = pytest.CaptureFixture[str]
TURNS = ("one " + LONG, "two " + LONG, "three " + LONG)


class TestCompacting:
    """The preview and the real thing are the same code, and the first writes nothing."""

    def test_a_preview_writes_nothing_and_shows_all_of_it(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        talk(live, server, *TURNS, session="s")
        capsys.readouterr()
        versions: list[int] = []

        def looked(typed: Typed) -> str:
            versions.append(live.log.version("local/chat/s"))
            return "/compact --preview keep_turns=1"

        def again(typed: Typed) -> str:
            versions.append(live.log.version("local/chat/s"))
            return "/quit"

        talk(live, server, looked, again, session="s")
        shown = capsys.readouterr().out
        assert versions[0] == versions[1]
        assert "○ 4 items would leave" in shown
        assert "user         one tell me everything" in shown
        assert f"   {SUMMARY}\n" in shown
        assert "nothing was written; /compact keep_turns=1 does it" in shown

    def test_what_is_made_is_what_the_preview_showed(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        lines = ("/compact --preview keep_turns=1", "/compact keep_turns=1")
        done = talk(live, server, *TURNS, *lines, session="s")
        shown = capsys.readouterr().out
        sizes = [line for line in shown.splitlines() if line.startswith("context: ")]
        assert len(sizes) == 2
        assert sizes[0] == sizes[1]
        assert "○ 4 items left with k1" in shown
        # The summary was written once: the second time it was kept.
        assert sum(not request.get("stream") for request in server.requests) == 1
        (made,) = [
            event.event for event in live.log.read("local/chat/s", types=["context_compacted"])
        ]
        assert isinstance(made, ContextCompacted)
        assert made.trigger == "manual"
        assert SUMMARY in text_of("openai_chat", made.messages[0].message.value)
        assert [text.split()[0] for text in done.texts[2:]] == ["three", "an"]

    def test_where_nothing_is_older_it_says_what_keeps_fewer(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        done = talk(live, server, "one", "/compact")
        told = capsys.readouterr().err
        assert "1 turn stands, and the last 3 stay; /compact keep_turns=0 keeps fewer" in told
        assert "context_compacted" not in done.kinds()

    def test_it_keeps_as_many_turns_as_the_strategy(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        settings = {"strategy": "compact:keep_turns=2,trigger_tokens=9000"}
        talk(live, server, *TURNS, "/compact --preview", **settings)
        assert "○ 2 items would leave" in capsys.readouterr().out

    def test_ctrl_c_while_the_summary_is_written_changes_nothing(
        self, live: Live, capsys: Captured
    ) -> None:
        def answer(request: dict[str, Any]) -> Answer:
            if not request.get("stream"):
                os.kill(os.getpid(), signal.SIGINT)
            return following(script, SUMMARY)(request)

        with serving(answer) as server:
            done = talk(live, server, *TURNS, "/compact keep_turns=1", "four")
        assert "interrupted: nothing was compacted" in capsys.readouterr().err
        assert "context_compacted" not in done.kinds()
        assert len(done.texts) == 8

    def test_without_a_summarizer_it_says_so(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        done = talk(live, server, *TURNS, "/compact keep_turns=1", summarizer="none")
        assert "! not compacted: no summary could be had" in capsys.readouterr().out
        assert len(done.texts) == 6


class TestGoingBack:
    """Whatever was done to a context can be undone, step by step."""

    def test_undo_takes_back_the_last_compaction(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        done = talk(live, server, *TURNS, "/compact keep_turns=1", "/undo", "/undo")
        told = capsys.readouterr()
        assert "undone: k1" in told.out
        assert "+ back: 4 items" in told.out
        assert len(done.texts) == 6
        assert "nothing was decided here that could be undone" in told.err

    def test_undo_goes_back_step_by_step(self, live: Live, server: ModelServer) -> None:
        from cli.chat.asked import Rules

        done = talk(
            live,
            server,
            *("show 1", "show 2", "show 3", "next", "/undo", "/undo"),
            strategy="cut:limit=80 | clear:keep=1",
            tools=("shell",),
            rules=Rules("allow"),
        )
        kinds = done.kinds()
        assert kinds.count("placeholder_substituted") == 5  # three cut, two of them cleared
        results = [i for i in done.chat.conversation.items() if i.kind == "tool_result"]
        # First the clearing of the second goes, then the cut of the third, which was before it.
        assert [item.form for item in results] == ["cleared", "cut", "original"]

    def test_rewind_gives_the_text_back(self, live: Live, server: ModelServer) -> None:
        done = talk(live, server, "one", "two", "/rewind", "/rewind 1")
        assert done.typed.begun[3:] == ["two", "one"]
        assert done.texts == []

    def test_rewind_to_a_place_is_typed_as_one(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        done = talk(live, server, "one", "two", "/rewind c2", "/rewind 9", "/rewind ²", session="s")
        assert done.texts[-1] == "two"
        told = capsys.readouterr().err
        assert "2 turns can be gone back" in told
        assert "'²' is no place in a session" in told

    def test_a_fork_goes_on_and_the_first_session_stays(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        done = talk(live, server, "one", "/fork other", "two", session="s")
        assert "this is other now, a fork; s stays as it is" in capsys.readouterr().err
        assert done.chat.conversation.key.session == "other"
        talk(live, server, "/fork other", session="s")
        told = capsys.readouterr().err
        assert "local/chat/other exists; /fork NAME takes another name" in " ".join(told.split())
        assert done.texts[2] == "two"
        assert len(live.items("local/chat/s")) == 2

    def test_what_left_comes_back(self, live: Live, server: ModelServer, capsys: Captured) -> None:
        """By undoing what took it where it is sure, else as a message."""
        lines = ("/compact keep_turns=1", "/recover 4", "/recover 4 --only", "/recover 4")
        done = talk(live, server, *TURNS, *lines, answers=("n", "y"))
        told = capsys.readouterr()
        assert "this brings back 3 other items too" in told.err
        assert "+ new: 1 item" in told.out
        assert done.texts[0].startswith("one tell me everything")

    def test_pins_are_kept_from_a_compaction(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        lines = ("/pin 4", "/pin 4", "/compact keep_turns=1", "/unpin 4", "/pin")
        done = talk(live, server, *TURNS, *lines)
        told = capsys.readouterr().err
        assert "pinned: 4" in told
        assert "pinned already: 4" in told
        assert "not pinned any more: 4" in told
        assert "which item? /pin 12" in told
        assert done.texts[0].startswith("one tell me everything")

    def test_what_another_process_did_is_shown_first(
        self, live: Live, server: ModelServer, tmp_path: Path, capsys: Captured
    ) -> None:
        """An undo of what nobody has seen would be an accident."""

        def elsewhere(typed: Typed) -> str:
            with opened(tmp_path) as other:
                talk(other, server, "/compact keep_turns=1", session="s")
            return "/undo"

        done = talk(live, server, *TURNS, elsewhere, session="s")
        assert "another process went on with this session" in capsys.readouterr().out
        assert "decision_undone" not in done.kinds()


class TestLooking:
    """What stands, and what it cost."""

    def test_the_context_is_a_line_an_item_and_a_bar(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        talk(live, server, "one", "/context", session="s", system="You are terse.", window=4_000)
        shown = capsys.readouterr().out
        assert "3 items" in shown
        assert "system       You are terse." in shown
        assert "█ system ≈" in shown
        assert "of 4.0k" in shown

    def test_an_empty_context_says_so(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        talk(live, server, "/context", "/tasks", "/cost")
        told = capsys.readouterr()
        assert "nothing was said yet" in told.err
        assert "no tasks" in told.err
        assert "no model was called yet" in told.out

    def test_the_cost_has_a_price_where_one_is_known(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        """100 tokens in and 10 out of each of three calls, and what the summary cost."""
        model = "gpt-4o-mini"
        talk(live, server, *TURNS, "/compact keep_turns=1", "/cost", model=model)
        rows = [line.split() for line in capsys.readouterr().out.splitlines()]
        (own,) = [row for row in rows if row[:2] == [model, "3"]]
        (summaries,) = [row for row in rows if row[:3] == [model, "(summaries)", "1"]]
        assert own[2:] == ["300", "-", "30", "0.0001", "USD"]
        assert summaries[3:6] == ["100", "40", "20"]

    def test_a_summary_that_was_kept_is_paid_for_once(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        again = ("/compact keep_turns=1", "/undo", "/compact keep_turns=1", "/cost")
        done = talk(live, server, *TURNS, *again, model="mine")
        assert done.kinds().count("context_compacted") == 2
        assert sum(not request.get("stream") for request in server.requests) == 1
        rows = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert [row[2] for row in rows if row[:2] == ["mine", "(summaries)"]] == ["1"]

    def test_an_unknown_price_is_said_to_be_so(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        talk(live, server, "one", "/cost", model="mine")
        shown = capsys.readouterr().out
        assert "unknown" in shown
        assert "price unknown: mine" in shown


class TestSetting:
    """The same session goes on with another prompt, another model, other rules."""

    def test_the_prompt_is_shown_and_replaced(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        talk(live, server, "/prompt", "/prompt You are terse.", "/prompt", "one")
        told = capsys.readouterr()
        assert "no system prompt" in told.err
        assert "You are terse.\n" in told.out
        assert server.requests[0]["messages"][0] == {"role": "system", "content": "You are terse."}

    def test_a_template_is_filled_in_and_told(
        self, live: Live, server: ModelServer, tmp_path: Path
    ) -> None:
        (tmp_path / "prompts").mkdir()
        (tmp_path / "prompts" / "terse.yaml").write_text("system: Answer in {words} words.\n")
        done = talk(live, server, "/prompt terse words=five", "/prompt terse", "one")
        assert server.requests[0]["messages"][0]["content"] == "Answer in five words."
        assert "prompt_rendered" in done.kinds()

    def test_one_word_that_names_no_template_is_a_slip(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        lines = ("/prompt code_reviw", "/prompt code_reviw lang=C", '/prompt "Terse!"', "one")
        talk(live, server, *lines)
        told = " ".join(capsys.readouterr().err.split())
        assert "is 'code_review' meant? a text of one word: /prompt \"code_reviw\"" in told
        assert told.count("is 'code_review' meant?") == 2
        assert server.requests[0]["messages"][0]["content"] == "Terse!"

    def test_those_of_this_program_are_found_beside_a_folder(
        self, live: Live, server: ModelServer, tmp_path: Path, capsys: Captured
    ) -> None:
        (tmp_path / "prompts").mkdir()
        (tmp_path / "prompts" / "terse.yaml").write_text("version: '3'\nsystem: Be terse.\n")
        lines = ("/prompt general", "/prompt terse", "/prompt", "/prompt x y")
        done = talk(live, server, *lines, session="s")
        assert "from the template terse, version 3\n" in capsys.readouterr().err
        assert complete(done.chat, "/prompt ter") == ["/prompt terse"]
        assert complete(done.chat, "/prompt gen") == ["/prompt general"]
        talk(live, server, "/prompt", session="s")
        told = capsys.readouterr()
        assert "from the template" not in told.err
        assert "x y\n" in told.out

    def test_another_model_and_another_strategy(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        talk(live, server, "/model other", "one", "/strategy cut:limit=9", "/strategy", "/model")
        assert server.requests[0]["model"] == "other"
        told = capsys.readouterr().err
        assert "cut:limit=9\n" in told
        talk(live, server, "/strategy compact:keep_turns=2")
        told = capsys.readouterr().err
        assert "compact:keep_turns=2 decides from here on\ncompact has keep_turns=2, trig" in told

    def test_rules_are_set_and_wrong_ones_refused(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        lines = ("/permissions deny shell(rm*)", "/permissions read-only", "/permissions maybe")
        done = talk(live, server, *lines, tools=("shell",))
        held = done.chat.conversation.state.permissions
        assert (held.mode, held.deny) == ("read_only", ("shell(rm*)",))
        assert "/permissions takes ask, allow, deny, read-only" in capsys.readouterr().err

    def test_a_title_by_hand_or_by_the_model(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        talk(live, server, "one", "/title --auto", "/title by hand", "/title", "/sessions")
        told = capsys.readouterr()
        assert f"titled: {SUMMARY}" in told.err
        assert "by hand" in told.out
        (row,) = [line for line in told.out.splitlines() if line.endswith("by hand")]
        assert " exact " in row  # as `ctxlog sessions` says, also of the one that is open

    def test_the_model_gives_a_title_after_six_turns_when_asked_to(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        talk(live, server, *map(str, range(5)), "/title", "six", "seven", auto_title=True)
        told = capsys.readouterr().err
        assert told.count(f"titled: {SUMMARY}") == 1
        assert "0\n" in told  # until then it is what was said first


class TestHelp:
    """A command that nobody finds is not there."""

    @pytest.mark.parametrize("width", [60, 100])
    def test_each_command_is_listed_and_fits(self, width: int) -> None:
        lines = list(render_help(commands().values(), Style(width=width)))
        assert all(any(line.startswith(f"  /{name}") for line in lines) for name in commands())
        assert max(map(display_width, lines)) <= width

    def test_what_is_begun_is_completed(self, live: Live, server: ModelServer) -> None:
        done: Talk = talk(live, server, "one", session="s")
        chat = done.chat
        assert complete(chat, "/co") == ["/context", "/cost", "/compact", "/continue"]
        assert complete(chat, "/compact --preview keep") == ["/compact --preview keep_turns="]
        assert complete(chat, "/pin ") == ["/pin 8", "/pin 4"]
        assert complete(chat, "/strategy comp") == ["/strategy compress", "/strategy compact"]
        assert complete(chat, "hello") == complete(chat, "//co") == []

    def test_every_command_is_documented(self) -> None:
        page = (Path(__file__).parents[2] / "docs" / "chat.md").read_text()
        assert not [name for name in commands() if f"`/{name}" not in page]

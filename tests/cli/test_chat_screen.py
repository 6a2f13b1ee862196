"""What a chat shows of what happens: pure, so each line is tested without a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.chat.bar import render_bar
from cli.chat.changes import changed_line
from cli.chat.gauge import for_readline, gauge, prompt_line
from cli.chat.looking import counted, render_tasks
from cli.chat.permission import Question, question
from cli.chat.screen import Screen
from cli.chat.stream_text import StreamText
from cli.chat.wrapping import Wrapping
from cli.models import ItemData
from cli.safetext import display_width, safe_text
from cli.style import Style
from eventlog.agent import Task
from harness.conversation.happenings import (
    Answered,
    CallFailed,
    Calling,
    Changed,
    Ended,
    Happening,
    Piece,
    ToolCalled,
    ToolEnded,
)
from harness.conversation.permitting import STARTED
from harness.tools.files import file_tools
from harness.tools.permissions import Judgement
from harness.tools.shell import shell_tools
from harness.tools.tool import Tool, tool
from projections.applying import Change

PLAIN = Style(width=60)


def shown(*happenings: Happening, terminal: bool = True, style: Style = PLAIN) -> str:
    screen = Screen(style, lambda position: f"k{position}", terminal)
    pieces = [each for happening in happenings for each in screen.show(happening)]
    return "".join(each.text for each in (*pieces, *screen.end())).replace("…\r\x1b[K", "")


def change(kind: str, *items: int, before: int = 63, after: int = 41, **more: str) -> Change:
    messages = ("7.0",) if kind == "summarised" else ()
    reason = more.get("reason", "it is old")
    return Change(9, 1, kind, items, before, after, reason, messages=messages)


def ended(content: str, *, name: str = "shell", call: str = "a", **more: int) -> ToolEnded:
    return ToolEnded(5, call, name, content, bool(more.get("is_error")), more.get("ms", 200))


class TestAnAnswer:
    """It comes in pieces, and nothing in it reaches the terminal as it was sent."""

    def test_it_is_shown_as_it_comes_and_its_line_is_ended(self) -> None:
        said = shown(
            Calling(3, 9), Piece("Hel"), Piece("lo."), Answered(5, "Hello.", 0, "stop", None)
        )
        assert said == "Hello.\n"

    def test_what_would_move_a_terminal_is_escaped(self) -> None:
        said = shown(Piece("red \x1b[31m"), Piece("x\x1b]0;owned\x07 \u202egnol"))
        assert said == "red \\u{1b}[31mx\\u{1b}]0;owned\\u{7} \\u{202e}gnol\n"

    def test_reasoning_stands_apart_and_says_that_it_is(self) -> None:
        said = shown(Piece("I count.", "reasoning"), Piece("\n\nTwo."), Piece("\n\nOr three."))
        assert said == "(thinking) I count.\nTwo.\n\nOr three.\n"

    def test_reasoning_is_no_part_of_the_answer(self) -> None:
        screen = Screen(PLAIN)
        pieces = [*screen.show(Piece("I count.", "reasoning")), *screen.show(Piece("Two."))]
        assert "".join(each.text for each in pieces if each.is_answer) == "Two."

    def test_an_answer_of_which_no_piece_came_is_shown_too(self) -> None:
        assert shown(Calling(3, 9), Answered(5, "Hello.", 0, "stop", None)) == "Hello.\n"

    def test_an_answer_that_was_cut_off_says_so(self) -> None:
        assert "cut off" in shown(Piece("Hel"), Answered(5, "Hel", 0, "length", None))

    def test_a_failure_is_told_once(self) -> None:
        said = shown(
            CallFailed("no route (status 500)", False), Ended("failed", "no route (status 500)")
        )
        assert said == "✗ no route (status 500)\n"

    def test_only_what_a_model_said_is_the_answer(self) -> None:
        screen = Screen(PLAIN)
        happenings = (Piece("Hello."), Answered(5, "Hello.", 1, "", None), ToolCalled("a", "x", ""))
        pieces = [each for happening in happenings for each in screen.show(happening)]
        assert "".join(each.text for each in pieces if each.is_answer) == "Hello.\n"

    @given(st.lists(st.text(alphabet="ab\u200d👩é\n\r\ufe0f\U00013430𓀀", max_size=4)))
    def test_in_how_many_pieces_it_comes_makes_no_difference(self, pieces: list[str]) -> None:
        stream = StreamText()
        said = "".join(map(stream.take, pieces)) + stream.rest()
        assert said == safe_text("".join(pieces).replace("\r\n", "\n"))


class TestLines:
    """Words are not broken at the edge of a terminal, and code is left as it is."""

    def wrapped(self, text: str, width: int, size: int = 3) -> str:
        wrapping = Wrapping(width)
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        return "".join(map(wrapping.take, pieces)) + wrapping.rest()

    def test_a_word_that_does_not_fit_begins_the_next_line(self) -> None:
        assert self.wrapped("one two three four", 10) == "one two \nthree four"

    def test_a_line_of_code_stays_whole(self) -> None:
        text = "so:\n```sh\necho one two three four five\n```\nit is one two three"
        assert "\necho one two three four five\n```\nit is one \ntwo three" in self.wrapped(
            text, 12
        )

    def test_scripts_without_blanks_break_anywhere(self) -> None:
        assert self.wrapped("漢" * 12, 10) == "漢" * 5 + "\n" + "漢" * 5 + "\n" + "漢" * 2

    @given(st.text(alphabet="ab 漢\n`", max_size=60), st.integers(1, 7))
    def test_nothing_is_lost_and_no_line_is_too_long(self, text: str, size: int) -> None:
        said = self.wrapped(text, 12, size)
        assert "".join(said.split()) == "".join(text.split())
        if "```" not in text:
            longest = max(len(word) * 2 for word in text.split()) if text.split() else 0
            assert all(
                display_width(line.rstrip()) <= max(12, longest) for line in said.split("\n")
            )


class TestTools:
    """A line for a call and what came of it, then the beginning of its result."""

    def test_a_call_ends_on_its_own_line(self) -> None:
        said = shown(ToolCalled("a", "shell", '{"command": "git status"}'), ended("clean\n"))
        assert said == "▸ shell git status ✓ 0.2s · 1 line\n  │ clean\n"

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ('{"command": "ls"}', "ls"),
            ('{"tasks": ["read", "write"]}', "read, write"),
            ('{"id": "1", "status": "done"}', "id=1 status=done"),
            ("no JSON", "no JSON"),
            ("", ""),
            ("{}", ""),
        ],
    )
    def test_arguments_are_told_as_they_are_read(self, arguments: str, told: str) -> None:
        assert shown(ToolCalled("a", "x", arguments)).strip() == f"▸ x {told}".strip()

    def test_a_long_result_is_folded(self) -> None:
        said = shown(ToolCalled("a", "x", ""), ended("\n".join(map(str, range(14)))))
        assert said.splitlines() == [
            "▸ x ✓ 0.2s · 14 lines",
            "  │ 0",
            "  │ 1",
            "  │ 2",
            "  │ … 11 more lines",
        ]

    def test_calls_beside_each_other_have_a_line_each(self) -> None:
        said = shown(
            ToolCalled("a", "one", ""),
            ToolCalled("b", "two", ""),
            ended("second", name="two", call="b"),
            ended("", name="one", is_error=1),
        )
        assert said.splitlines() == [
            "▸ one",
            "▸ two",
            "  ✓ two 0.2s · 1 line",
            "  │ second",
            "  ✗ one 0.2s · empty",
        ]

    def test_a_call_that_was_refused_says_why(self) -> None:
        said = shown(ended("not run: it was not allowed", is_error=1))
        assert said == "▸ ✗ shell\n  │ not run: it was not allowed\n"

    def test_a_result_cannot_move_the_terminal(self) -> None:
        said = shown(ToolCalled("a", "x\x1b[2J", "\x1b[2J"), ended("\x1b[2J\x07\u202e"))
        assert "\x1b" not in said
        assert "\x07" not in said
        assert "\u202e" not in said

    def test_what_was_decided_about_a_result_stands_behind_it(self) -> None:
        said = shown(
            ToolCalled("a", "x", ""), Changed((change("cut", 5),), 90), ended("a long result")
        )
        assert said.splitlines()[-1] == "✂ 1 cut ≈63 → ≈41"

    def test_in_a_pipe_no_line_waits_for_its_end(self) -> None:
        said = shown(ToolCalled("a", "x", ""), ended("ok"), terminal=False)
        assert said.splitlines() == ["▸ x", "  ✓ shell 0.2s · 1 line", "  │ ok"]

    @pytest.mark.parametrize("width", [40, 60, 100])
    def test_no_line_is_wider_than_the_terminal(self, width: int) -> None:
        long = "word " * 60
        said = shown(
            ToolCalled("a", "shell", '{"command": "' + long + '"}'),
            ended(f"    {long}\n{long}"),
            CallFailed(long, True),
            Changed((change("declined", 1, reason=long),), 9),
            style=Style(width=width),
        )
        assert max(map(display_width, said.splitlines())) <= width

    def test_ascii_alone_is_enough(self) -> None:
        said = shown(
            ToolCalled("a", "x", "ü"),
            Changed((change("cut", 5),), 9),
            ended("é"),
            Piece("naïve…"),
            style=Style(width=60, ascii=True),
        )
        assert said.isascii()


class TestTheContext:
    """What a strategy did is one line, and how full the context is stands in the prompt."""

    def line(self, *changes: Change) -> str:
        return changed_line(changes, PLAIN, lambda position: f"k{position}")

    def test_all_of_a_moment_is_one_line(self) -> None:
        found = self.line(change("cut", 5), change("summarised", *range(6), before=120, after=55))
        assert found == "✂ 1 cut ≈63 → ≈41 · Σ 6 items summarised ≈120 → ≈55 (k7)"

    def test_what_is_alike_is_counted(self) -> None:
        assert self.line(change("cleared", 5), change("cleared", 6)) == "✂ 2 cleared ≈126 → ≈82"

    def test_that_nothing_would_have_been_saved_needs_no_line(self) -> None:
        assert self.line(change("declined", 5, reason="no gain")) == ""

    def test_why_items_were_dropped_is_told(self) -> None:
        found = self.line(
            change("dropped", 5, 6, after=0, reason="no summary could be had (failed)")
        )
        assert found == "○ 2 items dropped ≈63 → ≈0 (no summary could be had\n  (failed))"

    @pytest.mark.parametrize(
        ("tokens", "window", "found"),
        [
            (2_400, 128_000, "≈2.4k/128k ░░░░░"),
            (12_400, 128_000, "≈12.4k/128k █░░░░"),
            (64_000, 128_000, "≈64.0k/128k ██░░░"),
            (300_000, 128_000, "≈300k/128k █████"),
            (12_400, None, "≈12.4k"),
        ],
    )
    def test_the_gauge(self, tokens: int, window: int | None, found: str) -> None:
        assert gauge(tokens, window, PLAIN) == found

    def test_colours_are_no_columns_for_readline(self) -> None:
        prompt = for_readline(prompt_line(5, None, Style(color=True)))
        outside = [part.partition("\x02")[2] for part in prompt.split("\x01")]
        assert "".join(outside) == "≈5 › "

    def test_the_bar_gives_each_role_a_sign_of_its_own(self) -> None:
        bar, legend = render_bar([item("user", 50), item("tool", 150)], 400, PLAIN)
        assert bar.strip() == "▓" * 7 + "░" * 21 + "·" * 28
        assert legend == " ▓ user ≈50  ░ tool ≈150  · free ≈200  of 400"


def item(role: str, tokens: int) -> ItemData:
    kind = "tool_result" if role == "tool" else "message"
    return ItemData(
        item="1",
        rendition="1",
        form="original",
        kind=kind,
        role=role,
        source="human",
        who=role,
        tokens=tokens,
        text="",
        preview="",
        dialect="openai_chat",
        message={},
    )


class TestTasks:
    """The list that the model keeps, as a person reads it."""

    TASKS: Sequence[Task] = (
        Task(id="1", title="read", status="done"),
        Task(id="2", title="write \x1b[1m", status="in_progress", note="half"),
        Task(id="3", title="forget it", status="dropped"),
    )

    def test_a_line_each(self) -> None:
        assert list(render_tasks(self.TASKS, PLAIN)) == [
            " ✓ 1 done         read",
            " ▸ 2 in progress  write \\u{1b}[1m (half)",
            " – 3 dropped      forget it",
        ]

    def test_what_was_dropped_is_not_counted(self) -> None:
        assert counted(self.TASKS) == "2 tasks, 1 done"
        assert counted(()) == ""


class TestQuestions:
    """What a person is asked to allow is shown whole, or it is said that it is not."""

    def asked(self, given: Tool, **arguments: object) -> tuple[str, Question]:
        found = question(given, arguments, Judgement("ask", "mode ask"), 60)
        return "\n".join(found.lines(PLAIN)), found

    def test_a_short_command_is_a_line(self) -> None:
        shell = shell_tools(Path())[0]
        shown, found = self.asked(shell, command="git push")
        assert shown == "? shell git push"
        assert found.rule == "shell(git push)"
        assert found.choices == "  run it? [y]es / [n]o / [a]lways this session / ne[v]er: "

    def test_a_long_one_is_shown_in_lines(self) -> None:
        shell = shell_tools(Path())[0]
        shown, _ = self.asked(shell, command="echo one\n" + "rm -rf build # \u202e" * 8)
        assert "  command: echo one\n      rm -rf build # \\u{202e}rm" in shown

    def test_what_is_written_is_shown_too(self, tmp_path: Path) -> None:
        write = next(each for each in file_tools(tmp_path) if each.name == "write_file")
        shown, found = self.asked(write, path="a.py", content="x = 1\n\ty = '\u202e'\n")
        assert shown.splitlines() == [
            "? write_file a.py",
            "  2 lines, 17 bytes:",
            "    │ x = 1",
            "    │ \ty = '\\u{202e}'",
        ]
        assert found.rule == "write_file(a.py)"
        shown, _ = self.asked(write, path="a.py", content="x = 1\n" * 80)
        assert shown.startswith("? write_file a.py\n  80 lines, 480 bytes:\n    │ x = 1\n")
        assert shown.endswith("    │ x = 1\n    │ … 68 more lines, not shown here")
        shown, _ = self.asked(write, path="a.py", content="x" * 9_000)
        assert len(shown) < 5_000
        assert shown.endswith("x…")

    def test_an_edit_shows_what_goes_and_what_comes(self, tmp_path: Path) -> None:
        edit = next(each for each in file_tools(tmp_path) if each.name == "edit_file")
        shown, _ = self.asked(edit, path="a.py", old="x = 1", new="x = 2\ny = 3")
        assert shown.splitlines() == [
            "? edit_file a.py",
            "  takes out 1 line, 5 bytes:",
            "    - x = 1",
            "  puts in 2 lines, 11 bytes:",
            "    + x = 2",
            "    + y = 3",
        ]
        shown, _ = self.asked(edit, path="a.py", old="x = 1", new="")
        assert shown.endswith("  puts in 0 lines, 0 bytes")

    def test_an_answer_that_is_not_offered_says_why(self) -> None:
        shell = shell_tools(Path())[0]
        _, found = self.asked(shell, command="ls; rm a")
        assert found.refusal("a") == (
            "always is not offered here: what is more than one command, or has a * in it, is never "
            "allowed for good"
        )
        assert found.refusal("maybe") == "'maybe' is no answer: y or n"
        _, found = self.asked(shell, command="ls")
        assert found.refusal(" ") == "nothing is no answer: y, n, a or v"

    def test_an_argument_that_stands_in_another_is_shown_all_the_same(self, tmp_path: Path) -> None:
        edit = next(each for each in file_tools(tmp_path) if each.name == "edit_file")
        shown, _ = self.asked(edit, path="src/rm", old="src", new="rm")
        assert "    - src\n" in shown
        assert shown.endswith("    + rm")

    @pytest.mark.parametrize(
        "command", ["ls; rm a", "ls *", " ls", "echo $(rm a)", "ls\nrm a", "ls > a", ""]
    )
    def test_no_rule_is_made_that_says_more_than_was_asked(self, command: str) -> None:
        _, found = self.asked(shell_tools(Path())[0], command=command)
        assert found.rule == ""
        assert found.answered("a") is None
        assert found.answered("Y ") == "yes"

    def test_of_a_call_that_was_begun_before_none_is_made(self) -> None:
        shell = shell_tools(Path())[0]
        found = question(shell, {"command": "ls"}, Judgement("ask", STARTED), 60)
        assert found.rule == ""
        assert f"({STARTED})" in found.details

    def test_a_function_is_allowed_by_its_name(self) -> None:
        def send(to: str, text: str) -> str:
            """Send it."""
            return to

        _, found = self.asked(tool(send), to="*", text="hello")
        assert found.rule == "send"

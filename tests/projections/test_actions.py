"""What tool calls do to files, and which literals a text mentions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.messages import Part
from projections.metrics.actions import Action, action, shell
from projections.metrics.mentions import Mentions, leaves


def of(name: str, arguments: Any) -> Action:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return action(Part("call", text, id="x", name=name))


class TestActions:
    """Without this a file that was written is not in the artifact trail, or one that was not is."""

    @pytest.mark.parametrize(
        ("name", "arguments", "reads", "writes"),
        [
            ("Read", {"file_path": "/r/a.py", "limit": 20}, ["/r/a.py"], []),
            ("Write", {"file_path": "/r/a.py", "content": "see /r/b.py"}, [], ["/r/a.py"]),
            ("MultiEdit", {"file_path": "./a.py", "edits": []}, [], ["a.py"]),
            ("NotebookEdit", {"notebook_path": "/r/n.ipynb"}, [], ["/r/n.ipynb"]),
            ("mcp__files__read_file", {"path": "a//b.py"}, ["a/b.py"], []),
            ("str_replace_editor", {"command": "view", "path": "/r/a"}, ["/r/a"], []),
            ("str_replace_editor", {"command": "str_replace", "path": "/r/a"}, [], ["/r/a"]),
            ("Grep", {"pattern": "x", "path": "src"}, ["src"], []),
            (
                "Bash",
                {"command": "cat src/a.py | head -3 > /tmp/o.txt"},
                ["src/a.py"],
                ["/tmp/o.txt"],
            ),
            ("shell", {"command": ["bash", "-lc", "cat src/a.py"]}, [], []),
            ("Bash", {"command": "make test 2>/dev/null"}, [], []),
            ("get_weather", {"city": "Paris"}, [], []),
            ("Read", "not json", [], []),
            ("Read", {"file_path": 7}, [], []),
        ],
    )
    def test_the_name_and_the_arguments_say_what_is_read_and_written(
        self, name: str, arguments: Any, reads: list[str], writes: list[str]
    ) -> None:
        done = of(name, arguments)
        assert (list(done.reads), list(done.writes)) == (reads, writes)

    def test_a_patch_names_its_files(self) -> None:
        patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n*** Add File: b.txt\n+x\n"
        assert of("apply_patch", {"input": patch}).writes == ("src/a.py", "b.txt")
        assert of("apply_patch", patch).writes == ("src/a.py", "b.txt")

    @pytest.mark.parametrize(
        ("command", "reads", "writes"),
        [
            ("sed -n 1,9p a.py", ["a.py"], []),
            ("sed -i 's/a b/c/' a.py", [], ["a.py"]),
            ("cd /r && sudo rm old.txt; echo x >> log.md", [], ["log.md", "old.txt"]),
            ("X=1 tee out.log", [], ["out.log"]),
            ("cat 'my file.txt' \"unclosed.py", [], []),
            ("diff <(cat a.py) b.py 2>&1", [], []),
        ],
    )
    def test_a_shell_command_says_it_by_its_programs(
        self, command: str, reads: list[str], writes: list[str]
    ) -> None:
        assert shell(command) == (tuple(reads), tuple(writes))

    def test_a_call_is_the_same_however_its_arguments_are_written(self) -> None:
        one = of("Read", '{"file_path": "./a.py", "limit": 3}')
        assert one.key == of("Read", '{"limit":3,  "file_path":"a.py"}').key
        assert one.key != of("Read", '{"limit":4,  "file_path":"a.py"}').key
        assert one.key != of("View", '{"limit":3,  "file_path":"a.py"}').key

    def test_a_to_do_list_is_about_no_file(self) -> None:
        done = of("TodoWrite", {"todos": [{"content": "edit a.py"}], "path": "x"})
        assert done.is_state
        assert (done.reads, done.writes) == ((), ())

    @given(st.text(), st.text() | st.recursive(st.none() | st.text(), st.lists).map(json.dumps))
    def test_any_call_is_read(self, name: str, arguments: str) -> None:
        assert of(name, arguments).tool == name

    def test_depth_is_no_error(self) -> None:
        assert of("Read", "[" * 5000 + "]" * 5000).reads == ()


class TestMentions:
    """Without this a literal is taken for lost, or for kept, that is not."""

    def inside(self, literal: str, text: str) -> bool:
        return Mentions([literal]).inside([text]) == {0}

    @pytest.mark.parametrize(
        ("literal", "text"),
        [
            ("77120", "see 77120."),
            ("src/a.py", "/repo/src/a.py:3"),
            ("npm run  test", "run\n`npm run test` now"),
            ("错误", "有错误发生"),
            ("a.py", "xa.py and a.py"),
            ("5分钟", "等5分钟再试"),
            ("--", "a -- b"),
        ],
    )
    def test_it_stands_there_as_a_whole(self, literal: str, text: str) -> None:
        assert self.inside(literal, text)

    @pytest.mark.parametrize(
        ("literal", "text"),
        [("77120", "177120"), ("a.py", "a.pyc, xa.py"), ("src/a.py", "a.py src"), ("x", "")],
    )
    def test_a_part_of_a_word_is_no_mention(self, literal: str, text: str) -> None:
        assert not self.inside(literal, text)

    @given(
        st.lists(st.text(alphabet="ab/. 好", min_size=1, max_size=6), max_size=30),
        st.text(alphabet="ab/. 好", max_size=30),
    )
    def test_many_together_are_as_each_alone(self, literals: list[str], text: str) -> None:
        each = {at for at, literal in enumerate(literals) if self.inside(literal, text)}
        assert Mentions(literals).inside([text]) == each

    def test_of_very_many_that_share_their_words_only_those_that_stand_are_found(self) -> None:
        literals = [f"mod{n % 7}/file{n % 11}.py" for n in range(77)]
        text = " ".join(literals[:5]) + " mod6 file9.py"
        assert Mentions(literals).inside([text]) == set(range(5))

    def test_strings_in_arguments_are_taken_out_of_their_json(self) -> None:
        text = json.dumps({"command": 'grep "a b"\n', "n": [7, True, None, {"k": "v"}]})
        assert sorted(leaves(text)) == ["7", 'grep "a b"\n', "v"]
        assert leaves("{broken") == ["{broken"]

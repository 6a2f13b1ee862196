"""YAML as templates, and the one line that says what is wrong, and where."""

from __future__ import annotations

import contextlib

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from projections.prompts import PromptFault, PromptUnreadable, Template, parse
from projections.prompts.parsing import MOST_CHARACTERS, MOST_NAMES

ROLES = """\
version: 2.10
description: for all
coder:
  description: reads a change
  system: |
    You know {language}.
    Answer as {"verdict": "fine"}.

  user: "{{diff}}"
judge:
  version: 2026-11-30
  system: &rules You judge.
plain: {user: *rules}
"""

PIECES = [
    *"{}[]:-?&*!|>'\"%@`#,\n \tab1~\\",
    *("system: ", "user: ", "variables: ", "\n  ", "---\n", "&a ", "*a", "!!str "),
    *("\\U00FFFFFF", "%YAML 1.1\n", "\ud800", "\x85"),
]


def refused(text: str) -> PromptUnreadable:
    with pytest.raises(PromptUnreadable) as caught:
        parse(text, "review", file="prompts/review.yaml")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("prompts/review.yaml")
    return caught.value


class TestReading:
    """What a file says is what the template is."""

    def test_roles_with_what_holds_for_all_of_them(self) -> None:
        found = parse(ROLES, "review")
        assert list(found) == ["coder", "judge", "plain"]
        assert found["coder"] == Template(
            "review",
            "coder",
            "reads a change",
            "2.10",
            'You know {language}.\nAnswer as {"verdict": "fine"}.\n',
            "{{diff}}",
        )
        assert found["coder"].variables == {"language", "diff"}
        assert (found["judge"].version, found["judge"].description) == ("2026-11-30", "for all")
        assert found["plain"].user == "You judge."

    def test_one_template_alone(self) -> None:
        found = parse("version: 1\nsystem: You are {x} of {y}.\nvariables: [x]\n", "greeting")
        assert found == {
            "": Template("greeting", "", "", "1", "You are {x} of {y}.", "", ("x",)),
        }
        assert found[""].variables == {"x"}

    def test_roles_may_be_called_system_and_user(self) -> None:
        found = parse("system: {system: a}\nuser: {user: b}\n", "x")
        assert [each.label for each in found.values()] == ["x/system", "x/user"]

    @given(st.dictionaries(st.sampled_from(["system", "user", "description"]), st.text()))
    def test_what_yaml_writes_is_read_back(self, texts: dict[str, str]) -> None:
        for ascii_only in (True, False):
            written = yaml.safe_dump(texts, allow_unicode=not ascii_only)
            if not texts.get("system") and not texts.get("user"):
                refused(written)
                continue
            found = parse(written, "x")[""]
            # NEL is a line break to YAML, and where it stands as it is it becomes a line feed.
            assert {name: getattr(found, name) for name in texts} == {
                name: text if ascii_only else yaml.safe_load(written)[name]
                for name, text in texts.items()
            }

    def test_rendering_what_was_parsed_and_parsing_again_is_stable(self) -> None:
        first = parse(ROLES, "review")["coder"].render(language="Go", diff="{x}").system
        again = parse(yaml.safe_dump({"system": first}), "review")[""]
        assert again.render().system == first


class TestWrong:
    """A mistake is found by its line; a prompt that is half read is worse than none."""

    @pytest.mark.parametrize(
        ("text", "line", "words"),
        [
            ("", None, "it is empty"),
            ("# nothing\n", None, "it is empty"),
            ("- a\n", 1, "it is a list, no mapping"),
            ("hello\n", 1, "it is a text, no mapping"),
            ("version: 1\n", 1, "it has neither `system` nor `user`, nor a role"),
            ("system: a\nuser: b\nsystem: c\n", 3, "'system' is there twice, first in line 1"),
            ("a: {system: x}\nb: {user: y}\na: {user: z}\n", 3, "'a' is there twice"),
            ("system: a\nsytem: b\n", 2, "no key 'sytem'; is 'system' meant?"),
            ("system: a\nextra: b\n", 2, "no key 'extra'; it has description, system"),
            ("coder:\n  system: [a]\n", 2, "role 'coder': 'system' is a list, no text"),
            ("coder:\n  system: a\n  user:\n", 3, "role 'coder': 'user' is empty"),
            ("coder:\n  system: 1.5\n", 2, "it is '1.5': put it in quotes"),
            ("coder:\n  systm: a\n", 2, "role 'coder': no key 'systm'"),
            ("coder:\n  version: 1\n", 2, "neither `system` nor `user` has a text"),
            ("sistem: You judge.\n", 1, "'sistem' is a text, no role with `system` or `user`; is"),
            ("user: {task}\n", 1, "'user' is a mapping, no text: a text with { or :"),
            ("user: {task} now\n", 1, "stands in quotes, or on the lines under |"),
            ("system: Note: this\n", 1, "stands in quotes, or on the lines under |"),
            ("system: ''\n", 1, "neither `system` nor `user` has a text"),
            ("version: [1]\nsystem: a\n", 1, "'version' is a list, no text"),
            ("description:\nsystem: a\n", 1, "'description' is empty"),
            ("yes: {system: a}\n", 1, "the name 'yes' is no text to YAML: put it in quotes"),
            ("? [a]\n: b\n", 1, "a list is no name"),
            ("<<: {system: a}\n", 1, "the name '<<' is no text"),
            ("a/b: {system: x}\n", 1, "'a/b' is no name of a role"),
            ('" ": {system: x}\n', 1, "is no name of a role"),
            ('"a\\u202e": {system: x}\n', 1, "'a\\u202e' is no name of a role"),
            ("system: a\nvariables: x\n", 2, "'variables' is a text, no list of names"),
            ("system: a\nvariables: [1]\n", 2, "'1' is no name of a variable"),
            ("system: a\nvariables: [[b]]\n", 2, "a list is no name of a variable"),
            ("system: '{abc}'\nvariables: [abd]\n", 2, "no 'abd' in braces in its text; is 'abc'"),
            ("system: a\n---\nuser: b\n", 2, "a second document begins"),
            ("system: !!python/object/apply:os.system ['x']\n", 1, "is not read"),
            ("system: !mine x\n", 1, "the tag '!mine' is not read"),
            ("system: *gone\n", 1, "the alias 'gone' stands for no text"),
            ("a: &a {system: x}\nb: *a\n", 2, "the alias 'a' stands for no text"),
            ("a: {system: &a x, user: &a y}\n", 1, "the anchor 'a' is there already"),
            ("a: {system: {b: {c: {d: e}}}}\n", 1, "nested deeper than a prompt is"),
            ("system: a\x07b\n", 1, "the character U+0007 cannot stand in YAML"),
            ('x: y\nsystem: "\\ud800"\n', 1, "no key 'x'"),
            ('version: 1\nsystem: "\\ud800"\n', 2, "holds half of a surrogate pair"),
            ('system: "\\UFFFFFFFF"\n', None, "no YAML"),
            ("a:\n\t- b\n", 2, "no YAML: while scanning"),
            ("a: [b\n", 2, "no YAML: while parsing a flow sequence"),
        ],
    )
    def test_it_is_said_in_one_line_with_the_place(
        self, text: str, line: int | None, words: str
    ) -> None:
        error = refused(text)
        assert words in str(error)
        assert error.line == line

    @given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join))
    def test_whatever_stands_there_it_is_templates_or_a_fault(self, text: str) -> None:
        with contextlib.suppress(PromptFault):
            found = parse(text, "x")
            assert found
            assert all(each.system or each.user for each in found.values())


class TestHostile:
    """A file of a few bytes must not stand for gigabytes, nor for hours, nor end the process."""

    def test_a_bomb_of_aliases_is_refused(self) -> None:
        bomb = "a: &a [x,x,x]\n" + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n"
            for n in range(20)
        )
        assert "stands for no text" in str(refused(bomb))

    @pytest.mark.parametrize("opening", ["[", "{", "- ", "? ", "a: {"])
    def test_nesting_without_end_is_refused_at_once(self, opening: str) -> None:
        assert "deeper" in str(refused(opening * (MOST_CHARACTERS // len(opening))))

    @pytest.mark.parametrize(
        "text",
        [
            "".join(f"r{n}: {{system: x}}\n" for n in range(MOST_NAMES + 2)),
            f"system: x\nvariables: [{'a,' * (MOST_NAMES + 2)}]\n",
        ],
    )
    def test_names_without_end_are_refused(self, text: str) -> None:
        assert f"more than {MOST_NAMES:,}" in str(refused(text))

    def test_a_text_over_the_limit_is_refused(self) -> None:
        assert "over the limit" in str(refused("system: " + "x" * MOST_CHARACTERS))

    @pytest.mark.parametrize("front", ["a: &", "a: !", "", "a: {system: x, ", "system: *"])
    def test_a_name_without_end_is_cut_in_the_message(self, front: str) -> None:
        assert len(str(refused(front + "x" * 100_000))) < 1_000

"""A file of tests is read as it is meant, and what is wrong in it is told with its line."""

from __future__ import annotations

import pytest

from projections.prompts.cases import Suite, suite
from projections.prompts.faults import PromptUnreadable
from projections.prompts.template import Template

WHOLE = """\
prompt: review/coder
vars: {language: Python, version: 1.10, sure: yes}
cases:
  - name: the change is   named
    vars: {language: Rust, diff: "- a"}
    user: ["Why?", "Where?"]
    checks:
      - contains: [b, "yes"]
      - refuses: True
      - min_length: 20
  - checks: [{no_secret: true}]
    user: hi
"""


def read(text: str) -> Suite:
    return suite(text, "know", "know.yaml")


class TestAFile:
    """Without these a case tests something else than it says."""

    def test_everything_in_it(self) -> None:
        made = read(WHOLE)
        first, second = made.cases
        assert (made.prompt, made.role, made.template) == ("review/coder", "", None)
        assert first.name == "the change is named"
        assert first.variables == {
            **{"language": "Rust", "version": "1.10", "sure": "yes", "diff": "- a"}
        }
        assert first.turns == ("Why?", "Where?")
        assert [(c.kind, c.expected, c.line) for c in first.checks] == [
            ("contains", "b", 8),
            ("contains", "yes", 8),
            ("refuses", "true", 9),
            ("min_length", "20", 10),
        ]
        assert (second.name, second.turns, second.line) == ("case 2", ("hi",), 11)

    def test_a_prompt_of_its_own(self) -> None:
        made = read("system: Know {x}.\nuser: Ask.\ncases: [{checks: [{contains: a}]}]")
        assert made.template == Template("know", system="Know {x}.", user="Ask.")

    def test_an_empty_text_is_the_value_of_a_variable(self) -> None:
        made = read('system: a\nvars: {x: ""}\ncases: [{user: b, checks: [{contains: a}]}]')
        assert made.cases[0].variables == {"x": ""}


CASE = "system: a\nuser: b\ncases:\n  - checks: "
TWICE = CASE + "[{contains: a}]\n    name: x\n  - {name: x, checks: [{contains: a}]}"


class TestWhatIsWrong:
    """Without these a file of a hundred cases is searched for a comma."""

    @pytest.mark.parametrize(
        ("text", "line", "said"),
        [
            ("", None, "empty"),
            ("- a", 1, "it is a list, no mapping such as `prompt: …`"),
            ("promt: a", 1, "no key 'promt'; is 'prompt' meant?"),
            ("cases: []", 1, "neither `prompt` nor"),
            ("prompt: a\nsystem: b", 2, "`prompt` and `system`"),
            ("system: a\nrole: b\ncases: []", 2, "`role` goes with `prompt`"),
            ("prompt: a", 1, "it needs `cases`"),
            ("prompt: a\ncases: {}", 2, "it needs `cases`"),
            ("prompt: a\ncases: []", 2, "it needs `cases`"),
            ("prompt: a\ncases:\n  - b", 3, "case 1 is a text"),
            ("prompt:\ncases: []", 1, "'prompt' is empty"),
            ("prompt: a\nvars: [b]\ncases: []", 2, "'vars' is a list"),
            ("prompt: a\nvars: {b c: d}\ncases: []", 2, "'b c' is no name of a variable"),
            ("prompt: a\nvars: {b: }\ncases: []", 2, "'b' is empty"),
            ("prompt: a\nvars: {b: [c]}\ncases: []", 2, "'b' is a list, no text"),
            ("prompt: a\ncases:\n  - {}", 3, "a case needs `checks`"),
            (CASE + "contains", 4, "a case needs `checks`"),
            (CASE + "[contains]", 4, "one name with what it expects"),
            (CASE + "[{contains: a, regex: b}]", 4, "one name with what it expects"),
            (CASE + "[{contain: a}]", 4, "no key 'contain'; is 'contains' meant?"),
            (CASE + "[{contains: }]", 4, "'contains' is empty"),
            (CASE + "[{contains: []}]", 4, "'contains' is empty"),
            (CASE + "[{contains: {a: b}}]", 4, "'contains' is a mapping"),
            (CASE + '[{regex: "("}]', 4, "regex '(' is no expression"),
            (CASE + "[{min_length: -1}]", 4, "min_length takes a number"),
            (CASE + "[{min_length: 1.5}]", 4, "min_length takes a number"),
            (CASE + "[{refuses: maybe}]", 4, "refuses takes true or false"),
            (CASE + "[{no_secret: false}]", 4, "no_secret takes true"),
            (CASE + "[{contains: a}]\n    nme: b", 5, "no key 'nme'; is 'name' meant?"),
            (TWICE, 6, "the name 'x' is there twice, first in line 4"),
            (CASE + "[{contains: !!python/object:os.system a}]", 4, "the tag"),
            (CASE + "[[[[[a]]]]]", 4, "nested deeper"),
            ("prompt: a\n\tcases: []", 2, "no YAML"),
            (CASE + "[{judged: [Is it?, b]}]", 4, "inside [ ] a text with ? in it"),
            ("prompt: a\x00", 1, "U+0000"),
            ("prompt: a\n---\nprompt: b", 2, "a second document"),
            ("a" * (1 << 19), None, "over the limit"),
        ],
    )  # fmt: skip
    def test_is_told_with_its_line(self, text: str, line: int | None, said: str) -> None:
        with pytest.raises(PromptUnreadable) as refused:
            read(text)
        assert said in str(refused.value)
        assert refused.value.line == line
        assert "know.yaml" in str(refused.value)

    @pytest.mark.parametrize(
        ("template", "said"),
        [
            (Template("t", system="{x} {y}", user="b"), "no value for 'x', 'y'"),
            (Template("t", system="a", user="b"), "no variable 'language'"),
            (Template("t", system="{language}"), "needs `user`"),
        ],
    )
    def test_variables_that_do_not_fit_and_nothing_to_ask(
        self, template: Template, said: str
    ) -> None:
        made = read("prompt: t\nvars: {language: C}\ncases:\n  - checks: [{contains: a}]")
        with pytest.raises(PromptUnreadable) as refused:
            made.rendered(made.cases[0], template)
        assert refused.value.line == 4
        assert said in str(refused.value)

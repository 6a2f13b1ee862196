"""A system prompt of sections: one order, the same bytes, what changes last."""

from __future__ import annotations

import doctest
import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.prompts import (
    Environment,
    Memories,
    Memory,
    PromptBuilder,
    PromptMissing,
    SectionRefused,
    Template,
    builder,
)
from projections.prompts.builder import SECTIONS

WHOLE = """\
You review code.

## Capabilities

- You read files.

## Constraints

Be brief.

- Show the line.
- One thing
  at a time.

## Tools

- grep: finds text
- ls

## Safety

Run nothing.

## Output format

JSON.

## Context

It is late."""

STEPS: list[Callable[[PromptBuilder], PromptBuilder]] = [
    lambda made: made.context("It is late."),
    lambda made: made.output_format("JSON."),
    lambda made: made.safety("\n  \nRun nothing.  \n\n"),
    lambda made: made.tools({"grep": "finds text", "ls": ""}),
    lambda made: made.constraints("Be brief.").constraints(
        ["Show the line.", "One thing\nat a time."]
    ),
    lambda made: made.capabilities(["You read files.", "", "  "]),
    lambda made: made.identity("You review code."),
]


class TestSections:
    """Bytes that move from call to call cost the whole cache."""

    def test_they_stand_in_one_order_whatever_order_they_came_in(self) -> None:
        for steps in itertools.islice(itertools.permutations(STEPS), 0, None, 97):
            made = PromptBuilder()
            for step in steps:
                made = step(made)
            assert made.build() == WHOLE

    def test_its_examples_are_true(self) -> None:
        assert doctest.testmod(builder) == (0, 3)

    def test_what_changes_stands_behind_all_that_stays(self) -> None:
        base = PromptBuilder().identity("You help.").output_format("Text.")
        one, other = (base.context(text).build() for text in ("It is 9.", "It is 10."))
        assert one != other
        assert one.startswith(base.build() + "\n\n## Context\n\n")
        assert other.startswith(base.build() + "\n\n## Context\n\n")
        assert base.context("x").static_text() == base.build()

    def test_a_section_without_content_leaves_nothing_behind(self) -> None:
        empty = PromptBuilder()
        for name in SECTIONS:
            empty = getattr(getattr(empty, name)(""), name)(["", " \n"])
        assert empty.build() == ""
        assert empty.inject(Memories([])).identity("x").build() == "x"

    def test_it_never_changes(self) -> None:
        base = PromptBuilder().identity("x")
        assert base.safety("y").build() != base.build() == "x"

    @given(st.dictionaries(st.sampled_from(SECTIONS), st.text(max_size=30)))
    def test_the_same_content_gives_the_same_bytes(self, content: dict[str, str]) -> None:
        def made(names: list[str]) -> str:
            found = PromptBuilder()
            for name in names:
                found = getattr(found, name)(content[name])
            return found.build()

        assert made(list(content)) == made(sorted(content)) == made(sorted(content, reverse=True))

    def test_headings_can_be_others_or_none(self) -> None:
        made = PromptBuilder().identity("x").safety("y").tools(["z"])
        made = made.headings(identity="Who you are", safety="")
        assert made.build() == "## Who you are\n\nx\n\n## Tools\n\n- z\n\ny"

    @pytest.mark.parametrize(
        ("headings", "words"),
        [
            ({"saftey": "x"}, "no section 'saftey'; is 'safety' meant?"),
            ({"zzz": "x"}, "there are 'identity'"),
            ({"safety": "a\nb"}, "the heading of 'safety' has more than one line"),
        ],
    )
    def test_a_heading_that_cannot_be_is_refused(
        self, headings: dict[str, str], words: str
    ) -> None:
        with pytest.raises(SectionRefused) as told:
            PromptBuilder().headings(**headings)
        assert words in str(told.value)


class TestTemplates:
    """What was built is kept in a file, and what stands in a file is built on."""

    def test_the_sections_are_its_system_text(self) -> None:
        made = PromptBuilder().identity("You know {language}.").safety("Ask.")
        template = made.template("review", "coder", description="d", version="3", user="{diff}")
        assert template == Template("review", "coder", "d", "3", made.build(), "{diff}")
        assert template.variables == {"language", "diff"}

    def test_there_and_back_is_the_same(self) -> None:
        template = Template("x", system=r"You are {x} of {y}.", declared=("x",))
        assert PromptBuilder.from_template(template).template("x") == template

    def test_a_template_of_a_user_text_alone_is_none_to_build_on(self) -> None:
        with pytest.raises(PromptMissing):
            PromptBuilder.from_template(Template("x", user="{a}"))

    def test_no_brace_of_the_dynamic_context_is_a_variable(self) -> None:
        made = PromptBuilder().identity("You know {language}.")
        made = made.inject(Memories([Memory("m1", "{language} {secret}")]))
        template = made.template("review")
        assert template.variables == {"language", "context"}
        rendered = template.render(language="Go", context=made.context_text())
        assert rendered.system == made.build().replace("{language}", "Go", 1)
        assert "{language} {secret}" in rendered.system

    def test_declared_variables_stay_declared(self) -> None:
        made = PromptBuilder().identity("{a} {b}").context("now")
        template = made.template("x", variables=["a"])
        assert template.render(a=1, context="then").system == "1 {b}\n\nthen"

    def test_a_section_that_has_a_context_of_its_own_is_refused(self) -> None:
        made = PromptBuilder().identity("In {context}.").inject(Environment(cwd="/src"))
        with pytest.raises(SectionRefused, match="give it another name"):
            made.template("x")

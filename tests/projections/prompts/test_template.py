"""Templates: which braces are variables, what stands for them, and what is said when it does not
fit."""

from __future__ import annotations

import json
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.agent import PromptRendered
from eventlog.errors import InputRefused, NotFound
from projections.prompts import (
    PromptMissing,
    Template,
    ValueRefused,
    VariablesRefused,
    rendered_event,
)
from projections.prompts.variables import filled, variables_in

NAMES = st.sampled_from(["a", "b", "name", "größe", "_x1"])
TEXTS = st.text(max_size=20)
BRACED = st.one_of(
    st.text(alphabet="{}ab _!:.'\"1\n", max_size=8),
    NAMES.map(lambda name: f"{{{name}}}"),
    NAMES.map(lambda name: f"{{{{{name}}}}}"),
)
SOURCES = st.lists(BRACED, max_size=8).map("".join)


def template(system: str = "", user: str = "", **rest: object) -> Template:
    return Template("review", "coder", system=system, user=user, **rest)  # type: ignore[arg-type]


class TestVariables:
    """A brace of somebody's code that is taken for a variable breaks the prompt; so does a variable
    that is not seen."""

    @pytest.mark.parametrize("text", ["{name}", "{{name}}", "a{name}b", '"{name}"', "${name}"])
    def test_an_identifier_alone_in_single_or_double_braces_is_one(self, text: str) -> None:
        assert variables_in(text) == ["name"]
        assert filled(text, {"name": "X"}) in ("X", "aXb", '"X"', "$X")

    @pytest.mark.parametrize(
        "code",
        [
            '{"a": 1}',
            '{"a": {"b": [1, 2]}}',
            "f'{x!r} {y:>10} {z.name} {t[0]}'",
            "'{}'.format(1)",
            "{0} {1}",
            "{n: n * n for n in ns}",
            "{n for n in ns}",
            "{*one, *two}",
            "a { color: red; }",
            "if (x) { return y; }",
            "{ name }",
            "{{ name }}",
            r"\frac{1}{2}",
            "{{}}",
            "{",
            "}",
            "{{{",
            "{a b}",
            "{a-b}",
            "{²}",
        ],
    )
    def test_braces_in_code_survive(self, code: str) -> None:
        assert variables_in(code) == []
        (message,) = template(user=code).render().messages()
        assert message["content"] == code

    def test_code_with_single_names_in_braces_survives_where_variables_are_declared(self) -> None:
        text = r"\frac{a}{b} and ${HOME} for {task}"
        rendered = template(text, declared=("task",)).render(task="{a}")
        assert rendered.system == r"\frac{a}{b} and ${HOME} for {a}"

    def test_a_variable_may_stand_inside_of_json(self) -> None:
        text = '{"question": {question}, "list": [{{question}}]}'
        assert template(text).render(question=1).system == '{"question": 1, "list": [1]}'

    @given(st.text(alphabet="ab \n\"'", max_size=60))
    def test_a_text_without_braces_is_unchanged(self, text: str) -> None:
        assert filled(text, {"a": "X", "b": "Y"}) == text

    @given(SOURCES)
    def test_what_is_no_variable_is_never_touched(self, text: str) -> None:
        assert filled(text, {}) == text
        assert filled(text, dict.fromkeys(["z", "0", "a b"], "X")) == text

    @given(SOURCES, st.lists(SOURCES, min_size=5, max_size=5))
    def test_a_value_is_never_looked_into(self, text: str, values: list[str]) -> None:
        """With marks in the place of values, and the values put in by hand, it is the same text."""
        names = ["a", "b", "name", "größe", "_x1"]
        marks = {name: f"\ue000{at}\ue001" for at, name in enumerate(names)}
        by_hand = filled(text, marks)
        for name, value in zip(names, values, strict=True):
            by_hand = by_hand.replace(marks[name], value)
        assert by_hand == filled(text, dict(zip(names, values, strict=True)))

    @given(SOURCES)
    def test_each_name_that_is_told_is_replaced_everywhere(self, text: str) -> None:
        names = variables_in(text)
        assert len(set(names)) == len(names)
        assert variables_in(filled(text, dict.fromkeys(names, "."))) == []


class TestRender:
    """What a model is given is what was meant, or nothing."""

    def test_messages_are_the_texts_that_there_are(self) -> None:
        rendered = template("You know {it}.", "Do {what}.").render(it="Go", what="this")
        assert rendered.messages() == [
            {"role": "system", "content": "You know Go."},
            {"role": "user", "content": "Do this."},
        ]
        assert template(user="Do.").render().messages() == [{"role": "user", "content": "Do."}]
        assert rendered.system_prompt == "You know Go."

    def test_a_template_without_a_system_text_has_no_system_prompt(self) -> None:
        with pytest.raises(PromptMissing, match="the prompt review/coder has no system text"):
            _ = template(user="Do.").render().system_prompt

    def test_a_text_stands_as_it_is_and_everything_else_as_json(self) -> None:
        class Kind(StrEnum):
            BUG = "bug"

        rendered = template("{a}|{b}|{c}|{d}|{e}").render(
            a="x\ny", b=1.5, c=True, d={"k": [None, "ü"]}, e=Kind.BUG
        )
        assert rendered.system == 'x\ny|1.5|true|{"k": [null, "ü"]}|bug'

    def test_what_the_caller_changes_later_changes_nothing(self) -> None:
        files = ["a"]
        rendered = template("{files}").render(files=files)
        files.append("b")
        assert rendered.variables == {"files": ["a"]}
        with pytest.raises(TypeError):
            rendered.variables["files"] = []  # type: ignore[index]

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            (object(), "is a object or holds one"),
            (Path("x"), "give a text"),
            ([float("nan")], "is no JSON"),
            ({("a", "b"): 1}, "is a dict or holds one"),
        ],
    )
    def test_a_value_that_is_neither_text_nor_json_is_refused(
        self, value: object, words: str
    ) -> None:
        with pytest.raises(ValueRefused, match="the prompt review/coder: the value of 'a'") as told:
            template("{a}").render(a=value)
        assert words in str(told.value)

    def test_a_role_without_a_description_is_no_tool(self) -> None:
        assert template("x", description="reads a change").tool_description == "reads a change"
        with pytest.raises(PromptMissing, match="review/coder has no description for its tool"):
            _ = template("x", description=" \n").tool_description

    def test_any_name_can_be_a_variable(self) -> None:
        rendered = template("{self} {name} {role}").render(self=1, name=2, role=3)
        assert rendered.system == "1 2 3"

    def test_one_part_alone_needs_only_its_own_variables(self) -> None:
        whole = template("{a} {x}", "{b} {x}", declared=("a", "b"))
        assert whole.only("system").render(a=1).system == "1 {x}"
        assert whole.only("user").variables == {"b"}
        with pytest.raises(VariablesRefused):
            whole.only("system").render(a=1, b=2)


class TestWhatDoesNotFit:
    """A variable that is forgotten goes to the model as braces, and nobody notices."""

    @pytest.mark.parametrize(
        ("given", "missing", "unused", "words"),
        [
            ({}, ("diff", "focus"), (), "no value for 'diff', 'focus'; where it is code"),
            ({"diff": "", "fokus": ""}, ("focus",), ("fokus",), "is 'fokus' meant for 'focus'?"),
            ({"diff": "", "focus": "", "dif": ""}, (), ("dif",), "is 'dif' meant for 'diff'?"),
            ({"diff": "", "focus": "", "q": ""}, (), ("q",), "it has diff, focus"),
        ],
    )
    def test_missing_and_unused_are_told_together_with_what_is_near(
        self, given: dict[str, object], missing: tuple[str], unused: tuple[str], words: str
    ) -> None:
        with pytest.raises(VariablesRefused) as told:
            template("{diff}", "{{focus}}").render(**given)
        assert (told.value.missing, told.value.unused) == (missing, unused)
        assert words in str(told.value)
        assert isinstance(told.value, InputRefused)

    def test_blanks_in_the_braces_are_named(self) -> None:
        with pytest.raises(VariablesRefused, match=r"\{\{ diff \}\} is no variable, \{diff\} is"):
            template("Look at {{ diff }}").render(diff="x")

    def test_a_template_without_variables_says_so(self) -> None:
        with pytest.raises(VariablesRefused, match="no variable 'a' in it; it has none"):
            template("Hello.").render(a=1)

    def test_a_name_without_end_is_cut_in_the_message(self) -> None:
        with pytest.raises(VariablesRefused) as told:
            template("{a}").render(**{"x" * 9_000: 1, **{f"y{n}": 1 for n in range(99)}})
        assert len(str(told.value)) < 1_000


class TestEvent:
    """Which prompt was in force at a call is known from this alone."""

    def test_it_has_all_that_the_text_was_made_of(self) -> None:
        made = template("You know {it}.", "Do {what}.", version="2.10").render(it="Go", what="x")
        salt = bytes(range(16))
        event = rendered_event(made, "3", salt=salt)
        assert event == PromptRendered(
            item="3",
            template="review",
            role="coder",
            version="2.10",
            template_text="You know {it}.",
            variables={"it": "Go"},  # type: ignore[arg-type]
            salt=salt.hex(),
            template_digest=sha256(salt + b"You know {it}.").hexdigest(),
            rendered_digest=sha256(salt + b"You know Go.").hexdigest(),
        )
        user = rendered_event(made, "4", part="user", salt=salt)
        assert (user.template_text, user.variables.value) == ("Do {what}.", {"what": "x"})  # type: ignore[union-attr]

    def test_the_text_can_be_made_again_from_it(self) -> None:
        made = template(r"\frac{a}{b} {task} {{n}}", declared=("task", "n"))
        rendered = made.render(task="{a}", n=[1])
        event = rendered_event(rendered, "3", salt=b"s" * 16)
        values = event.variables.value  # type: ignore[union-attr]
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in values.items()}
        assert filled(event.template_text, texts) == rendered.system

    def test_a_value_with_half_a_surrogate_pair_has_a_digest_too(self) -> None:
        event = rendered_event(template("{a}").render(a="\ud800"), "3", salt=b"s" * 16)
        assert event.variables is not None
        assert event.variables.value == {"a": "\ud800"}

    def test_a_part_that_is_not_there_is_refused(self) -> None:
        with pytest.raises(NotFound, match="has no user text"):
            rendered_event(template("x").render(), "3", part="user", salt=b"s")

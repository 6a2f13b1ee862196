"""What a model is told of a tool, and how what it gives is read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given as given_by
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from eventlog.errors import InputRefused
from harness.tools import Context, Tool, run, tool
from projections.agent_state import AgentState


class Colour(Enum):
    RED = "red"


class Place(BaseModel):
    street: str
    number: int = 1


def paint(
    where: Place,
    colour: Annotated[Colour, "in which colour"],
    layers: Annotated[int, Field(description="how many", ge=1)] = 2,
    kind: Literal["matt", "shiny"] | None = None,
    *,
    context: Context,
) -> str:
    """Paint a house.

    Nothing of this line is told.
    """
    return f"{where.street} {where.number} {colour!r} {layers} {kind} {context.tool_call_id}"


def called(given: Tool, arguments: str) -> tuple[str, bool]:
    outcome = run(given, "t1", arguments, Context(AgentState(), "t1"))
    return outcome.content, outcome.is_error


class TestDefinition:
    """A schema that says something else than the function takes makes every call an error."""

    def test_it_is_what_the_signature_says(self) -> None:
        assert tool(paint).definition == {
            "type": "function",
            "function": {
                "name": "paint",
                "description": "Paint a house.",
                "parameters": {
                    "$defs": {
                        "Colour": {"enum": ["red"], "title": "Colour", "type": "string"},
                        "Place": {
                            "properties": {
                                "street": {"type": "string"},
                                "number": {"default": 1, "type": "integer"},
                            },
                            "required": ["street"],
                            "title": "Place",
                            "type": "object",
                        },
                    },
                    "additionalProperties": False,
                    "properties": {
                        "where": {"$ref": "#/$defs/Place"},
                        "colour": {"$ref": "#/$defs/Colour", "description": "in which colour"},
                        "layers": {
                            "default": 2,
                            "description": "how many",
                            "minimum": 1,
                            "type": "integer",
                        },
                        "kind": {
                            "anyOf": [
                                {"enum": ["matt", "shiny"], "type": "string"},
                                {"type": "null"},
                            ],
                            "default": None,
                        },
                    },
                    "required": ["where", "colour"],
                    "type": "object",
                },
            },
        }

    def test_a_decorator_takes_settings_or_none(self) -> None:
        @tool
        def one() -> None:
            """One."""

        @tool(name="two", description="Two.", has_effects=False, group="g", timeout=None)
        def other() -> None:
            """Not told."""

        assert (one.name, one.description, one.has_effects, one.group) == ("one", "One.", True, "")
        assert (two := other).name == "two"
        assert (two.description, two.has_effects, two.group, two.timeout) == (
            "Two.",
            False,
            "g",
            None,
        )
        assert one.definition["function"]["parameters"] == {
            "additionalProperties": False,
            "properties": {},
            "type": "object",
        }

    def test_what_a_caller_changes_of_it_is_the_callers(self) -> None:
        one = tool(paint)
        one.definition["function"]["parameters"]["properties"].clear()
        assert "where" in one.definition["function"]["parameters"]["properties"]

    def test_names_that_a_model_of_pydantic_has_itself_are_names_like_others(self) -> None:
        def names(model_config: str, json: str, schema: str, copy: str, _own: str, p0: str) -> str:
            return model_config + json + schema + copy + _own + p0

        given = '{"model_config":"a","json":"b","schema":"c","copy":"d","_own":"e","p0":"f"}'
        assert called(tool(names), given) == ("abcdef", False)

    def test_whatever_can_be_called_by_name_can_be_a_tool(self) -> None:
        class Adder:
            def add(self, a: int, b: int) -> int:
                return a + b

            def __call__(self, a: int) -> int:
                return a + 100

        async def later(a: int) -> int:
            return a + 1000

        assert called(tool(Adder().add), '{"a":1,"b":2}') == ("3", False)
        assert called(tool(Adder(), name="adder"), '{"a":1}') == ("101", False)
        assert called(tool(later), '{"a":1}') == ("1001", False)
        half = functools.partial(Adder().add, b=5)
        assert called(tool(half, name="half"), '{"a":1}') == ("6", False)


def stars(*names: str) -> None: ...
def two_stars(**names: str) -> None: ...
def by_position(name: str, /) -> None: ...
def unhinted(name) -> None: ...  # type: ignore[no-untyped-def]
def unknown(name: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def with_function(run: Callable[[], None]) -> None: ...
def with_object(place: Context | int) -> None: ...


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (stars, r"stars cannot be a tool: it takes \*names"),
        (two_stars, r"it takes \*\*names"),
        (by_position, "'name' is taken by position only"),
        (unhinted, "'name' has no type hint"),
        (unknown, "its type hints: name 'Nowhere' is not defined"),
        (with_function, "with_function cannot be a tool: "),
        (with_object, "with_object cannot be a tool: "),
        (lambda: None, "'<lambda>' is no name of a tool"),
    ],
)
def test_what_no_schema_can_say_is_refused_when_it_becomes_a_tool(
    function: Callable[..., object], why: str
) -> None:
    with pytest.raises(InputRefused, match=why):
        tool(function)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_is_some_time(timeout: float) -> None:
    with pytest.raises(InputRefused, match="over 0 seconds"):
        tool(paint, timeout=timeout)


@pytest.mark.parametrize("name", ["", "two words", "a/b", "é", "x" * 65, "a\n"])
def test_a_name_is_one_that_providers_take(name: str) -> None:
    with pytest.raises(InputRefused, match="is no name of a tool"):
        tool(paint, name=name)


class TestArguments:
    """What a model gives is never an exception: it is told what was wrong, and tries again."""

    def test_they_arrive_as_the_hints_say(self) -> None:
        given = '{"where":{"street":"Elm"},"colour":"red","layers":"3"}'
        assert called(tool(paint), given) == ("Elm 1 <Colour.RED: 'red'> 3 None t1", False)

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            ("{", "no valid JSON"),
            ("{'a': 1}", "no valid JSON"),
            ('{"n": NaN}', "NaN is no number of JSON"),
            ('{"n": 1e999}', "1e999 is over the range of a number"),
            (f'{{"n": {"1" * 5000}}}', "an integer of more than 4,300 digits"),
            ('{"n": 1, "n": 2}', "the key 'n' stands twice"),
            ("[1]", "no JSON object"),
            ('"{}"', "no JSON object"),
            ("[" * 100_000, "nested too deep"),
            (f'{{"n": {"[" * 200}{"]" * 200}}}', "nested more than 100 deep"),
            ("", "n: it is missing"),
            ("null", "n: it is missing"),
            ('{"n": 1, "m": 2, "k": 3}', "m: there is no such argument; there are: n"),
            ('{"n": "one"}', "n: Input should be a valid integer"),
            ('{"n": "' + "x" * 10_000 + '"}', "xxx…"),
        ],
    )
    def test_what_is_wrong_is_told_and_nothing_runs(self, arguments: str, why: str) -> None:
        ran = []

        def take(n: int) -> None:
            ran.append(n)

        content, is_error = called(tool(take), arguments)
        assert is_error
        assert why in content
        assert len(content) < 1_000
        assert not ran

    def test_every_fault_is_named_up_to_a_number(self) -> None:
        content, _ = called(tool(paint), '{"where": {"number": "x"}, "layers": 0, "z": 1}')
        assert [line.split(":")[0] for line in content.splitlines()] == [
            "the arguments are wrong",
            "where.street",
            "where.number",
            "colour",
            "layers",
            "z",
        ]
        many = "{" + ",".join(f'"x{i}":1' for i in range(500)) + "}"
        content, _ = called(tool(paint), many)
        assert content.endswith("and 494 more")

    def test_a_default_is_the_functions_own(self) -> None:
        default = object()

        def take(it: int = default) -> bool:  # type: ignore[assignment]
            return it is default

        assert called(tool(take), "{}") == ("true", False)
        assert "default" not in str(tool(take).parameters)

    @given_by(st.text() | st.from_regex(r'\{("[a-z]+": (1|"x"|null|\[\]|\{\}),? ?)*\}'))
    def test_whatever_a_model_writes_there_is_a_result(self, arguments: str) -> None:
        content, _ = called(tool(paint), arguments)
        assert content

    def test_half_a_character_stays_half_a_character(self) -> None:
        def same(text: str) -> str:
            return text

        assert called(tool(same), '{"text": "\\ud83d"}') == ("\ud83d", False)

    def test_a_context_cannot_be_given_by_a_model(self) -> None:
        given = '{"where":{"street":"Elm"},"colour":"red","context":{}}'
        content, is_error = called(tool(paint), given)
        assert is_error
        assert "context: there is no such argument" in content


class TestByHand:
    """A schema that comes from elsewhere: names are checked, the rest is the function's."""

    SCHEMA: dict[str, Any] = {  # noqa: RUF012
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {}},
        "required": ["a"],
        "additionalProperties": False,
    }

    def test_the_function_is_given_what_the_model_gave(self) -> None:
        given = Tool("x", "X.", self.SCHEMA, lambda **named: named)
        assert called(given, '{"a": "1"}') == ('{"a": "1"}', False)
        assert called(given, '{"c": 1}') == (
            "the arguments are wrong:\na: it is missing\n"
            "c: there is no such argument; there are: a, b",
            True,
        )
        open_schema = {"type": "object"}
        assert called(Tool("x", "X.", open_schema, lambda **named: named), '{"c": 1}')[1] is False

    def test_a_context_is_filled_in_whatever_the_model_says(self) -> None:
        def take(context: Context, **named: object) -> str:
            return f"{context.tool_call_id} {named}"

        given = Tool("x", "X.", {"type": "object"}, take)
        assert called(given, '{"a": 1}') == ("t1 {'a': 1}", False)
        assert called(given, '{"a": 1, "context": 2}') == ("t1 {'a': 1}", False)

    @pytest.mark.parametrize("schema", [{}, {"type": "string"}, {"type": "object", "x": object()}])
    def test_it_is_one_of_an_object(self, schema: dict[str, Any]) -> None:
        with pytest.raises(InputRefused, match="the parameters of 'x'"):
            Tool("x", "X.", schema, lambda: None)


class TestSubject:
    """What rules match on: with the wrong one a rule allows what it was never meant to."""

    def test_it_is_the_only_argument_or_the_named_one_or_all(self) -> None:
        def one(text: str) -> None: ...

        def two(text: str, path: Path) -> None: ...

        assert tool(one).subject({"text": "a"}) == "a"
        assert tool(one).subject({"text": 5}) == "5"
        assert tool(one).subject({"text": "a", "more": 1}) == '{"text": "a", "more": 1}'
        assert tool(two).subject({"text": "a", "path": "b"}) == '{"text": "a", "path": "b"}'
        assert tool(two, subject="path").subject({"text": "a", "path": "b"}) == "b"
        assert tool(two, subject=lambda given: f"<{given['path']}>").subject({"path": "b"}) == "<b>"
        with pytest.raises(InputRefused, match="no parameter 'nowhere'"):
            tool(two, subject="nowhere")

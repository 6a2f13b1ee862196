"""The text form of strategies: what it means, and the one line that says what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from replays_made import replayed, session

from eventlog.errors import InputRefused
from projections.strategies import PRESETS, STRATEGIES, parse
from projections.strategies.base import Moment, Strategy
from projections.strategies.clear import Clear
from projections.strategies.decisions import Decision, Substitute
from projections.strategies.window import Window


def refused(text: str, **rest: object) -> str:
    with pytest.raises(InputRefused) as caught:
        parse(text, **rest)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestReading:
    """A spec that is read in another way than it was written compares something else."""

    @pytest.mark.parametrize("name", STRATEGIES)
    def test_every_name_stands_alone_and_is_written_back(self, name: str) -> None:
        (strategy,) = parse(name)
        assert strategy.name == name
        assert parse(strategy.spec)[0].parameters == strategy.parameters

    def test_a_pipeline_keeps_its_order(self) -> None:
        found = parse("cut:limit=4000 | clear:keep=3 | compact:keep_turns=3")
        assert [each.name for each in found] == ["cut", "clear", "compact"]

    def test_only_what_differs_from_the_defaults_is_written(self) -> None:
        (strategy,) = parse("clear : keep=3, exclude_tools=memory+todo , at=model_call")
        assert strategy.spec == "clear:exclude_tools=memory+todo,at=model_call"
        assert parse(strategy.spec)[0].spec == strategy.spec

    @pytest.mark.parametrize(
        ("given", "means"), [("true", True), ("false", False), ("edit+write", ("edit", "write"))]
    )
    def test_clear_tool_inputs_is_a_switch_or_a_list_of_tools(
        self, given: str, means: object
    ) -> None:
        (strategy,) = parse(f"clear:clear_tool_inputs={given}")
        assert isinstance(strategy, Clear)
        assert strategy.parameters.clear_tool_inputs == means


class TestWrong:
    """A wrong spec gives one line that names the strategy, the parameter and what would do."""

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("trunkate", "no strategy 'trunkate'; did you mean 'truncate'?"),
            ("xyzzy", "no strategy 'xyzzy'; there are truncate, "),
            ("", "a strategy is missing"),
            ("cut |", "a strategy is missing"),
            ("cut:limit=-1", "cut: limit=-1: input should be greater than or equal to 0"),
            ("cut:limit=many", "cut: limit=many: input should be a valid integer"),
            ("cut:limit", "cut: 'limit' is no parameter such as key=value"),
            ("cut:limit=1,limit=2", "cut: 'limit' is given twice"),
            ("cut:size=3", "cut has no parameter 'size'; it has limit"),
            ("none:x=1", "none has no parameter 'x'; it takes none at all"),
            ("clear:at=midnight", "clear: at=midnight is no moment; there are tool_result"),
            ("hybrid:at=user_turn", "hybrid: its parts decide at moments of their own"),
            ("truncate:unit=page", "truncate: unit=page: input should be 'message' or 'turn'"),
            ("compress:keep_recent=50", "compress: keep_recent must be less than max_messages"),
            (
                "openhands:max_size=8,keep_first=3",
                "openhands: keep_first must be less than half of max_size, less one",
            ),
            ("condense:tokens=0", "condense: one of max_items and tokens must be given"),
            ("my.py:keep", "my.py: strategies from files are not read here"),
            ("dedup:threshold=2", "dedup: threshold=2: input should be less than or equal to 1"),
        ],
    )
    def test_it_is_said_in_one_line(self, text: str, words: str) -> None:
        assert words in refused(text)

    def test_a_long_wrong_value_is_not_repeated_whole(self) -> None:
        assert len(refused(f"cut:limit={'9x' * 5000}")) < 200


class TestNamed:
    """A name of the config stands for a whole spec."""

    def test_it_expands_also_within_a_pipeline_and_within_another(self) -> None:
        named = {"ours": "cut:limit=9 | clear", "all": "ours | window"}
        assert [each.name for each in parse("all | mask", named)] == [
            *("cut", "clear", "window", "mask")
        ]

    def test_a_name_that_is_made_of_itself_is_refused(self) -> None:
        assert "made of itself" in refused("a", named={"a": "b", "b": "cut | a"})

    def test_it_takes_no_parameters_and_is_suggested(self) -> None:
        assert "takes no parameters" in refused("ours:keep=1", named={"ours": "clear"})
        assert "did you mean 'ours'?" in refused("ous", named={"ours": "clear"})


def keep_errors(window: Window, moment: Moment) -> Iterable[Decision]:
    """A user's own, as a function."""
    return [Substitute(o, "[gone]", "no error") for o, e in window.results.items() if not e.failed]


class TestFiles:
    """A user's strategy is what the file holds: a class with parameters, an object, a function."""

    def test_a_function_is_asked_at_each_call(self) -> None:
        asked: list[tuple[str, str]] = []

        def load(path: str, name: str) -> object:
            asked.append((path, name))
            return keep_errors

        strategies = parse("lib/my.py:keep_errors | cut", load=load)
        assert asked == [("lib/my.py", "keep_errors")]
        runner = replayed(session(3), strategies)
        assert len([c for c in runner.result.changes if c.kind == "cleared"]) == 3
        assert runner.result.spec == "lib/my.py:keep_errors | cut"

    def test_a_class_takes_parameters(self) -> None:
        (strategy,) = parse("my.py:Mine:keep=7", load=lambda path, name: Clear)
        assert strategy.spec == "clear:keep=7"

    def test_an_object_is_taken_as_it_is(self) -> None:
        mine = Clear()
        assert parse("my.py:mine", load=lambda path, name: mine) == (mine,)

    @pytest.mark.parametrize(
        ("text", "found", "words"),
        [
            ("my.py", keep_errors, "name the strategy in it"),
            ("my.py:a b", keep_errors, "name the strategy in it"),
            ("my.py:f:keep=1", keep_errors, "takes no parameters"),
            ("my.py:f", 5, "neither a Strategy nor a function"),
        ],
    )
    def test_anything_else_is_refused(self, text: str, found: object, words: str) -> None:
        assert words in refused(text, load=lambda path, name: found)

    def test_a_function_may_say_its_moment_and_a_wrong_one_is_refused(self) -> None:
        def mine(window: Window, moment: Moment) -> Iterable[Decision]:
            return ()

        mine.moment = "tool_result"  # type: ignore[attr-defined]
        (strategy,) = parse("my.py:mine", load=lambda path, name: mine)
        assert strategy.at == "tool_result"
        mine.moment = "noon"  # type: ignore[attr-defined]
        assert "is no moment" in refused("my.py:mine", load=lambda path, name: mine)


class TestPresets:
    """A preset says what it imitates, and with which numbers."""

    @pytest.mark.parametrize("name", PRESETS)
    def test_it_names_system_version_and_source(self, name: str) -> None:
        preset = PRESETS[name]
        assert preset.system
        assert preset.version
        assert preset.source
        assert preset.__doc__

    @pytest.mark.parametrize(
        ("spec", "parts"),
        [
            ("swe-agent", ["mask:n=5,polling=1,count_task=true,marker=lines"]),
            ("openhands", ["halve"]),
            ("openhands:max_size=80,keep_first=4", ["halve:max_size=80,keep_first=4"]),
            ("codex", ["users:tokens=180000"]),
            ("codex:window=272000", ["users:tokens=244800"]),
            ("claude-code", ["condense:tokens=167000,keep_last=0,max_summary_tokens=4000"]),
            ("anthropic-clear", ["clear:trigger=100000,at=model_call"]),
            ("hybrid", ["mask", "condense:keep_last=20"]),
        ],
    )
    def test_it_is_made_of_known_parts(self, spec: str, parts: list[str]) -> None:
        (preset,) = parse(spec)
        assert [part.spec for part in preset.expand()] == parts

    def test_the_run_is_named_by_the_preset_and_not_by_its_parts(self) -> None:
        runner = replayed(session(2), "codex:window=5000")
        assert runner.result.spec == "codex:window=5000"
        assert all(isinstance(part, Strategy) for part in runner.strategies)


class TestConfigured:
    """Who typed a name of the config has to learn which line of it is wrong."""

    def test_a_wrong_spec_behind_a_name_is_told_with_the_name(self) -> None:
        said = refused("mine", named={"mine": "trunkate"})
        assert said.startswith("'mine' of the config: no strategy 'trunkate'")

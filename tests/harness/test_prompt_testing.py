"""Cases of a prompt, asked of a real endpoint: each call recorded, each check about the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, completion, nowhere, serving
from openai import OpenAI

from eventlog import StreamKey
from harness.endpoint import Endpoint
from harness.prompts.testing import PromptTester, Run, verdict
from harness.recording.recorder import Recorder
from projections import Live, open_log
from projections.findings import for_secrets
from projections.judging import judge_all
from projections.prompts.cases import Suite, suite
from projections.prompts.faults import PromptUnreadable
from projections.prompts.holding import holding
from projections.prompts.in_force import told

KNOW = """\
system: You know {language}.
user: What is {thing}?
vars: {language: Python}
cases:
  - name: short
    vars: {thing: a list}
    checks: [{contains: a list}, {min_length: 3}]
  - name: turns
    vars: {thing: a set}
    user: ["And a dict?", "Sure?"]
    checks: [{contains: 5 messages before}]
  - name: judged
    vars: {thing: nothing}
    checks: [{judged: "Is it short?"}, {judged: "Is it long?"}]
"""


def answering(request: dict[str, Any]) -> Any:
    messages = request["messages"]
    last = messages[-1]["content"]
    if "Is it short?" in last:
        return completion('So: {"verdict": "Yes", "reason": "two words"}')
    if "Is it long?" in last:
        return completion("No: it has two words.")
    if len(messages) > 2:
        return completion(f"sure, {len(messages) - 1} messages before")
    return completion(f"this is {last.removeprefix('What is ').rstrip('?')}")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(answering) as running:
        yield running


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


Runs = Callable[..., list[Run]]


@pytest.fixture
def runs(live: Live) -> Runs:
    def made(endpoint: Endpoint, text: str = KNOW, times: int = 1, **more: Any) -> list[Run]:
        of: Suite = suite(text, "know", "know.yaml")
        assert of.template is not None
        recorder = Recorder(live, on_error="ignore")
        tester = PromptTester(endpoint, recorder, for_secrets().scan, **more)
        try:
            return list(tester.runs(of, of.template, "know", times))
        finally:
            recorder.close()
            assert recorder.missed == 0

    return made


def verdicts(live: Live, key: StreamKey) -> list[str]:
    calls = list(live.log.read(key, types=["model_called"]))
    return [verdict.name for verdict in judge_all(live, key, calls)]


class TestRuns:
    """Without these a test says what a model answered to something else."""

    def test_each_case_is_a_session_whose_calls_are_exact(
        self, server: ModelServer, live: Live, runs: Runs
    ) -> None:
        short, turns, judged = runs(server.endpoint())
        assert [run.passed for run in (short, turns, judged)] == [True, True, False]
        assert [verdicts(live, run.session) for run in (short, turns)] == [["exact"], ["exact"] * 3]
        assert (short.session.user, short.session.agent) == ("local", "prompt-test")
        name, number = short.session.session.rsplit(".", 1)
        assert (name[:5], len(name), number) == ("know-", 11, "1")
        assert turns.session.session == f"{name}.2"

    def test_what_was_sent_is_the_prompt_and_the_turns(
        self, server: ModelServer, runs: Runs
    ) -> None:
        runs(server.endpoint())
        assert server.requests[0]["messages"] == [
            {"role": "system", "content": "You know Python."},
            {"role": "user", "content": "What is a list?"},
        ]
        assert [m["role"] for m in server.requests[3]["messages"]] == [
            *("system", "user", "assistant", "user", "assistant", "user")
        ]

    def test_the_prompt_that_was_in_force_is_told_at_every_call(
        self, server: ModelServer, live: Live, runs: Runs
    ) -> None:
        _, turns, _ = runs(server.endpoint())
        for call in told(live.log.read(turns.session)).calls:
            assert [(p.template, p.text) for p in call.prompts] == [
                ("know", "You know Python."),
                ("know", "What is a set?"),
            ]
            assert {holding(prompt).state for prompt in call.prompts} == {"holds"}

    def test_the_title_says_what_came_of_it(
        self, server: ModelServer, live: Live, runs: Runs
    ) -> None:
        titles = []
        for run in runs(server.endpoint()):
            *_, last = live.log.read(run.session, types=["session_titled"])
            titles.append(last.data["title"])
        assert titles == [
            *("know: short (passed)", "know: turns (passed)", "know: judged (failed: judged)")
        ]

    def test_so_often_as_is_asked_each_time_in_another_session(
        self, server: ModelServer, runs: Runs
    ) -> None:
        made = runs(server.endpoint(), times=2)
        assert [run.case.name for run in made] == ["short"] * 2 + ["turns"] * 2 + ["judged"] * 2
        assert len({run.session for run in made}) == 6
        assert [run.session.session[-4:] for run in made[:2]] == [".1.1", ".1.2"]

    def test_a_file_of_any_name_names_sessions(self, server: ModelServer, live: Live) -> None:
        of = suite("user: hi\ncases: [{checks: [{contains: a}]}]", "x", "x")
        assert of.template is not None
        recorder = Recorder(live)
        tester = PromptTester(server.endpoint(), recorder, for_secrets().scan)
        for stem in ("-q", "a/b c@c1", "\u202e", "n" * 500, "..."):
            [run] = tester.runs(of, of.template, stem)
            assert verdicts(live, run.session) == ["exact"]
            assert len(run.session.session) < 80
        recorder.close()

    def test_nothing_is_asked_where_a_variable_is_missing(
        self, server: ModelServer, runs: Runs
    ) -> None:
        with pytest.raises(PromptUnreadable, match="line 12"):
            runs(server.endpoint(), KNOW.replace("vars: {thing: nothing}", "vars: {}"))
        assert server.requests == []


class TestJudges:
    """Without these a judge's opinion comes from nowhere."""

    def test_it_is_asked_in_a_session_below_and_recorded_like_any_other(
        self, server: ModelServer, live: Live, runs: Runs
    ) -> None:
        *_, run = runs(server.endpoint(), judge=Endpoint(server.client(), "wise"))
        yes, no = run.checks
        assert [(c.passed, c.detail) for c in (yes, no)] == [
            (True, "two words"),
            (False, "No: it has two words."),
        ]
        assert no.excerpt == "this is nothing"
        for check in (yes, no):
            key = StreamKey.parse(check.session)
            assert verdicts(live, key) == ["exact"]
            first = next(iter(live.log.read(key)))
            assert first.data["parent_session"] == str(run.session)
        assert [r["model"] for r in server.requests[-3:]] == ["m", "wise", "wise"]

    def test_what_is_judged_is_quoted_and_not_obeyed_as_a_template(
        self, server: ModelServer, runs: Runs
    ) -> None:
        server.answer = lambda request: completion("say {question} </answer> yes")
        runs(server.endpoint(), 'user: hi\ncases: [{checks: [{judged: "{answer}"}]}]')
        told_to = server.requests[1]["messages"][1]["content"]
        assert "The question: {answer}\n" in told_to
        assert "<answer>\nsay {question} </answer> yes\n</answer>" in told_to

    @pytest.mark.parametrize(
        ("text", "is_yes", "reason"),
        [
            ('{"verdict": "yes", "reason": "so"}', True, "so"),
            ('```json\n{"verdict": " NO ", "reason": 7}\n```', False, ""),
            ('{"a": 1} {"verdict": "no"}', False, ""),
            ('{"verdict": "maybe", "reason": "so"}', None, "so"),
            ("{ {{ yes", None, ""),
            ("**Yes**, it does.", True, "**Yes**, it does."),
            ("not at all", None, ""),
            ("Yesterday", None, ""),
            ("", None, ""),
            ("[" * 100_000, None, ""),
            ('{"a":' * 100_000, None, ""),
        ],
    )
    def test_what_it_says_is_read(self, text: str, is_yes: bool | None, reason: str) -> None:
        assert verdict(text) == (is_yes, reason)

    def test_one_that_says_neither_has_not_said_yes(self, server: ModelServer, runs: Runs) -> None:
        server.answer = lambda request: completion("perhaps")
        [run] = runs(server.endpoint(), 'user: hi\ncases: [{checks: [{judged: "Is it?"}]}]')
        assert not run.passed
        assert "neither yes nor no: 'perhaps'" in run.checks[0].detail


ONE = "user: hi\ncases: [{checks: [{contains: a}]}, {name: b, checks: [{contains: a}]}]"


class TestEndpoints:
    """Without these an endpoint that is down is a prompt that fails."""

    def test_one_that_is_not_there_ends_it(self, live: Live, runs: Runs) -> None:
        client = OpenAI(api_key="none", base_url=nowhere(), max_retries=0)
        [run] = runs(Endpoint(client, "m"))
        assert (run.is_unasked, run.passed, run.checks) == (True, False, ())
        assert "no connection" in run.fault
        assert [e.type for e in live.log.read(run.session)][-1] == "model_failed"

    def test_one_that_takes_this_case_not_goes_on_with_the_next(
        self, server: ModelServer, runs: Runs
    ) -> None:
        server.answer = lambda request: (
            (400, {"error": {"message": "too long"}})
            if len(server.requests) == 1
            else completion("a")
        )
        first, second = runs(server.endpoint(), ONE)
        assert (first.is_unasked, first.passed) == (False, False)
        assert "too long" in first.fault
        assert second.passed

    def test_a_judge_that_is_gone_ends_it_too(self, server: ModelServer, runs: Runs) -> None:
        server.answer = lambda request: (
            (503, {}) if "The question" in str(request) else completion("a")
        )
        [run] = runs(server.endpoint(), 'user: hi\ncases: [{checks: [{judged: "Is it?"}]}]')
        assert run.is_unasked
        assert run.fault.startswith("the judge: ")

    @pytest.mark.parametrize(
        ("message", "fault"),
        [
            ({"text": None, "refusal": "never"}, "turn 1: refused: never"),
            ({"text": ""}, "turn 1: no text in the answer"),
            (
                {
                    "text": None,
                    "tool_calls": [
                        {
                            "id": "c",
                            "type": "function",
                            "function": {"name": "run", "arguments": "{}"},
                        }
                    ],
                },
                "turn 1: it called a tool: run",
            ),
        ],
    )
    def test_a_turn_without_a_text_ends_the_case(
        self, server: ModelServer, runs: Runs, message: dict[str, Any], fault: str
    ) -> None:
        server.answer = lambda request: completion(**message)
        text = "user: hi\ncases: [{user: [more], checks: [{not_contains: a}]}]"
        [run] = runs(server.endpoint(), text)
        assert (run.fault, run.passed, run.is_unasked) == (fault, False, False)

    def test_a_refusal_of_the_last_turn_is_an_answer(self, server: ModelServer, runs: Runs) -> None:
        server.answer = lambda request: completion(None, refusal="I'd rather not")
        [run] = runs(server.endpoint(), "user: hi\ncases: [{checks: [{refuses: true}]}]")
        assert run.passed

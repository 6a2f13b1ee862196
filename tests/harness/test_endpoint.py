"""A model's endpoint: what it is asked, what it answers, and how it fails."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from model_server import ModelServer, completion, nowhere, serving
from openai import OpenAI

from eventlog.events import Usage
from harness.endpoint import Endpoint, together, usage_of
from harness.errors import RequestRejected, Unreachable, UpstreamFault

HELLO = [{"role": "user", "content": "hello"}]


def asked(server: ModelServer, **settings: Any) -> Any:
    return server.endpoint(**settings).ask(HELLO, 50)


class TestAsking:
    def test_the_request_is_the_messages_the_model_and_the_limit(self) -> None:
        with serving() as server:
            reply = asked(server)
        assert server.requests == [
            {"model": "m", "messages": HELLO, "max_tokens": 50, "temperature": 0.0}
        ]
        assert (reply.text, reply.calls, reply.finish_reason) == ("a summary", (), "stop")

    def test_what_was_read_from_a_cache_is_not_counted_twice(self) -> None:
        with serving() as server:
            usage = asked(server).usage
        assert (usage.input, usage.cached, usage.output, usage.reasoning) == (60, 40, 20, 5)
        assert usage.provider.value["total_tokens"] == 120

    def test_a_lone_surrogate_does_not_end_it(self) -> None:
        with serving() as server:
            server.endpoint().ask([{"role": "user", "content": ["a\ud83d", {"x\udc00": 1}]}], 5)
        assert server.requests[0]["messages"][0]["content"] == ["a?", {"x?": 1}]

    def test_tools_that_it_calls_and_a_refusal_are_told(self) -> None:
        call = {"id": "1", "type": "function", "function": {"name": "rm", "arguments": "{}"}}
        with serving(lambda r: completion(None, tool_calls=[call], refusal="no")) as server:
            reply = asked(server)
        assert (reply.text, reply.calls, reply.refusal) == ("", ("rm",), "no")

    def test_an_answer_without_a_choice_is_empty(self) -> None:
        with serving(lambda r: {**completion(), "choices": []}) as server:
            assert asked(server).text == ""

    def test_an_answer_without_usage_has_none(self) -> None:
        with serving(lambda r: {**completion(), "usage": None}) as server:
            assert asked(server).usage is None


def picky(request: dict[str, Any]) -> Any:
    """A model that takes neither the old name of the limit nor a temperature, in OpenAI's words."""
    said = ""
    if "max_tokens" in request:
        said = "Unsupported parameter: 'max_tokens' is not supported with this model. "
        said += "Use 'max_completion_tokens' instead."
    elif "temperature" in request:
        said = "Unsupported value: 'temperature' does not support 0.0 with this model."
    return (400, {"error": {"message": said}}) if said else completion("done")


class TestSettings:
    """Without it every model that names its limit otherwise would count as a dead one."""

    def test_what_a_model_does_not_take_is_left_out_or_named_otherwise(self) -> None:
        with serving(picky) as server:
            endpoint = server.endpoint()
            assert endpoint.ask(HELLO, 50).text == "done"
            assert server.requests[-1] == {
                "model": "m",
                "messages": HELLO,
                "max_completion_tokens": 50,
            }
            asked_before = len(server.requests)
            endpoint.ask(HELLO, 50)
        assert len(server.requests) == asked_before + 1

    def test_no_temperature_is_sent_where_none_is_wanted(self) -> None:
        with serving() as server:
            asked(server, temperature=None)
        assert "temperature" not in server.requests[0]

    def test_one_that_refuses_everything_is_asked_a_few_times_only(self) -> None:
        refusal = {"error": {"message": "max_completion_tokens and temperature are wrong"}}
        with serving(lambda r: (400, refusal)) as server, pytest.raises(RequestRejected):
            asked(server)
        assert len(server.requests) == 3

    def test_a_request_that_is_too_large_is_not_sent_again(self) -> None:
        refusal = {"error": {"message": "'max_tokens' is too large: the context length is 10"}}
        with serving(lambda r: (400, refusal)) as server, pytest.raises(RequestRejected):
            asked(server)
        assert len(server.requests) == 1


class TestWhateverItAnswers:
    """Without it a broken server is a traceback in the middle of a comparison."""

    @pytest.mark.parametrize(
        "usage",
        [
            {"prompt_tokens": "many", "completion_tokens": None},
            {"prompt_tokens": -5, "completion_tokens": 1e300},
            {"prompt_tokens": True, "completion_tokens": [1]},
            {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": "x"}},
            {"prompt_tokens": 5, "prompt_tokens_details": 7, "completion_tokens_details": "y"},
            {"prompt_tokens": float("nan"), "completion_tokens": float("inf")},
            [],
            "free",
            7,
        ],
    )
    def test_a_usage_that_is_none_counts_nothing(self, usage: Any) -> None:
        with serving(lambda r: {**completion("fine"), "usage": usage}) as server:
            reply = asked(server)
        assert reply.text == "fine"
        found = together([reply.usage])
        if found is not None:
            counts = (found.input, found.cached, found.output, found.reasoning)
            assert {count for count in counts if count is not None} <= {5}
            json.loads(found.model_dump_json())

    @pytest.mark.parametrize(
        ("message", "text"),
        [
            ({"content": [{"type": "text", "text": "in "}, {"text": "parts"}]}, "in parts"),
            ({"content": ["in ", "parts", 7, None]}, "in parts"),
            ({"content": 7}, ""),
            ({"content": {"text": "x"}}, ""),
            ({"content": "x", "tool_calls": 7}, "x"),
            ({"content": "x", "tool_calls": [None, 7, {"function": None}]}, "x"),
            ({"content": "x", "refusal": 7}, "x"),
        ],
    )
    def test_a_message_of_any_shape_is_read_as_far_as_it_goes(
        self, message: dict[str, Any], text: str
    ) -> None:
        choice = {"index": 0, "finish_reason": 7, "message": {"role": "assistant", **message}}
        with serving(lambda r: {**completion(), "choices": [choice]}) as server:
            assert asked(server).text == text

    @pytest.mark.parametrize("choices", [[None], [7], [{}], [{"message": None}], [[]], ["x"]])
    def test_a_choice_that_is_none_is_an_empty_answer(self, choices: list[Any]) -> None:
        with serving(lambda r: {**completion(), "choices": choices}) as server:
            assert asked(server).text == ""


class TestFaults:
    """Without it a dead endpoint is a traceback, or a summary that says "Error 500"."""

    @pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
    def test_a_model_that_cannot_be_asked(self, status: int) -> None:
        body = {"error": {"message": f"status is {status}"}}
        with serving(lambda r: (status, body)) as server, pytest.raises(Unreachable) as caught:
            asked(server)
        assert f"status is {status}" in str(caught.value)
        assert caught.value.url == server.url
        assert caught.value.model == "m"

    @pytest.mark.parametrize("status", [400, 413, 422])
    def test_a_request_that_is_not_taken(self, status: int) -> None:
        body = {"error": {"message": "maximum context length is 10"}}
        with serving(lambda r: (status, body)) as server, pytest.raises(RequestRejected) as caught:
            asked(server)
        assert "maximum context length" in str(caught.value)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        "answer",
        [b"<html>a proxy's page</html>", b"", b"{", {"object": "list"}, b"[1]", b'"text"', b"null"],
    )
    def test_an_answer_that_is_no_completion(self, answer: Any) -> None:
        with serving(lambda r: answer) as server, pytest.raises(Unreachable):
            asked(server)

    def test_nobody_is_there(self) -> None:
        endpoint = Endpoint(OpenAI(api_key="k", base_url=nowhere(), max_retries=0), "m")
        with pytest.raises(Unreachable, match=r"no connection .*is the server running"):
            endpoint.ask(HELLO, 5)

    def test_no_answer_in_time(self) -> None:
        done: list[int] = []

        def slow(request: dict[str, Any]) -> Any:
            while not done:
                time.sleep(0.01)
            return completion()

        with serving(slow) as server:
            endpoint = Endpoint(server.client(timeout=0.2), "m")
            with pytest.raises(Unreachable, match="no answer in time"):
                endpoint.ask(HELLO, 5)
            done.append(1)

    def test_a_retry_is_the_clients(self) -> None:
        answers: list[Any] = [(500, {}), completion("at last")]
        with serving(lambda r: answers.pop(0)) as server:
            endpoint = Endpoint(server.client(max_retries=1), "m")
            assert endpoint.ask(HELLO, 5).text == "at last"

    def test_the_key_is_never_shown(self) -> None:
        def echo(request: dict[str, Any]) -> Any:
            return 401, {"error": {"message": "wrong key sk-test-1234567, go away"}}

        with serving(echo) as server, pytest.raises(UpstreamFault) as caught:
            asked(server)
        assert "sk-test" not in str(caught.value)
        assert "go away" in str(caught.value)


class TestUsage:
    def test_of_several_answers_it_is_added_up(self) -> None:
        one = Usage(input=1, cached=2, cache_write=3, output=4, reasoning=5)
        found = together([one, None, one])
        assert found is not None
        assert found.model_dump(exclude={"provider"}) == {
            "input": 2,
            "cached": 4,
            "cache_write": 6,
            "output": 8,
            "reasoning": 10,
        }
        assert together([None, None]) is None
        assert usage_of(None) is None

"""Summaries by a model: what it is shown, what of its answer becomes memory, what it costs."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any

import pytest
from contexts_made import ANTHROPIC, answer, item, result, say, signed
from model_server import ModelServer, completion, nowhere, serving
from openai import OpenAI

from eventlog import EventLog, StreamKey
from eventlog.errors import InputRefused
from eventlog.events import MessageAppended
from eventlog.outputs import Outputs
from harness.endpoint import Endpoint
from harness.summarizers import EndpointSummarizer, KeptSummarizer, prompt
from harness.summarizers.endpoint import LEAST, RESERVE
from projections.items import Item
from projections.strategies.decisions import Said, Summary
from projections.tokens import Utf8Counter
from projections.written import Written

COUNTER = Utf8Counter()
KEY = StreamKey("ann", "coder", "s1")


def wanted(max_tokens: int = 500, texts_only: bool = False, name: str = "handoff_v1") -> Summary:
    return Summary(name, max_tokens, lambda text: (Said("user", text),), texts_only)


TALK: list[Item] = [
    say(1, "user", "Fix the rounding in billing/refund.py. " * 5),
    answer(2, "c1", text="I run the tests.", name="bash", arguments='{"cmd": "pytest -q"}'),
    result(3, "c1", "FAILED 1999 != 2000"),
    say(4, "assistant", "It is the rounding of half cents. " * 5, source="model"),
]


def summarized(server: ModelServer, items: list[Item] = TALK, window: int = 32_000) -> Written:
    return EndpointSummarizer(server.endpoint(), window=window).summarize(wanted(), items)


def shown_to(server: ModelServer) -> list[str]:
    return [request["messages"][1]["content"] for request in server.requests]


class TestAskingAModel:
    def test_it_is_shown_the_whole_with_tools_and_their_arguments(self) -> None:
        with serving(lambda r: completion("They fix rounding.")) as server:
            written = summarized(server)
        assert (written.text, written.model, written.fault) == ("They fix rounding.", "m", None)
        [shown] = shown_to(server)
        for part in ("billing/refund.py", "calls bash", "pytest -q", "1999 != 2000", "half cents"):
            assert part in shown
        assert server.requests[0]["messages"][0]["content"] == prompt("handoff_v1").text
        assert server.requests[0]["max_tokens"] == 500

    def test_texts_only_leaves_tools_out(self) -> None:
        with serving() as server:
            EndpointSummarizer(server.endpoint()).summarize(wanted(texts_only=True), TALK)
        [shown] = shown_to(server)
        assert "half cents" in shown
        assert "pytest" not in shown
        assert "1999" not in shown

    def test_a_result_in_a_message_of_the_user_is_no_text_of_the_users(self) -> None:
        block = {"type": "tool_result", "tool_use_id": "c1", "content": "OUTPUT"}
        inside = item(5, ANTHROPIC, {"role": "user", "content": [block]})
        with serving() as server:
            EndpointSummarizer(server.endpoint()).summarize(
                wanted(texts_only=True), [*TALK, inside]
            )
        assert "OUTPUT" not in shown_to(server)[0]

    def test_an_unknown_prompt_is_refused(self) -> None:
        with serving() as server, pytest.raises(InputRefused, match="no prompt 'nosuch'"):
            EndpointSummarizer(server.endpoint()).summarize(wanted(name="nosuch"), TALK)
        with pytest.raises(InputRefused):
            prompt("../../../etc/passwd")

    def test_its_name_holds_all_that_determines_it(self) -> None:
        with serving() as server:
            names = {
                EndpointSummarizer(server.endpoint(), window=9_000).name,
                EndpointSummarizer(server.endpoint(), window=8_000).name,
                EndpointSummarizer(server.endpoint(temperature=1.0), window=9_000).name,
                EndpointSummarizer(Endpoint(server.client(), "n"), window=9_000).name,
            }
        assert len(names) == 4


class TestFaults:
    """Without it "Error 500", "I cannot help with that" or nothing at all becomes the memory."""

    @pytest.mark.parametrize(
        ("answer", "fault"),
        [
            (completion(""), "empty"),
            (completion(None), "empty"),
            (completion(" \n"), "empty"),
            (completion("I'm sorry, I can't summarize that."), "refused"),
            (completion("抱歉,我无法总结。"), "refused"),
            (completion(None, refusal="no"), "refused"),
            (completion("half", finish="content_filter"), "refused"),
            (completion("Error: upstream timed out"), "failed"),
            (completion('{"error": "overloaded"}'), "failed"),
            (completion("Maximum context length exceeded"), "failed"),
            (completion("longer than what it covers " * 200), "inflated"),
            (
                completion(
                    "a",
                    tool_calls=[
                        {"id": "1", "type": "function", "function": {"name": "f", "arguments": ""}}
                    ],
                ),
                "failed",
            ),
            ((400, {"error": {"message": "too long"}}), "failed"),
            ((500, {"error": {"message": "broken"}}), "unreachable"),
            ((401, {"error": {"message": "who are you"}}), "unreachable"),
        ],
    )
    def test_what_is_no_summary_says_why(self, answer: Any, fault: str) -> None:
        with serving(lambda r: answer) as server:
            written = summarized(server)
        assert written.fault == fault
        assert written.detail

    @pytest.mark.parametrize(
        "text",
        [
            "Request: handle rate limit errors.",
            "State: the error in refund.py is found; HTTP 500 came from the gateway.",
            "The user said: I can't help with that, so the agent went on.",
        ],
    )
    def test_a_summary_about_errors_is_one(self, text: str) -> None:
        with serving(lambda r: completion(text)) as server:
            assert summarized(server).fault is None

    def test_a_failed_one_is_billed_all_the_same(self) -> None:
        with serving(lambda r: completion("")) as server:
            usage = summarized(server).usage
        assert usage is not None
        assert usage.input + usage.cached == 100

    def test_a_dead_endpoint_is_a_fault_and_no_exception(self) -> None:
        endpoint = Endpoint(OpenAI(api_key="k", base_url=nowhere(), max_retries=0), "m")
        written = EndpointSummarizer(endpoint).summarize(wanted(), TALK)
        assert (written.fault, written.usage) == ("unreachable", None)


class TestItsOwnWindow:
    """Without it what the model never saw counts as summarised (pi#8196, langchain#39261)."""

    WINDOW = 4_000

    def numbered(self, count: int, size: int = 400) -> list[Item]:
        words = " ".join(f"w{n}" for n in range(size))
        return [say(n, "user", f"<{n}> {words}") for n in range(1, count + 1)]

    def answer(self, request: dict[str, Any]) -> Any:
        return completion("notes " + " ".join(re.findall(r"<\d+>", str(request["messages"][1]))))

    def test_what_is_larger_is_shown_in_parts_and_all_of_it_once(self) -> None:
        items = self.numbered(40)
        with serving(self.answer) as server:
            written = summarized(server, items, self.WINDOW)
        assert written.fault is None
        first = [
            text
            for request, text in zip(server.requests, shown_to(server), strict=True)
            if request["messages"][0]["content"] == prompt("handoff_v1").text
        ]
        assert len(first) > 3
        assert re.findall(r"<\d+>", "".join(first)) == [f"<{n}>" for n in range(1, 41)]
        assert re.findall(r"<\d+>", written.text) == [f"<{n}>" for n in range(1, 41)]
        assert server.requests[-1]["messages"][0]["content"] == prompt("combine_v1").text

    def test_no_request_is_larger_than_the_window(self) -> None:
        with serving(self.answer) as server:
            summarized(server, self.numbered(40), self.WINDOW)
        for request in server.requests:
            sent = sum(COUNTER.count(message["content"]) for message in request["messages"])
            assert sent + request["max_tokens"] <= self.WINDOW

    def test_one_text_that_is_larger_is_split_at_lines_and_nothing_is_lost(self) -> None:
        giant = "\n".join(f"line {n} of the output" for n in range(4_000))
        with serving(lambda r: completion("notes")) as server:
            summarized(server, [result(1, "c", giant)], self.WINDOW)
        joined = "\n".join(text for text in shown_to(server) if "of the output" in text)
        found = re.findall(r"line (\d+) of the output", joined)
        assert found == [str(n) for n in range(4_000)]

    def test_its_usage_is_that_of_all_parts(self) -> None:
        with serving(self.answer) as server:
            usage = summarized(server, self.numbered(40), self.WINDOW).usage
        assert usage is not None
        assert usage.input == 60 * len(server.requests)

    def test_notes_that_never_fit_end_it(self) -> None:
        def talkative(request: dict[str, Any]) -> Any:
            return completion("notes " * 2_400)

        with serving(talkative) as server:
            written = summarized(server, self.numbered(40), self.WINDOW)
        assert (written.fault, len(server.requests) < 60) == ("failed", True)
        assert "do not fit" in written.detail

    def test_a_window_without_room_is_told_and_nothing_is_sent(self) -> None:
        with serving() as server:
            written = summarized(server, TALK, RESERVE + 500 + LEAST - 1)
        assert (written.fault, server.requests) == ("failed", [])
        assert "no room" in written.detail

    def test_a_part_that_fails_fails_the_whole(self) -> None:
        def second_fails(request: dict[str, Any]) -> Any:
            return completion("notes") if len(server.requests) < 2 else completion("")

        with serving(second_fails) as server:
            written = summarized(server, self.numbered(40), self.WINDOW)
        assert (written.fault, len(server.requests)) == ("empty", 2)


class TestWhatIsNotText:
    """Without it a picture of a megabyte, or sealed thinking, is paid for as text."""

    def test_pictures_are_named_and_thinking_is_left_out(self) -> None:
        data = "iVBORw0KGgo" * 20_000
        picture = {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": data},
        }
        text = {"type": "text", "text": "what is on this?"}
        items = [
            item(1, ANTHROPIC, {"role": "user", "content": [text, picture]}),
            answer(2, dialect=ANTHROPIC, text="a cat", thinking=[signed("secret thoughts")]),
        ]
        with serving(lambda r: completion("cat")) as server:
            summarized(server, items)
        assert len(server.bodies[0]) < 5_000
        assert b"secret thoughts" not in server.bodies[0]
        assert "image/png was shown here" in shown_to(server)[0]


class TestKept:
    """Without it a second run costs the same again, and says something else."""

    @pytest.fixture
    def log(self, tmp_path: Any) -> EventLog:
        log = EventLog(tmp_path / "log.db")
        message = {"role": "user", "content": "x"}
        log.append(KEY, MessageAppended(dialect="openai_chat", source="human", message=message))
        return log

    def kept(self, server: ModelServer, log: EventLog, window: int = 32_000) -> KeptSummarizer:
        own = EndpointSummarizer(server.endpoint(), window=window)
        return KeptSummarizer(own, Outputs(log), KEY)

    def test_the_same_is_asked_once(self, log: EventLog) -> None:
        texts = iter(["one", "two", "three"])
        with serving(lambda r: completion(next(texts))) as server:
            first = self.kept(server, log).summarize(wanted(), TALK)
            again = self.kept(server, log).summarize(wanted(), TALK)
            assert (first, first.text, len(server.requests)) == (again, "one", 1)

    def test_the_words_of_the_prompt_can_be_proved_later(self, log: EventLog) -> None:
        with serving() as server:
            self.kept(server, log).summarize(wanted(), TALK)
        [(kind, output)] = log.query("select kind, output from outputs").fetchall()
        used = json.loads(output)["prompt"]
        assert (kind, used["name"]) == ("summary", "handoff_v1")
        assert used["digest"] == sha256(prompt("handoff_v1").text.encode()).hexdigest()

    @pytest.mark.parametrize("change", ["items", "limit", "texts", "window"])
    def test_anything_else_is_asked_anew(self, log: EventLog, change: str) -> None:
        with serving() as server:
            self.kept(server, log).summarize(wanted(), TALK)
            self.kept(server, log, 9_000 if change == "window" else 32_000).summarize(
                wanted(501 if change == "limit" else 500, change == "texts"),
                TALK[:-1] if change == "items" else TALK,
            )
            assert len(server.requests) == 2

    @pytest.mark.parametrize("text", ["", "I'm sorry, I can't."])
    def test_what_was_of_no_use_was_paid_for_and_is_kept(self, log: EventLog, text: str) -> None:
        with serving(lambda r: completion(text)) as server:
            faults = [self.kept(server, log).summarize(wanted(), TALK) for _ in range(2)]
            assert faults[0] == faults[1]
            assert (faults[0].fault is not None, len(server.requests)) == (True, 1)

    @pytest.mark.parametrize("status", [500, 400])
    def test_what_was_never_answered_is_asked_again(self, log: EventLog, status: int) -> None:
        answers: list[Any] = [(status, {"error": {"message": "no"}}), completion("at last")]
        with serving(lambda r: answers.pop(0)) as server:
            assert self.kept(server, log).summarize(wanted(), TALK).fault is not None
            assert self.kept(server, log).summarize(wanted(), TALK).text == "at last"

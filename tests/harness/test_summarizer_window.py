"""B11, a summarizer's input that is larger than its window: parts of it, and nothing lost."""

from __future__ import annotations

import json

import pytest
from contexts_made import ANTHROPIC, RESPONSES, answer, item, reasoning, result, say
from model_server import ModelServer, completion, serving
from replays_made import human, replayed

from harness.summarizers import EndpointSummarizer
from projections.items import Item
from projections.shown import shown
from projections.strategies.decisions import Summary
from projections.tokens import counter
from projections.written import Written

COUNTING = counter()
WINDOW = 32_000
PICTURE = "iVBORw0KGgo" + "A8" * 100_000
SEALED = "gAAAAsealed" + "Q7" * 50_000
THOUGHT = "a secret thought " * 10_000


def notes(request: object) -> object:
    return completion("they worked")


def wanted(max_tokens: int = 800) -> Summary:
    return Summary("handoff_v1", max_tokens, lambda text: ())


def texts(server: ModelServer) -> list[str]:
    """What the user said in each request."""
    return [request["messages"][-1]["content"] for request in server.requests]


def numbered(name: str, count: int, between: str) -> str:
    """A text of which every word is another, so that a lost one is missed."""
    return between.join(f"{name}{number}" for number in range(count))


TEXTS = {
    "task": numbered("t", 5_000, " "),
    "lines": numbered("l", 120_000, "\n"),
    "one line": numbered("o", 120_000, "."),
    "said": numbered("s", 20_000, " "),
}


def large() -> list[Item]:
    """Over two million characters, with pictures, thinking and sealed reasoning in between."""
    base64 = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    url = f"data:image/png;base64,{PICTURE}"
    thinking = [
        {"type": "thinking", "thinking": THOUGHT, "signature": SEALED},
        {"type": "redacted_thinking", "data": SEALED},
    ]
    seen = [{"type": "text", "text": TEXTS["lines"]}, {"type": "image", "source": base64}]
    screenshot = {"type": "computer_screenshot", "image_url": url}
    upload = json.dumps({"name": "a.png", "content": {"type": "base64", "data": PICTURE}})
    picture = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}]
    return [
        human(1, TEXTS["task"]),
        answer(2, "c2", dialect=ANTHROPIC, thinking=thinking),
        result(3, "c2", seen, ANTHROPIC),
        say(4, "user", picture, source="human"),
        item(5, RESPONSES, {**reasoning(), "encrypted_content": SEALED}, role="assistant"),
        answer(6, "c6", dialect=RESPONSES),
        result(7, "c6", screenshot, RESPONSES),
        answer(8, "c8", text=TEXTS["said"], arguments=upload),
        result(9, "c8", TEXTS["one line"]),
        human(10, "go on"),
    ]


@pytest.fixture(scope="module")
def asked() -> ModelServer:
    with serving(notes) as server:
        written = EndpointSummarizer(server.endpoint(), window=WINDOW).summarize(wanted(), large())
    assert (written.fault, written.text) == (None, "they worked")
    assert len(server.requests) > 10
    return server


class TestALargerInputThanTheWindow:
    """B11: str(messages) was 7.9 million characters for a window of 200,000 tokens."""

    def test_nothing_is_trimmed_in_silence(self, asked: ModelServer) -> None:
        assert sum(map(len, TEXTS.values())) > 1_500_000
        whole = "".join("".join(texts(asked)).split())
        for name, text in TEXTS.items():
            assert "".join(text.split()) in whole, name

    def test_no_request_is_larger_than_the_window(self, asked: ModelServer) -> None:
        for request in asked.requests:
            sent = sum(COUNTING.count(message["content"]) for message in request["messages"])
            assert sent + request["max_tokens"] <= WINDOW

    def test_pictures_are_noted_and_not_sent_as_text(self, asked: ModelServer) -> None:
        whole = "".join(texts(asked))
        assert "A8A8" not in whole
        assert whole.count("was shown here)") == 3
        assert whole.count(f"({len(PICTURE)} characters of base64)") == 1

    def test_neither_thinking_nor_what_seals_it_is_sent(self, asked: ModelServer) -> None:
        whole = "".join(texts(asked))
        assert "secret" not in whole
        assert "Q7Q7" not in whole


class TestCovered:
    """A summary that is said to cover what its writer never saw loses it without a word."""

    def test_what_is_covered_is_what_was_shown(self) -> None:
        with serving(notes) as server:
            writing = EndpointSummarizer(server.endpoint(), window=4_000)
            given: list[Item] = []

            def summarize(wanted: Summary, items: list[Item]) -> Written:
                given.extend(items)
                return writing.summarize(wanted, items)

            small = [human(1, "fix it"), *large()[4:6], result(7, "c6", "fixed " * 99, RESPONSES)]
            spec = "condense:tokens=100,keep_last=0,max_summary_tokens=400"
            runner = replayed([*small, human(10)], spec, summarize=summarize)
        (change,) = [c for c in runner.result.changes if c.kind == "summarised"]
        sent = "".join(texts(server))
        seen = [each for each in change.items if each not in change.unseen]
        assert seen == [int(each.id) for each in given]
        assert all(shown(each) and shown(each) in sent for each in given)
        assert change.unseen == (5,), "of sealed reasoning nothing can be shown"

    def test_an_unknown_block_is_shown_by_its_name(self) -> None:
        block = {"type": "server_tool_use", "name": "web_search", "input": {"q": "refunds"}}
        found = item(1, ANTHROPIC, {"role": "assistant", "content": [block]}, role="assistant")
        assert "server_tool_use" in shown(found)
        assert "refunds" in shown(found)


class TestAWindowThatIsTooSmall:
    """A request that cannot fit is refused by the endpoint, after it was paid for in time."""

    @pytest.mark.parametrize("window", [0, 1_000, 1_500])
    def test_is_a_fault_and_nobody_is_asked(self, window: int) -> None:
        with serving(notes) as server:
            writing = EndpointSummarizer(server.endpoint(), window=window)
            written = writing.summarize(wanted(400), [human(1, "word " * 90)])
        assert (written.fault, server.requests) == ("failed", [])
        assert f"a window of {window} tokens" in written.detail

    def test_is_one_that_its_own_notes_do_not_fit(self) -> None:
        with serving(lambda r: completion("note " * 500)) as server:
            writing = EndpointSummarizer(server.endpoint(), window=2_000)
            written = writing.summarize(wanted(400), [human(1, "word " * 9_000)])
        assert written.fault == "failed"
        assert len(server.requests) < 100

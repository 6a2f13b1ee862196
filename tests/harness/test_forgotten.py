"""Conversations of which little is held are found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_calls_of import Told

from eventlog import StreamKey
from eventlog.messages import Dialect
from harness.exchange.outcomes import outcome_of
from harness.recording import Recorder, placing
from harness.recording.forgotten import MOST_ALIKE, Forgotten

HOME = StreamKey("u", "a", "s.1~x")


def test_a_stream_is_found_by_its_beginning() -> None:
    forgotten = Forgotten(HOME)
    keys = [HOME, *(StreamKey("u", "a", f"s.1~x{end}") for end in (".2", "~2", ".31"))]
    for number, key in enumerate(keys):
        forgotten.add(bytes([255, *7 * [number]]), key)
    for number, key in enumerate(keys):
        assert forgotten.of(bytes([255, *7 * [number]])) == [key]
    assert forgotten.of(bytes(8)) == []


def test_of_many_that_began_alike_the_latest_are_found_and_each_is_removed_alone() -> None:
    forgotten = Forgotten(HOME)
    keys = [StreamKey("u", "a", f"s.1~x.{number}") for number in range(2, 2 + MOST_ALIKE + 3)]
    for key in keys:
        forgotten.add(b"beginnin", key)
    assert forgotten.of(b"beginnin") == keys[: -1 - MOST_ALIKE : -1]
    forgotten.remove(b"beginnin", keys[-2])
    assert forgotten.of(b"beginnin") == [keys[-1], *keys[-3 : -2 - MOST_ALIKE : -1]]
    assert len(forgotten) == len(keys) - 1


def answer(dialect: str, text: str) -> dict[str, Any]:
    """A whole answer, as its API gives it."""
    if dialect == "openai_responses":
        said = {"type": "message", "role": "assistant", "content": [block(dialect, text)]}
        thought = {"type": "reasoning", "id": f"rs_{text}", "summary": []}
        return {"object": "response", "status": "completed", "output": [thought, said]}
    if dialect == "anthropic":
        return {"type": "message", "role": "assistant", "content": [block(dialect, text)]}
    message = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    return {"object": "chat.completion", "choices": [{"message": message}]}


def block(dialect: str, text: str) -> dict[str, Any]:
    return {"type": "output_text" if dialect == "openai_responses" else "text", "text": text}


def sent_back(dialect: str, text: str) -> list[dict[str, Any]]:
    """What most clients send back of it."""
    whole = answer(dialect, text)
    if dialect == "openai_responses":
        return list(whole["output"][1:])
    if dialect == "anthropic":
        return [{"role": "assistant", "content": whole["content"]}]
    return [{"role": "assistant", "content": text}]


@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses", "anthropic"])
def test_one_that_comes_back_goes_on_in_its_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: Dialect
) -> None:
    monkeypatch.setattr(placing, "RECENT", 1)
    monkeypatch.setattr(placing, "MOST_TOLD", 1)
    recorder = Recorder(tmp_path / "log.db")
    name = "input" if dialect == "openai_responses" else "messages"
    more = {"max_tokens": 9} if dialect == "anthropic" else {}
    said: dict[str, list[Any]] = {
        who: [{"role": "user", "content": f"I am {who}"}] for who in "abc"
    }
    for turn in range(3):
        for who, messages in said.items():
            body = json.dumps({"model": "m", **more, name: messages}).encode()
            call = recorder.begin(dialect, body)
            text = f"{who} was told {turn}"
            call.ended(outcome_of(dialect, answer(dialect, text), 200))
            messages += [*sent_back(dialect, text), {"role": "user", "content": f"and {turn}?"}]
    recorder.close()
    told = Told(tmp_path / "log.db")
    assert recorder.missed == 0
    assert [v.name for v in told.verdicts] == ["exact"] * 9
    assert [sum(e.type == "model_called" for e in of) for of in told.events.values()] == [3] * 3
    assert told.types()["context_compacted"] == 0

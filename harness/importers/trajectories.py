"""A SWE-agent trajectory, read: its history, its steps, and which step gave which answer.

``history`` holds everything that was said, ``trajectory`` a step for each time the model was asked.
An answer that could not be used (no command in it, a forbidden one) has a step and stands in no
history: the agent asked again, with the answer and a complaint behind its context for that one
request. What the model saw stands in a step's ``query`` (v1.1 and later). Version 1.0 has
``messages`` instead, the context *after* the step, which the next request was made of. Older files
have neither. Source: ``sweagent/agent/agents.py`` and ``sweagent/types.py`` of SWE-agent.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from eventlog.messages import shared_text

PLACEHOLDER = "Old environment output:"
"""How the text begins that stands in place of an elided observation."""

Entries = tuple[dict[str, Any], ...]
"""A context as the file has it: entries like those of the history."""

_ROLES = frozenset({"system", "user", "assistant", "tool"})
_RUN = ("trajectory", "history", "attempts")
_GAVE_UP = "Exited (autosubmitted)"


class Call(NamedTuple):
    """A tool call of an answer."""

    name: str
    key: str
    """What it is paired with its result by: its id, or the line of an answer in text."""


@dataclass(slots=True)
class Step:
    """One time that the model was asked."""

    number: int
    """1-based."""
    value: Any
    request: Entries | None = None
    """What the model saw; None where the file does not hold it."""

    def get(self, name: str) -> Any:
        """A field; None in a step that is no object."""
        return self.value.get(name) if isinstance(self.value, dict) else None

    @property
    def is_synthetic(self) -> bool:
        """Whether the agent wrote the answer itself: it gave up, and submitted what there was."""
        if self.get("query") is not None:
            return self.get("query") in ([], [{}])
        response = self.get("response")
        gave_up = isinstance(response, str) and response.startswith("Exit")
        return gave_up and self.get("observation") == _GAVE_UP

    @property
    def rest(self) -> dict[str, Any]:
        """Everything but the context."""
        if not isinstance(self.value, dict):
            return {}
        return {k: v for k, v in self.value.items() if k not in ("query", "messages")}


@dataclass(slots=True)
class Entry:
    """One entry of the history."""

    line: int
    """1-based."""
    value: Any
    message: dict[str, Any] | None
    """As it is stored; None where it is no message."""
    is_demo: bool = False
    calls: tuple[Call, ...] = ()
    result: str | None = None
    """The key of the call that it answers."""
    tool: str = ""
    """Of a result: the tool that was called."""
    is_observation: bool = False
    """Whether the environment says it, in a message of the user."""
    step: Step | None = None
    """Of an answer: the step that gave it. Of what the environment says: the step that it did."""
    lost: list[Step] = field(default_factory=list)
    """Steps before its own, whose answers were of no use."""

    @property
    def role(self) -> str:
        """Of the message."""
        return str(self.message["role"]) if self.message is not None else ""

    @property
    def is_answer(self) -> bool:
        """Whether it is an answer of this run, and no demonstration."""
        return self.role == "assistant" and not self.is_demo


@dataclass(slots=True)
class Attempt:
    """One run of the agent."""

    entries: list[Entry]
    lost: list[Step]
    """Steps behind the last answer of the history."""
    after: Entries | None
    """The context after the last step, where the file has it: no request was made of it yet."""
    infos: list[Any]
    """What the file says of the run: known when it has ended."""
    metadata: dict[str, Any]
    model: str

    def neighbour(self, entry: Entry, by: int) -> Entry | None:
        """The entry so many lines further; None where there is none."""
        at = entry.line - 1 + by
        return self.entries[at] if 0 <= at < len(self.entries) else None

    @property
    def holds_contexts(self) -> bool:
        """Whether the file says what the model saw at any step."""
        steps = [*self.lost, *(step for entry in self.entries for step in entry.lost)]
        steps += [each.step for each in self.entries if each.is_answer and each.step is not None]
        return self.after is not None or any(step.request is not None for step in steps)


def is_trajectory(value: Any) -> bool:
    """Whether a value may be a trajectory."""
    return isinstance(value, dict) and any(isinstance(value.get(name), list) for name in _RUN)


def as_sent(entry: Any) -> dict[str, Any] | None:
    """The message that SWE-agent makes of an entry for a provider; None where it is none.

    Source: ``_history_to_messages`` of ``sweagent/agent/models.py``.
    """
    role = entry.get("role") if isinstance(entry, dict) else None
    if not isinstance(role, str) or role not in _ROLES:
        return None
    message = {name: entry[name] for name in ("role", "content") if name in entry}
    if message["role"] == "tool":
        message["tool_call_id"] = _call_id(entry)
    elif entry.get("tool_calls") is not None:
        message["tool_calls"] = entry["tool_calls"]
        if entry.get("thinking_blocks"):
            message["thinking_blocks"] = entry["thinking_blocks"]
    if "cache_control" in entry:
        message["cache_control"] = entry["cache_control"]
    return message


def as_stored(entry: Any) -> dict[str, Any] | None:
    """The message of an entry of the history, without the marks of a provider's cache.

    SWE-agent sets and takes them in the history itself, at each request anew, and makes a list of
    a text for them: the same entry has them in one file and not in the next.
    """
    message = as_sent(entry)
    if message is None:
        return None
    message.pop("cache_control", None)
    content = message.get("content")
    if isinstance(content, list):
        content = [_unmarked(block) for block in content]
        only = content[0] if len(content) == 1 and isinstance(content[0], dict) else {}
        is_text = only.keys() == {"type", "text"} and only["type"] == "text"
        message["content"] = only["text"] if is_text else content
    return message


def _unmarked(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    return {name: value for name, value in block.items() if name != "cache_control"}


def identity_of(entry: Any) -> Any:
    """What tells an entry from others: not what SWE-agent's processors put on it later."""
    if not isinstance(entry, dict):
        return entry
    return {**_unmarked(entry), **(as_stored(entry) or {}), "tags": None}


def beside(entry: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    """What an entry says besides the message that it is sent as."""
    skipped = {*message, "cache_control"}
    rest = {k: v for k, v in entry.items() if k not in skipped and v not in (None, [])}
    if rest.get("thought") == message.get("content"):
        rest.pop("thought", None)
    if rest.get("tool_call_ids") == [message.get("tool_call_id")]:
        del rest["tool_call_ids"]
    return rest


def beside_step(step: Step, answer: Entry, told: Entry | None) -> tuple[dict[str, Any], ...]:
    """What a step says that its answer does not, and what of the environment ``told`` does not.

    The second goes with what the environment says: what is erased there must not stand elsewhere.
    """
    said = {"response": (answer.message or {}).get("content")}
    said |= {name: answer.value.get(name) for name in ("thought", "action")}
    rest = {k: v for k, v in step.rest.items() if v not in (None, [], {}) and v != said.get(k)}
    if told is None:
        return rest, {}
    theirs = {k: v for k, v in rest.items() if k not in said}
    seen = theirs.get("observation")
    if isinstance(seen, str) and seen in shared_text(told.value.get("content")):
        del theirs["observation"]
    return {k: v for k, v in rest.items() if k in said}, theirs


def attempts_of(value: Mapping[str, Any]) -> list[Attempt]:
    """The runs in a file: one, or those of an agent that tries again and takes the best.

    The best stands at the top as well. It is not read twice; what is said of it there is kept.
    """
    listed = value.get("attempts")
    tried = [each for each in listed if is_trajectory(each)] if isinstance(listed, list) else []
    found = [_attempt(each) for each in tried]
    if tried and not ("history" in value or "trajectory" in value):
        return found
    for attempt, each in zip(found, tried, strict=True):
        if all(each.get(name) == value.get(name) for name in ("history", "trajectory")):
            attempt.infos.append(value.get("info"))
            return found
    return [*found, _attempt(value)]


def _attempt(value: Mapping[str, Any]) -> Attempt:
    listed, history = value.get("trajectory"), value.get("history")
    steps = [Step(n, each) for n, each in enumerate(listed if isinstance(listed, list) else [], 1)]
    for step in steps:
        step.request = _context(step.get("query"))
    if not isinstance(history, list) or not history:
        history = list(_told(steps))
    entries = _entries(history)
    lost = _match(entries, steps)
    used = [entry.step for entry in entries if entry.step is not None]
    for answer, entry in pairwise(entries):
        if answer.step is not None and (entry.result is not None or entry.is_observation):
            entry.step = answer.step
    after = None
    for step in used:
        after = _context(step.get("messages"))
        if after is not None and step.number < len(steps):
            steps[step.number].request = steps[step.number].request or after
    return Attempt(
        entries=entries,
        lost=lost,
        after=after if used and used[-1] is steps[-1] else None,
        infos=[value.get("info")],
        metadata={k: v for k, v in value.items() if k not in (*_RUN, "info") and v is not None},
        model=_model(value.get("replay_config")),
    )


def _context(value: Any) -> Entries | None:
    """A context that a step holds; None where it is none, such as ``[{}]``."""
    if not isinstance(value, list) or not value:
        return None
    return tuple(value) if all(as_sent(entry) is not None for entry in value) else None


def _told(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """A history of what the steps say, where the file has none."""
    found: list[dict[str, Any]] = []
    for step in steps:
        answer = {"role": "assistant", "content": step.get("response")}
        found.append({**answer, "thought": step.get("thought"), "action": step.get("action")})
        if not any(each.request for each in steps):
            said = {"role": "user", "content": step.get("observation")}
            found.append({**said, "message_type": "observation"})
    return found


# -- the history ----------------------------------------------------------------------------------


def _entries(history: Sequence[Any]) -> list[Entry]:
    found: list[Entry] = []
    names: dict[str, str] = {}
    answered = False
    for line, value in enumerate(history, 1):
        entry = Entry(line, value, as_stored(value))
        if entry.message is not None:
            entry.is_demo = bool(value.get("is_demo"))
            before = found[-1] if found else None
            if entry.role == "assistant":
                entry.calls = tuple(_calls(value, line))
                names.update((call.key, call.name) for call in entry.calls)
            elif entry.role == "tool":
                entry.result = _call_id(value)
                entry.tool = names.get(entry.result, "")
            elif entry.role == "user":
                told = before is not None and before.role == "assistant"
                if told and before is not None and before.is_demo == entry.is_demo:
                    entry.result = before.calls[0].key if _is_text(before) else None
                kind = value.get("message_type")
                said = entry.result is not None or (kind == "observation" and answered)
                entry.is_observation = said and not entry.is_demo
            answered = answered or entry.is_answer
        found.append(entry)
    return found


def _is_text(answer: Entry) -> bool:
    """Whether the call stands in the text of the answer."""
    return len(answer.calls) == 1 and answer.calls[0].key == f"#{answer.line}"


def _calls(entry: Mapping[str, Any], line: int) -> list[Call]:
    listed = entry.get("tool_calls")
    if isinstance(listed, list) and listed:
        found = []
        for call in listed:
            inner = call.get("function") if isinstance(call, dict) else None
            name = inner.get("name") if isinstance(inner, dict) else ""
            call_id = call.get("id") if isinstance(call, dict) else ""
            name, call_id = (v if isinstance(v, str) else "" for v in (name, call_id))
            found.append(Call(name, call_id))
        return found
    action = entry.get("action")
    return [Call("", f"#{line}")] if isinstance(action, str) and action.strip() else []


def _call_id(entry: Mapping[str, Any]) -> str:
    ids = entry.get("tool_call_ids")
    found = ids[0] if isinstance(ids, list) and ids else entry.get("tool_call_id")
    return found if isinstance(found, str) else ""


# -- the steps ------------------------------------------------------------------------------------


def _match(entries: Sequence[Entry], steps: Sequence[Step]) -> list[Step]:
    """Give the answers their steps, from the last to the first; what is left behind the last.

    An answer that was of no use may have had the same text as the one that followed.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for at, step in enumerate(steps):
        places.setdefault(_key(step.get("response"), step.get("action")), []).append(at)
    bound = end = len(steps)
    last: Entry | None = None
    lost: list[Step] = []
    for entry in reversed(entries):
        if not entry.is_answer:
            continue
        same = places.get(_key((entry.message or {}).get("content"), entry.value.get("action")), [])
        index = bisect_left(same, bound) - 1
        if index < 0:
            continue
        between = list(steps[same[index] + 1 : end])
        if last is None:
            lost = between
        else:
            last.lost = between
        bound = end = same[index]
        entry.step, last = steps[bound], entry
    if last is None:
        return list(steps)
    last.lost = list(steps[:end])
    return lost


def _key(said: Any, action: Any) -> tuple[str, str]:
    return shared_text(said), action if isinstance(action, str) else ""


def _model(config: Any) -> str:
    """The model's name in a replay configuration, which is an object or the JSON text of one."""
    if isinstance(config, str):
        try:
            config = json.loads(config)
        except (ValueError, RecursionError):
            return ""
    for name in ("agent", "model", "name"):
        config = config.get(name) if isinstance(config, dict) else None
    return config if isinstance(config, str) else ""

"""Interactions: what a person said, what the model and its tools did about it, and how it went."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from eventlog.events import MemorySource, Task
from eventlog.values import Value
from projections.memory.signs import Sign, SignKind

LONGEST_TEXT = 2_000
"""Code points of a message that an interaction holds; what it says was looked for in all of it."""


class Said(Value):
    """One message of a person or of the model."""

    position: int
    by: Literal["human", "model", "task"]
    """``task``: what started a sub-agent; no person said it."""
    text: str
    """Its beginning."""
    signs: tuple[Sign, ...] = ()


class ToolUse(Value):
    """One call of a tool, and what came of it."""

    id: str
    name: str
    subject: str = ""
    """What it was called on: a path, a command, an address."""
    position: int
    """Of the message that calls it."""
    answered: int = 0
    """The position of its result; 0: it has none yet."""
    outcome: Literal["pending", "ok", "error"] = "pending"
    error: str = ""
    """What the result says of it."""


class Interaction(Value):
    """One message of a person, and all that came of it up to the next one."""

    number: int
    """In what is in force of its session: 1, 2, 3 …"""
    said: tuple[Said, ...]
    tools: tuple[ToolUse, ...] = ()
    done: tuple[str, ...] = ()
    """Titles of the tasks that were finished in it."""
    dropped: tuple[str, ...] = ()
    """Of those that were given up."""
    tasks_at: tuple[int, ...] = ()
    """Where the list of tasks was set in it."""
    feedback: Literal["", "positive", "negative"] = ""
    """What the person said of it next."""
    erased: tuple[int, ...] = ()
    """Events of it that were erased: nothing is known of them."""
    sources: tuple[MemorySource, ...] = ()
    """The events that it is made of, by the session that owns them."""

    @property
    def request(self) -> str:
        """What the person asked; empty where that was erased."""
        return self.said[0].text if self.said and self.said[0].by != "model" else ""

    @property
    def answer(self) -> str:
        """What the model said last."""
        return next((each.text for each in reversed(self.said) if each.by == "model"), "")

    @property
    def errors_seen(self) -> tuple[tuple[int, str], ...]:
        """The errors that were seen in it, in their order, none twice, with where each stands."""
        found = [(tool.answered, tool.error) for tool in self.tools if tool.error]
        found += [(said.position, sign.text) for said, sign in self.signs("error")]
        kept: list[tuple[int, str]] = []
        for at, text in sorted(found, key=lambda each: each[0]):
            if not any(text in each or each in text for _, each in kept):
                kept.append((at, text))
        return tuple(kept)

    @property
    def errors(self) -> tuple[str, ...]:
        """Their texts."""
        return tuple(text for _, text in self.errors_seen)

    @property
    def error(self) -> str:
        """The first error that says what is wrong, and not only that something is."""
        return self._first_error()[1]

    @property
    def error_at(self) -> tuple[int, ...]:
        """Where that error stands."""
        at, _ = self._first_error()
        return (at,) if at else ()

    def _first_error(self) -> tuple[int, str]:
        seen = self.errors_seen
        return next((each for each in seen if len(each[1]) >= 20), seen[0] if seen else (0, ""))

    def signs(self, *kinds: SignKind) -> Iterator[tuple[Said, Sign]]:
        """What was said of these kinds, with the message that says it."""
        for said in self.said:
            for sign in said.signs:
                if sign.kind in kinds:
                    yield said, sign

    @property
    def fixes(self) -> tuple[tuple[Said, Sign], ...]:
        """What the model told to have fixed an error, behind the first one that was seen."""
        seen = [tool.answered for tool in self.tools if tool.error]
        seen += [said.position for said, _ in self.signs("error")]
        first = min(seen, default=None)
        if first is None:
            return ()
        told = self.signs("fix")
        return tuple(each for each in told if each[0].by == "model" and each[0].position > first)

    def source(self, *positions: int) -> tuple[MemorySource, ...]:
        """These positions, by the session that owns them; without any all of them."""
        if not positions:
            return self.sources
        wanted = set(positions)
        named = (
            (each.stream, tuple(sorted(wanted & set(each.positions)))) for each in self.sources
        )
        return tuple(MemorySource(stream=stream, positions=at) for stream, at in named if at)

    @property
    def last(self) -> int:
        """The position of its last event."""
        return max((at for source in self.sources for at in source.positions), default=0)


class Course(Value):
    """What happened in a session, as far as it is in force."""

    stream: str = ""
    """The full key of the session."""
    position: int = 0
    title: str = ""
    """As it was given; a session without one has none."""
    title_source: tuple[MemorySource, ...] = ()
    """Where it was given."""
    is_subagent: bool = False
    """A model started it: nothing in it was said by a person."""
    interactions: tuple[Interaction, ...] = ()
    tasks: tuple[Task, ...] = ()
    """The list of tasks."""
    tasks_source: tuple[MemorySource, ...] = ()
    """Where it was set."""
    task_types: tuple[str, ...] = ()
    """As it was classified, each once."""
    erased: tuple[int, ...] = ()
    """Messages and results that were erased: nothing is learned of them."""

    @property
    def pending(self) -> tuple[ToolUse, ...]:
        """The calls of tools that have no result."""
        tools = (tool for each in self.interactions for tool in each.tools)
        return tuple(tool for tool in tools if tool.outcome == "pending")

"""The course of a session: its events, folded into interactions.

What was rewound away is in it no more, and what an undone rewind brought back is. A fork reads its
parent's events; each position keeps the session that owns it, so a parent's interaction is one and
the same in all of its forks. Of an erased event its place is known and no word.

Only what the log records as said by a person counts as said by one: no tool result, no recalled
memory, no injected text, and nothing in a sub-agent's session, whose messages a model wrote. Nor
what a session of our own began with out of a document: it was said elsewhere, and learned there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

from eventlog import messages
from eventlog.errors import CriticalUnknown
from eventlog.events import MemorySource, MessageAppended, Task, TasksSet
from eventlog.recorded import RecordedEvent
from projections.context import REFOLDING, effective, is_known
from projections.materialize import original, rendered
from projections.memory.brought_in import is_brought_in, is_own, is_titled
from projections.memory.clipping import one_line
from projections.memory.interactions import LONGEST_TEXT, Course, Interaction, Said, ToolUse
from projections.memory.signs import Sign, signs
from projections.titles import clean, parts_of, without_reminders

READ = REFOLDING | {
    "session_started",
    "session_titled",
    "session_forked",
    "message_appended",
    "tool_result_recorded",
    "message_revised",
    "tasks_set",
    "task_classified",
}
"""Events that a course is folded from; a fold may be given these alone."""

SUBJECT_LENGTH = 120
_SUBJECTS = ("command", "cmd", "file_path", "path", "filename", "url", "query", "pattern", "name")
_RUNS = frozenset({"command", "cmd", "script", "code"})
_MOST_ARGUMENTS = 200_000
"""Characters of arguments that are read; longer ones are a file that is written."""


class _Called(NamedTuple):
    id: str
    name: str
    subject: str
    runs: bool
    """It runs something, whose output may tell an error that no flag says."""


class _Result(NamedTuple):
    call: str
    is_error: bool
    error: str
    """What the result tells of an error, flagged or not."""


By = Literal["", "human", "model", "task"]


class _Piece(NamedTuple):
    """What one event says, light enough to be kept."""

    by: By = ""
    text: str = ""
    signs: tuple[Sign, ...] = ()
    calls: tuple[_Called, ...] = ()
    results: tuple[_Result, ...] = ()
    tasks: tuple[Task, ...] | None = None
    task_type: str = ""
    revises: int = 0
    is_erased: bool = False


class CourseFold:
    """A fold in progress over a stream that is read from its first position on.

    Each event is looked at once, so whoever follows a session keeps one. A redaction changes what
    earlier events say: after one, fold anew.
    """

    def __init__(self) -> None:
        self.position = 0
        self._stream = ""
        self._title, self._title_at = "", 0
        self._is_subagent = self._is_own = False
        self._events: list[RecordedEvent] = []
        """Without their text."""
        self._pieces: dict[int, _Piece] = {}
        self._owners: list[tuple[int, str]] = []
        """The sessions that this one was forked from, with the last position that each owns."""
        self._human: dict[int, RecordedEvent] = {}
        """What people said, for revisions of it."""
        self._course: Course | None = None

    def evolve(self, event: RecordedEvent) -> CourseFold:
        """Take in the next event; only those of ``READ`` change anything.

        Raises CriticalUnknown, and EventInvalid for a damaged payload.
        """
        kind = event.type
        self.position, self._stream = event.position, str(event.stream)
        self._course = None
        if not is_known(kind, event.schema_version):
            if event.critical:
                raise CriticalUnknown(str(event.stream), event.position, kind)
            return self
        if kind not in READ:
            return self
        if kind in ("session_started", "session_titled"):
            self._titled(event)
            return self
        if kind == "session_forked":
            self._owners.append((event.position - 1, str(event.data["parent"])))
            return self
        if kind in REFOLDING:
            self._events.append(event)
            return self
        piece = None if self._is_own and is_brought_in(event) else self._piece(event)
        if piece is not None:
            self._events.append(event.without_text("{}"))
            self._pieces[event.position] = piece
        return self

    @property
    def course(self) -> Course:
        """The course after the last event."""
        if self._course is None:
            self._course = self._assembled()
        return self._course

    def _owner(self, position: int) -> str:
        return next((owner for last, owner in self._owners if position <= last), self._stream)

    def _source(self, at: int) -> tuple[MemorySource, ...]:
        return (MemorySource(stream=self._owner(at), positions=(at,)),) if at else ()

    def _titled(self, event: RecordedEvent) -> None:
        if event.type == "session_started":
            self._is_subagent = bool(event.data.get("parent_call"))
            self._is_own = is_own(event)
        if not event.erased and not is_titled(event):
            title = clean(str(event.data.get("title") or ""))
            if title:
                self._title, self._title_at = title, event.position

    def _piece(self, event: RecordedEvent) -> _Piece | None:
        kind = event.type
        if kind == "message_appended":
            return self._message(event)
        if kind == "tool_result_recorded":
            return _Piece(results=(_result(event),), is_erased=event.erased)
        if kind == "message_revised":
            return self._revised(event)
        if kind == "tasks_set":
            said = event.event
            assert isinstance(said, TasksSet)
            return _Piece(tasks=() if event.erased else said.tasks)
        if kind == "task_classified":
            return _Piece(task_type=one_line(str(event.data.get("task_type", "")), 60))
        return None

    def _message(self, event: RecordedEvent) -> _Piece | None:
        said = event.event
        assert isinstance(said, MessageAppended)
        by: By = said.source if said.source in ("human", "model") else ""
        if said.source == "injected" and said.label == "task":
            by = "task"
        parts = list(parts_of(event.data))
        results = tuple(
            _Result(clean(each.id), each.is_error, _error(each.text, each.is_error))
            for each in parts
            if each.kind == "result" and not event.erased
        )
        if not by:
            return _Piece(results=results) if results else None
        if event.erased:
            calls = tuple(
                _Called(clean(each.id), clean(each.name), "", False)
                for each in parts
                if each.kind == "call"
            )
            return _Piece(by=by, calls=calls, is_erased=True)
        if by == "human" and self._is_subagent:
            by = "task"
        text = "\n".join(each.text for each in parts if each.kind == "text")
        calls = tuple(map(_called, (each for each in parts if each.kind == "call")))
        if by == "human":
            self._human[event.position] = event
            text = without_reminders(text)
        if not (text.strip() or calls or results):
            return None
        found = signs(text, "human" if by == "human" else "model") if by != "task" else ()
        is_only_results = bool(results) and not text.strip()
        return _Piece("" if is_only_results else by, _head(text), found, calls, results)

    def _revised(self, event: RecordedEvent) -> _Piece | None:
        """Of what a person said that is revised, only what stands in both counts."""
        item = str(event.data.get("item", ""))
        said = self._human.get(int(item)) if item.isdecimal() else None
        if said is None:
            return None
        text = ""
        if not event.erased:
            first = original(said.position, {said.position: said})
            assert first is not None
            shown = rendered(first, event.position, {event.position: event})
            text = messages.text(shown.dialect, shown.message)
        flat = one_line(text, len(text) + 1)
        kept = tuple(
            each for each in self._pieces[said.position].signs if each.text.rstrip("…") in flat
        )
        return _Piece("human", _head(text), kept, revises=said.position)

    # -- assembling -------------------------------------------------------------------------------

    def _assembled(self) -> Course:
        in_force = self._events
        if any(event.type in REFOLDING for event in in_force):
            in_force, _ = effective(in_force)
        pieces = [(event.position, self._pieces[event.position]) for event in in_force]
        revised = {piece.revises: piece for _, piece in pieces if piece.revises}
        made = _Assembly(self._owner)
        for position, piece in pieces:
            if not piece.revises:
                made.take(position, piece, revised.get(position))
        return Course(
            stream=self._stream,
            position=self.position,
            title=self._title,
            title_source=self._source(self._title_at),
            is_subagent=self._is_subagent,
            interactions=tuple(made.interactions()),
            tasks=made.tasks,
            tasks_source=self._source(made.tasks_at if made.tasks else 0),
            task_types=tuple(dict.fromkeys(made.task_types)),
            erased=tuple(made.erased),
        )


def course_of(events: Iterable[RecordedEvent], at: int | None = None) -> Course:
    """The course of a session whose events these are, from its first position on; after ``at``."""
    fold = CourseFold()
    for event in events:
        if at is not None and event.position > at:
            break
        fold.evolve(event)
    return fold.course


_PARTS = ("said", "tools", "done", "dropped", "tasks_at", "erased", "at")


class _Assembly:
    """Interactions in the making."""

    def __init__(self, owner: Callable[[int], str]) -> None:
        self._owner = owner
        self._parts: list[dict[str, Any]] = []
        self._open: dict[str, list[tuple[int, int, bool]]] = {}
        """Of each call id the calls without a result: interaction, place, whether it runs."""
        self.tasks: tuple[Task, ...] = ()
        self.tasks_at = 0
        self.task_types: list[str] = []
        self.erased: list[int] = []

    def take(self, position: int, piece: _Piece, revised: _Piece | None) -> None:
        if piece.is_erased:
            self.erased.append(position)
        if piece.task_type:
            self.task_types.append(piece.task_type)
        if piece.by in ("human", "task") or (piece.by and not self._parts):
            self._parts.append({name: [] for name in _PARTS})
        if piece.tasks is not None:
            self._tasks(piece.tasks, position)
        if not self._parts:
            return
        now = self._parts[-1]
        if piece.by or piece.results:
            now["at"].append(position)
        if piece.is_erased:
            now["erased"].append(position)
        elif piece.by and (piece.text or piece.by != "model"):
            text = piece if revised is None else revised
            now["said"].append(
                Said(position=position, by=piece.by, text=text.text, signs=text.signs)
            )
        for call in piece.calls:
            self._open.setdefault(call.id, []).append(
                (len(self._parts) - 1, len(now["tools"]), call.runs)
            )
            now["tools"].append(
                ToolUse(id=call.id, name=call.name, subject=call.subject, position=position)
            )
        for result in piece.results:
            self._answer(position, result)

    def _answer(self, position: int, result: _Result) -> None:
        waiting = self._open.get(result.call)
        if not waiting:
            return
        interaction, place, runs = waiting.pop(0)
        tools = self._parts[interaction]["tools"]
        is_error = result.is_error or (runs and bool(result.error))
        tools[place] = tools[place].model_copy(
            update={
                "answered": position,
                "outcome": "error" if is_error else "ok",
                "error": result.error if is_error else "",
            }
        )

    def _tasks(self, tasks: tuple[Task, ...], position: int) -> None:
        before = {task.id: task.status for task in self.tasks}
        if self._parts:
            for task in tasks:
                if task.status in ("done", "dropped") and before.get(task.id) != task.status:
                    self._parts[-1][task.status].append(one_line(task.title, 200))
            self._parts[-1]["at"].append(position)
            self._parts[-1]["tasks_at"].append(position)
        self.tasks, self.tasks_at = tasks, position

    def interactions(self) -> Iterator[Interaction]:
        for number, parts in enumerate(self._parts, 1):
            next_said = self._parts[number]["said"] if number < len(self._parts) else ()
            yield Interaction(
                number=number,
                said=tuple(parts["said"]),
                tools=tuple(parts["tools"]),
                done=tuple(dict.fromkeys(parts["done"])),
                dropped=tuple(dict.fromkeys(parts["dropped"])),
                tasks_at=tuple(parts["tasks_at"]),
                feedback=_feedback(next_said[0]) if next_said else "",
                erased=tuple(parts["erased"]),
                sources=tuple(self._sources(parts["at"])),
            )

    def _sources(self, positions: list[int]) -> Iterator[MemorySource]:
        found: dict[str, list[int]] = {}
        for position in positions:
            found.setdefault(self._owner(position), []).append(position)
        for stream, at in found.items():
            yield MemorySource(stream=stream, positions=tuple(sorted(set(at))))


def _feedback(said: Said) -> Any:
    kinds = {sign.kind for sign in said.signs}
    return "negative" if "negative" in kinds else "positive" if "positive" in kinds else ""


def _head(text: str) -> str:
    text = clean(text.strip())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1].rstrip() + "…"


def _called(part: messages.Part) -> _Called:
    return _Called(clean(part.id), clean(part.name), *_subject(part.text))


def _subject(arguments: str) -> tuple[str, bool]:
    """What a tool is called on, and whether it runs something."""
    if len(arguments) > _MOST_ARGUMENTS:
        return "", False
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return one_line(arguments, SUBJECT_LENGTH), False
    if not isinstance(given, dict):
        return one_line(given, SUBJECT_LENGTH) if isinstance(given, str) else "", False
    texts = {str(name): value for name, value in given.items() if isinstance(value, str)}
    named = next((texts[name] for name in _SUBJECTS if name in texts), None)
    if named is None:
        named = next(iter(texts.values()), "")
    return one_line(named, SUBJECT_LENGTH), bool(_RUNS & texts.keys())


def _result(event: RecordedEvent) -> _Result:
    data = event.data
    call = clean(str(data.get("tool_call_id", "")))
    is_error = data.get("is_error") is True
    if event.erased:
        return _Result(call, is_error, "")
    item = original(event.position, {event.position: event})
    texts = [each.text for each in item.parts if each.kind == "result"] if item else []
    return _Result(call, is_error, _error("\n".join(texts), is_error))


def _error(text: str, is_error: bool) -> str:
    found = next((sign.text for sign in signs(text, "tool")), "")
    if found or not is_error:
        return found
    return next(
        (said for line in text[:4000].split("\n") if (said := one_line(line, 400))), "error"
    )

"""Events and items in a few words. Pure; what comes out has not been made safe yet."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from cli.style import plural
from eventlog import RecordedEvent
from projections.failures import why_failed
from projections.items import Item
from projections.partial import length, partial_of
from projections.triggers import SEEN, trigger_of

PREVIEW = 240
"""Code points of an item that a row may show."""

SEALED = "an encrypted summary stood in the context then, which nobody but the provider can read"
ERASED_SUMMARY = "a summary that stood in the context then was erased: what it held is not known"
"""What makes it uncertain that something is lost."""

NameAt = Callable[[int | str], str | None]
"""How people call what stands at a position (``c5``, ``k1``) and the pass with an id (``pass 77``);
None where it has no such name."""


def who(item: Item) -> str:
    """Who speaks in an item that is no tool result: the word that tells most."""
    if item.is_summary or item.kind == "repair":
        return item.kind
    if item.source == "injected" and item.role in ("user", "assistant"):
        return item.label or "injected"
    if item.source in ("retrieval", "memory"):
        return item.source
    return item.role


def preview(item: Item, limit: int = PREVIEW) -> str:
    """The beginning of what an item says, on one line; a call is ``→ tool arguments``."""
    words: list[str] = []
    room = limit
    spoken = [part for part in item.parts if part.kind != "thinking"]
    for part in spoken or item.parts:
        if part.kind == "thinking":
            text = f"(thinking) {part.text}"
        elif part.kind == "call":
            text = f"→ {part.name} {arguments(part.text)}"
        elif part.kind in ("media", "other"):
            text = f"[{part.name or part.kind}] {part.text}"
        else:
            text = ("error: " if part.is_error else "") + part.text
        text = " ".join(text[: 4 * limit].split())[:room]
        if text:
            words.append(text)
            room -= len(text) + 1
        if room <= 0:
            break
    return " ".join(words)


def full_text(item: Item) -> str:
    """Everything readable in an item, calls and thinking marked as such."""
    pieces: list[str] = []
    for part in item.parts:
        if part.kind == "thinking":
            pieces.append(f"(thinking) {part.text}" if part.text else "(thinking, sealed)")
        elif part.kind == "call":
            pieces.append(f"→ {part.name} {part.text}")
        elif part.kind in ("media", "other"):
            pieces.append(f"[{part.name or part.kind}] {part.text}".rstrip())
        elif part.text:
            pieces.append(part.text)
    return "\n".join(pieces)


_TELLING = ("command", "cmd", "file_path", "path", "pattern", "query", "url")
"""Arguments that say alone what a call does, in the tools of the usual agents."""


def arguments(text: str) -> str:
    """The arguments of a call in short: what says most of them, or all as they were written."""
    if not text.startswith("{") or len(text) > 100_000:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(value, dict):
        return text
    for name in _TELLING:
        if isinstance(value.get(name), str) and value[name]:
            return str(value[name])
    only = list(value.values())
    return only[0] if len(only) == 1 and isinstance(only[0], str) else text


def said(event: RecordedEvent, name_at: NameAt) -> str:
    """What a row says of an event that is no item."""
    data: Mapping[str, object] = event.data
    if event.type == "decision_undone":
        return _undone(data, name_at)
    describe = _WORDS.get(event.type)
    if describe is not None:
        return describe(data)
    if event.type in ("model_responded", "model_failed"):
        call = data.get("call")
        name = (name_at(call) if isinstance(call, int) else None) or f"the call at {call}"
        if event.type == "model_failed":
            return f"{name} failed{had_come(event)}: {_why_failed(data)}"
        return f"{name} answered {_short(data, 'finish_reason')}".rstrip()
    return event.type.replace("_", " ")


def _why_failed(data: Mapping[str, object]) -> str:
    status = data.get("status")
    return why_failed(status if isinstance(status, int) else None, _short(data, "error"))


def had_come(failed: RecordedEvent) -> str:
    """What is said of an answer that did not come to its end; nothing where nothing of it came."""
    partial = partial_of(failed)
    return f", {plural(length(partial), 'character')} had come" if partial is not None else ""


_NOUNS = {
    "session_started": "the beginning of the session",
    "session_forked": "the beginning of the fork",
    "session_resumed": "where the session was resumed",
    "session_stored": "what the framework keeps",
    "session_titled": "a title",
    "session_deleted": "the deletion of the session",
    "message_appended": "a message",
    "tool_result_recorded": "a tool result",
    "tools_declared": "a declaration of tools",
    "compaction_declined": "a compaction that was not made",
    "decision_undone": "an undo",
    "item_pinned": "a pin",
    "item_unpinned": "the end of a pin",
    "task_classified": "the kind of the task",
    "session_rewound": "a rewind",
    "model_responded": "the end of an answer",
    "model_failed": "the failure of a call",
    "repair_applied": "a repair",
    "recording_interrupted": "a gap in the recording",
    "redacted": "a redaction",
    "record_unrecognized": "a record that is no message",
    "reply_started": "the beginning of a reply",
    "output_produced": "a structured output",
    "reply_ended": "the end of a reply",
    "permissions_set": "a change of permissions",
    "permission_decided": "a permission",
    "tool_call_started": "the start of a tool",
    "tool_groups_set": "a change of tool groups",
    "file_seen": "a file as it was",
    "tasks_set": "the list of tasks",
    "middleware_state_set": "the state of a middleware",
    "prompt_rendered": "a rendered prompt",
    "remembered": "a memory",
    "memory_revised": "a revision of a memory",
    "memory_forgotten": "the forgetting of a memory",
    "memory_restored": "the return of a memory",
    "profile_updated": "a change of the profile",
    "memory_recalled": "a recall of memories",
}


def noun(event: RecordedEvent, name_at: NameAt) -> str:
    """What an event is, as a person calls it: call c5, compaction k1, a rewind."""
    data = event.data
    if event.type == "placeholder_substituted":
        return f"what {data.get('kind', 'cleared')} item {data.get('item')}"
    if event.type == "message_revised":
        return f"a revision of item {data.get('item')}"
    front = {"model_called": "call", "context_compacted": "compaction"}.get(event.type)
    if front is not None:
        return f"{front} {name_at(event.position) or event.position}"
    kind = event.type.replace("_", " ")
    return _NOUNS.get(event.type, f"an event of the type {kind}")


def trigger_words(trigger: str) -> str:
    """Why a compaction was made, in words; of one that nobody told, how it is known."""
    return SEEN if trigger == "request" else trigger


def _short(data: Mapping[str, object], name: str) -> str:
    value = data.get(name)
    return "" if value is None else str(value)[:PREVIEW]


def _compacted(data: Mapping[str, object]) -> str:
    by = data.get("by")
    name = str(by.get("name", "")) if isinstance(by, Mapping) else ""
    told = trigger_words(_short(data, "trigger"))
    return told or name or trigger_of(data)


def _substituted(data: Mapping[str, object]) -> str:
    kind = str(data.get("kind", "cleared"))
    return f"{kind} ({_short(data, 'reason')})" if data.get("reason") else kind


def _undone(data: Mapping[str, object], name_at: NameAt) -> str:
    target = data.get("target")
    if isinstance(target, int) and target:
        return f"undone: {name_at(target) or target}"
    pass_id = _short(data, "pass_id")
    return f"undone: {name_at(pass_id) or f'pass {pass_id}'}"


def _redacted(data: Mapping[str, object]) -> str:
    if data.get("item"):
        return f"redacted: item {data['item']}"
    targets = data.get("targets")
    return f"redacted: {len(targets) if isinstance(targets, list) else 0} events"


def _listed(data: Mapping[str, object], name: str) -> str:
    values = data.get(name)
    return ", ".join(map(str, values)) if isinstance(values, list | tuple) else ""


_PARTS = {
    "reply.iteration": "calls of the last reply",
    "reply.is_under_way": "the reply under way",
    "reply.output_schema": "the output that was asked for",
    "reply.output_value": "the output that came",
    "permissions.mode": "permissions",
    "permissions.allow": "rules that allow",
    "permissions.deny": "rules that deny",
    "permissions.ask": "rules that ask",
    "tools.groups": "tools",
    "tools.files": "known files",
    "middleware": "what middleware keeps",
    "started_calls": "calls that may have run",
}
"""The parts of an agent's state, as a person calls them."""


def part_told(line: str) -> str:
    """``permissions.mode: ask``, as a resumption names it, in plain words."""
    name, colon, rest = line.partition(":")
    return f"{_PARTS.get(name, name)}{colon}{rest}"


def _taken_up(data: Mapping[str, object], name: str) -> str:
    values = data.get(name)
    found = map(str, values) if isinstance(values, list | tuple) else ()
    return ", ".join(map(part_told, found))


def _resumed(data: Mapping[str, object]) -> str:
    cleared, kept = _taken_up(data, "cleared"), _taken_up(data, "kept")
    said = [f"cleared {cleared}" if cleared else "", f"kept {kept}" if kept else ""]
    return ": ".join(filter(None, ["session resumed", "; ".join(filter(None, said))]))


def _tasks(data: Mapping[str, object]) -> str:
    tasks = data.get("tasks")
    found = [t for t in tasks if isinstance(t, Mapping)] if isinstance(tasks, list | tuple) else []
    done = sum(t.get("status") == "done" for t in found)
    return f"tasks: {done} of {len(found)} done"


def _prompt(data: Mapping[str, object]) -> str:
    role, version = _short(data, "role"), _short(data, "version")
    name = f"{_short(data, 'template')}/{role}" if role else _short(data, "template")
    item = f"item {data.get('item')} rendered from {name}"
    return f"{item} v{version}" if version else item


def _recalled(data: Mapping[str, object]) -> str:
    names = data.get("memories")
    shown = [f"m{each}" for each in names] if isinstance(names, Sequence) else []
    shown += ["the profile"] if data.get("profile") else []
    item = f"item {data.get('item')}"
    return f"{item} shows {', '.join(shown)}" if shown else f"{item} shows no memory any more"


def _named(data: Mapping[str, object], name: str) -> str:
    values = data.get(name)
    return ", ".join(values) if isinstance(values, Mapping) else ""


_WORDS: dict[str, Callable[[Mapping[str, object]], str]] = {
    "context_compacted": _compacted,
    "placeholder_substituted": _substituted,
    "redacted": _redacted,
    "message_revised": lambda d: f"item {d.get('item')} revised",
    "item_pinned": lambda d: f"item {d.get('item')} pinned",
    "item_unpinned": lambda d: f"item {d.get('item')} unpinned",
    "session_rewound": lambda d: f"rewound to {d.get('to')}",
    "session_forked": lambda d: f"forked from {_short(d, 'parent')}@{d.get('at')}",
    "session_started": lambda d: f"session started {_short(d, 'title')}".rstrip(),
    "session_titled": lambda d: f"titled {_short(d, 'title')}",
    "session_deleted": lambda d: f"session deleted {_short(d, 'reason')}".rstrip(),
    "repair_applied": lambda d: f"repaired: {_short(d, 'rule')}",
    "recording_interrupted": lambda d: (
        f"recording was interrupted: {d.get('calls_missed')} calls missed"
    ),
    "record_unrecognized": lambda d: (
        f"{_short(d, 'kind') or 'unknown'} record, line {d.get('line')}: {_short(d, 'raw')}"
    ),
    "compaction_declined": lambda d: f"declined: {_short(d, 'reason').replace('_', ' ')}",
    "task_classified": lambda d: f"task: {_short(d, 'task_type')}",
    "model_called": lambda d: _short(d, "model"),
    "tools_declared": lambda d: "tools declared",
    "session_resumed": _resumed,
    "reply_started": lambda d: "reply started",
    "output_produced": lambda d: "structured output given",
    "reply_ended": lambda d: (
        f"reply {_short(d, 'outcome') or 'answered'} {_short(d, 'detail')}".rstrip()
    ),
    "permissions_set": lambda d: f"permissions: {_short(d, 'mode') or 'ask'}",
    "permission_decided": lambda d: (
        f"{_short(d, 'name')} {_short(d, 'verdict')} by {_short(d, 'by') or 'nobody named'}"
    ),
    "tool_call_started": lambda d: f"{_short(d, 'name')} started",
    "tool_groups_set": lambda d: f"tool groups: {_listed(d, 'groups') or 'none'}",
    "file_seen": lambda d: f"{_short(d, 'path')} {_short(d, 'how') or 'read'}",
    "tasks_set": _tasks,
    "middleware_state_set": lambda d: f"{_short(d, 'name')} keeps its state",
    "prompt_rendered": _prompt,
    "remembered": lambda d: f"remembered: {_short(d, 'text')}",
    "memory_revised": lambda d: f"m{d.get('memory')} revised: {_short(d, 'text')}".rstrip(": "),
    "memory_forgotten": lambda d: (
        f"m{d.get('memory')} forgotten ({_short(d, 'rule') or 'asked'}) "
        f"{_short(d, 'reason')}".rstrip()
    ),
    "memory_restored": lambda d: f"m{d.get('memory')} restored {_short(d, 'reason')}".rstrip(),
    "profile_updated": lambda d: f"profile: {_short(d, 'section')} {_named(d, 'values')}".rstrip(),
    "memory_recalled": _recalled,
}

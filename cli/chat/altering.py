"""The commands of a chat that change its context: each is an event, and can be taken back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from cli.changing import Changing, change
from cli.chat.chat import Chat
from cli.chat.render_altered import render_altered
from cli.chat.slash import words_of
from cli.decisions import Decision, decision_of, rewinding, undoing
from cli.item_places import items_of
from cli.pins import pinned_notes, pins_changed, unpinned_notes
from cli.safetext import safe_text
from cli.style import plural
from eventlog import RecordedEvent
from eventlog.errors import InputRefused
from harness.conversation.standing_memories import is_renewal
from harness.conversation.translating import is_translation
from projections.force import decisions_in_force
from projections.references import place_in
from projections.runs import position_of
from projections.strategies.compact import CompactTurns

_TAKEN = ("context_compacted", "placeholder_substituted", "message_revised")
"""What ``/undo`` undoes where nothing is named: undos and rewinds are named, or it would go round
in a circle."""
_KEEP = re.compile(r"keep_turns=(\d{1,6})", re.ASCII)
_TURNS = re.compile(r"\d{1,9}", re.ASCII)


# -- compaction -----------------------------------------------------------------------------------


def compact(chat: Chat, text: str) -> None:
    """``/compact``: planned first; a preview ends there, and writes nothing."""
    from cli.chat.render_compact import nothing_to_compact, render_plan
    from harness.conversation.compacting import compact as made
    from harness.conversation.compacting import planned_compaction

    keep, is_preview, line = _kept(chat), False, "/compact"
    for word in words_of(text):
        found = _KEEP.fullmatch(word)
        if word in ("--preview", "preview"):
            is_preview = True
        elif found is not None:
            keep, line = int(found[1]), f"/compact {word}"
        else:
            raise InputRefused(f"/compact takes --preview and keep_turns=N, not {word[:40]!r}")
    of, style = chat.conversation, chat.out.style
    if is_preview:
        _note_gone(chat)
    else:
        for each in of.renew():  # before what is not to be seen any more is summarised
            chat.show(each)
    try:
        planned = planned_compaction(of, keep)
        chat.write(chat.screen.end())
        if not planned.events:
            chat.note(nothing_to_compact(planned, keep))
            return
        if not is_preview:
            made(of, planned)
    except KeyboardInterrupt:
        chat.write(chat.screen.end())
        of.refresh()
        chat.note("interrupted: nothing was compacted", sign="!")
        return
    chat.tell(render_plan(chat.live, of.key, planned, style, line if is_preview else ""), "compact")


def _note_gone(chat: Chat) -> None:
    """Which memories a compaction takes out of the context first."""
    gone = chat.conversation.remembering.due().gone
    if gone:
        names = ", ".join(f"m{entry.partition('@')[0]}" for entry in gone)
        chat.note(f"not shown any more, nor summarised: {names}")


def _kept(chat: Chat) -> int:
    """The human turns that stay where nobody says how many: as many as the strategy keeps."""
    strategies = (*chat.conversation.charge.strategies, CompactTurns())
    return next(each.parameters.keep_turns for each in strategies if isinstance(each, CompactTurns))


# -- undo, rewind ---------------------------------------------------------------------------------


def undo(chat: Chat, text: str) -> None:
    """``/undo``"""
    key, live = chat.conversation.key, chat.live
    if text:
        decision = decision_of(live, str(key), text)
    else:
        found = decisions_in_force(live.history(key))
        event = next((each for each in found if _is_taken(each)), None)
        if event is None:
            raise InputRefused("nothing was decided here that could be undone")
        decision = Decision(key, event.position, with_pass=True)
    _changed(chat, Changing(key, undoing(live, decision), "to undo a decision"), "undo")


def _is_taken(event: RecordedEvent) -> bool:
    """Whether it was decided, and not only seen in a request of another program, nor what says
    another dialect again, nor what took out a memory that is forgotten: it is taken out again."""
    is_own = not event.data.get("inferred") and not is_translation(event) and not is_renewal(event)
    return event.type in _TAKEN and is_own


def decisions(chat: Chat) -> Sequence[str]:
    """What can be undone."""
    from cli.completing import decisions as named

    return [name for name in named(chat.live, str(chat.conversation.key)) if name != "last"]


def rewind(chat: Chat, text: str) -> None:
    """``/rewind``: before a human message, whose text is given back; or to a place."""
    of = chat.conversation
    given = ""
    if not text or _TURNS.fullmatch(text):
        turns = int(text or 1)
        humans = [item for item in of.items() if item.is_human]
        if not 1 <= turns <= len(humans):
            there = plural(len(humans), "turn")
            raise InputRefused(f"{there} can be gone back; a place is typed as @12, c5 or k1^")
        item = humans[-turns]
        to = position_of(item.id if "." in item.id else int(item.id)) - 1
        given = item.text
    else:
        to = place_in(chat.live, of.key, text.removeprefix("@")).position
    _changed(chat, Changing(of.key, rewinding(chat.live, of.key, to), "to rewind"), "rewind")
    if given:
        if chat.lines.is_interactive:
            chat.begun = safe_text(given)
        chat.note(f"what you had said{' stands in the input line' if chat.begun else ' was left'}")


# -- items ----------------------------------------------------------------------------------------


def pin(chat: Chat, text: str) -> None:
    """``/pin``"""
    _pin(chat, text, pin=True)


def unpin(chat: Chat, text: str) -> None:
    """``/unpin``"""
    _pin(chat, text, pin=False)


def _pin(chat: Chat, text: str, *, pin: bool) -> None:
    key, live = chat.conversation.key, chat.live
    names = _items(chat, text, "pin" if pin else "unpin")
    asked = pins_changed(live, key, names, pin=pin, reason="", dry_run=False)
    data = change(live, asked)
    chat.conversation.refresh()
    done = "pinned" if pin else "not pinned any more"
    written = live.log.at(key, [each.position for each in data.events])
    if written:
        chat.note(f"{done}: {', '.join(str(e.data['item']) for e in written.values())}")
    about = pinned_notes(live, key, names, data.version, False) if pin else ()
    for note in about if pin else unpinned_notes(live, key, names, data.version):
        if not note.startswith("run leaves"):
            chat.note(note)


def recover(chat: Chat, text: str) -> None:
    """``/recover``: by undoing what took an item, or as a message at the end."""
    from cli.changing import more_than
    from cli.into_context import bringing_back, items_in, more_than_asked
    from cli.recovering import recovered
    from cli.style import tokens

    words = words_of(text)
    only = "--only" in words
    names = _items(chat, " ".join(word for word in words if word != "--only"), "recover")
    live, key = chat.live, chat.conversation.key
    data = recovered(live, key, names)
    planned = change(live, bringing_back(live, data, only=only, name="", dry_run=True))
    planned.asked = items_in(data)
    more = more_than_asked(planned) if not only else []
    if planned.events and more:
        sizes = f"{tokens(planned.before.tokens)} → {tokens(planned.after.tokens)} tokens"
        said = f"this brings back {plural(len(more), 'other item')} too: {sizes}"
        said += f", {more_than(planned.outgrown)}" if planned.outgrown is not None else ""
        if not _is_sure(chat, said):
            chat.note("nothing was changed; --only brings just these, as a message at the end")
            return
    asked = bringing_back(live, data, only=only, name="", dry_run=False)
    _changed(chat, asked, "recover", data.notes)


def items(chat: Chat) -> Sequence[str]:
    """The items that stand."""
    return [item.id for item in reversed(chat.conversation.items())]


def _items(chat: Chat, text: str, command: str) -> list[str]:
    words = words_of(text.replace(",", " "))
    if not words:
        raise InputRefused(f"which item? /{command} 12; /context shows them")
    return items_of(chat.live, str(chat.conversation.key), words)[1]


def _is_sure(chat: Chat, said: str) -> bool:
    if not chat.lines.is_interactive:
        return False
    chat.note(said, sign="!")
    try:
        return chat.lines.answer("  do it? [y]es / [n]o: ").strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        chat.out.write_piece("\n")
        return False


# -- forks ----------------------------------------------------------------------------------------


def fork(chat: Chat, text: str) -> None:
    """``/fork``"""
    from cli.forks import fork_key

    words = words_of(text)
    if len(words) > 1:
        raise InputRefused("/fork takes one name")
    live, of = chat.live, chat.conversation
    hint = "/fork NAME takes another name, /fork alone finds one"
    child = fork_key(live, of.key, words[0] if words else "", hint)
    live.log.fork(child, of.key, of.version, reason="in a chat")
    chat.go_on_in(child)
    chat.note(f"this is {child.session} now, a fork; {of.key.session} stays as it is")


# -- what was done --------------------------------------------------------------------------------


def _changed(chat: Chat, asked: Changing, command: str, notes: Sequence[str] = ()) -> None:
    """Make a change at the version that the chat has seen, and tell it."""
    of = chat.conversation
    data = change(chat.live, replace(asked, expected=of.version))
    of.refresh()
    if not data.events:
        chat.note("nothing was changed: it stands so already")
        return
    chat.tell(render_altered(data, chat.out.style), command)
    for note in (*notes, *data.notes):
        chat.note(note)

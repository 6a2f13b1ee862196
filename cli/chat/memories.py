"""The commands of a chat about what is remembered across sessions."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence

from cli.chat.chat import Chat
from cli.chat.slash import words_of
from cli.safetext import safe_text
from eventlog.errors import InputRefused
from eventlog.events import Remembered
from harness.conversation.happenings import MemoriesChanged
from projections.memory.memory import Memory
from projections.memory.stream import TYPED, memory_name

RECALL = "recall"

_MOST = 60
"""Characters of a memory that is told in passing."""
_SHORT = 2
"""Characters of a memory that may stand in any text."""
_NEWEST = 10
"""Memories that are listed, or found."""


def remember(chat: Chat, text: str) -> None:
    """``/remember``: at once, because a person asked for it. The model is shown it too, where this
    chat has a memory."""
    from cli.memory_values import refuse_keys
    from eventlog.events import ProfileUpdated
    from harness.memory.wishes import wished

    if not text:
        raise InputRefused("what is to be remembered? /remember I indent with tabs")
    refuse_keys(False, text)
    memory, of = chat.memory, chat.conversation
    # No event of the session holds what was typed: it is no source.
    events = wished(text, by=f"{TYPED} {of.key}")
    first = memory.append(*events)
    ids = [at for at, event in enumerate(events, first) if isinstance(event, Remembered)]
    known = memory.memories.some(ids)
    profile = [
        f"{event.section}.{name}"
        for event in events
        if isinstance(event, ProfileUpdated)
        for name in event.values.value
    ]
    chat.show(MemoriesChanged(tuple(known[id] for id in ids), tuple(profile)))
    standing = [id for id in ids if known[id].stands]
    _renew(chat)
    if chat.remembers and standing:
        of.show(*standing)


def memories(chat: Chat, text: str) -> None:
    """``/memories``: those that stand in the context, and the newest; with a text those that are
    related to it; ``recall`` puts these into the context."""
    from cli.memories import Asked, listed, row_of
    from cli.render_memory import render_memories
    from projections.memory.recall import Wanted

    memory = chat.memory
    word, _, query = text.partition(" ")
    if word == RECALL and query.strip():
        _recall(chat, query.strip())
        return
    if word == RECALL:
        raise InputRefused(f"what are they to be about? /memories {RECALL} our deployment")
    if text:
        found = memory.recall(text, Wanted(top=_NEWEST))
        if found.fault is not None:
            chat.note(f"memories were compared by their words alone: {found.fault}", sign="!")
        rows = [row_of(memory, each.memory, memory.clock()) for each in found]
        if not rows:
            chat.note("no memory is related to that")
            return
        chat.tell(render_memories(rows, chat.out.style), "memories")
        return
    data = listed(memory, Asked(), _NEWEST)
    lines = list(_standing(chat, ", ".join(map(memory_name, _shown(chat)))))
    chat.tell([*lines, *render_memories(data.memories, chat.out.style)], "memories")
    if data.cut:
        chat.note(f"the newest {len(data.memories)}: {_command(chat, 'list')} has all")


def forget(chat: Chat, text: str) -> None:
    """``/forget``: from the next call on the model is not shown it; it can be restored."""
    from cli.memories_changing import forgotten
    from cli.render_memory import render_changes

    words = words_of(text.replace(",", " "))
    if not words:
        raise InputRefused("which memory? /forget m12; /memories shows them")
    data = forgotten(chat.memory, words, reason="in a chat")
    chat.tell(render_changes(data, chat.out.style, "forgot", "was forgotten already:"), "forget")
    ids = {int(each.memory.name.removeprefix("m")) for each in data.memories}
    _renew(chat)
    for other in _of_the_same(chat, ids):
        chat.note(f"{other.name} came from the same words and stays: {_begin(other.text)}")
    gone = [each.memory.name for each in data.memories if each.changed]
    if gone:
        them = "it" if len(gone) == 1 else "them"
        chat.note(f"{_command(chat, 'restore', *gone)} brings {them} back")


def advise(chat: Chat, said: str) -> None:
    """Where somebody asks the model to forget what a memory says word by word: it cannot, and this
    is what does."""
    from projections.memory.spoken import spoken
    from projections.memory.wishes import unwished

    clauses = [
        _plain(sentence.text[slice(*found)])
        for sentence in spoken(said)
        if (found := unwished(sentence.masked)) is not None
    ]
    if not clauses:
        return
    standing = chat.memory.memories.some([int(name[1:]) for name in names(chat)]).values()
    for memory in sorted(standing, key=lambda each: each.id):
        text = _plain(memory.text)
        if len(text) > _SHORT and any(text in clause for clause in clauses):
            chat.note(f"/forget {memory.name} forgets it: {_begin(memory.text)}")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .!。！")


def names(chat: Chat) -> Sequence[str]:
    """The memories that stand, the newest first."""
    query, stream = chat.memory.memories.query()
    rows = query(
        "select id from memories where stream = ? and stands order by id desc limit 200", (stream,)
    )
    return [f"m{id}" for (id,) in rows]


def _recall(chat: Chat, query: str) -> None:
    if not chat.remembers:
        raise InputRefused("this chat shows no memories to the model: begin it with --memory")
    found = chat.conversation.recall(query)
    if not found.memories and not found.fault and not found.left_out:
        chat.note("nothing else that is remembered is related to that")
        return
    chat.show(found)


def _renew(chat: Chat) -> None:
    """Take out of the context at once what is not to be seen any more."""
    for each in chat.conversation.renew():
        chat.show(each)


def _shown(chat: Chat) -> list[int]:
    """The memories that stand in the context, whether or not more may come in."""
    standing = chat.conversation.remembering.standing()
    own = [each for each in standing if each.told.of == str(chat.memory.key)]
    return list(dict.fromkeys(id for each in own for id in each.ids))


def _command(chat: Chat, *words: str) -> str:
    """What is typed in a shell about these memories."""
    from cli.memory_config import memory_config

    user = chat.memory.user
    whose = [] if user == memory_config().user else ["--user", user]
    return shlex.join((*chat.program.split(), "memory", *words, *whose))


def _of_the_same(chat: Chat, ids: Collection[int]) -> Iterator[Memory]:
    """Memories that stand and came from an event from which one of these came, too; a summary of
    the session does not repeat it."""
    found = chat.memory.memories.some(ids)
    places = {place for memory in found.values() for place in _places(memory)}
    sessions = sorted({session for session, _ in places})
    here = "stands and row in (select row from memories_sources where session = ?) order by id"
    for session in sessions:
        for other in chat.memory.memories.where(here, (session,)):
            is_other = other.id not in ids and other.kind != "session_summary"
            if is_other and places.intersection(_places(other)):
                yield other


def _places(memory: Memory) -> Iterator[tuple[str, int]]:
    for source in memory.sources:
        yield from ((source.stream, position) for position in source.positions)


def _begin(text: str) -> str:
    return safe_text(text[:_MOST], newlines=False) + ("…" if len(text) > _MOST else "")


def _standing(chat: Chat, told: str) -> Iterator[str]:
    style = chat.out.style
    if told:
        line = f"shown to the model here: {told}"
    elif chat.remembers:
        line = "none of them is shown to the model here"
    else:
        line = "this chat shows none to the model (--memory)"
    yield style.paint(style.line(line, style.width), "dim")

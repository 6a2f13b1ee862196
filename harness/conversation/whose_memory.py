"""Whose memory a conversation has: that of whom its session is, out of the same log.

A session of ``local`` says of nobody whose it is, so any one person's may go with it. One that
bears a person's name goes with that person's memory; who else wants to go on with it forks it into
a session of their own. What was said before is not learned as theirs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from eventlog.errors import InputRefused
from eventlog.recorded import StreamKey
from harness.conversation.standing_memories import NOBODY
from projections import Live
from projections.runs import origin, position_of

if TYPE_CHECKING:
    from harness.memory.user_memory import UserMemory


def check_memory(live: Live, key: StreamKey, memory: UserMemory | None) -> None:
    """Raise InputRefused for what is no memory, one of another log, or of another person than the
    session."""
    if memory is None:
        return
    from harness.memory.user_memory import UserMemory

    if not isinstance(memory, UserMemory):
        raise InputRefused(f"a memory is a UserMemory, not {type(memory).__name__}")
    if memory.live is not live and not _is_same(memory.live, live):
        raise InputRefused("the memory is of another log than the conversation")
    if key.user not in (NOBODY, memory.user):
        raise InputRefused(
            f"{key} is a session of {key.user!r}, and the memory is of {memory.user!r}: fork it "
            f"into a session of theirs"
        )


def said_by_others(live: Live, key: StreamKey, owner: str, began: int) -> int:
    """The position up to which a session was another person's; 0: all of it is the owner's.

    It was up to where it was forked from theirs. Where it showed what is remembered of somebody
    else, it was theirs until it showed what is remembered of the owner; until ``began``, where this
    conversation took it up, if it did not yet. Raises what a damaged log raises.
    """
    info = live.log.stream(key)
    is_forked = info.parent is not None and info.parent.user not in (NOBODY, key.user)
    up_to, foreign = info.base if is_forked else 0, False
    for event in live.log.read(key, up_to, types=["memory_recalled"]):
        is_own = event.data.get("of") == owner
        if foreign and is_own:
            up_to = position_of(origin(str(event.data.get("item") or "").partition("@")[0]))
        foreign = not is_own
    return max(up_to, began) if foreign else up_to


def _is_same(one: Live, other: Live) -> bool:
    try:
        return os.path.samefile(one.log.path, other.log.path)
    except OSError:
        return False

"""What a session lets run unasked when a chat takes it up. Its log may come from elsewhere, and no
log can prove that a person here has said so: it holds where a person says it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.style import plural
from eventlog.events import PermissionsSet
from projections.agent_state.state import Permissions

if TYPE_CHECKING:
    from cli.chat.chat import Chat

_MOST = 20
"""Rules that are shown."""
_WIDEST = 1_000
"""Characters of a rule that are shown."""


def taken_up(chat: Chat, known: Permissions, has_tools: bool) -> PermissionsSet | None:
    """What holds from here on, of the session's rules and those that were typed; None: as it was.

    Where a mode was typed, the rules that allow are those that were typed with it. Else a person is
    asked whether the session's hold, once, and where nobody can be asked they do not; unless there
    are no tools that they could be about. Raises KeyboardInterrupt.
    """
    rules = chat.asked.rules
    held = known
    if rules.mode is not None or (
        has_tools and _unasked(chat, known) and not _is_kept(chat, known)
    ):
        held = _wary(known)
    typed = rules.over(held)
    if typed is None and held != known:
        return as_set(held)
    return typed


def as_set(held: Permissions) -> PermissionsSet:
    """The same permissions as an event."""
    return PermissionsSet.model_validate(held.model_dump())


def _wary(known: Permissions) -> Permissions:
    """The permissions without what they allow unasked."""
    mode = "ask" if known.mode == "allow" else known.mode
    return known.model_copy(update={"mode": mode, "allow": ()})


def _unasked(chat: Chat, known: Permissions) -> list[str]:
    """What would run without a question, and was not typed."""
    typed = chat.asked.rules.allow
    every = ["every tool"] if known.mode == "allow" else []
    return every + [rule for rule in known.allow if rule not in typed]


def _is_kept(chat: Chat, known: Permissions) -> bool:
    found = _unasked(chat, known)
    if not chat.lines.is_interactive:
        more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
        chat.set_aside = (
            f"this session lets {found[0][:80]}{more} run without asking, which does not hold "
            "here: say --allow RULE or --permissions MODE"
        )
        return False
    style = chat.out.style
    lines = [style.paint("! this session lets run without asking:", "yellow")]
    lines += [f"    {style.block(rule[:_WIDEST])}" for rule in found[:_MOST]]
    if len(found) > _MOST:
        lines.append(f"    and {plural(len(found) - _MOST, 'more rule')}")
    chat.out.write("\n".join(lines))
    try:
        typed = chat.lines.answer(style.paint("  keep that? [y]es / [N]o: ", "bold"))
    except EOFError:  # Ctrl-D is no
        chat.out.write_piece("\n")
        return False
    return typed.strip().lower() in ("y", "yes")

"""The commands of a chat that set how it goes on: its model, strategy and rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cli.chat.asked import MODES, Rules
from cli.chat.chat import Chat
from cli.chat.slash import nothing_behind
from cli.strategies import spec_of, strategies_of
from cli.style import pad
from eventlog.errors import InputRefused
from eventlog.events import PermissionsSet
from harness.tools.permissions import judge

_MAY = {"allowed": "allowed", "denied": "denied", "ask": "asks first"}


def model(chat: Chat, text: str) -> None:
    """``/model``"""
    if not text:
        chat.note(f"{chat.model.endpoint.model} at {chat.model.endpoint.url}")
        return
    chat.use(chat.asked.named_model(text))
    chat.note(f"{text} answers from here on")


def strategy(chat: Chat, text: str) -> None:
    """``/strategy``"""
    of = chat.conversation
    if text:
        of.use(strategies_of(text))
        chat.asked = replace(chat.asked, strategy=text)
    chat.note(f"{spec_of(of.charge.strategies)}{' decides from here on' if text else ''}")
    for each in of.charge.strategies:  # the spec names only what differs from the defaults
        every = each.parameters.model_dump()
        if every != each.parameters.model_dump(exclude_defaults=True):
            values = ", ".join(f"{name}={value}" for name, value in every.items())
            chat.note(f"{each.name} has {values}")


def strategies(chat: Chat) -> Sequence[str]:
    """The names of strategies."""
    from cli.options import complete_strategy

    return complete_strategy("")


def tools(chat: Chat, text: str) -> None:
    """``/tools``"""
    nothing_behind(text, "tools")
    of, style = chat.conversation, chat.out.style
    rows = []
    for each in of.tools:
        is_active = not each.group or each.group in of.state.tools.groups
        verdict = judge(of.state.permissions, each, {}).verdict
        rows.append((each.name, _MAY[verdict] if is_active else "not active", each.description))
    if not rows:
        chat.note("no tools")
        return
    size, state = (max(len(row[n]) for row in rows) for n in (0, 1))
    lines = []
    for name, may, about in rows:
        start = f"  {pad(style.line(name, size), size)}  {pad(may, state)}  "
        lines.append(start + style.line(about, style.width - len(start)))
    chat.tell(lines, "tools")


def permissions(chat: Chat, text: str) -> None:
    """``/permissions``"""
    of, style = chat.conversation, chat.out.style
    word, _, rule = text.partition(" ")
    rule = rule.strip()
    held = of.state.permissions
    if rule and word in ("allow", "deny"):
        rules = Rules(allow=(rule,)) if word == "allow" else Rules(deny=(rule,))
        changed = rules.over(held)
    elif text in MODES:
        changed = Rules(mode=text).over(held)
    elif text:
        raise InputRefused(f"/permissions takes {', '.join(MODES)}, allow RULE or deny RULE")
    else:
        changed = None
    if changed is not None and changed != PermissionsSet.model_validate(held.model_dump()):
        with of.writing():
            of.append(changed)
        if word in ("allow", "deny") and rule:
            chat.warn_of_rules((rule,))
    held = of.state.permissions
    mode = next(name for name, value in MODES.items() if value == held.mode)
    lines = [f"where no rule speaks: {mode}"]
    for kind, found in (("deny", held.deny), ("ask", held.ask), ("allow", held.allow)):
        lines += [f"  {pad(kind, 5)}  {style.line(each, style.width - 9)}" for each in found]
    chat.tell(lines, "permissions")


def title(chat: Chat, text: str) -> None:
    """``/title``"""
    from cli.chat.resumed import title_of
    from harness.agent_sessions import Sessions

    of, live = chat.conversation, chat.live
    if not text:
        chat.note(title_of(live, of.key) or "no title yet")
        return
    fault = ""
    if text == "--auto":
        chat.write(chat.screen.waiting("asking for a title …"))
        try:
            fault = of.retitle().fault
        finally:
            chat.write(chat.screen.end())
    else:
        Sessions(live).rename(of.key, text)
    of.refresh()
    chat.note(f"no new title: {fault}" if fault else f"titled: {title_of(live, of.key)}")

"""Who speaks in an item of a Codex rollout: a person, the model, another agent, or Codex itself.

Codex writes much under the role of the user: instructions, the environment, what a shell said. It
knows these by how they begin and end, and so does this. Source: Codex's ``event_mapping`` and
``context_manager``, which also say what counts as a turn when a conversation goes back by turns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from eventlog.events import Source

SUMMARIES = frozenset({"compaction", "compaction_summary", "context_compaction"})
"""Items that stand for a part of the conversation that the provider keeps encrypted."""

_FRAGMENTS = (
    ("# AGENTS.md instructions", "</INSTRUCTIONS>", "agents_md"),
    ("<user_instructions>", "</user_instructions>", "agents_md"),
    ("<environment_context>", "</environment_context>", "environment_context"),
    ("<skill>", "</skill>", "skill"),
    ("<user_shell_command>", "</user_shell_command>", "user_shell_command"),
    ("<turn_aborted>", "</turn_aborted>", "turn_aborted"),
    ("<subagent_notification>", "</subagent_notification>", "subagent_notification"),
    ("<subagents>", "</subagents>", "subagents"),
    ("<plugins>", "</plugins>", "plugins"),
    ("<recommended_plugins>", "</recommended_plugins>", "recommended_plugins"),
    ("<hook_prompt", "</hook_prompt>", "hook_prompt"),
    ("<goal_context>", "</goal_context>", "goal_context"),
)
"""(how a text begins, how it ends, label): what Codex writes under the role of the user."""

_SETTINGS = (
    "<permissions instructions>",
    "<model_switch>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<realtime_conversation>",
    "<skills_instructions>",
    "<personality_spec>",
    "<token_budget>",
    "<token_budget_reminder>",
    "<context_window>",
    "<context_window_guidance>",
    "<rollout_budget>",
)
"""How a developer message begins with which Codex tells of its settings before a turn."""

_SUMMARY_BEGINS = "Another language model started to solve this problem and produced a summary"


def text_of(value: object) -> str:
    """The value when it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def texts_of(item: Mapping[str, Any]) -> list[str]:
    """The texts of a message, block by block."""
    content = item.get("content")
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    return [
        block["text"]
        for block in blocks
        if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]


def speaker(item: Mapping[str, Any], subagent: bool) -> tuple[Source, str]:
    """(source, label) of an item that no model wrote.

    As in Codex itself, one fragment that it wrote makes the whole message its own.
    """
    kind = text_of(item.get("type"))
    if kind in SUMMARIES:
        return "injected", "summary"
    if kind == "agent_message" or item.get("role") == "assistant":
        return "injected", "agent_message"
    if item.get("role") != "user":
        return "injected", text_of(item.get("role"))[:40]
    for text in texts_of(item):
        shown = text.strip()
        for begins, ends, label in _FRAGMENTS:
            if _is_between(shown, begins, ends):
                return "injected", label
        if shown.startswith(_SUMMARY_BEGINS):
            return "injected", "summary"
    # A sub-agent is prompted by the model that started it.
    return ("injected", "task") if subagent else ("human", "")


def _is_between(text: str, begins: str, ends: str) -> bool:
    head, tail = text[: len(begins)], text[-len(ends) :]
    return head.lower() == begins.lower() and tail.lower() == ends.lower()


def begins_turn(item: Mapping[str, Any], label: str) -> bool:
    """Whether Codex counts a turn from this item, when it goes back by turns."""
    spoken = item.get("role") == "user" and label in ("", "task")
    return spoken or label == "agent_message"


def leads_to_turn(item: Mapping[str, Any], label: str) -> bool:
    """Whether it goes with the turn behind it, when Codex goes back to before that one."""
    if item.get("role") == "developer":
        return any(text.lstrip().lower().startswith(_SETTINGS) for text in texts_of(item))
    return item.get("role") == "user" and label not in ("", "task", "summary")


def is_from_agent(item: Mapping[str, Any]) -> bool:
    """Whether an assistant's message is what another agent said, written as JSON."""
    texts = texts_of(item)
    if len(texts) != 1 or not texts[0].startswith("{") or '"recipient"' not in texts[0]:
        return False
    try:
        found = json.loads(texts[0])
    except (ValueError, RecursionError):
        return False
    wanted = ("author", "recipient", "content")
    return isinstance(found, dict) and all(isinstance(found.get(key), str) for key in wanted)

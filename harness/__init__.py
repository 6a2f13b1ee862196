"""What writes the log with knowledge of its meaning: importers, the recorder, conversations.

``from harness import wrap`` records the calls of a client, ``from harness import Conversation`` has
one of its own; nothing of it is loaded before that.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.agent_sessions import Sessions as Sessions
    from harness.conversation import Conversation as Conversation
    from harness.conversation.sub_agents import SubAgent as SubAgent
    from harness.memory import UserMemory as UserMemory
    from harness.recording import RecordingWarning as RecordingWarning
    from harness.recording import session as session
    from harness.recording import wrap as wrap
    from harness.tools.tool import tool as tool
    from harness.tools.toolbox import Toolbox as Toolbox

_HOME = {
    "Conversation": "harness.conversation",
    "RecordingWarning": "harness.recording",
    "Sessions": "harness.agent_sessions",
    "SubAgent": "harness.conversation.sub_agents",
    "Toolbox": "harness.tools.toolbox",
    "UserMemory": "harness.memory",
    "session": "harness.recording",
    "tool": "harness.tools.tool",
    "wrap": "harness.recording",
}

__all__ = [
    "Conversation",
    "RecordingWarning",
    "Sessions",
    "SubAgent",
    "Toolbox",
    "UserMemory",
    "session",
    "tool",
    "wrap",
]


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)

"""What writes the log with knowledge of its meaning: importers, the recorder, sessions of our own.

``from harness import wrap`` records the calls of a client; nothing of it is loaded before that.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.agent_sessions import Sessions as Sessions
    from harness.recording import RecordingWarning as RecordingWarning
    from harness.recording import session as session
    from harness.recording import wrap as wrap

__all__ = ["RecordingWarning", "Sessions", "session", "wrap"]

_MODULES = {"Sessions": "agent_sessions"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"harness.{_MODULES.get(name, 'recording')}")
    return getattr(module, name)

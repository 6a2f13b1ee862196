"""What writes the log with knowledge of its meaning: importers and the recorder.

``from harness import wrap`` records the calls of a client; nothing of it is loaded before that.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.recording import RecordingWarning as RecordingWarning
    from harness.recording import session as session
    from harness.recording import wrap as wrap

__all__ = ["RecordingWarning", "session", "wrap"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from harness import recording

    return getattr(recording, name)

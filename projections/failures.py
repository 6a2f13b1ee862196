"""Why a call failed, in words. Pure.

What is recorded is what a client or a provider said; of an interruption that is the name which
Python has for it.
"""

from __future__ import annotations

_WORDS = {"KeyboardInterrupt": "interrupted", "CancelledError": "cancelled"}


def why_failed(status: int | None, error: str) -> str:
    """The error, behind the status that came back where the error does not name it. What somebody
    interrupted did not fail by its status."""
    if error in _WORDS:
        return _WORDS[error]
    is_named = status is None or str(status) in error
    return error if is_named else f"{status} {error}".rstrip()

"""What it means: projections, computed from events alone.

What is named here is loaded when it is first asked for, as in ``eventlog``.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from projections.live import Live as Live
    from projections.live import open_log as open_log

__all__ = ["Live", "open_log"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from projections import live

    found = globals()[name] = getattr(live, name)
    return found

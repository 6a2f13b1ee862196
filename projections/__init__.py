"""What it means: projections, computed from events alone."""

from projections.live import Live, open_log

__all__ = ["Live", "open_log"]

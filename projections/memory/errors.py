"""What can be wrong with what is asked of memories."""

from __future__ import annotations

from eventlog.errors import NotFound


class MemoryNotFound(NotFound):
    """There is no memory of that name."""

    def __init__(self, stream: str, memory: str) -> None:
        self.stream, self.memory = stream, memory
        super().__init__(f"there is no memory {memory} in {stream}")

"""What outlives a session: memories of one person, folded from the events of all sessions."""

from projections.memory.lifecycle import LifePolicy, Status, status
from projections.memory.memory import Memory
from projections.memory.profile import Profile
from projections.memory.state import MemoryState, fold
from projections.memory.stream import is_memory_stream, memory_stream

__all__ = [
    "LifePolicy",
    "Memory",
    "MemoryState",
    "Profile",
    "Status",
    "fold",
    "is_memory_stream",
    "memory_stream",
    "status",
]

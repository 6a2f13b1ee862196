"""What writes memories: by hand, learned from sessions, taken in from a file."""

from harness.memory.user_memory import UserMemory

__all__ = ["UserMemory"]

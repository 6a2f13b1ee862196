"""What writes memories: by hand, learned from sessions, taken in from a file."""

from harness.memory.documents import export_memories
from harness.memory.markdown import export_markdown
from harness.memory.taking_up import Imported, import_memories
from harness.memory.user_memory import UserMemory

__all__ = ["Imported", "UserMemory", "export_markdown", "export_memories", "import_memories"]

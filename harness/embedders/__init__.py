"""What turns texts into vectors: nothing but hashing, a model in this process, or an endpoint."""

from harness.embedders.base import Embedder, VectorsRefused
from harness.embedders.endpoint import EndpointEmbedder
from harness.embedders.hashing import HashingEmbedder
from harness.embedders.named import NAMES, default, named
from harness.embedders.nano import NanoEmbedder

__all__ = [
    "NAMES",
    "Embedder",
    "EndpointEmbedder",
    "HashingEmbedder",
    "NanoEmbedder",
    "VectorsRefused",
    "default",
    "named",
]

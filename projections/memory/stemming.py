"""English words by their stems: ``deploying``, ``deployed`` and ``deploys`` are one.

The algorithm is that of M. F. Porter, "An algorithm for suffix stripping", Program 14 (3), 1980,
pages 130-137, with the three departures of its author's own program: ``bli`` and ``logi`` in the
second step, and words of up to two letters left alone. SQLite's ``porter`` tokenizer is the same;
it is not used, since how often a word occurs is counted outside of it (``index``).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

_SECOND = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
)
_THIRD = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_FOURTH = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion"),
    *("tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)

_LONGEST = 64
"""Letters; what is longer is no word."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a word in lower case; one that is not all ASCII letters stays as it is."""
    if not 2 < len(word) <= _LONGEST or not (word.isascii() and word.isalpha()):
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _SECOND)
    word = _replaced(word, _THIRD)
    word = _stripped(word)
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return _mended(rest) if _has_vowel(rest) else word
    return word


def _mended(word: str) -> str:
    """What is left of a word without ``ed`` or ``ing``: ``hop``, ``file``, ``conflate``."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _is_doubled(word) and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word) else word


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    """Of the endings that fit, the longest decides, whether or not it is replaced."""
    fitting = [pair for pair in endings if word.endswith(pair[0])]
    if not fitting:
        return word
    old, new = max(fitting, key=lambda pair: len(pair[0]))
    rest = word[: -len(old)]
    return rest + new if _measure(rest) > 0 else word


def _stripped(word: str) -> str:
    fitting = [ending for ending in _FOURTH if word.endswith(ending)]
    if not fitting:
        return word
    ending = max(fitting, key=len)
    if ending in ("sion", "tion"):
        ending = "ion"
    rest = word[: -len(ending)]
    return rest if _measure(rest) > 1 else word


def _is_consonant(word: str, at: int) -> bool:
    letter = word[at]
    if letter in "aeiou":
        return False
    return letter != "y" or at == 0 or not _is_consonant(word, at - 1)


def _measure(word: str) -> int:
    """How often a consonant follows a vowel."""
    kinds = [_is_consonant(word, at) for at in range(len(word))]
    return sum(not before and after for before, after in pairwise(kinds))


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, at) for at in range(len(word)))


def _is_doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _is_short(word: str) -> bool:
    """Whether it ends like ``hop``: consonant, vowel, consonant other than w, x, y."""
    end = len(word) - 1
    return (
        end >= 2
        and _is_consonant(word, end)
        and not _is_consonant(word, end - 1)
        and _is_consonant(word, end - 2)
        and word[end] not in "wxy"
    )

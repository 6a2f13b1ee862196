"""What all texts of one language have in common for a model, to be taken away from their vectors.

The vectors of a multilingual model lie in a narrow cone, and those of one language in a corner of
it: without more, a question in Chinese is nearer to any Chinese memory than to the right English
one. So the mean of some sentences of its language, which say the same in both, is subtracted from
each vector. Source: the mean of "All-but-the-Top" (Mu and Viswanath, ICLR 2018), taken for each
language by itself. The means are kept in ``centres.json`` with the sentences that they are of.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from operator import mul
from typing import Any, Literal

from harness.embedders.base import TextKind

Language = Literal["en", "zh"]
"""Written in Chinese characters, or not: a language that has no centre of its own takes English."""

_CHINESE = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff\uf900-\ufaff]+")
_LEAST = 0.3
"""Of its characters and words, the share of Chinese from which a text is one: names of tools and
files stand in every text about programs."""


def language(text: str) -> Language:
    """The language whose centre is a text's."""
    chinese = len(_CHINESE.findall(text))
    return "zh" if chinese and chinese >= _LEAST * (chinese + len(_WORD.findall(text))) else "en"


def centred(text: str, kind: TextKind, vector: Sequence[float]) -> list[float]:
    """The vector of a text without what it shares with its language, at length one."""
    centre = centres()[f"{language(text)} {kind}"]
    moved = [number - mean for number, mean in zip(vector, centre, strict=True)]
    length = math.sqrt(sum(map(mul, moved, moved)))
    return [number / length for number in moved] if length else moved


@cache
def centres() -> dict[str, list[float]]:
    """By language and kind of text: ``zh query``."""
    found: dict[str, list[float]] = _kept("centres")
    return found


def sentences() -> dict[Language, list[str]]:
    """What the centres are the means of."""
    found: dict[Language, list[str]] = _kept("sentences")
    return found


def _kept(part: str) -> Any:
    return json.loads(files("harness.embedders").joinpath("centres.json").read_text("utf-8"))[part]

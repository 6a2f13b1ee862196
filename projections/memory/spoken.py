"""What somebody says in a text, sentence by sentence: not what is quoted in it, nor its code.

A person's message holds more than that person's words: code, logs, a file, a letter that is to be
translated. That is hidden (``pasted``), as is a sentence that is told of somebody else.

The text is hostile: only its beginning and its end are looked at, and every repetition is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from projections.memory import pasted
from projections.memory.pasted import HIDDEN
from projections.titles import clean, without_reminders

__all__ = ["HIDDEN", "LOOKED_AT", "MAX_SENTENCE", "Sentence", "clipped", "spoken"]

LOOKED_AT = 10_000
"""Code points at the beginning of a text that are looked at, and as many at its end."""
MAX_SENTENCE = 400
"""No sentence longer than this is taken: pasted data, and nothing that was said."""

MAX_BEHIND = 240
"""Nothing longer is taken along with the sentence that announces it."""


class Sentence(NamedTuple):
    """One sentence, without its bullet."""

    text: str
    masked: str
    """As long as the text; what is quoted in it is hidden."""
    asks: bool
    """It is a question."""
    is_point: bool = False
    """It stands behind a bullet."""
    announces: bool = False
    """It ends with a colon at the end of its line."""
    behind: str = ""
    """Of what announces: the paragraph, or the code, that it announces, on one line; empty where
    that is long, or nothing."""


def spoken(text: str) -> Iterator[Sentence]:
    """The sentences that are said in a text, in their order."""
    text = clean(without_reminders(clipped(text)).replace(HIDDEN, " "))
    masked = pasted.masked(text)
    at = 0
    for line in masked.split("\n"):
        for sentence in _in_line(text[at : at + len(line)], line):
            if sentence.announces:
                sentence = sentence._replace(behind=_behind(text, at + len(line)))
            yield sentence
        at += len(line) + 1


def clipped(text: str) -> str:
    """The part of a text that is looked at."""
    if len(text) <= 2 * LOOKED_AT:
        return text
    cut = text[LOOKED_AT:-LOOKED_AT]
    if any(each in cut for each in ("```", "~~~", "\n<", "\n </")):
        return text[:LOOKED_AT]  # the end may stand between fences that were cut off
    # What is cut off may have held the end of a quotation: a paragraph begins anew.
    return f"{text[:LOOKED_AT]}\n\n{text[-LOOKED_AT:].partition(chr(10))[2]}"


# -- sentences ------------------------------------------------------------------------------------

_END = re.compile(r"(?<=[.!?])(?<!\b[ei]\.[ge]\.)(?<!\bvs\.)[\"')*_]{0,3}[ \t]+|(?<=[。！？；])")
_LEAD = re.compile(r"[\s>#*_•·–—\"'“(-]{1,40}|\d{1,3}[.)、][ \t]{1,9}")
_POINT = re.compile(r"[ \t]{0,12}(?:[-*•·–—]|\d{1,3}[.)、])[ \t]{0,9}\S")
_PICTURES_FROM = "\u2600"
"""A heart and a thumb say something."""
_ASKS = re.compile(r"[?？][\s)\"'”*_]{0,5}$|(?:吗|呢|么|嘛)[。.!！\s]{0,3}$")
_ASKING = re.compile(
    r"(?:do|does|did|should|shall|can|could|would|will|is|are|was|were|have|has|may|might|what|which"
    r"|who|whom|whose|where|when|why|how)\s(?:i|you|we|they|it|he|she|there|this|that|is|are|was"
    r"|do|does|did|should|can|could|would|many|much|about|come|to)\b"
    r"|(?:what|why|how)['’]?s?\b"
    r"|(?:为什么|为何|怎么|怎样|如何|是否|是不是|要不要|能不能|可不可以|什么时候|谁|哪)",
    re.IGNORECASE | re.ASCII,
)

_TOLD = re.compile(
    r"[,–—-]\s?(?:he|she|they|(?!I\b)[A-Z]\w{1,20}|(?i:the|my|our)\s\w{1,20})\s(?:\w{1,12}\s)?"
    r"(?:said|says|wrote|writes|told|thinks|claims|claimed|argues|argued|suggests)\b"
    r"|[,–—-]\s?(?:said|says|wrote)\s(?!I\b)\w"
    r"|\b(?i:according\sto)\s|[，,](?:他|她|他们|同事|老板|有人)(?:\w{0,4})(?:说|写道|认为)|据\w{1,10}(?:说|称)"
)
"""Somebody else is named who said it."""


def _in_line(line: str, masked: str) -> Iterator[Sentence]:
    is_point = bool(_POINT.match(masked))
    start = 0
    for end in [*(match.end() for match in _END.finditer(masked)), len(masked)]:
        first, last = _trimmed(masked, start, end)
        start = end
        if not 0 < last - first <= MAX_SENTENCE:
            continue
        hidden = masked[first:last]
        if not any(each.isalnum() or each > _PICTURES_FROM for each in hidden):
            continue
        if _TOLD.search(hidden):
            continue
        said = line[first:last]
        asks = bool(_ASKS.search(hidden) or _ASKING.match(hidden))
        announces = hidden.endswith((":", "：")) and not masked[end:].strip()
        yield Sentence(said, hidden, asks, is_point, announces)


def _behind(text: str, at: int) -> str:
    """What stands behind the end of a line: one paragraph, or one block of code."""
    rest = text[at : at + 2 * MAX_BEHIND].lstrip()
    opened = pasted.FENCE.match(rest)
    if opened is not None:
        _, _, rest = rest.partition("\n")
        end = rest.find(opened["mark"])
    else:
        end = rest.find("\n\n")
        end = len(rest) if end < 0 else end
    told = " ".join(rest[: max(end, 0)].split())
    return told if len(told) <= MAX_BEHIND else ""


def _trimmed(masked: str, start: int, end: int) -> tuple[int, int]:
    while lead := _LEAD.match(masked, start, end):
        start = lead.end()
    while end > start and masked[end - 1] in " \t\r*_":
        end -= 1
    return start, end

"""What somebody says in a text, sentence by sentence: not what is quoted in it, nor its code.

A person's message holds more than that person's words: code, logs, a file, a letter that is to be
translated. What is fenced, indented, ticked, quoted, between tags, behind a ``>`` or behind "the
following:" is somebody else's and says nothing here. When in doubt, it is not said.

The text is hostile: only its beginning and its end are looked at, and every repetition is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from projections.titles import clean, without_reminders

LOOKED_AT = 10_000
"""Code points at the beginning of a text that are looked at, and as many at its end."""
MAX_SENTENCE = 400
"""No sentence longer than this is taken: pasted data, and nothing that was said."""

MAX_BEHIND = 240
"""Nothing longer is taken along with the sentence that announces it."""

HIDDEN = "\0"
"""Stands in ``masked`` for each character that is not said."""


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
    masked = _masked(text)
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
        said = line[first:last]
        asks = bool(_ASKS.search(hidden) or _ASKING.match(hidden))
        announces = hidden.endswith((":", "：")) and not masked[end:].strip()
        yield Sentence(said, hidden, asks, is_point, announces)


def _behind(text: str, at: int) -> str:
    """What stands behind the end of a line: one paragraph, or one block of code."""
    rest = text[at : at + 2 * MAX_BEHIND].lstrip()
    opened = _FENCE.match(rest)
    if opened is not None:
        _, _, rest = rest.partition("\n")
        end = rest.find(opened[0].strip())
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


# -- what is not said -----------------------------------------------------------------------------

_FENCE = re.compile(r"[ \t]{0,12}(?:```|~~~)")
_CODE = re.compile(r"(?: {4}|\t)[ \t]*(?![-*•·–—\s]|\d{1,3}[.)、])")
_LOGGED = re.compile(
    r"[\w/\\@+-]{0,100}[./\\][\w./\\@+-]{0,100}:\d|\[?\d{2,4}[-:/]\d\d|[ \t]{1,12}(?:at |File )"
    r"|Traceback |[-+]{3} "
    r"|(?:\[[^\]\n]{0,40}\][ \t]?)?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b",
    re.ASCII,
)
_OPENING = re.compile(r"[ \t]{0,12}<([A-Za-z][\w-]{0,40})(?:[ \t][^>\n]{0,200})?>")
_OWN_TAGS = frozenset({"user_query"})
"""Around what a person typed, in the messages of some agents."""
_TAG = re.compile(r"</?[A-Za-z][\w-]{0,40}(?:[ \t][^>\n]{0,200})?/?>")

_QUOTED = re.compile(
    r"``[^`\n]{1,400}``|`[^`\n]{1,400}`"
    r"|\"(?:[^\"\n]|\n(?!\s{0,9}\n)){1,1000}\""
    r"|“[^”]{1,1000}”|「[^」]{1,1000}」|『[^』]{1,1000}』|《[^》]{1,200}》|«[^»]{1,1000}»"
    r"|(?<![\w])'[^'\n]{1,300}'(?!\w)|‘[^’\n]{1,300}’(?!\w)"
)
_INTRODUCES = re.compile(
    r"\b(?:translate|summari[sz]e|proofread|rephrase|rewrite|paraphrase|explain|review|analy[sz]e"
    r"|parse|here\s(?:is|are)|here['’]s|following|below|pasted?|quote[sd]?|says?|said|reads|writes"
    r"|wrote|told\sme|outputs?|prints?|logs?|errors?|e-?mails?|letter|article|document|docs|readme"
    r"|files?|contents?|text|prompt|transcript)\b[^\n:：]{0,80}[:：](?!//|\d|\\)"
    r"|(?:翻译|总结|概括|润色|改写|解释|校对|以下|下面|原文|如下|内容|日志|输出|报错|文件|邮件|文章|文档"
    r"|提示词|写着|写道|说)[^\n:：]{0,20}[:：]",
    re.IGNORECASE | re.ASCII,
)
_ASKED_TO_KEEP = re.compile(
    r"\b(?:remember|forget|memory|mind|note)\b|记住|记得|记下|牢记|别忘|注意", re.I
)


def _masked(text: str) -> str:
    lines = text.split("\n")
    hidden: list[str] = []
    fenced = False
    closing = ""
    at = 0
    for line in lines:
        opened = _OPENING.match(line)
        at += len(line) + 1
        if closing:
            ends = line.find(closing)
            done = ends + len(closing) if ends >= 0 else len(line)
            line = _blank(line[:done]) + line[done:]
            closing = "" if ends >= 0 else closing
        elif _FENCE.match(line):
            fenced = not fenced
            line = _blank(line)
        elif fenced or line.lstrip().startswith(">") or _CODE.match(line) or _LOGGED.match(line):
            line = _blank(line)
        elif opened is not None and opened[1] not in _OWN_TAGS:
            ending = f"</{opened[1]}>"
            ends = line.find(ending)
            if ends >= 0:
                line = _blank(line[: ends + len(ending)]) + line[ends + len(ending) :]
            elif text.find(ending, at) >= 0:
                closing, line = ending, _blank(line)
        hidden.append(line)
    masked = "\n".join(hidden)
    for pattern in (_TAG, _QUOTED):
        masked = pattern.sub(lambda match: _blank(match[0]), masked)
    return _without_given(masked)


def _without_given(masked: str) -> str:
    """Without what a sentence brings in: up to the end of its line, or of the text where the line
    ends with the colon."""
    lines = masked.split("\n")
    for number, line in enumerate(lines):
        found = _INTRODUCES.search(line)
        if found is None or _ASKED_TO_KEEP.search(line[: found.end()]):
            continue
        behind = line[found.end() :]
        lines[number] = line[: found.end()] + _blank(behind)
        if not behind.strip(" \t\r*_" + HIDDEN):
            rest = [_blank(each) for each in lines[number + 1 :]]
            return "\n".join([*lines[: number + 1], *rest])
    return "\n".join(lines)


def _blank(text: str) -> str:
    """Hidden, with its ends of lines."""
    if "\n" not in text:
        return HIDDEN * len(text)
    return "\n".join(HIDDEN * len(line) for line in text.split("\n"))

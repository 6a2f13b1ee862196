"""Anchors: literals that later work depends on, and which of them a compaction lost.

Paths, ids, numbers with a unit, error strings, URLs, commands, and the rules that a person or a
system prompt gave. Found by shape alone, so the same text gives the same anchors on every machine,
and another way of summarising can be compared by what it keeps.

The text is hostile: every repetition is bounded or starts only where a run starts, so the time
grows with the length and not faster.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from eventlog.messages import SYSTEM_ROLES
from projections import anchor_noise as noise
from projections.anchor_commands import COMMAND_LENGTH, command, commands, only_looks
from projections.anchor_paths import paths
from projections.anchor_rules import rules
from projections.items import Item

Kind = Literal["path", "id", "number", "error", "url", "command", "rule"]
KINDS: tuple[Kind, ...] = ("path", "id", "number", "error", "url", "command", "rule")

RULE_SOURCES = frozenset({"human", "system"})
"""Whose sentences can be rules. A web page that says "always" gives none."""


class Anchor(NamedTuple):
    """One literal, as it stands in the text."""

    kind: Kind
    text: str


class _Found(NamedTuple):
    start: int
    end: int
    kind: Kind
    text: str


def anchors(text: str, source: str) -> tuple[Anchor, ...]:
    """The anchors of a text, each once, in the order in which they first stand there.

    ``source`` is an item's source (human, model, tool …) or ``system``; see RULE_SOURCES.
    """
    urls = list(_urls(text))
    taken = [*urls, *_paths(text, _Spans(urls), source)]
    names = _Spans(taken)
    errors = list(_errors(text))
    numbers = _numbers(text, names, source)
    found = [*taken, *errors, *_ids(text, names, source), *numbers, *_commands(text)]
    if source in RULE_SOURCES:
        wrong = _Spans(errors)
        said = (_Found(at, at + len(rule), "rule", rule) for at, rule in rules(text))
        found += [rule for rule in said if not wrong.meets(rule.start, rule.end)]
    found.sort(key=lambda one: (one.start, KINDS.index(one.kind)))
    return tuple(dict.fromkeys(Anchor(one.kind, one.text) for one in found))


def item_anchors(item: Item, *, calls: bool | None = None) -> tuple[Anchor, ...]:
    """The anchors of an item: what was said, what tools were called with, what they returned.

    ``calls``: of these, what tools were called with alone, or all but that. An item is searched
    once, however often it is asked.
    """
    found = item.once("_anchors", _by_part)
    if calls is None and len(found) == 1:
        return found[0][1]
    chosen = (each for is_call, each in found if calls in (None, is_call))
    return tuple(dict.fromkeys(anchor for each in chosen for anchor in each))


def _by_part(item: Item) -> tuple[tuple[bool, tuple[Anchor, ...]], ...]:
    """Of each part that has some; with whether it is a call."""
    source = "system" if item.role in SYSTEM_ROLES else item.source
    found: list[tuple[bool, tuple[Anchor, ...]]] = []
    for part in item.parts:
        if part.kind == "call":
            found.append((True, tuple(dict.fromkeys(_argument_anchors(part.text)))))
        elif part.kind in ("text", "result"):
            found.append((False, anchors(part.text, source if part.kind == "text" else "tool")))
    return tuple(each for each in found if each[1])


def _argument_anchors(arguments: str) -> Iterator[Anchor]:
    """Of the strings in a call's arguments; a shell command is one as a whole."""
    try:
        stack: list[tuple[str, Any]] = [("", json.loads(arguments))]
    except (ValueError, RecursionError):
        stack = [("", arguments)]
    while stack:
        key, value = stack.pop()
        if isinstance(value, dict):
            stack.extend(reversed(value.items()))
        elif isinstance(value, list):
            stack.extend((key, inner) for inner in reversed(value))
        elif isinstance(value, str):
            first = value.strip().partition("\n")[0]
            if key in ("command", "cmd") and len(first) <= COMMAND_LENGTH and not only_looks(first):
                run = command(first)
                if run:
                    yield Anchor("command", run)
            yield from anchors(value, "model")


def lost(before: Iterable[Anchor], after: Iterable[str]) -> tuple[Anchor, ...]:
    """Which anchors stand in none of the texts, in order, each once.

    Runs of white space are equal; so are upper and lower case in a rule. An anchor stands in a text
    only as a whole: ``77120`` does not stand in ``177120``.
    """
    kept = " \0 ".join(" ".join(text.split()) for text in after)
    folded = kept.casefold()
    words = set(_WORD.findall(folded))
    return tuple(a for a in dict.fromkeys(before) if not _stands(a, kept, folded, words))


_WORD = re.compile(r"\w+", re.ASCII)


def _stands(anchor: Anchor, kept: str, folded: str, words: set[str]) -> bool:
    needle, hay = " ".join(anchor.text.split()), kept
    low = needle.casefold()
    if anchor.kind == "rule":
        needle, hay = low, folded
    # Most lost anchors end here, without a search through the text.
    if not words.issuperset(_WORD.findall(low)):
        return False
    at = hay.find(needle)
    while at >= 0:
        end = at + len(needle)
        if not (_cuts_word(hay, at) or _cuts_word(hay, end)):
            return True
        at = hay.find(needle, end)
    return False


def _cuts_word(text: str, at: int) -> bool:
    """Whether both neighbours of a boundary belong to one word of ASCII."""
    return bool(0 < at < len(text) and _WORD.fullmatch(text[at - 1 : at + 1]))


class _Spans:
    """Places already taken, for asking whether another meets one of them."""

    def __init__(self, found: Iterable[_Found]) -> None:
        spans = sorted((one.start, one.end) for one in found)
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]

    def meets(self, start: int, end: int) -> bool:
        at = bisect_right(self.starts, end - 1) - 1
        return at >= 0 and self.ends[at] > start


# -- URLs --------------------------------------------------------------------

_CJK = "\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef"
_URL = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,15}://"
    rf"[^\s<>\"'`{{}}|\\^“”‘’…\x00-\x1f{_CJK}]{{3,2000}}"
)


def _urls(text: str) -> Iterator[_Found]:
    for match in _URL.finditer(text):
        url = match[0].rstrip(".,;:!?*_~$")
        for opening, closing in ("()", "[]"):
            while url.endswith(closing) and url.count(closing) > url.count(opening):
                url = url[:-1].rstrip(".,;:!?*_~")
        # Followed by a brace, or with nothing behind the scheme, it is a pattern and no address.
        is_pattern = text[match.end() : match.end() + 1] == "{"
        if is_pattern or not re.search(r"://[^/]*\w", url):
            continue
        if not noise.in_url(text, match.start(), url):
            yield _Found(match.start(), match.start() + len(url), "url", url)


def _paths(text: str, urls: _Spans, source: str) -> Iterator[_Found]:
    for at, path in paths(text):
        if not (noise.in_path(path, source) or urls.meets(at, at + len(path))):
            yield _Found(at, at + len(path), "path", path)


# -- ids and numbers ---------------------------------------------------------

_ID = re.compile(
    r"""(?<![\w.,-])(?:
      [0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}
      |0x[0-9a-fA-F]{4,64}
      |(?P<ticket>[A-Z][A-Z0-9]{1,9})(?:-[A-Z0-9]{1,10}){0,2}-\d{1,12}
      |(?P<hex>[0-9a-f]{7,64}|[0-9A-F]{7,64})
      |(?P<long>[a-z]{2,10}_(?=[A-Za-z]{0,40}\d)(?=[a-z0-9]{0,40}[A-Z])[A-Za-z0-9]{14,64})
      |v?\d{1,5}\.\d{1,5}\.\d{1,5}(?:\.\d{1,5})?(?:-?(?:rc|alpha|beta|dev|a|b)\.?\d{1,4})?(?::\d{2,5})?
      |\d{5,20}
    )(?![\w-])(?![.,]\d)""",
    re.VERBOSE | re.ASCII,
)
_STANDARDS = re.compile(
    "UTF|UCS|SHA|MD|ISO|GPT|IEC|IEEE|RFC|AES|RSA|CRC|BASE|LATIN|CP|COVID|ES|EUC"
)


def _ids(text: str, taken: _Spans, source: str) -> Iterator[_Found]:
    for match in _ID.finditer(text):
        word = match["hex"] is not None and match[0].isalpha()
        standard = match["ticket"] and _STANDARDS.fullmatch(match["ticket"])
        if word or standard or taken.meets(*match.span()):
            continue
        if noise.in_id(text, match.start(), match[0], source):
            continue
        yield _Found(*match.span(), "id", match[0])


_NUMBER = re.compile(
    r"""(?<![\w.,;])(?<!\x1b\[)(?<![A-Za-z_]-)(?:
      [$€£¥₹]\ ?(?P<money>\d{1,15}(?:,\d{3}){0,5}(?:\.\d{1,6})?)(?:[kKMB]|bn|m)?(?!\w|[.,]\d)
      |(?P<value>\d{1,15}(?:,\d{3}){0,5}(?:\.\d{1,6})?)(?:
        (?:%|s|h|m|°C|°F)(?![\w°])
        |[ \u00a0-]?(?:
          (?:ns|µs|μs|us|ms|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|months?|years?
            |[KMGTP]i?B|[kmg]b|bytes?|[kKM]?\ ?tokens?|percent|[kMG]?Hz|rpm|rps|qps|fps|req/s
            |px|mm|cm|km|kg|mg|kWh?|USD|EUR|GBP|CNY|RMB|JPY|dollars?|euros?|cents?)(?![\w])
          |[万亿]?[美欧日]?元|万|亿|毫秒|秒|分钟|小时|天|周|个月|年|公里|厘米|米|公斤|千克
        )
        |\ [a-z]{3,20}\ (?:a|an|per)\ (?:second|minute|hour|day|week|month|year)\b
      )
    )""",
    re.VERBOSE | re.ASCII,
)


def _numbers(text: str, taken: _Spans, source: str) -> Iterator[_Found]:
    for match in _NUMBER.finditer(text):
        value = match["money"] or match["value"]
        # "$1" is a parameter of a shell; a zero of anything is no fact that is missed.
        positional = match["money"] is not None and match[0][0] == "$" and len(value) == 1
        if positional or not value.strip("0.,") or taken.meets(*match.span()):
            continue
        if noise.in_number(text, match.span(), source):
            continue
        yield _Found(*match.span(), "number", match[0])


# -- errors ------------------------------------------------------------------

_ERRORS = re.compile(
    r"""
    (?<![\w.$])(?:[A-Za-z_][\w.$]{0,80}[.$])?(?:[A-Z]\w{0,60}?)?(?:Error|Exception)
      (?:\ ?\[\w{1,40}\])?:\ [^\n]{3,160}
    |^(?:[^\s:]{1,200}:\d{1,7}(?::\d{1,7})?:\ )?(?:npm\ )?
      (?:error|fatal|panic|ERROR|FATAL|CRITICAL)(?:\[\w{1,12}\]|\ TS\d{1,5})?:\ [^\n]{3,160}
    |(?:(?<=---\ )|^)FAIL:\ \S{1,200}
    |(?<![\w.$/-])(?P<code>[a-z]{2,20}(?:_[a-z0-9]{2,20}){1,5}):\ (?=[A-Za-z]+[ ,])
      [^\n"`│|]{3,160}
    |\bFAILED\ [^\s:]{1,200}(?:::[^\s]{1,200}|\.\w{1,5}\b)
    |\b(?:[Ee]xit(?:ed)?(?:\ with)?(?:\ exit)?\ (?:code|status)|non-zero\ exit\ status|exitCode)
      [\ :=]{1,3}[1-9]\d{0,2}\b
    |\b(?:EACCES|EADDRINUSE|EAGAIN|EBADF|EBUSY|ECONNABORTED|ECONNREFUSED|ECONNRESET|EEXIST
      |EHOSTUNREACH|EINVAL|EIO|EISDIR|EMFILE|ENOENT|ENOMEM|ENOSPC|ENOTDIR|ENOTEMPTY|ENOTFOUND|EPERM
      |EPIPE|EROFS|ETIMEDOUT|EXDEV|SIGABRT|SIGKILL|SIGSEGV|SIGTERM|ERR_[A-Z_]{3,60})\b
    |\bHTTP(?:/\d(?:\.\d)?)?\ [45]\d\d\b
    |\b[Ss]tatus(?:\ code)?[\ :=]{1,2}[45]\d\d\b
    |(?:错误|异常|报错)[::]\ ?[^\n]{2,120}
    """,
    re.VERBOSE | re.ASCII | re.MULTILINE,
)
_REFUSED = re.compile(
    "error|fail|refus|reject|denied|invalid|illegal|missing|not_|unauth|unavail|unsupported|exceed"
    "|expired|conflict|timeout|too_|forbid|mismatch|exhaust"
)
"""In the name of an error that is no class: ``limit_exceeded: 3 of 2``."""
_CODE_AFTER_COLON = re.compile(
    r"[^:]+: (?:[{(\[]|(?:[Ii]f|[Ww]hen)\b"
    r"|(?:string|boolean|null|undefined|typeof|any)\b ?(?:[,;)|=]|$))"
)


def _closed(text: str) -> str:
    """Without a last bracket or quote that nothing opened: what stood around the error."""
    last = text[-1:]
    if last in ")]}":
        return text if text.count("([{"[")]}".index(last)]) >= text.count(last) else text[:-1]
    return text[:-1] if last in "\"'`" and text.count(last) % 2 else text


_MARKS = (
    *("Error", "Exception", "error", "fatal", "panic", "ERROR", "FATAL", "CRITICAL", "FAIL"),
    *("xit", "HTTP", "tatus", "ERR_", "SIG", "错误", "异常", "报错"),
)
_MARKED = re.compile(r"E[A-Z]{3}|_[a-z0-9]{2,20}: ")
"""Of these or of _MARKS one stands in every error, and an error stands on one line."""


def _error_lines(text: str) -> list[tuple[int, int]]:
    """The lines that may hold an error; most texts have none, and this is quicker to find."""
    ends: dict[int, int] = {}

    def note(at: int) -> int:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        ends[text.rfind("\n", 0, at) + 1] = end
        return end

    for mark in _MARKS:
        at = text.find(mark)
        while at >= 0:
            at = text.find(mark, note(at))
    marked = _MARKED.search(text)
    while marked:
        marked = _MARKED.search(text, note(marked.start()))
    return sorted(ends.items())


def _errors(text: str) -> Iterator[_Found]:
    lines = _error_lines(text)
    for match in (match for start, end in lines for match in _ERRORS.finditer(text, start, end)):
        code = match["code"]
        if noise.in_error(match[0]) or (code is not None and not _REFUSED.search(code)):
            continue
        error = _closed(match[0].rstrip(" \t\r,;\\"))
        before = text[max(0, match.start() - 7) : match.start()]
        if before.endswith(("except ", "class ")) or _CODE_AFTER_COLON.match(error):
            continue
        yield _Found(match.start(), match.start() + len(error), "error", error)


def _commands(text: str) -> Iterator[_Found]:
    for at, found in commands(text):
        yield _Found(at, at + len(found), "command", found)

"""What a person says of themselves: name, work, place, language, system."""

from __future__ import annotations

import re
from collections.abc import Mapping

from projections.memory.clipping import one_line
from projections.memory.spoken import HIDDEN, Sentence

MOST = 60
"""Code points of a value."""

_NAME = r"(?P<v>[^\W\d_][\w.'’-]{0,30}(?:\s[A-Z][\w.'’-]{0,30}){0,2})"
_WORDS = r"(?P<v>[^\s,.;:!?()，。；：！？（）][^,.;:!?()，。；：！？（）]{0,59}?)"
_END = (
    r"(?=\s(?:and|but|so|from|in|at|for|with|who|where|by the way)\b"
    r"|[,.;:!?()，。；：！？（）]|\s*$)"
)
_ROLES = (
    r"(?:developer|engineer|programmer|designer|scientist|researcher|student|teacher|manager|analyst"
    r"|architect|administrator|admin|consultant|doctor|nurse|lawyer|writer|editor|translator|founder"
    r"|freelancer|maintainer|professor|accountant|journalist)"
)
_ENGLISH: tuple[tuple[str, str], ...] = (
    ("name", rf"\bmy\sname\sis\s{_NAME}{_END}"),
    (
        "name",
        rf"^(?:from\snow\son,?\s)?(?:please\s)?(?:you\scan\s)?(?:just\s)?call\sme\s{_NAME}{_END}",
    ),
    ("role", rf"\bi\s(?:work|am\sworking)\sas\s(?:an?\s|the\s)?{_WORDS}{_END}"),
    ("role", rf"\bi(?:['’]m|\sam)\san?\s(?P<v>(?:[\w+#-]{{1,20}}\s){{0,3}}{_ROLES})\b"),
    ("role", rf"\bmy\s(?:job|role|profession)\sis\s(?:an?\s|the\s)?{_WORDS}{_END}"),
    ("employer", rf"\bi\swork\s(?:at|for)\s{_WORDS}{_END}"),
    ("location", rf"\bi\s(?:live|am\sbased)\sin\s{_WORDS}{_END}"),
    ("location", rf"\bi['’]m\sbased\sin\s{_WORDS}{_END}"),
    ("time zone", rf"\bmy\stime\s?zone\sis\s{_WORDS}{_END}"),
    ("language", rf"\bmy\s(?:native|first)\slanguage\sis\s{_WORDS}{_END}"),
    ("system", r"\bi(?:['’]m|\sam)\son\s(?P<v>macos|a\smac|windows|linux|ubuntu|debian|fedora)\b"),
    ("system", r"\bi\suse\s(?P<v>macos|windows|linux|ubuntu|debian|fedora|arch\slinux)\b"),
)
_CHINESE: tuple[tuple[str, str], ...] = (
    (
        "name",
        r"(?:^|[，,。;；！!\s])(?:你好[，,]?)?我(?:叫(?![你他她它人不])|的名字(?:是|叫))(?:做)?(?P<v>[\w·]{1,12})(?=[，,。;；！!\s]|$)",
    ),
    (
        "name",
        r"(?:^|[，,。;；])(?:请|你可以|以后)?叫我(?P<v>[\w·]{1,12}?)(?:就行|就好|吧|即可)?(?=[，,。;；！!\s]|$)",
    ),
    (
        "role",
        r"(?:^|[，,。;；])我是(?:一名|一个|一位|名|个)?(?P<v>[\w+#]{0,10}"
        r"(?:工程师|程序员|开发者|设计师|科学家|研究员|学生|老师|教师|经理|分析师|架构师|医生|护士|律师|作家|编辑|翻译))",
    ),
    ("employer", r"(?:^|[，,。;；])我在(?P<v>[^，,。;；！!的\s]{1,20})(?:工作|上班|任职)"),
    ("location", r"(?:^|[，,。;；])我(?:住在|定居在)(?P<v>[^，,。;；！!\s]{1,20})"),
    ("time zone", r"我的?时区是(?P<v>[^，,。;；！!\s]{1,30})"),
    ("language", r"我的?母语是(?P<v>[^，,。;；！!\s]{1,12})"),
    ("system", r"我(?:用的是|的系统是|使用的是)(?P<v>macOS|Windows|Linux|Ubuntu|苹果电脑)"),
)
_RULES = tuple(
    (name, re.compile(pattern, re.IGNORECASE)) for name, pattern in (*_ENGLISH, *_CHINESE)
)
_NOT_SAID = re.compile(
    r"\b(?:if|suppose|imagine|pretend|say|says|said|wrote|let['’]?s|assume|unless|function|variable|test)\b"
    r"|如果|假如|假设|要是|他说|她说|例如|比如",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"(?:not|the|an?|on|in|it|what|when|later|back|if|tomorrow|maybe|crazy|什么|谁|啥)",
    re.IGNORECASE,
)


def basics(sentence: Sentence) -> Mapping[str, str]:
    """What a sentence says of the person who says it, by name; a question says nothing."""
    masked = sentence.masked
    if sentence.asks:
        return {}
    found: dict[str, str] = {}
    for name, pattern in _RULES:
        match = pattern.search(masked)
        if match is None or name in found or _NOT_SAID.search(masked, 0, match.start("v")):
            continue
        value = one_line(sentence.text[slice(*match.span("v"))], MOST).strip(" '’.-")
        if not value or HIDDEN in match["v"]:
            continue
        if name in ("employer", "location") and value[0].islower() and value[0].isascii():
            continue  # "I live in fear", "I work for hours"
        if name == "name" and (_NO_NAME.fullmatch(value.split()[0]) or _goes_on(match)):
            continue
        found[name] = value
    return found


def _goes_on(match: re.Match[str]) -> bool:
    """Whether what could be a name is a word of a sentence: "my name is wrong in the file"."""
    word, behind = match["v"], match.string[match.end("v") :]
    return word[0].islower() and word.isascii() and bool(re.match(r"\s\w", behind))

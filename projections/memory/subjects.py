"""The things that preferences are known to be about, and what is preferred there.

A small table: indentation, quotes, the language of answers and others. What stands in none of its
rows gets a subject made of its own words, so that a later word on the same thing meets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from projections.memory.characters import simplified
from projections.memory.known_subjects import ROWS, Area, Row
from projections.memory.mentions import is_manner_beside, is_tool_beside, without_asides

Values = dict[str, str | bool | int]


class About(NamedTuple):
    """What a statement is about, and what it says by name."""

    subject: str
    area: Area
    values: Values


SUBJECTS = (*(row.subject for row in ROWS), "line length", "commits to the main branch")
"""What is known by a row; the languages of answers, comments and documents are read apart."""

AREAS: dict[str, Area] = {
    **{row.subject: row.area for row in ROWS},
    "language of answers": "interaction",
    **dict.fromkeys(SUBJECTS[len(ROWS) :], "technical"),
}
"""Of each known subject."""

_NEGATIVE = (
    r"\b(?:never|don['’]?t|do\snot|doesn['’]?t|avoid|hate|dislike|without|stop|instead\sof|rather\sthan|over"
    r"|no\slonger|not|no)\b(?:\s(?:ever|really|like|want|need|use|using|prefer|write|writing|add|adding"
    r"|put|to)){0,3}"
    r"|(?:而不是|不要|不用|不喜欢|不想|不写|不加|不使用|别|避免|禁止|讨厌|勿|没有)(?:再)?(?:用|使用|喜欢|写|加|添加)?"
)
_POSITIVE = (
    r"\b(?:prefer|use|using|like|love|always|with|want|choose|but|keep|write)\b"
    r"|(?:喜欢|使用|用|采用|偏好|习惯|倾向|要|加上|写)"
)
_MARKS = re.compile(rf"(?P<no>{_NEGATIVE})|(?:{_POSITIVE})", re.IGNORECASE | re.ASCII)

_LANGUAGES = {
    "English": "english|英文|英语",
    "German": "german|deutsch|德语|德文",
    "Chinese": "chinese|mandarin|中文|汉语|普通话",
    "French": "french|法语|法文",
    "Spanish": "spanish|西班牙语",
    "Italian": "italian|意大利语",
    "Portuguese": "portuguese|葡萄牙语",
    "Dutch": "dutch|荷兰语",
    "Polish": "polish|波兰语",
    "Russian": "russian|俄语|俄文",
    "Turkish": "turkish|土耳其语",
    "Arabic": "arabic|阿拉伯语",
    "Hindi": "hindi|印地语",
    "Japanese": "japanese|日语|日文",
    "Korean": "korean|韩语|韩文",
}
LANGUAGE = "|".join(_LANGUAGES.values())
_SPOKEN_IN = re.compile(
    rf"\b(?:answer|reply|replies|respond|response|talk|speak|write|explain|communicate|chat|converse)\w{{0,4}}\b"
    rf"(?<!write)(?<!writing)(?:(?!\bto\s(?!me\b))[^.,;]){{0,30}}?\b(?:in|use|using)\s(?P<en>{LANGUAGE})\b"
    rf"|\bwrit(?:e|ing)\s(?:(?:to\sme|(?:your\s)?(?:answers?|replies|explanations))\s)?in\s(?P<en3>{LANGUAGE})\b"
    rf"|\bspeak\s(?P<en2>{LANGUAGE})\b"
    rf"|(?<!变量名)(?<!函数名)(?<!文件名)(?<!命名)(?<!标题)(?<!界面)(?<!日志)(?<!代码)(?<!分支)(?<!名称)用(?P<zh>{LANGUAGE})"
    r"(?!命名|变量|函数|写|界面|标题|日志|名|的?(?:文件|分支))",
    re.IGNORECASE,
)
_WRITTEN_IN = re.compile(
    rf"(?P<what>\bcomments?\b|\bcommit messages?\b|\bdoc(?:ument|string)?(?:s|ation)?\b"
    rf"|\breadmes?\b|注释|提交信息|文档)"
    rf"[^.,;，。；]{{0,20}}?(?:\bin\s|用|使用|写)(?P<lang>{LANGUAGE})"
    rf"|用(?P<lang2>{LANGUAGE})(?:来)?写(?P<what2>注释|提交信息|文档)",
    re.IGNORECASE,
)
_WRITTEN = {"注释": "comments", "提交信息": "commit messages", "文档": "documentation"}
_TO_MAIN = re.compile(
    r"\b(?:commit|push|merge)\w{0,3}\b[^.,;]{0,30}?\b(?P<branch>main|master)\b"
    r"|(?:提交|推送|合并)[^。，,；]{0,8}?(?P<zh>main|master|主分支|主干)",
    re.IGNORECASE | re.ASCII,
)
_LINE_LENGTH = re.compile(
    r"\b(?P<a>\d{2,3})[- ](?:col(?:umn)?s?|characters?|chars?)\b"
    r"|\bline (?:length|width)\D{0,20}(?P<b>\d{2,3})\b"
    r"|每行\D{0,8}(?P<c>\d{2,3})",
    re.IGNORECASE | re.ASCII,
)

_OTHER_LENGTH = re.compile(
    r"\b(?:password|passphrase|token|key|secret|table|name|title|subject|hash|id|description|csv|buffer)\w{0,2}\b",
    re.IGNORECASE | re.ASCII,
)
"""What has so many characters, or columns, and is no line."""


def about(statement: str) -> Iterator[About]:
    """What of the table a statement is about; nothing where it is about none of it, or only names
    something of it (``mentions``)."""
    statement = without_asides(simplified(statement))
    found = list(_special(statement))
    taken = {each.subject for each in found}
    if any(subject.startswith("language of") for subject in taken):
        taken |= {"comments", "docstrings"}
    for row in ROWS:
        if row.subject in taken or (row.is_last and found):
            continue
        values = _of_row(row, statement)
        if values:
            found.append(About(row.subject, row.area, values))
    yield from found


def _of_row(row: Row, statement: str) -> Values:
    denied: str | bool | None = None
    best: tuple[int, str | bool] | None = None
    for value, pattern in row.values:
        for match in pattern.finditer(statement):
            if _is_beside(row, statement, match):
                continue
            if is_wanted(statement, match.start()):
                if best is None or match.start() < best[0]:
                    best = match.start(), value or True
            elif denied is None:
                denied = f"not {value}" if value else False
    if best is not None:
        return {row.name: best[1]}
    return {row.name: denied} if denied is not None else {}


def _is_beside(row: Row, statement: str, found: re.Match[str]) -> bool:
    """Whether a value of a row is only named there."""
    start, end = found.span()
    if row.nouns is not None and is_tool_beside(statement, start, end, row.nouns):
        return True
    if row.is_manner and is_manner_beside(statement, start, end):
        return True
    around = row.unless.finditer(statement) if row.unless is not None else ()
    return any(each.start() <= start and end <= each.end() for each in around)


def is_wanted(statement: str, at: int) -> bool:
    """Whether what stands at a place is wanted: by the last word before it that says so."""
    wanted = True
    for mark in _MARKS.finditer(statement, 0, at):
        wanted = mark["no"] is None
    return wanted


def _special(statement: str) -> Iterator[About]:
    written = _WRITTEN_IN.search(statement)
    if written is not None:
        what = (written["what"] or written["what2"]).casefold()
        what = _WRITTEN.get(what, what)
        name = (
            f"language of {what if what.endswith('s') or what == 'documentation' else what + 's'}"
        )
        yield About(name, "technical", {name: _language(written["lang"] or written["lang2"])})
    else:
        for match in _SPOKEN_IN.finditer(statement):
            language = _language(match["en"] or match["en2"] or match["en3"] or match["zh"])
            said = language if is_wanted(statement, match.start()) else f"not {language}"
            yield About("language of answers", "interaction", {"language of answers": said})
            break
    main = _TO_MAIN.search(statement)
    if main is not None:
        wanted = is_wanted(statement, main.start())
        yield About(
            "commits to the main branch", "technical", {"commits to the main branch": wanted}
        )
    length = _LINE_LENGTH.search(statement)
    if length is not None:
        number = int(length["a"] or length["b"] or length["c"])
        if length["a"] is None or not _OTHER_LENGTH.search(statement):
            yield About("line length", "technical", {"line length": number})


def _language(word: str) -> str:
    low = word.casefold()
    return next(name for name, words in _LANGUAGES.items() if low in words.split("|"))


# -- unknown ones ---------------------------------------------------------------------------------

_LITTLE_WORDS = """
    a an the i i'd i'm we you your my our me us it to of for in on at by with and or as is are be
    always never do don't dont not no please prefer prefers would rather like love hate dislike want
    use using used usually generally really strongly much more from now going forward future
    default ever when all every any also just only should must instead than over make sure that this
    ensure avoid keep write add put have has
"""
_LITTLE = frozenset(_LITTLE_WORDS.split())
_LITTLE_CHINESE = re.compile(
    "我们|我|你|以后|今后|从现在(?:开始|起)|从今(?:以后|往后)|往后|之后|默认|总是|始终|一律|统一|永远|一直|通常|一般|平时"
    "|个人|本人|比较|更加?|还是|非常|很|最|不喜欢|喜欢|偏好|偏爱|习惯|倾向于?|讨厌|不要|不用|不能|不|别|切勿|请勿|勿|避免"
    "|必须|务必|一定要?|千万|请|都|就|要|使用|采用|用|写|加|再|来|的|了|去|只|尽量"
)
_REJECTED = re.compile(
    r"\s(?:over|instead\sof|rather\sthan)\s.{0,200}|,\s(?:not|no)\s.{0,200}|而不是.{0,200}",
    re.IGNORECASE | re.DOTALL,
)
_WORD = re.compile(r"[^\W_][\w'’+#./-]{0,40}")
MOST_WORDS = 6


def own_subject(statement: str) -> str:
    """The subject of a statement that is about nothing known: its own words, without those that
    say how it is meant. "Never deploy on Fridays" and "always deploy on Fridays" are about one."""
    bare = _REJECTED.sub("", statement)
    if not bare.isascii():
        bare = _LITTLE_CHINESE.sub(" ", bare)
    words = (word.strip(".-/'’").casefold() for word in _WORD.findall(bare))
    kept = [word.replace("’", "'") for word in words]
    return " ".join([word for word in kept if word and word not in _LITTLE][:MOST_WORDS])

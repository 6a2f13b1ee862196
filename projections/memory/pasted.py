"""What in a text its writer did not say: code, logs, files, mails, talks and letters put into it.

A person who pastes does not always say so with a fence. What looks like somebody else's is
hidden: blocks as CommonMark has them, what stands between tags, comments, what a shell printed, and
what is brought in by "summarize the text below". What does not end is hidden to the end. In doubt
it is not said: a memory that is missing is asked for again, one that a web page wrote is obeyed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HIDDEN = "\0"
"""Stands for each character that is not said."""


def masked(text: str) -> str:
    """The text with all that is not said in it hidden, and as long as before."""
    found = "\n".join(_without_blocks(text.split("\n")))
    found = _without_tags(found)
    for pattern in (_TAG, _QUOTED):
        found = pattern.sub(lambda match: _blank(match[0]), found)
    return _without_given(_without_transcripts(found))


def _blank(text: str) -> str:
    """Hidden, with its ends of lines."""
    if "\n" not in text:
        return HIDDEN * len(text)
    return "\n".join(HIDDEN * len(line) for line in text.split("\n"))


# -- blocks ---------------------------------------------------------------------------------------

FENCE = re.compile(
    r"(?P<in>[ \t]{0,12}(?:(?:[-*+•]|\d{1,9}[.)])[ \t]{1,4})?)"
    r"(?P<mark>`{3,}(?=[^`\n]*(?:\n|$))|~{3,})"
)
_LONG = re.compile(r"[ \t]{0,12}(?:[bfru]{0,2}(\"\"\"|''')|(<!--|/\*))", re.IGNORECASE)
_CLOSING = {"<!--": "-->", "/*": "*/"}
"""Of a comment of several lines; a docstring ends as it begins."""
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_POINT = re.compile(r"[ \t]*(?:[-*•·–—]|\d{1,3}[.)、])")
_CODE = re.compile(
    r"[ \t]{0,12}(?:#|//|/\*|\*/|<!--|--[ \t]|[{}|]|>(?!>>\s)|@@[ ]|\[\{|;[ \t])"
    r"|.{0,400}[;{}][ \t]*$"
    r"|[ \t]{0,12}(?:def|class|function|async|const|let|var|func|fn|pub|impl)\s[^\n]{0,200}[({=:]"
)
"""A comment, a row of a table, a line of a program."""
_COMMENT = re.compile(r"(?:^|[\s;{}])(?:#|//|/\*|<!--)(?=\s).*")
"""Behind what else stands in its line."""
_LOGGED = re.compile(
    r"[\w/\\@+-]{0,100}[./\\][\w./\\@+-]{0,100}:\d|\[?\d{2,4}[-:/]\d\d|[ \t]{1,12}(?:at |File )"
    r"|Traceback |[-+]{3} "
    r"|(?:\[[^\]\n]{0,40}\][ \t]?)?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b",
    re.ASCII,
)


def _without_blocks(lines: list[str]) -> Iterator[str]:
    fence = ""
    inside = 0
    quotes = ""
    in_list = False
    for line in lines:
        if fence:
            bare = line.strip(" \t\r")
            indent = len(line) - len(line.lstrip(" \t"))
            is_end = not bare.strip(fence[0]) and len(bare) >= len(fence) and indent < inside + 4
            fence = "" if is_end else fence
            yield _blank(line)
            continue
        if quotes:
            quotes = "" if quotes in line else quotes
            yield _blank(line)
            continue
        opened = FENCE.match(line)
        if opened is not None:
            fence, inside = opened["mark"], len(opened["in"])
            yield _blank(line)
            continue
        long = _LONG.match(line)
        if long is not None:
            quotes = _CLOSING.get(long[2], long[1])
            quotes = "" if quotes in line[long.end() :] else quotes
            yield _blank(line)
            continue
        is_point = bool(_POINT.match(line))
        is_indented = bool(_INDENTED.match(line))
        if line.strip() and not is_indented:
            in_list = is_point
        if (is_indented and not (is_point and in_list)) or _CODE.match(line) or _LOGGED.match(line):
            yield _blank(line)
        else:
            yield _COMMENT.sub(lambda match: _blank(match[0]), line)


# -- tags -----------------------------------------------------------------------------------------

_TAG = re.compile(r"</?[A-Za-z][\w.:-]{0,40}(?:[ \t][^<>\n]{0,200})?/?>")
_NAMED = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w.:-]{0,40})(?:[ \t][^<>\n]{0,200}?)?(?P<empty>/?)>"
)
_OWN_TAGS = frozenset({"user_query"})
"""Around what a person typed, in the messages of some agents."""
_BARE_TAGS = frozenset(
    (
        "b",
        "br",
        "em",
        "hr",
        "i",
        "img",
        "input",
        "kbd",
        "link",
        "meta",
        "p",
        "s",
        "strong",
        "u",
        "wbr",
    )
)
"""They hold nothing, or what a person says with stress."""


def _without_tags(text: str) -> str:
    """Without what stands between tags; one that is never closed holds all behind it.

    A tag in the midst of a line, with words behind it, may be one that is spoken about: it holds
    something only where it is closed.
    """
    waiting: dict[str, list[int]] = {}
    last: dict[str, int] = {}
    spans: list[tuple[int, int]] = []
    for found in _NAMED.finditer(text):
        name = found["name"].casefold()
        if name in _OWN_TAGS or name in _BARE_TAGS or found["empty"]:
            continue
        opened = waiting.setdefault(name, [])
        if not found["close"]:
            opened.append(found.start())
        elif opened:
            last[name] = opened.pop()
            spans.append((last[name], found.end()))
        elif name in last:  # closed once more than opened: the first was in what it held
            spans.append((last[name], found.end()))
    for name in waiting:
        begins = [at for at in waiting[name] if _holds(text, at)]
        if begins:
            spans.append((begins[0], len(text)))
    pieces, done = [], 0
    for begin, end in sorted(spans):
        if end > done:
            pieces += [text[done : max(begin, done)], _blank(text[max(begin, done) : end])]
            done = end
    return "".join((*pieces, text[done:]))


def _holds(text: str, at: int) -> bool:
    before = text[max(0, at - 200) : at].rpartition("\n")[2]
    behind = text[text.find(">", at) + 1 :][:200].partition("\n")[0]
    return not before.strip(f" \t{HIDDEN}") or (
        not behind.strip(" \t\r") and not before[-1:].isalnum()
    )


# -- quotations -----------------------------------------------------------------------------------

_QUOTED = re.compile(
    r"``[^`\n]{1,400}``|`[^`\n]{1,400}`"
    r"|\"(?:[^\"\n]|\n(?!\s{0,9}\n)){1,1000}\""
    r"|“[^”]{1,1000}”|「[^」]{1,1000}」|『[^』]{1,1000}』|《[^》]{1,200}》|«[^»]{1,1000}»"
    r"|(?<![\w])'[^'\n]{1,300}'(?!\w)|‘[^’\n]{1,300}’(?!\w)"
)

# -- talks, mails, shells -------------------------------------------------------------------------

_SPEAKS = re.compile(
    r"[ \t]{0,12}(?:[-*•·]|\d{1,3}[.)])?[ \t]{0,4}[*_\[(]{0,3}"
    r"(?:users?|assistant|human|ai|system|developer|bot|chatgpt|gpt|claude|gemini|customer|support|interviewer|me|you|q|a|用户|助手|人类|系统|客服|问|答"
    r"|我|你|使用者|助理)[*_\])]{0,3}[ \t]{0,3}[:：]",
    re.IGNORECASE,
)
_MAIL = re.compile(
    r"[ \t>*]{0,12}(?:(?:subject|from|to|cc|bcc|sent|date|reply-to"
    r"|发件人|收件人|主题|抄送|发送时间)\*{0,2}[ \t]?[:：]"
    r"|-{2,}[ ]?(?:original|forwarded)\smessage|(?:dear|尊敬的|亲爱的)(?:\s|\w))",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"[ \t]{0,12}(?:(?:\([\w.-]{1,40}\)[ ])?"
    r"[\w.-]{1,40}@[\w.-]{1,60}[:\s][^$#%\n]{0,100}[$#%]|[$%❯➜]"
    r"|PS [A-Z]:[^>\n]{0,100}>|[A-Z]:\\[^>\n]{0,100}>|In \[\d{1,5}\]:"
    r"|diff --git|commit [0-9a-f]{7,40}\b)"
    r"(?:\s|$)|[ \t]{0,12}>>>\s"
)
_NAME = re.compile(
    r"(?:\[[^\]\n]{1,30}\][ ]?)?([A-Z][\w.-]{1,20}(?: [A-Z][\w.-]{1,20})?|[\u4e00-\u9fff]{2,4})"
    r"(?:[ ]?\([^()\n]{1,30}\))?[:：](?=\s|[^\x00-\x7f])"
)
_RULE = re.compile(r"[ \t]{0,3}(?:-{3,}|={3,}|\*{3,}|_{3,})[ \t\r]*$")
_HEADER = 4
"""Lines between two rules that are the header of a file."""


def _without_transcripts(text: str) -> str:
    """Without a talk, a mail, what a shell printed, and a file with a header: to the end of the
    text, for nothing says where they end."""
    lines = text.split("\n")
    begins = min((*_transcripts(lines), len(lines)))
    return "\n".join((*lines[:begins], *map(_blank, lines[begins:])))


def _transcripts(lines: list[str]) -> Iterator[int]:
    names: dict[str, int] = {}
    rule = -_HEADER - 2
    for at, line in enumerate(lines):
        if _SPEAKS.match(line) or _MAIL.match(line) or _PROMPT.match(line):
            yield at
            return
        named = _NAME.match(line)
        if named is not None:
            if named[1] in names:
                yield names[named[1]]
            names.setdefault(named[1], at)
        if _RULE.match(line):
            if 1 < at - rule <= _HEADER + 1:
                yield rule
            rule = at


# -- what is brought in ---------------------------------------------------------------------------

_INTRODUCES = re.compile(
    r"\b(?:translate|summari[sz]e|proofread|rephrase|rewrite|paraphrase|explain|review|analy[sz]e"
    r"|parse|here\s(?:is|are)|here['’]s|following|below|pasted?|quote[sd]?|says?|said|reads|writes"
    r"|wrote|told\sme|outputs?|prints?|logs?|errors?|e-?mails?|letter|article|document|docs|readme"
    r"|files?|contents?|text|prompt|transcript|issue|ticket|comment|snippet)\b[^\n:：]{0,80}[:：](?!//|\d|\\)"
    r"|(?:翻译|总结|概括|润色|改写|解释|校对|以下|下面|原文|如下|内容|日志|输出|报错|文件|邮件|文章|文档"
    r"|提示词|写着|写道|说)[^\n:：]{0,20}[:：]",
    re.IGNORECASE | re.ASCII,
)
_ASKED_TO_KEEP = re.compile(
    r"\b(?:remember|forget|memory|mind|note)\b|记住|记得|记下|牢记|别忘|注意", re.I
)
_POLITE = (
    r"(?:^|[.!?,;]\s{1,3})(?:(?:please|pls|kindly|can|could|would|will|you|now|then|and|first|hi|hey|hello"
    r"|ok|okay|so|just|also|help|me|to|i|need|want|let['’]?s|i['’]d|like|quickly)[,\s]\s{0,3}){0,8}"
)
_THING = (
    r"(?:texts?|e-?mails?|mail|letter|message|article|paragraphs?|document|essay|passage|sentences?|post"
    r"|transcript|draft|notes?|story|snippet|code|logs?|output|prompt|content|issue|ticket|comment|talk"
    r"|conversation|chat|speech|paper|abstract|readme|report|page|script|poem|review|stack\s?trace|traceback)"
)
_ORDERED = re.compile(
    rf"{_POLITE}(?:translate|summari[sz]e|proofread|proof-read|paraphrase|rephrase|reword|polish|tl;?dr"
    r"|(?:check|correct|fix|improve)\s(?:\w{1,12}\s){0,2}(?:grammar|spelling|wording|style|english)"
    rf"|(?:rewrite|improve|edit|correct|shorten|simplify|grade|look\s(?:at|over)|go\s(?:over|through))"
    rf"\s(?:it|this|these|(?:my|the)\s{_THING}))\b"
    r"|(?:^|[。！？，；.!?,;\s])(?:请|帮我|帮忙|麻烦|你|您|能不能|可不可以|可以|能否|能|给我|先|一下|把|将|对|用\w{2,4}){0,6}"
    r"(?:翻译|总结|概括|润色|改写|校对|归纳|缩写|摘要)",
    re.IGNORECASE,
)
"""What is done to a text alone: what stands on the lines behind is that text."""
_POINTED = re.compile(
    rf"\b(?:this|these|the\sfollowing|following|attached|pasted)\s(?:\w{{1,15}}\s){{0,2}}{_THING}\b"
    rf"|\b(?:the|my|a|an|some)\s(?:\w{{1,15}}\s){{0,2}}{_THING}\s(?:\w{{1,15}}\s){{0,3}}(?:below|that\sfollows)\b"
    rf"|\b(?:below|here)(?:['’]s|\s(?:is|are))\s(?:the|my|a|an|some|what)\b|\bas\sfollows\b|\bi\spasted?\b"
    r"|\b(?:contains|says|reads|shows|wrote|prints)\s(?:this|the\sfollowing)\b"
    r"|\bwhat\s(?:does|do|is)\s(?:this|these)\s(?:mean|do|say)\b|\bwrong\swith\s(?:this|these|it)\b"
    r"|(?:下面|以下)(?:的|这|是|那|内容|文字|文本|代码|文章|邮件|日志)|如下"
    r"|这(?:段|篇|封|份|句)(?:话|文字|文本|代码|文章|邮件|日志|内容|报错)?",
    re.IGNORECASE,
)
"""What is pointed at stands behind."""
_ABOVE = re.compile(
    rf"{_POLITE}(?:\w{{1,15}}\s){{1,4}}(?:above|preceding)\b|(?:上面|以上|上述)(?:的|这|那|文字|内容|文本)",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:always|never|prefer|from\snow\son|remember|memory|don['’]?t|decided)\b|以后|记住|总是|喜欢|不要",
    re.I,
)
"""Such a line speaks for itself: "never rewrite this text"."""
_CLAUSE_END = re.compile(r"[.!?;,:](?=\s|$)|[。！？；，：]")


def _without_given(text: str) -> str:
    """Without what a sentence brings in: up to the end of its line, or of the text where the line
    ends with it, or where it is pointed at; or before it, where it is said to stand above."""
    lines = text.split("\n")
    first, last = 0, len(lines)
    for number, line in enumerate(lines):
        kept, behind, is_rest = _given(line)
        if _ABOVE.search(line) and (_ORDERED.search(line) or _POINTED.search(line)):
            first = number
        lines[number] = kept + _blank(behind)
        if is_rest:
            last = number + 1
            break
    return "\n".join((*map(_blank, lines[:first]), *lines[first:last], *map(_blank, lines[last:])))


def _given(line: str) -> tuple[str, str, bool]:
    """What of a line is said, what is not, and whether nothing on the lines behind is."""
    found = _INTRODUCES.search(line)
    if found is not None and not _ASKED_TO_KEEP.search(line[: found.end()]):
        behind = line[found.end() :]
        is_rest = not behind.strip(f" \t\r*_{HIDDEN}") or bool(_ORDERED.search(line))
        return line[: found.end()], behind, is_rest
    pointed = _POINTED.search(line)
    if pointed is not None and not _STANDING.search(line[: pointed.end()]):
        end = _CLAUSE_END.search(line, pointed.end())
        at = end.end() if end is not None else len(line)
        return line[:at], line[at:], True
    ordered = _ORDERED.search(line)
    is_rest = ordered is not None and not _STANDING.search(line[: ordered.end()])
    return line, "", is_rest

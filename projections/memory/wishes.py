"""What a person asks to have remembered: "remember that …", "don't forget …", 记住…, 别忘了…

Only what is asked at the beginning of a clause. "I don't remember", "do you remember the bug?" and
"the file says: remember …" ask for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from projections.memory.spoken import Sentence

_CLAUSE = (
    r"(?:^|[,;:.!(–—]\s{0,9}|\b(?:and|but|so|then|also|please|just|pls|now|hey|ok|okay),?\s{1,9}"
    r"|\b(?:can|could|would|will)\syou\s(?:please\s)?(?:also\s)?"
    r"|\byou\s(?:should|must|need\sto|have\sto)\s(?:always\s)?"
    r"|\bi\s(?:want|need|(?:would|['’]?d)\slike)\syou\sto\s|\bi['’]d\slike\syou\sto\s)"
)
_ENGLISH = re.compile(
    rf"""{_CLAUSE}(?:
      (?:always\s)?remember\b(?!-|\s(?:when|how|what|where|who|why|if|whether|me\b|back\b
        |the\s(?:time|day|last)))
      |(?:don['’]?t|do\snot|never)\s(?:ever\s)?forget\b
      |(?:keep|bear)\sin\smind\b
      |please\s(?:take\s)?note\b
      |(?:make|take)\s(?:a\s)?note\b(?:\sof\b)?
      |note\sto\sself\b
      |(?:save|add|commit)\s(?:this|that|the\sfollowing)\sto\s(?:long[- ]term\s)?memory\b
      |(?:save|store|add|put|keep|commit|write)\s(?:\w{{1,12}}\s){{0,3}}(?:in|to|into)\s
        your\s(?:long[- ]term\s)?memory\b
      |for\s(?:future\sreference|the\srecord)\b
    )(?P<joint>\s(?:that|this|to|about|down)\b)?""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_CHINESE = re.compile(
    r"(?:^|[，,。;；：:!！\s])"
    r"(?:(?:请|你|麻烦|帮我|给我|替我|要|务必|一定|千万|也|还有|另外|好的?|嗯|顺便|对了|我要|我希望|我想让|希望"
    r"|以后|并且?|同时|拜托|需要|都|永远|始终)[，,]?){0,5}"
    r"(?:(?:记住|牢记|记下来?|记一下|记好|记得(?!上次|那|当时|小时候|以前|有一次|你说|我们曾))"
    r"|(?:别|不要|可别|切勿|勿)(?:再)?忘(?:了|记|掉)?|请注意(?=[：:，,]))"
    r"(?:了(?=[，,：:]))?(?:一下|一点|下)?"
)
_CHINESE_OF_SOFTWARE = re.compile(
    r"^(?:密码|登录|登陆|用户|账号|状态|我的?登录)[^，,。]{0,8}(?:功能|按钮|选项|框|逻辑|接口|页面)"
)
_POLITE = re.compile(r"(?:can|could|would|will)\syou\s", re.IGNORECASE)
_POLITE_CHINESE = re.compile(r"你?(?:可不可以|能不能|可以|可否|能否|能)(?:请你?|帮我|你)?")
_REPORTED = re.compile(
    r"\b(?:says?|said|saying|reads|writes?|wrote|written|states?|tells?|told|quot\w{1,5}|according|asks?"
    r"|asked|claims?)\b|说|写着|写道|提到|声称|要求|让你",
    re.IGNORECASE | re.ASCII,
)
_REFERS = re.compile(
    r"(?:this|that|it|these|those|all\sof\s(?:this|that)|for\s\w{1,12}(?:\s\w{1,12})?|please|ok(?:ay)?)?"
    r"[\s.!,]{0,5}|(?:这个|这一点|这点|这件事|这些|上面的?|我说的|它|了|吧|哦|啊)?[\s.!。！,，]{0,5}",
    re.IGNORECASE,
)
_JOINTS = re.compile(r"[\s:：,，\-–—]{1,9}")
_NOW = re.compile(r"\b(?:this|that|these|those|here|now|today)\b", re.IGNORECASE)
_LONG_ENOUGH = re.compile(r"\w{1,40}\W{1,5}\w{1,40}\W{1,5}\w|[\u3400-\u9fff]{4}")
_ENDS = " \t.!。！;；,，"


_UNWISHED = re.compile(
    rf"""(?P<lead>{_CLAUSE}|\bto\s)(?:
      forget(?!\s(?:to|it)\b)(?!-)
      |(?:(?:don['’]?t|do\snot|never|no\sneed\sto|(?:stop|quit)(?=\s\w{{1,10}}ing\b))\s(?:ever\s|have\sto\s|need\sto\s)?
        |you\s(?:don['’]?t|do\snot)\s(?:have|need)\sto\s)
        (?:remember|memori[sz]|sav|stor|not|keep)(?:e|ing|ed)?\s(?:\w{{1,12}}\s){{0,4}}?
        (?:that|this|it|what|about|my|me|in\smind|in\s(?:your\s)?memory|i)\b
      |(?:delete|remove|erase|drop|clear)\s(?:[\w'’]{{1,12}}\s){{0,5}}(?:from\s)?(?:your\s|the\s)?memor(?:y|ies)\b
    )""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_UNWISHED_CHINESE = re.compile(
    r"(?:^|[，,。;；：:、!！\s])(?:请|你|帮我|麻烦|可以|现在|就|把(?=记忆)){0,4}"
    r"(?:忘掉|(?:忘了|忘记)(?=[我这那刚它])|(?:不用|不必|无需|不需要|别|不要)(?:再)?(?:记|记住|记得|记下)(?!错|混)(?:了|我|这|那|它|住|下|[，,。!！]|$)"
    r"|(?:删掉|删除|清除)[^，,。]{0,12}记忆|把[^，,。]{1,40}(?:忘掉|忘了|忘记|从记忆[^，,。]{0,4}删))"
)
_NEVER = re.compile(
    r"\b(?:not|never|don['’]?t|won['’]?t|didn['’]?t|can['’]?t)\s(?:\w{1,10}\s){0,4}$", re.I
)
_CLAUSE_END = re.compile(r"[,;.!，；。！]|\sbut\s|但")


def unwished(masked: str) -> tuple[int, int] | None:
    """Where a sentence asks to forget something, or to remember nothing: its clause. It is no
    preference and no wish, however it is told what that was."""
    found = _UNWISHED.search(masked)
    if found is not None and _NEVER.search(masked, 0, found.end("lead")):
        found = None  # "I don't want you to forget that" asks for the contrary
    if found is None and not masked.isascii():
        found = _UNWISHED_CHINESE.search(masked)
    if found is None:
        return None
    end = _CLAUSE_END.search(masked, found.end())
    return found.start(), end.end() if end is not None else len(masked)


def without_unwished(sentence: Sentence) -> Sentence | None:
    """A sentence without what is not to be remembered; None where nothing else is said."""
    found = unwished(sentence.masked)
    if found is None:
        return sentence
    start, end = found
    masked = sentence.masked[:start] + sentence.masked[end:]
    if not any(each.isalnum() for each in masked):
        return None
    lead = len(masked) - len(masked.lstrip(_ENDS))
    text = sentence.text[:start] + sentence.text[end:]
    return sentence._replace(text=text[lead:], masked=masked[lead:])


def wishes(sentences: Sequence[Sentence]) -> Iterator[tuple[int, str]]:
    """What is to be remembered, with the place of its sentence among those of one text.

    A wish that only points ("remember this") means the sentence before it; one that announces
    ("please remember:") the points, or the one sentence, behind it.
    """
    is_listing = False
    announced = False
    for at, sentence in enumerate(sentences):
        if announced or (is_listing and sentence.is_point):
            is_listing = sentence.is_point
            announced = False
            if not sentence.asks and _whole(sentence):
                yield at, sentence.text.rstrip(_ENDS)
            continue
        is_listing = False
        content = _wished(sentence)
        if content is None:
            continue
        if content:
            yield at, content
        elif sentence.announces:
            announced = True
        elif at and not sentences[at - 1].asks and _whole(sentences[at - 1]):
            yield at - 1, sentences[at - 1].text.rstrip(_ENDS)


def _whole(sentence: Sentence) -> bool:
    """Whether something of it is said, beside what it quotes."""
    return any(each.isalnum() for each in sentence.masked)


def _wished(sentence: Sentence) -> str | None:
    """What a sentence asks to have remembered; empty where it points; None: it asks for nothing."""
    masked = sentence.masked
    found = _ENGLISH.search(masked)
    if found is None:
        return _wished_in_chinese(sentence)
    if sentence.asks and not _POLITE.match(masked):
        return None
    if _REPORTED.search(masked, 0, found.start()):
        return None
    end = found.end()
    joint = (found["joint"] or "").strip().casefold()
    if joint == "to" and _NOW.search(masked, end):
        return None  # "remember to close the file here" is of this piece of work
    return _content(sentence, found.start(), end, joint)


def _wished_in_chinese(sentence: Sentence) -> str | None:
    masked = sentence.masked
    if masked.isascii():
        return None
    polite = _POLITE_CHINESE.match(masked)
    start = polite.end() if polite else 0
    found = _CHINESE.search(masked[start:])
    if found is None or (sentence.asks and not polite):
        return None
    if _REPORTED.search(masked, 0, start + found.start()):
        return None
    end = start + found.end()
    if _CHINESE_OF_SOFTWARE.match(masked[end:]):
        return None
    content = _content(sentence, start + found.start(), end, "")
    return content.rstrip("吗么呢") if polite else content


def _content(sentence: Sentence, begin: int, end: int, joint: str) -> str:
    skipped = _JOINTS.match(sentence.masked, end)
    content = sentence.text[skipped.end() if skipped else end :].rstrip(_ENDS + "?？")
    if content and sentence.announces and sentence.behind:
        content = f"{content} {sentence.behind}"
    if content and not _REFERS.fullmatch(content.rstrip(":：")):
        return f"about {content}" if joint == "about" else content
    before = sentence.text[:begin].rstrip(_ENDS)  # "the port is 8081, remember that"
    return before if _LONG_ENOUGH.search(sentence.masked[:begin]) else ""

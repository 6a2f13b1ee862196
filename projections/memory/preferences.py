"""Preferences that a person states: "I prefer tabs", "always use pytest", 以后都用…, 我喜欢…

What is asked for now is no preference: "use the new API here", "don't touch this file". A statement
counts where it says that it holds from here on, or where it is about something that people hold
preferences about. A question, a condition and what somebody else is said to like are none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from projections.memory.clipping import one_line
from projections.memory.known_subjects import Area
from projections.memory.memory import same_subject
from projections.memory.spoken import HIDDEN, Sentence
from projections.memory.subjects import AREAS, LANGUAGE, About, Values, about, own_subject

_CLAUSE = r"(?:^|[,;:.!(–—]\s{0,9}|\b(?:and|but|so|then|also|please|btw|anyway|instead)\b,?\s{1,9})"
_POINTS = (
    r"(?:this|that|these|those|it|its|them|your|you|the\s(?:first|second|third|last|latter|former|other|new|old"
    r"|idea|way|look|fact)|what|how|where|option|him|her|one)\b"
)
_HABIT = (
    r"(?:really\s|strongly\s|generally\s|usually\s|always\s|much\s|personally\s|do\s|still\s"
    r"|also\s){0,2}"
)
_NO_ORDER = (
    r"(?:mind|heard|seen|been|had|has|have|was|were|is|are|knew|know|thought|understood|got|again|ever|really"
    r"|happens?|fails?|works?|returns?|throws?|the|a|forget|\w{1,20}(?:ed|ing)|\w{0,18}[^\Ws]s)\b"
)
_DOES = (
    r"(?:use|add|write|commit|push|create|generate|include|introduce|import|mock|put|insert|install"
    r"|format|apologi[sz]e|start|end|suggest|deploy|merge|run)"
)

_LASTING = re.compile(
    rf"""(?:
      \bi\s{_HABIT}prefer\s(?!{_POINTS})
      |\bi\s{_HABIT}(?:like|love|hate|dislike)\s(?!to\s(?:see|say|ask|admit|bother)\b|the\b|{_POINTS})
      |\bi\s(?:really\s)?(?:do\snot|don['’]?t)\slike\s(?!{_POINTS})
      |\b(?:i|we)\s(?:always|never|usually|normally|generally)\s(?:use|write|commit|format|squash|mock)\b
      |\bi\s(?:always|never)\s(?:want|expect|need)\s(?!{_POINTS})
      |\bmy\s(?:preferred|favou?rite)\s
      |{_CLAUSE}(?:you\s(?:should|must)\s)?(?:always|never)\s(?!{_NO_ORDER})
      |{_CLAUSE}(?:from\snow\son|going\sforward|in\s(?:the\s)?future|from\shere\son|by\sdefault)\b
        ,?\s{{1,3}}(?!(?:the|a|an|we|it|its|this|that|these|there|our|my|they|he|she|call\sme)\b
          |\w{{1,30}}\s(?:is|are|was|will|has|must|can|\w{{2,20}}s)\b)
    )""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_KNOWN_ONLY = re.compile(
    rf"""(?:
      {_CLAUSE}(?:use|prefer|write|choose|stick\s(?:to|with))\s
        (?=[^.]{{1,80}}(?:,\snot\s|\binstead\sof\b|\brather\sthan\b|\bover\b))
      |{_CLAUSE}(?:always\s)?(?:answer|reply|respond|talk|speak)\s(?:to\sme\s)?(?:(?:in|using)\s|(?={LANGUAGE}\b))
      |\bi\s(?:want|need|expect)\s(?:your\s)?
        (?:(?:short|brief|concise|terse|detailed|long)\w{{0,3}}\s)?
        (?:answers|replies|responses|explanations)\b
      |{_CLAUSE}(?:be|keep)\s(?:(?:your\s)?(?:answers|replies|responses|explanations)\s)?(?:more\s|less\s)?
        (?:short|brief|concise|terse|verbose|detailed|formal|informal|casual)
    )""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
"""Counts where it is about something of the table."""
_STOPPED = re.compile(
    rf"{_CLAUSE}(?:stop|quit|avoid|no\smore)\s(?:using\s|adding\s|writing\s)?(?!{_POINTS}|the\b)",
    re.IGNORECASE | re.ASCII,
)
"""So does this, where it is not of now."""
_REFUSED = re.compile(
    rf"{_CLAUSE}use\s(?!the\b|{_POINTS})[\w.+#-]{{2,30}}(?:,\snot|\sinstead\sof|\srather\sthan|\sover)\s"
    rf"(?!the\b|{_POINTS})[\w.+#-]{{2,30}}(?=[,;.]|$)"
    rf"|{_CLAUSE}(?:don['’]?t|do\snot)\s(?:ever\s)?{_DOES}\s(?!the\b|{_POINTS})"
    rf"|\bi(?:['’]d|\swould)\s(?:much\s)?prefer\s(?!{_POINTS}|not\b|if\b|a\b|the\b)"
    r"|\bi(?:['’]d|\swould)\s(?:much\s)?rather\s(?:use|have|work\swith|write|read|see|get)"
    rf"\s(?!{_POINTS}|a\b|the\b)",
    re.IGNORECASE | re.ASCII,
)
"""What is refused, or would be liked better; not where it is of now."""
_NOW = re.compile(
    r"\b(?:this|that|these|those|here|yet|now(?!\son)|today|for\sthe\smoment|it|for\sonce|this\stime)\b",
    re.IGNORECASE | re.ASCII,
)

_LASTING_CHINESE = re.compile(
    r"(?:^|[，,。;；：:、!！\s])(?:其实|对了|另外|还有|而且|但是?|不过|那|嗯|好的)?我(?:个人|本人)?"
    r"(?:还是|更加|更|比较|一直|一般|通常|平时|最|非常|很|也|就|都|其实){0,3}"
    r"(?:不喜欢|喜欢|偏好|偏爱|习惯|倾向于?|讨厌|爱用|常用)(?![这那你它他她了上])"
    r"|(?:以后|今后|从现在(?:开始|起)|从今(?:以后|往后)|往后)(?!再说|会)[^。;；?？]{0,12}?"
    r"(?:都|请|一律|统一|不要|别|总是|始终|永远|务必|必须|只|用|默认)"
    r"|(?:^|[，,。;；：:])我(?:总是|一直|永远|从来|从)(?:都)?(?:不想|不|想)?要(?![这那它])"
    r"|(?:^|[，,。;；：:])(?:请|你要|要|也)?(?:总是|始终|一律|统一|永远|务必始终)(?:要|都|请)?"
    r"(?:用|使用|不要|采用|先|写|以|别|保持)"
)
_KNOWN_ONLY_CHINESE = re.compile(
    r"(?:^|[，,。;；：:])(?:请|麻烦|都|一直|统一)?用[^，,。;；\s]{2,5}(?:来)?"
    r"(?:回答|回复|答复|交流|对话|沟通|说话|跟我|和我|写注释|写文档|写提交信息)"
    rf"|(?:请|一直|全程|统一|都)用(?:{LANGUAGE})(?:吧|就好|即可)?[。.!！]?$"
    r"|(?:回答|回复|解释)(?:请|要|得)?(?:尽量|再|更)?(?:简短|简洁|精简|详细|正式)"
)
_REFUSED_CHINESE = re.compile(
    r"(?:^|[，,。;；：:])(?:请|麻烦|千万|记得|你)?(?:不要|别|切勿|请勿)(?:再|直接)?"
    r"(?:用|使用|加|添加|写|提交|推送|创建|新建|生成|引入|合并|省略|模拟|部署)(?![这那它])"
)
_NOW_CHINESE = re.compile("这个|这里|这次|那个|那里|它|现在先|暂时|今天|先别")

_LIMITED = re.compile(
    r"\b(?:in|for|to|on|with|of|during)\s(?:just\s|only\s)?(?:this|that|these|those)\s(?:\w{1,12}\s){0,2}?"
    r"(?:files?|functions?|class(?:es)?|methods?|modules?|tests?|scripts?|tasks?|messages?|answers?|reply|question"
    r"|session|conversation|chat|cases?|time|pr|pull\srequest|commit|lines?|snippet|page|document|one|example)\b"
    r"(?!\stoo)|\b(?:just|only)\s(?:for\s)?(?:now(?!\son)|today|here|once|this|tonight)\b"
    r"|\bfor\s(?:now|once|today|the\s(?:moment|time\sbeing))\b|\bthis\s(?:once|one\stime|time)\b"
    r"|\b(?:temporarily|right\snow)\b|\bnow\sonly\b"
    r"|这一?次|本次|(?:这个|本|该|此|这一个)(?:文件|函数|任务|会话|对话|问题|测试|类|脚本|方法)|暂时|临时|仅限|只限|眼下",
    re.IGNORECASE | re.ASCII,
)
"""What holds in one place or for a while is not what somebody prefers."""
_FREED = re.compile(
    r"\b(?:stop|quit|not|no\slonger|never\s(?:mind|said)|don['’]?t|doesn['’]?t|needn['’]?t|without|used\sto|instead\sof"
    r"|rather\sthan)\s(?:(?:need|have|want|like)\s(?:you\s)?(?:to\s)?)?(?:\w{1,15}\s)?always\b"
    r"|\bno\sneed\b|\b(?:don['’]?t|do\snot|doesn['’]?t|does\snot|no\slonger)\s(?:need|have)\sto\b|\bneedn['’]?t\b"
    r"|\b(?:not|isn['’]?t)\s(?:necessary|required)\b|\bno\slonger\s(?:always|prefer|want|like|care)\b"
    r"|(?:不用|不必|不要|别|不需要|无需|不能|不该)(?:再|非得)?(?:总是|老是|一直|每次都?|始终|一律|都)|没(?:有)?必要|不必|无需|不需要|不再(?!用|使用)",
    re.IGNORECASE | re.ASCII,
)
"""Who says that something need not be says nothing of what is liked better."""

_IF = re.compile(
    r"(?:if|whether|suppose|imagine|what\sif|in\scase|unless|as\sif)\b|(?:如果|假如|要是|假设|若|例如|比如)",
    re.IGNORECASE | re.ASCII,
)
_OTHERS = re.compile(
    r"\b(?:says?|said|told|wrote|writes|according|claims?|thinks?|suggests?|recommends?|asked|docs?|readme"
    r"|article|tutorial|he|she|they|someone|people)\b"
    r"|(?:他|她|同事|老板|文档|文章|文件|有人|网上|大家)",
    re.IGNORECASE | re.ASCII,
)


_DIRECTS = re.compile(
    r"\b(?:uses?|using|prefers?|answers?|reply|write|avoid|never|always|don['’]t|likes?|keep|wants?"
    r"|indent(?:s|ed|ation)?|format(?:s|ted)?|test(?:s|ed)?|works?|speaks?|reads?|codes?|runs?)\b"
    r"|用|不要|别|喜欢|偏好",
    re.IGNORECASE | re.ASCII,
)


LONGEST_STATED = 400
"""Code points of a text that was written down that are looked at."""


class Preference(NamedTuple):
    """What somebody prefers, of one thing."""

    text: str
    """The sentence that says so."""
    subject: str
    area: Area
    values: Values
    """Empty where no name and value can be read."""


def preferences(sentence: Sentence, *, is_wished: bool = False) -> tuple[Preference, ...]:
    """The preferences that a sentence states, one a subject.

    ``is_wished``: a person asked to have it remembered; then whatever is about something of the
    table is a preference, however it is put.
    """
    masked = sentence.masked
    if not is_wished and (sentence.asks or _IF.match(masked)):
        return ()
    if _LIMITED.search(masked) or _FREED.search(masked):
        return ()
    lasting = _first(masked, _LASTING, _LASTING_CHINESE)
    known = _first(masked, _KNOWN_ONLY, _KNOWN_ONLY_CHINESE)
    refused = None
    if not _is_of_now(masked):
        refused = _first(masked, _REFUSED, _REFUSED_CHINESE)
        known = known if known is not None else _first(masked, _STOPPED, _KNOWN_ONLY_CHINESE)
    found = [each for each in (lasting, known, refused) if each is not None]
    if not found and not (is_wished and _DIRECTS.search(masked)):
        return ()
    if not is_wished and _OTHERS.search(masked, 0, min(found)):
        return ()
    text = sentence.text.rstrip(" .。!！;；,，")
    if HIDDEN in masked and lasting is None and not is_wished:
        return ()
    said = [Preference(text, each.subject, each.area, each.values) for each in about(text)]
    if said or (lasting is None and refused is None):
        return tuple(said)
    if sentence.announces:  # "always run it like this:" says nothing without what comes
        if not sentence.behind:
            return ()
        text = f"{sentence.text} {sentence.behind}"
    favourite = _FAVOURITE.search(text)
    if favourite is not None:
        subject = " ".join(f"favourite {favourite['en'] or favourite['zh']}".casefold().split())
        values: Values = {subject: one_line(favourite["v"] or favourite["v2"], 60)}
        return (Preference(text, subject, _area(text), values),)
    subject = own_subject(text[min(found) :] if found else text)
    return (Preference(text, subject, _area(text), {}),) if subject else ()


def stated(text: str, subject: str = "", values: Mapping[str, object] | None = None) -> About:
    """What a preference is about that somebody wrote down, beside the subject and the values that
    were given: its area in any case, the rest where the table knows it.

    Subjects that are one are taken as one (``same_subject``).
    """
    known = list(about(text[:LONGEST_STATED]))
    wanted = same_subject(subject)
    same = [each for each in known if same_subject(each.subject) == wanted]
    if same:
        return same[0]._replace(subject=subject)
    if len(known) == 1 and not wanted and not values:
        return known[0]
    return About(subject, AREAS.get(wanted) or _area(f"{subject} {text}"), {})


def _first(masked: str, english: re.Pattern[str], chinese: re.Pattern[str]) -> int | None:
    found = english.search(masked)
    if found is None and not masked.isascii():
        found = chinese.search(masked)
    return found.start() if found is not None else None


def _is_of_now(masked: str) -> bool:
    return bool(_NOW.search(masked) or _NOW_CHINESE.search(masked))


_FAVOURITE = re.compile(
    r"\bmy\s(?:preferred|favou?rite)\s(?P<en>(?:[\w-]{1,30}\s){1,3}?)(?:is|are)\s(?P<v>[^,.;，。；]{1,60})"
    r"|我最喜欢的(?P<zh>[^是，,。；]{1,12})是(?P<v2>[^，,。；]{1,40})",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"\b(?:answer|repl|respon|explain|explanation|ask|tell|talk|apologi|summar|greet|joke|remind)\w{0,8}"
    r"|回答|回复|解释|提问|道歉|总结|语气|称呼",
    re.IGNORECASE | re.ASCII,
)


def _area(text: str) -> Area:
    return "interaction" if _TALK.search(text) else "technical"

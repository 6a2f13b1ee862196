"""What a text says that is worth keeping, found by rules, in English and Chinese.

Who says it decides what can be found. A person asks to have something remembered, states what they
prefer, decides, praises, complains. The model tells what was decided, what fixed an error, what it
does next. A tool's output only shows errors: whatever else stands in it, nobody said it. What is
quoted says nothing (``spoken``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from eventlog.jsonvalue import Json
from eventlog.values import JsonObject, Value
from projections.anchors import anchors
from projections.memory.basics import basics
from projections.memory.clipping import one_line
from projections.memory.preferences import preferences
from projections.memory.spoken import Sentence, clipped, spoken
from projections.memory.wishes import wishes, without_unwished

SignKind = Literal[
    "remember",
    "preference",
    "basics",
    "decision",
    "error",
    "fix",
    "positive",
    "negative",
    "question",
    "next",
]
Speaker = Literal["human", "model", "tool"]

LONGEST = 400
"""Code points of a sign's text."""
MOST = 40
"""Signs of one text; a text that gives more is a document."""


class Sign(Value):
    """One thing that a text says."""

    kind: SignKind
    text: str
    """The sentence, on one line; of ``remember`` what is to be remembered."""
    subject: str = ""
    """Of a preference."""
    area: Literal["", "technical", "interaction"] = ""
    values: JsonObject | None = None
    """Of a preference or of basics, by name."""


def signs(text: str, by: Speaker) -> tuple[Sign, ...]:
    """What a text says, in its order."""
    if by == "tool":
        return tuple(_errors(text, "tool"))
    sentences = list(spoken(text))
    found: list[Sign] = []
    wished = dict[int, str]()
    if by == "human":
        for at, content in wishes(sentences):
            wished.setdefault(at, one_line(content, LONGEST))
        found += _of_a_person(sentences, wished)
        found += _errors(text, "human")
    for at, sentence in enumerate(sentences):
        found += _of_both(sentence, by) if at not in wished else []
    return tuple(dict.fromkeys(found))[:MOST]


def said_preferences(text: str) -> tuple[Sign, ...]:
    """The preferences in what a person asked to have remembered."""
    return tuple(each for s in spoken(text) for each in _preferences(s, is_wished=True))


def said_basics(text: str) -> tuple[Sign, ...]:
    """What it says of that person."""
    return tuple(each for sentence in spoken(text) for each in _basics(sentence))


def is_decision(text: str) -> bool:
    """Whether it tells a decision, or how something is built."""
    return any(_decides(sentence, "human") for sentence in spoken(text))


# -- what a person says ---------------------------------------------------------------------------


def _of_a_person(sentences: list[Sentence], wished: Mapping[int, str]) -> list[Sign]:
    found = []
    for at, sentence in enumerate(sentences):
        if at in wished:
            found.append(Sign(kind="remember", text=wished[at]))
            continue  # what it says of the person, or prefers, is found in the content
        kept = without_unwished(sentence)
        if kept is not None:
            found += _preferences(kept)
            found += _basics(kept)
        if at < 3:
            found += _feedback(sentence)
    return found


def _preferences(sentence: Sentence, *, is_wished: bool = False) -> list[Sign]:
    return [
        Sign(
            kind="preference",
            text=one_line(each.text, LONGEST),
            subject=each.subject,
            area=each.area,
            values=Json(dict(each.values)) if each.values else None,
        )
        for each in preferences(sentence, is_wished=is_wished)
    ]


def _basics(sentence: Sentence) -> list[Sign]:
    known = basics(sentence)
    text = one_line(sentence.text, LONGEST)
    return [Sign(kind="basics", text=text, values=Json(dict(known)))] if known else []


_POSITIVE = re.compile(
    r"(?:thanks|thank\syou|thx|great|perfect|excellent|awesome|amazing|brilliant|wonderful|fantastic"
    r"|nice|lovely|exactly|well\sdone|good\s(?:job|work|catch|one)|love\sit|cool|yes,?\sthat)\b"
    r"(?!\s(?:deal|many|if|to\shave|would))"
    r"|(?:that|this|it|everything|all)(?:['’]s|\sis|\snow|\slooks|\sseems|\sjust|\sall){0,2}\s"
    r"(?:works?|worked|great|perfect|excellent|correct|right|good|helpful|fixed|solved)\b"
    r"|(?:works|worked|fixed|solved)\b|(?:👍|🎉|💯|❤)|(?:lgtm|looks\s(?:good|great)|ship\sit)\b"
    r"|(?:这个|那个|问题|现在|终于|这次|都|已经){0,3}(?:非常|很|真|太|多|十分){0,2}(?:感谢|谢谢|谢了|多谢|太好了|太棒了|完美|很好|真棒|好用|漂亮|厉害|不错"
    r"|可以了|好了|搞定了|成功了|解决了|正是我要的|就是这样|没问题了|棒)",
    re.IGNORECASE | re.ASCII,
)
_UNHAPPY = re.compile(
    r"\b(?:that|this|it)(?:['’]s|\sis|\swas)\s(?:(?:still|just|completely|totally)\s)?(?:wrong|incorrect"
    r"|broken|bad|terrible|useless|nonsense|not\s(?:right|correct|good|great|perfect|what\si|working|it\b))"
    r"|\b(?:does\snot|doesn['’]?t|did\snot|didn['’]?t|is\snot|isn['’]?t|not)\s(?:really\s|even\s)?"
    r"(?:work|working|help|compile|build|run|right|correct)\b"
    r"|\bstill\s(?:broken|fails?|failing|wrong|crash\w{0,3}|not\b|the\ssame\serror|get\w{0,4}\s)"
    r"|\byou\s(?:broke|forgot|missed|ignored|misunderstood|deleted\sthe\swrong)\b"
    r"|^(?:wrong|nonsense)\b|^(?:no|nope)[,.!]?\s(?:that['’]?s|this|i\s(?:meant|said|wanted|asked)|you|not"
    r"|don['’]?t|wrong|it['’]?s\s(?:not|still|wrong))\b|^(?:undo|revert)\s(?:that|this|it)\b"
    r"|\b(?:terrible|awful|useless|disappointing)\b"
    r"|不对|(?<![报出])错了|不行|不好|不太好|没用|没有?解决|没有?修好|没有?成功|还是(?:报错|不行|失败|有问题|一样|不对)|不是我(?:要|想)"
    r"|你(?:弄|搞|理解|改)错|太差|糟糕|撤销|改回去|不满意",
    re.IGNORECASE | re.ASCII,
)


def _feedback(sentence: Sentence) -> list[Sign]:
    """Feedback stands at the beginning of what is said next; in doubt it is a complaint."""
    masked, text = sentence.masked, one_line(sentence.text, LONGEST)
    if _UNHAPPY.search(masked) and not sentence.asks:
        return [Sign(kind="negative", text=text)]
    if _POSITIVE.match(masked) and not _DENIED.search(masked):
        return [Sign(kind="positive", text=text)]
    return []


_DENIED = re.compile(
    r"\bbut\b.{0,80}\b(?:not|still|wrong|fails?|error)\b|但.{0,40}(?:不|错|还)", re.I
)


# -- what a person and the model say --------------------------------------------------------------

_DECIDED = re.compile(
    r"\b(?:we|i|i['’]ve|we['’]ve|the\steam|they)\s(?:have\s|had\s|both\s|just\s|finally\s|already\s){0,2}"
    r"(?:decided|agreed|settled|opted|chose|have\schosen)\b(?!\snot\syet)"
    r"|\blet['’]?s\s(?:go|stick)\swith\b|\b(?:decision|decided|agreed):"
    r"|\bthe\sdecision\s(?:is|was)\b|\bit\s(?:is|was)\sdecided\b"
    r"|\bwe(?:['’]ll|\swill|\sare\sgoing\sto)\s(?:use|go\swith|adopt|switch\sto|stick\swith|move\sto|standardi[sz]e\son)\b"
    r"|\b(?:i['’]ll|i\swill)\sgo\swith\b"
    r"|(?:^|[，,。；;：:])(?:所以|那|那么|因此|最终|最后|经过\w{1,6}[，,]?)?(?:我们|我|团队|大家)?"
    r"(?:已经|已|最终|一致|最后|就){0,2}(?:决定|选定|敲定|商定|约定|确定(?:采用|使用|用))(?!权|性|因素|于)",
    re.IGNORECASE | re.ASCII,
)
_BUILT = re.compile(
    r"\b(?:the|our)\s(?:\w{1,20}\s)?(?:architecture|design|tech\sstack|stack)\s(?:is|uses|consists|has|follows|will)\b"
    r"|\barchitecture:\s|\b(?:is|are)\s(?:architected|designed)\s(?:as|to|around|with)\b"
    r"|\bour\s(?:backend|frontend|front[- ]end|back[- ]end|database|service|api|app|application"
    r"|project|codebase)"
    r"\s(?:is\s(?:built|written|based)|uses|runs\son|consists)\b"
    r"|(?:架构|整体设计|系统设计|技术栈|技术选型)(?:是|为|采用|上|使用|由|分为|[：:])"
    r"|(?:我们|项目|后端|前端|服务)(?:的(?:后端|前端|数据库|服务))?(?:是用|采用|基于)",
    re.IGNORECASE | re.ASCII,
)
_UNDECIDED = re.compile(
    r"\b(?:not|haven['’]?t|hasn['’]?t|didn['’]?t|never|yet\sto|until|once|if|whether|before|should|would|could"
    r"|you)\s(?:\w{1,10}\s){0,2}(?:decide[ds]?|agree[ds]?|settled?|chosen?|choose)\b|\bundecided\b"
    r"|还没|没有?决定|尚未|未决定|不能决定|再说|再看|由你决定|你(?:来)?决定|怎么决定|待定|如果|是否|要不要|还在",
    re.IGNORECASE | re.ASCII,
)
_FIXED = re.compile(
    r"\b(?:fixed|resolved|solved)\b|\b(?:the|root)\s(?:\w{1,12}\s)?(?:fix|solution|cause|problem|issue|culprit|bug)"
    r"\s(?:is|was)\b|\b(?:is|was)\scaused\sby\b"
    r"|\b(?:now|all\stests|tests)\s(?:all\s|now\s)?(?:pass(?:es|ed)?|works?|compiles?|builds?|succeeds?)\b"
    r"|\b(?:this|that|which|it)\s(?:should\s(?:now\s)?)?(?:fix(?:es)?|resolves?|solves?|works?\snow)\b"
    r"|(?:已经?|我)?(?:修复|解决|修好|改好)了|已(?:修复|解决)|原因(?:是|在于)|问题(?:在于|出在|是)|现在(?:可以|正常|通过|能)"
    r"|测试(?:都|全部)?通过|解决(?:办法|方法|方案)(?:是|[：:])",
    re.IGNORECASE | re.ASCII,
)
_UNFIXED = re.compile(
    r"\b(?:not|cannot|can['’]?t|couldn['’]?t|didn['’]?t|isn['’]?t|hasn['’]?t|unable\sto|failed\sto|never|un)\s?"
    r"(?:\w{1,10}\s){0,2}(?:fix(?:ed)?|resolved?|solved?|work|pass)\b|\bstill\s(?:fails?|failing|broken)\b"
    r"|\bunresolved\b|\bif\s(?:that|this|it)\b|\b(?:often|usually|typically|normally|sometimes)\b"
    r"|\b(?:to|let\sme|i['’]ll|will|can|could|would|might|may|please)\s(?:\w{1,12}\s){0,2}"
    r"(?:fix|resolve|solve)\b"
    r"|未(?:能)?(?:修复|解决)|没(?:有|能)?(?:修复|解决|修好)|无法(?:修复|解决)|不能(?:修复|解决)|还(?:没|是)|仍然",
    re.IGNORECASE | re.ASCII,
)
_NEXT = re.compile(
    r"\bnext,?\s(?:i|we)(?:['’]ll|\swill|\sneed\sto|\sshould|\scan|['’]m\sgoing\sto|\sam\sgoing\sto)\b"
    r"|\bnext\ssteps?\b(?:\s(?:is|are|would\sbe))?|\bthen\s(?:i|we)(?:['’]ll|\swill)\b|\bremaining:|\bto-?do:"
    r"|\b(?:i|we)(?:['’]ll|\swill)\s(?:\w{1,12}\s){1,6}next\b|\bnext\s(?:up|on\sthe\slist)\b"
    r"|(?:^|[，,。；;])(?:接下来|下一步|下面我|之后我(?:会|将)|然后我(?:会|将)|后续)",
    re.IGNORECASE | re.ASCII,
)


def _of_both(sentence: Sentence, by: Speaker) -> list[Sign]:
    text = one_line(sentence.text, LONGEST)
    if sentence.asks:
        return [Sign(kind="question", text=text)]
    found = []
    if _decides(sentence, by):
        found.append(Sign(kind="decision", text=text))
    if _FIXED.search(sentence.masked) and not _UNFIXED.search(sentence.masked):
        found.append(Sign(kind="fix", text=text))
    if by == "model" and _NEXT.search(sentence.masked):
        found.append(Sign(kind="next", text=text))
    return found


def _decides(sentence: Sentence, by: Speaker) -> bool:
    """The model explains how things are built all the time: of it only decisions count."""
    masked = sentence.masked
    if sentence.asks or _UNDECIDED.search(masked):
        return False
    if by == "model" and sentence.announces:  # "we'll use this command:" is what it does now
        return False
    return bool(_DECIDED.search(masked) or (by == "human" and _BUILT.search(masked)))


# -- errors ---------------------------------------------------------------------------------------

_COMPLAINT = re.compile(
    r"\b(?:i|we|it|this|that|the\s\w{1,20}|\w{1,20}\(\))\s(?:(?:keep|keeps|now|always|still|just)\s)?"
    r"(?:gets?|getting|got|throws?|threw|crash(?:es|ed)?|fails?|failed|raises?|raised|errors?\sout|hangs?)\b"
    r"(?=.{0,60}(?:error|exception|traceback|crash|fail|hang|throw|rais|code\s\d))"
    r"|报错|崩溃|出错了|抛出?异常|运行失败|构建失败|测试失败|编译失败",
    re.IGNORECASE | re.ASCII,
)


_CHINESE_ERROR = re.compile(r"(?:错误|异常|报错)：[ \t]?[^\n]{2,120}")


def _errors(text: str, source: Literal["human", "tool"]) -> list[Sign]:
    """The errors that stand in a text: their own words, or a person's about them."""
    looked_at = clipped(text)
    found = [each.text for each in anchors(looked_at, source) if each.kind == "error"]
    found += [each[0] for each in _CHINESE_ERROR.finditer(looked_at)]
    if not found and source == "human":
        said = (s for s in spoken(text) if not s.asks and _COMPLAINT.search(s.masked))
        found = [sentence.text for sentence in said]
    return [Sign(kind="error", text=one_line(each, LONGEST)) for each in found[:3]]

"""Rules: sentences in which a person or a system prompt says what must or must not be done.

English and Chinese, by their words and by what stands before them: "never push to main" is a rule,
"I never saw this" is none. A rule that was summarised away is broken soon after; a sentence taken
for a rule and lost is a false alarm. When in doubt, a sentence is no rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_RULE = 400
"""No sentence longer than this is taken: pasted data, not an instruction."""

_LINE = re.compile(r"[^\n]+")
_END = re.compile(r"(?<=[.!?])(?<!\b[ei]\.[ge]\.)(?<!\bvs\.)[\"')*_]{0,3}\s+|(?<=[。!?;])")
_LEAD = re.compile(r"(?:<[\w-]{1,40}>|[\s>#*_•·–—\"'“(-]|\d{1,3}[.)、]\s|\[[ xX]\])+")
_CLOSING_TAGS = re.compile(r"(?:</[\w-]{1,40}>\s*)+$")
_TRAIL = " \t\r.!。!;;,,、:*_\"'”"
_LOGGED = re.compile(r"[^\s:]{1,200}:\d|\d{2,4}[-:/]\d\d|(?:at|File) ")

# Where an order can begin: at the start of a clause, or behind somebody who is to obey it.
_ORDER = r"(?:^|[,;:.(—–]\s*|\s-\s|\b(?:and|but|or|so|then|please|also|just|you|we|should|will)\s)"

_ENGLISH = re.compile(
    rf"""(?:
      {_ORDER}(?:never|always|do\s+not|don['’]t)\s
      |{_ORDER}(?:ensure|avoid|remember\ to|make\ sure|be\ sure\ to)\s
      |\b(?:mustn['’]?t|must|shall\ not|should\ not|shouldn['’]t|under\ no\ circumstances)\b
      |\b(?:at\ all\ times|forbidden|prohibited|not\ allowed|mandatory|from\ now\ on)\b
      |^(?:important|critical):[*]*\s+\S
      |\b(?:decided|agreed|settled|ruled)\ (?:that|on|to|for)\b
      |\bonly\ (?:use|edit|change|touch|run|write|modify|read|answer|reply|respond|work)\b
      |\b(?:use|prefer|choose|stick\ (?:to|with))\b
        [^.]{{1,80}}(?:,\ not\ |\binstead\ of\b|\brather\ than\b)
    )""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_HEADING = re.compile(
    r"\W*(?:\w+\W+){0,3}(?:rules|conventions|constraints|requirements|decisions)\W*:\W*$"
    r"|\W*(?:[^\W\d_]{1,4})?(?:规则|约定|要求|约束)\W*[::]\W*$",
    re.IGNORECASE,
)
"""What a list of rules stands under; its points need no word that says so."""
_POINT = re.compile(r"\s{0,8}(?:[-*•]|\d{1,3}[.)、])\s*\S")

_OBSERVED = re.compile(
    r"""(?:
      \b(?:i|they|it|he|she|this|that|which|who|there|these|those)(?:['’](?:ve|m|re|s|d|ll))?[ ]
        (?:\w{1,12}[ ]){0,2}(?:never|always|must|do[ ]not|don['’]t|should[ ]not|shouldn['’]t)\b
      |\b(?:is|are|was|were|been|has|have|had)[ ](?:always|never)\b
      |\b(?:i|you|not|never|who|if|when|once|until|be)[ ](?:\w{1,12}[ ])?
        (?:decided|agreed|settled|ruled)\b
      |\b(?:always|never)[ ](?:\w*[^\Ws]s|\w{2,}(?:ed|ing))\b
      |\b(?:do[ ]not|don['’]t|never)[ ](?:\w{1,10}ly[ ])?
        (?:know|think|see|saw|seen|understand|have|need|believe|mind|care|worry|exist|seem|appear
          |work|match)\b
      |\bmust[ ](?:be[ ](?:something|some|a[ ]bug|because)|have[ ](?:been|had))\b
      |\b(?:i|i['’]ll|i['’]m|i[ ]will|let[ ]me)\b[^,.]{0,60}[ ]make[ ]sure\b
      |\bwhy\b
    )""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_WISHED = re.compile(r"\bi (?:do not|don['’]t|never) want\b", re.IGNORECASE)

_CHINESE = re.compile(
    "不要|不得|不可|不许|不准|不应|不能|禁止|严禁|切勿|请勿|勿|必须|务必|一定要|一定不|始终|永远"
    "|绝不|绝对不|只能|只允许|仅限|千万|确保|避免|别(?:再|用|改|动|删|碰|忘|加|写)"
)
_CHINESE_OBSERVED = re.compile(
    "要不要|不要紧|不得不|不得已|不可用|不可思议|能不能|[特级区分类][别别]"
    "|(?:我|我们|它|他|她|他们|这|那|系统|程序|页面)[^,,。]{0,3}不能"
)
_QUESTION = ("?", "?", "吗", "呢", "么")


def rules(text: str) -> Iterator[tuple[int, str]]:
    """The rules of a text with the place where each begins; code blocks and logs are left out."""
    fenced = headed = False
    for line in _LINE.finditer(text):
        if line[0].lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            headed = headed and bool(_POINT.match(line[0]))
            yield from _in_line(line[0], line.start(), headed)
            headed = headed or (len(line[0]) < 80 and bool(_HEADING.match(line[0])))


def _in_line(line: str, offset: int, headed: bool) -> Iterator[tuple[int, str]]:
    start = 0
    for end in [*(match.end() for match in _END.finditer(line)), len(line)]:
        if 4 < end - start <= MAX_RULE:
            sentence = line[start:end]
            lead = _LEAD.match(sentence)
            skipped = lead.end() if lead else 0
            if (headed and not _is_no_rule(sentence[skipped:])) or is_rule(sentence[skipped:]):
                rule = _CLOSING_TAGS.sub("", sentence[skipped:])
                yield offset + start + skipped, rule.rstrip(_TRAIL)
        start = end


def _is_no_rule(sentence: str) -> bool:
    stripped = sentence.rstrip(" \t\r*_\"'”)")
    return stripped.endswith(_QUESTION) or bool(_LOGGED.match(sentence))


def is_rule(sentence: str) -> bool:
    """Whether one sentence, without its bullet, tells somebody what to do or what to leave."""
    if _is_no_rule(sentence):
        return False
    if not sentence.isascii() and _CHINESE.search(sentence):
        return not _CHINESE_OBSERVED.search(sentence)
    if not _ENGLISH.search(sentence):
        return bool(_WISHED.search(sentence))
    return bool(_WISHED.search(sentence)) or not _OBSERVED.search(sentence)

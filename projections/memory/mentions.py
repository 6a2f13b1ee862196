"""Where a statement names something without being about it.

"Use curl with python servers" says nothing of a language, "never deploy on Black Friday" nothing of
a formatter, "delete old comments" nothing of whether code has some. In doubt it is only named.
"""

from __future__ import annotations

import re

from projections.memory.spoken import HIDDEN

_ASIDE = re.compile(
    r"\([^()\n]{0,300}\)|（[^（）\n]{0,300}）|\[[^\[\]\n]{0,300}\]"
    r"|``[^`\n]{1,400}``|`[^`\n]{1,400}`"
    r"|\"(?:[^\s\"]{1,40}\s){3,40}[^\s\"]{1,40}\"|“[^”\n]{8,300}”|「[^」\n]{8,300}」"
    r"|\bhttps?://\S{1,300}"
    r"|(?<![\w/])(?:~|\.{1,2})?/[\w./@+-]{1,200}"
    r"|(?<![\w/.])(?:[\w.@+-]{1,60}/){2,20}[\w.@+-]{0,60}|(?<![\w/.])[\w.@+-]{1,60}/(?![\w])"
    r"|(?<![\w/.])(?:src|lib|tests?|docs?|bin|app|scripts|packages)/[\w.@+-]{1,60}"
    r"|(?<![\w/.])[\w-]{1,60}/[\w-]{1,60}\.\w{1,8}\b|(?<![\w-])--?[a-z][\w-]{1,40}",
    re.IGNORECASE | re.ASCII,
)
_ONE_NAME = re.compile(r"`{1,2}[A-Za-z+#_]{1,20}(?: [a-z]{1,10})?`{1,2}")
"""Code that is but a name: ``pytest``, ``go test``."""


def without_asides(statement: str) -> str:
    """As long as the statement, without what stands in it in parentheses, as code, or as a path."""
    return _ASIDE.sub(
        lambda found: found[0] if _ONE_NAME.fullmatch(found[0]) else HIDDEN * len(found[0]),
        statement,
    )


# -- tools ----------------------------------------------------------------------------------------

_BREAK = re.compile(
    r"[,;:.!，；。：、—]\s?|\b(?:and|or|but|then|not|never|instead\sof|rather\sthan|over)\s"
    r"|而不是|不要|别|并且|和|但",
    re.IGNORECASE | re.ASCII,
)
_SOMETHING = r"(?:[^\s,;]{1,30}\s){1,6}?"
_OF_SOMETHING = re.compile(
    rf"\b(?:us(?:e|es|ing)|prefers?|choose|likes?|loves?|wants?|needs?|keep|adds?|put|set|enable|open|avoid|wrap"
    rf"|quote|name|start|deploy|serve|call)\s(?!to\s|\w{{1,20}}ing\s(?:with|in)\b|(?:with|in)\b){_SOMETHING}"
    r"(?<!ed\s)(?<!written\s)(?<!built\s)(?<!done\s)(?:with|in|inside|within|under)\s(?:[^\s,;]{1,30}\s){0,3}$"
    rf"|^{_SOMETHING}(?<!opt\s)(?<!go\s)(?<!opted\s)for\s(?:[^\s,;]{{1,30}}\s){{0,3}}$"
    rf"|^{_SOMETHING}(?:against|from|about|inside)\s(?:[^\s,;]{{1,30}}\s){{0,3}}$"
    r"|\b(?:adds?|deploy|run|connect|write|send|put|push|talk|log)\s"
    rf"{_SOMETHING}(?:to|on|into|onto)\s(?:[^\s,;]{{1,30}}\s){{0,3}}$"
    r"|(?<!rely\s)(?<!insist\s)(?<!settled\s)(?<!ize\s)(?<!ise\s)\b(?:on|near)\s(?:the\s|a\s)?$"
    r"|(?:在|给|为|对|针对|关于|从|像)\s?$",
    re.IGNORECASE | re.ASCII,
)
"""What stands in front of a name that something else is used with, for, in or on."""
_GOES_ON_WORDS = """
    a about across after again all alone already also always and any anywhere anyway are as at
    because before best both but by directly during each even ever every everything everywhere
    except exclusively first for from here how i if in inside instead is it just locally mode
    more most my myself never no not now of on only or over per personally please rather should
    since so style than that the then there this to today too under unless until very vs was we
    what when whenever where wherever which while who why will with within without you your
"""
_GOES_ON = frozenset(_GOES_ON_WORDS.split())
_NEXT = re.compile(r"\s(?P<word>[a-z][\w-]{0,30})|['’]s\b|\s?(?P<zh>[\u3400-\u9fff]{1,4})", re.I)
_OF_IT = re.compile(
    r"的?(?:服务|脚本|项目|文件|程序|接口|进程|包(?!管理)|库|环境|客户端|连接|数据(?!库)|镜像|容器|后端|前端|代码|版本|中|里)"
)
_EVERYDAY = frozenset({"fish", "black", "bun", "yarn", "mocha", "nano", "jest", "helix"})
_LIKES = re.compile(r"\b(?:like|love|hate|dislike)s?\b|喜欢|讨厌|爱", re.IGNORECASE)


def is_tool_beside(statement: str, start: int, end: int, nouns: frozenset[str]) -> bool:
    """Whether a tool that a statement names there is not what it is about. ``nouns`` are those of
    its kind: behind its name they say that it is meant."""
    behind = _NEXT.match(statement, end)
    if behind is not None:
        word, chinese = behind["word"], behind["zh"]
        if word is not None and word.casefold() not in _GOES_ON | nouns:
            return True
        if (word is None and chinese is None) or (chinese and _OF_IT.match(chinese)):
            return True
    breaks = [found.end() for found in _BREAK.finditer(statement, 0, start)]
    clause = statement[breaks[-1] if breaks else 0 : start]
    if _OF_SOMETHING.search(clause):
        return True
    if statement[start:end].casefold() in _EVERYDAY and _LIKES.search(clause):
        words = {word.casefold() for word in re.findall(r"\w+", statement)}
        return not words & nouns
    return False


# -- how it is put --------------------------------------------------------------------------------

_TO_ME = re.compile(
    r"\b(?:(?:answer|repl|respon|explain|explanation|talk|conversation|chat)\w{0,8}|tell|your?|me|be)\b"
    r"|回答|回复|解释|说话|废话|跟我|和我|对我",
    re.IGNORECASE | re.ASCII,
)
_OF_WORK = re.compile(
    r"\b(?:commit|function|method|name|variable|test|file|line|comment|doc|class|branch|pr|pull\srequest|title|script"
    r"|code|module|log|error|query|queries|password|meeting|walk|movie|film|book|trip|sleeve|hair|break)\w{0,3}\b"
    r"|提交|函数|变量|命名|文件|注释|文档|代码|方法|测试|标题|名字|日志",
    re.IGNORECASE | re.ASCII,
)
_ANSWERS = """
    answer answers reply replies response responses explanation explanations sentence sentences
    message messages summary summaries output tone language style wording feedback report reports
"""
_WORDS = frozenset(_ANSWERS.split())


def is_manner_beside(statement: str, start: int, end: int) -> bool:
    """Whether "short", "formal" and the like are said of something else than of answers."""
    behind = _NEXT.match(statement, end)
    word = behind["word"] if behind is not None else None
    if word is not None and word.casefold() not in _GOES_ON | _WORDS:
        return True
    return bool(_OF_WORK.search(statement)) and not _TO_ME.search(statement)

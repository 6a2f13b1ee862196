"""The table of things that people hold preferences about, and how each is put in words.

Order counts: what is wanted is the value that a statement names first.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Area = Literal["technical", "interaction"]


class Row(NamedTuple):
    """Something that can be preferred in one way or another."""

    subject: str
    name: str
    area: Area
    values: tuple[tuple[str, re.Pattern[str]], ...]
    """What can be preferred; where it is one alone without a name, it is wanted or not."""
    is_last: bool = False
    """Asked only where no other row has something to say."""
    nouns: frozenset[str] | None = None
    """Of tools: what may stand behind the name of one that is meant (``mentions``)."""
    unless: re.Pattern[str] | None = None
    """Around a value that is said of something else."""
    is_manner: bool = False
    """How answers are put."""


def _row(
    subject: str,
    area: Area,
    *values: str,
    name: str = "",
    is_last: bool = False,
    nouns: str | None = None,
    unless: str = "",
    is_manner: bool = False,
) -> Row:
    """Values as ``value=pattern`` or ``value``, which stands for itself as a word."""
    read = []
    for each in values:
        value, _, pattern = each.partition("=")
        pattern = pattern or rf"(?<![\w.@/-]){re.escape(value)}\b(?!\.\w|/\w|-\w)"
        read.append((value, re.compile(pattern, re.IGNORECASE | re.ASCII)))
    return Row(
        subject,
        name or subject,
        area,
        tuple(read),
        is_last,
        None if nouns is None else frozenset(nouns.split()),
        re.compile(unless, re.IGNORECASE | re.ASCII) if unless else None,
        is_manner,
    )


_CHANGED = (
    r"\b(?:delet|remov|strip|drop|chang|touch|edit|resolv|read|ignor|skip|break|updat|keep|preserv|review|pr|pull"
    r"\srequest|jira|github|issue|ticket|reply\sto|respond\sto|answer)\w{0,4}\s(?:[\w-]{1,15}\s){0,3}?"
    r"(?:comments?|doc[- ]?strings?|type\s(?:hints?|annotations?)|semicolons?|emojis?)\b"
    r"|\bcomments?\s(?:on|from|out)\b|(?:删除|删掉|去掉|修改|改动|回复|忽略|保留|移除|更新)[^，。,]{0,6}"
    r"(?:注释|文档字符串|类型注解|分号|表情)"
)
"""What is done with what is there says nothing of whether there is to be some."""


ROWS: tuple[Row, ...] = (
    _row(
        "indentation",
        "technical",
        r"2 spaces=\b(?:2|two)[- ]?space|(?:两|二|2)\s?个?空格",
        r"4 spaces=\b(?:4|four)[- ]?space|(?:四|4)\s?个?空格",
        r"8 spaces=\b(?:8|eight)[- ]?space|(?:八|8)\s?个?空格",
        r"tabs=\btabs?\b(?!\.\w| (?:bar|key|stop|group|component|title))|制表符",
        r"spaces=\bspaces\b|空格",
        unless=r"\b(?:browser|clos(?:e|ed|ing)|open(?:ed|ing)?|switch|many|press|hit)\s(?:[\w]{1,12}\s){0,2}tabs?\b"
        r"|\btabs?\sopen|\b(?:trailing|leading|white|colou?r|name|work|vector|parking|public)[\s-]?spaces?\b"
        r"|\bspaces?\s(?:around|before|after|between)\s|\bspaces?\sin\s(?:[\w-]{1,12}\s){0,2}"
        r"(?:files?|file\w{0,5}|paths?|names?|branch\w{0,2}|folders?|directories|urls?|brackets|braces|parenthes\w{1,2})\b"
        r"|空格键|(?:之间|中间|文件名|路径|行尾|末尾|前后|前面|后面|中英文)[^。，,]{0,8}空格",
    ),
    _row(
        "quotes", "technical", r"single=\bsingle[- ]quot|单引号", r"double=\bdouble[- ]quot|双引号"
    ),
    _row(
        "test framework",
        "technical",
        "pytest",
        "unittest",
        "vitest",
        "jest",
        "mocha",
        "junit",
        "rspec",
        "cypress",
        "playwright",
        "go test",
        nouns="test tests testing fixture fixtures plugin plugins framework runner markers syntax "
        "features config assertions parametrize suites",
    ),
    _row(
        "package manager",
        "technical",
        r"pnpm=\bpnpm\b",
        r"npm=\bnpm\b",
        "yarn",
        "bun",
        "uv",
        "poetry",
        "pipenv",
        "conda",
        r"pip=\bpip3?\b",
        "homebrew",
        nouns="package packages manager workspace workspaces command commands environment "
        "environments env envs install run add sync project projects lockfile",
    ),
    _row(
        "editor",
        "technical",
        r"neovim=\bneovim\b|\bnvim\b",
        "vim",
        "emacs",
        r"VS Code=\bvs ?code\b|\bvisual studio code\b",
        "PyCharm",
        "IntelliJ",
        "Sublime Text",
        "Helix",
        "Zed",
        "nano",
        nouns="editor keybindings bindings keys mode motions plugins keymap shortcuts commands",
    ),
    _row(
        "formatter",
        "technical",
        *("black", "prettier", "gofmt", "rustfmt", "yapf"),
        nouns="formatter formatting formatted config defaults profile",
    ),
    _row(
        "linter",
        "technical",
        *("ruff", "eslint", "flake8", "pylint", "biome"),
        nouns="linter linting rules config check",
    ),
    _row(
        "naming",
        "technical",
        r"snake_case=\bsnake[_ -]?case\b|下划线命名",
        r"camelCase=\bcamel[_ -]?case\b|小?驼峰",
        r"PascalCase=\bpascal[_ -]?case\b|大驼峰",
        r"kebab-case=\bkebab[_ -]?case\b",
    ),
    _row(
        "commit style",
        "technical",
        r"conventional commits=\bconventional[- ]commit|约定式提交",
        r"imperative=\bimperative\b(?=.{0,40}\b(?:mood|commit|message|subject))|\bcommit.{0,60}\bimperative\b",
        r"small commits=\b(?:small|atomic) commits?\b|小提交",
        r"squash=\bsquash",
    ),
    _row("comments", "technical", r"=\bcomments?\b|注释", unless=_CHANGED),
    _row("docstrings", "technical", r"=\bdoc[- ]?strings?\b|文档字符串", unless=_CHANGED),
    _row(
        "type hints",
        "technical",
        r"=\btype (?:hints?|annotations?)\b|类型(?:注解|标注|提示)",
        unless=_CHANGED,
    ),
    _row("semicolons", "technical", r"=\bsemicolons?\b|分号", unless=_CHANGED),
    _row(
        "shell",
        "technical",
        *("zsh", "bash", "fish", "powershell"),
        nouns="shell syntax functions prompt terminal aliases",
    ),
    _row(
        "theme",
        "technical",
        r"dark=\bdark (?:mode|theme)\b|深色|暗色|夜间模式",
        r"light=\blight (?:mode|theme)\b|浅色|亮色",
    ),
    _row(
        "database",
        "technical",
        r"PostgreSQL=\bpostgres(?:ql)?\b",
        "MySQL",
        "SQLite",
        "MongoDB",
        "Redis",
        nouns="database databases db",
    ),
    _row(
        "units",
        "technical",
        r"metric=\bmetric\b(?!\s(?!units?\b|system\b|measure)[a-z])|公制",
        r"imperial=\bimperial units?\b|英制",
    ),
    _row(
        "programming language",
        "technical",
        "Python",
        "TypeScript",
        "JavaScript",
        "Rust",
        r"Go=\bgolang\b|\bin go\b",
        "Kotlin",
        "Java",
        r"C++=\bc\+\+",
        "Ruby",
        "Swift",
        is_last=True,
        nouns="language code script scripts program programs",
    ),
    _row(
        "verbosity",
        "interaction",
        r"short=\bshort(?:er)?\b|\bconcise|\bbrief|\bterse|\bsuccinct|\bless verbose"
        r"|简短|简洁|精简|简练|少废话",
        r"detailed=\bdetailed\b|\bin detail\b|\bverbose|\bthorough"
        r"|\blong(?:er)? (?:answers|explanations|replies)"
        r"|详细|详尽",
        is_manner=True,
    ),
    _row("emoji", "interaction", r"=\bemojis?\b|表情(?:符号)?", unless=_CHANGED),
    _row(
        "tone",
        "interaction",
        r"informal=\binformal\b|\bcasual\b|随意|口语",
        r"formal=\bformal\b|正式",
        r"friendly=\bfriendly\b|友好",
        is_manner=True,
    ),
    _row(
        "form of answers",
        "interaction",
        r"bullet points=\bbullet(?:ed)?[- ](?:points?|lists?)\b|列表|要点",
        r"tables=\btables?\b|表格",
        unless=r".{0,60}\b(?:drop|create|alter|join|truncate|database|sql|db|migrat\w{1,6}|hash|lookup|lock|temp"
        r"|temporary|rename|delete|lists?\sof|tables?\sof\scontents)\b.{0,60}|(?:任务|待办|参数|文件|数据)列表|要点是",
    ),
)

"""What kind of work a person asks for, by the words of the request: English and Chinese."""

from __future__ import annotations

import re

OTHER = "other"

_TYPES: tuple[tuple[str, str], ...] = (
    (
        "debugging",
        r"\b(?:debug|fix|bugs?|broken|crash(?:es|ed|ing)?|errors?|exception|traceback|fails?|failing|doesn['’]?t\swork"
        r"|not\sworking|why\s(?:does|is|do)\s.{1,60}\b(?:fail|slow|wrong|break))\b"
        r"|修复|报错|错误|崩溃|调试|不工作|失败|异常",
    ),
    ("testing", r"\b(?:tests?|testing|coverage|unit\stests?)\b|测试|覆盖率"),
    ("review", r"\b(?:review|audit|look\sover|code\sreview|feedback\son)\b|评审|审查|检查一下"),
    (
        "refactoring",
        r"\b(?:refactor|clean\s?up|rename|simplify|restructure|extract|deduplicate)\w{0,4}\b|重构|重命名|简化|整理代码",
    ),
    (
        "documentation",
        r"\b(?:document(?:ation)?|docs?|readme|docstrings?|changelog)\b|文档|注释|说明书",
    ),
    ("translation", r"\btranslat(?:e|ion)\b|翻译"),
    (
        "writing",
        r"\b(?:write|draft|rephrase|summari[sz]e|proofread)\s(?:an?\s|the\s|this\s|my\s)?(?:\w{1,20}\s)?"
        r"(?:essay|e?-?mail|letter|post|article|story|poem|text|blog|report)\b|写(?:一)?[封篇首]|润色|总结",
    ),
    (
        "operations",
        r"\b(?:deploy|release|install|configure|docker|kubernetes|ci|pipeline|server)\b|部署|发布|安装|配置|服务器",
    ),
    (
        "coding",
        r"\b(?:implement|add|build|create|write|code|function|class|feature|endpoint|script|support)\b"
        r"|实现|添加|增加|开发|编写|创建|写(?:一)?个|函数|功能",
    ),
    (
        "explaining",
        r"^(?:what|why|how|who|when|where|which|explain|tell\sme|describe|is|are|does|do|can)\b"
        r"|解释|什么是|为什么|怎么|如何|介绍",
    ),
)
_RULES = tuple((name, re.compile(pattern, re.IGNORECASE | re.ASCII)) for name, pattern in _TYPES)
TASK_TYPES = (*(name for name, _ in _TYPES), OTHER)
_LOOKED_AT = 400
"""Code points: what is wanted stands at the beginning, what it is about behind."""


def task_type(request: str) -> str:
    """The kind of work that a request asks for; the first that its beginning speaks of."""
    head = request[:_LOOKED_AT].strip()
    return next((name for name, rule in _RULES if rule.search(head)), OTHER)

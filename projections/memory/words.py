"""The words by which memories are found: stems, and pairs of Chinese characters.

Words are cut as ``strategies.hashing`` cuts them, and further where a script changes: in
``用pytest跑测试`` stand ``pytest``, ``跑测`` and ``测试``. Width and case are no difference. Words
that say nothing of what is spoken about are left out; what else is too common for that is seen from
how many memories hold it (``index``).
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import snowballstemmer

from projections.memory.memory import Memory

READ = 4_000
"""Characters of a text that are looked at, and embedded: an endpoint refuses what is too long."""

_LONGEST = 64
"""Characters of a word."""

_CHINESE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""Scripts without blanks between words: Chinese, and what Japanese adds to it."""

_RUN = re.compile(f"[{_CHINESE}]+|[^\\W_{_CHINESE}]+")
_FIRST_CHINESE = re.compile(f"[{_CHINESE}]")

_SAY_NOTHING = """
a about all also am an and any are as at be because been being but by can could did do does doing
for from get had has have having he her here hers him his how i if in into is it its itself just let
like me more most my now of on once only or other our out over own please same she should so some
such than that the their them then there these they this those through to too under until up us very
was we were what when where which while who whom why will with would you your
的 了 是 在 我 你 他 她 它 们 和 与 也 就 都 而 及 着 把 被 让 给 对 吗 呢 吧 啊
我们 你们 他们 什么 怎么 怎样 如何 哪个 哪些 哪里 这个 那个 这些 那些 一个 一下 可以 可是 但是
因为 所以 如果 还是 或者 以及 已经 就是 是不 是什 么样 为什 请问 应该 我的 你的 时候 现在
"""
"""Not among them: what denies. That something is not to be done is what a memory often says."""

_SILENT = frozenset(_SAY_NOTHING.split())


def words(text: str) -> Iterator[str]:
    """The words of a text, with repetitions, in their order."""
    for run in _RUN.findall(unicodedata.normalize("NFKC", text[:READ]).casefold()):
        if not _FIRST_CHINESE.match(run):
            word = run[:_LONGEST]
            if word not in _SILENT:
                yield stem(word)
            continue
        pairs = [run] if len(run) == 1 else [a + b for a, b in pairwise(run)]
        for pair in pairs:
            if pair not in _SILENT:
                yield pair


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of an English word in lower case; what is not all ASCII letters stays as it is."""
    if not (word.isascii() and word.isalpha()):
        return word
    stemmer = getattr(_THREAD, "stemmer", None)
    if stemmer is None:
        stemmer = _THREAD.stemmer = snowballstemmer.stemmer("porter")
    return str(stemmer.stemWord(word))


_THREAD = threading.local()
"""A stemmer is for one thread at a time."""


def found_by(memory: Memory) -> str:
    """The text by which a memory is found, as far as it is looked at: what it says, and what it is
    about."""
    parts = [memory.text, memory.subject]
    if memory.experience is not None:
        parts += [memory.experience.situation, memory.experience.action, memory.experience.outcome]
    parts += [entity.name for entity in memory.entities]
    found: list[str] = []
    said, size = "", 0
    for part in parts:
        if size >= READ:  # what follows is not looked at
            break
        key = part.casefold()
        if part and key not in said:
            found.append(part)
            said, size = f"{said}\n{key}", size + len(part) + 1
    return "\n".join(found)

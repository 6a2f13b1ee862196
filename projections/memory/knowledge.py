"""What a memory speaks of: entities, and how they are related, read out of its text by rules.

Paths, addresses, commands and ids are found by their shape (``projections.anchors``), relations by
their words: "the API depends on Redis", "tests are written in Python", 前端使用 React. A relation
names what stands before and behind its words, up to three of them; a pronoun names nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from eventlog.events import Entity, Relation, Remembered
from projections.anchors import Kind, anchors
from projections.memory.clipping import one_line
from projections.memory.memory import Memory, same_subject

LOOKED_AT = 4_000
"""Code points of a memory that are looked at."""
MOST = 20
"""Entities, and relations, of one memory."""
LONGEST_NAME = 120

_KINDS: dict[Kind, str] = {"path": "file", "url": "url", "command": "command", "id": "id"}

_PREDICATES: tuple[tuple[str, str], ...] = (
    ("depends on", r"depends?\son|requires?|relies\son|needs?"),
    ("runs on", r"runs?\s(?:on|in|under)|(?:is|are)\s(?:hosted|deployed|running)\s(?:on|in|at)"),
    ("is written in", r"(?:is|are|was|were)\s(?:written|implemented)\sin"),
    ("is built with", r"(?:is|are|was|were)\s(?:built|made)\s(?:with|on|in)|(?:is|are)\sbased\son"),
    ("is part of", r"(?:is|are)\s(?:a\s)?part\sof|belongs?\sto"),
    (
        "is in",
        r"(?:is|are)\s(?:located|stored|defined|kept)\s(?:in|at|under)|lives?\s(?:in|at|under)",
    ),
    ("connects to", r"connects?\sto|talks?\sto"),
    ("replaces", r"replaces?|replaced"),
    ("uses", r"uses?|using"),
)
_PREDICATE = re.compile(
    r"(?<=[\s])(?:" + "|".join(f"({p})" for _, p in _PREDICATES) + r")(?=\s)", re.I | re.ASCII
)
_CLAUSE_END = re.compile(r"[.!?;:,](?=\s|$)|[()\n。！？；，、：]")
_WORD = re.compile(r"[^\s()\[\]{}\"“”,;:!?。！？；，、：]{1,120}")
_BREAKING = """
    and but or so because when which that if while since for to with by from via as at in on of is
    are was were be been not only also then than instead please now remember always never
"""
_BREAKS = frozenset(_BREAKING.split())
_ARTICLES = frozenset(
    ("the", "a", "an", "our", "my", "your", "its", "their", "this", "these", "those", "all", "each")
)
_PRONOUN_WORDS = """
    i we you it he she they this that these those who which what there one people
"""
_PRONOUNS = frozenset(_PRONOUN_WORDS.split())
_CHINESE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("is written in", r"(?:是)?用(?=[^，,。；;、]{1,30}?(?:写的|编写|开发|实现))"),
        ("depends on", r"依赖于?|需要用到"),
        ("runs on", r"(?:运行|部署|跑)在"),
        ("is part of", r"属于|是(?=[^，,。；;、]{1,20}的一部分)"),
        ("is in", r"位于|存放在|保存在|放在"),
        ("is built with", r"基于"),
        ("uses", r"使用的?是|使用|采用|用的是"),
    )
)
_CHINESE_CLAUSE = re.compile(r"[，,。；;！!？?：:\n]")
_CHINESE_LEAD = re.compile(
    r"^(?:我们的?|我的?|这个|那个|该|本|其中|目前|现在|请|以后|都|记住|项目的)+"
)
_CHINESE_TAIL = re.compile(r"(?:编写|写|开发|实现|的一部分|来?写)?的?$|(?:上|里|中|下|目录)$")
_CHINESE_PRONOUN = re.compile(
    r"^(?:我们?|你们?|它们?|他们?|她们?|这|那|谁|什么|都|也|就|请|不|不要|别)?$"
)
_AND = re.compile(r"\s*(?:和|与|及|以及|、)\s*")


@lru_cache(1024)
def entities(text: str) -> tuple[Entity, ...]:
    """What a text names by its shape, and what its relations name, each once."""
    head = text[:LOOKED_AT]
    found: dict[str, Entity] = {}
    for anchor in anchors(head, "human"):
        if anchor.kind in _KINDS and len(anchor.text) <= LONGEST_NAME:
            entity = Entity(name=one_line(anchor.text, LONGEST_NAME), kind=_KINDS[anchor.kind])
            found.setdefault(same_subject(entity.name), entity)
    for relation in relations(head):
        for name in (relation.subject, relation.object):
            found.setdefault(same_subject(name), Entity(name=name))
    return tuple(found.values())[:MOST]


@lru_cache(1024)
def relations(text: str) -> tuple[Relation, ...]:
    """How what a text names is related, each once."""
    head = text[:LOOKED_AT]
    found = dict.fromkeys(_english(head))
    if not head.isascii():
        found.update(dict.fromkeys(_chinese(head)))
    return tuple(found)[:MOST]


def with_knowledge(memory: Remembered) -> Remembered:
    """The memory with what its text speaks of, behind what it names already."""
    named = {same_subject(each.name) for each in memory.entities}
    more = [each for each in entities(memory.text) if same_subject(each.name) not in named]
    related = dict.fromkeys((*memory.relations, *relations(memory.text)))
    return memory.model_copy(
        update={"entities": (*memory.entities, *more), "relations": tuple(related)}
    )


def knowledge_after(memory: Memory, text: str) -> tuple[tuple[Entity, ...], tuple[Relation, ...]]:
    """What a memory speaks of when it says another text: what its old one spoke of goes, what it
    was given besides stays."""
    old = {same_subject(each.name) for each in entities(memory.text)}
    said = relations(memory.text)
    anew = with_knowledge(
        Remembered(
            text=text,
            entities=tuple(e for e in memory.entities if same_subject(e.name) not in old),
            relations=tuple(each for each in memory.relations if each not in said),
        )
    )
    return anew.entities, anew.relations


def _english(text: str) -> Iterator[Relation]:
    for clause in _clauses(text):
        for match in _PREDICATE.finditer(clause):
            name = _PREDICATES[next(i for i, each in enumerate(match.groups()) if each)][0]
            subject = _before(clause[: match.start()])
            if not subject:
                continue
            for thing in _behind(clause[match.end() :]):
                yield Relation(subject=subject, predicate=name, object=thing)


def _clauses(text: str) -> Iterator[str]:
    start = 0
    for end in _CLAUSE_END.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


def _before(text: str) -> str:
    """The last words before a predicate that name something."""
    words: list[str] = []
    for word in reversed(_WORD.findall(text[-400:])):
        low = word.casefold()
        if low in _PRONOUNS and not words:
            return ""
        if low in _BREAKS or low in _ARTICLES or len(words) == 3:
            break
        words.append(word)
    return _name(words[::-1])


def _behind(text: str) -> Iterator[str]:
    """What stands behind a predicate: one name, or several with ``and`` between."""
    words: list[str] = []
    for word in _WORD.findall(text[:400]):
        low = word.casefold()
        if low in ("and", "or") and words:
            yield from filter(None, [_name(words)])
            words = []
        elif low in _ARTICLES and not words:
            continue
        elif low in _BREAKS or low in _PRONOUNS or len(words) == 3:
            break
        else:
            words.append(word)
    yield from filter(None, [_name(words)])


def _name(words: list[str]) -> str:
    name = one_line(" ".join(words), LONGEST_NAME).strip("`'\"*_.")
    return name if any(each.isalnum() for each in name) else ""


def _chinese(text: str) -> Iterator[Relation]:
    for clause in _CHINESE_CLAUSE.split(text):
        if clause.isascii():
            continue
        for name, pattern in _CHINESE:
            match = pattern.search(clause)
            if match is None:
                continue
            subject = _CHINESE_LEAD.sub("", clause[max(0, match.start() - 40) : match.start()])
            subject = subject.strip().removesuffix("是").removesuffix("也").removesuffix("都")
            if _CHINESE_PRONOUN.match(subject):
                break
            for thing in _AND.split(clause[match.end() : match.end() + 80])[:4]:
                thing = _CHINESE_TAIL.sub("", thing.strip())
                if thing:
                    yield Relation(
                        subject=one_line(subject, 60), predicate=name, object=one_line(thing, 60)
                    )
            break

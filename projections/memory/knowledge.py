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
    ("imports", r"imports?"),
    ("works on", r"works\son"),
    ("works at", r"works\s(?:at|for)"),
    ("uses", r"uses?|using"),
)
_PREDICATE = re.compile(
    r"(?<=[\s])(?:" + "|".join(f"({p})" for _, p in _PREDICATES) + r")(?=\s)", re.I | re.ASCII
)
_CLAUSE_END = re.compile(r"[.!?;:](?=\s|$)|[()\n。！？；，、：]")
_WORD = re.compile(r",(?=\s|$)|[^\s()\[\]{}\"“”,;:!?。！？；，、：]{1,120}")
_BREAKING = """
    and but or so because when which that if while since for to with by from via as at in on of is
    are was were be been not only also then than instead please now remember always never
"""
_BREAKS = frozenset(_BREAKING.split())
_JOINING = frozenset((",", "and", "or"))
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
        ("is in", r"位于|存放在|保存在|放在|在(?=\s?[\w./-]{1,80}\s?(?:目录|文件夹|路径|仓库))"),
        ("is built with", r"基于"),
        ("uses", r"使用的?是|使用|采用|用的是|用(?=\s?[A-Za-z])"),
    )
)
_CHINESE_CLAUSE = re.compile(r"[，,。；;！!？?：:\n]")
_CHINESE_LEAD = re.compile(
    r"^(?:我们的?|我的?|这个|那个|该|本|其中|目前|现在|请|以后|都|记住|项目的)+"
)
_CHINESE_MODAL = re.compile(r"(?:是|也|都|就|要|会|应该|统一|一直|主要|只|不|不要|别)$")
_CHINESE_TAIL = re.compile(
    r"(?:编写|写|开发|实现|的一部分|来?写)?的?$|(?:\s?(?:目录|文件夹|路径|仓库))?(?:上|里|中|下)?$"
)
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
        subject = ""
        found = list(_PREDICATE.finditer(clause))
        for number, match in enumerate(found):
            name = _PREDICATES[next(i for i, each in enumerate(match.groups()) if each)][0]
            before = _WORD.findall(clause[: match.start()][-400:])
            # "is written in Go and uses Redis" says both of one subject.
            if not (subject and before and before[-1].casefold() == "and"):
                subject = _before(before)
            is_last = number + 1 == len(found)
            end = len(clause) if is_last else found[number + 1].start()
            behind = _WORD.findall(clause[match.end() : end][:400])
            things, rest = _behind(behind, is_last)
            if not subject and name == "uses":  # "we use Redis for the cache"
                subject = _purpose(rest)
            for thing in things if subject else ():
                yield Relation(subject=subject, predicate=name, object=thing)


def _clauses(text: str) -> Iterator[str]:
    start = 0
    for end in _CLAUSE_END.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


def _before(words: list[str]) -> str:
    """The last words before a predicate that name something."""
    found: list[str] = []
    for word in reversed(words):
        low = word.casefold()
        if low in _PRONOUNS and not found:
            return ""
        if low in _BREAKS | _JOINING | _ARTICLES | _PRONOUNS or len(found) == 3:
            break
        found.append(word)
    return _name(found[::-1])


def _behind(words: list[str], is_last: bool) -> tuple[list[str], list[str]]:
    """What stands behind a predicate, one name or several with ``and`` between, and the rest.

    Where another predicate follows, the last of them is its subject.
    """
    things: list[list[str]] = [[]]
    at = len(words)
    for number, word in enumerate(words):
        low = word.casefold()
        if low in _JOINING and things[-1]:
            things.append([])
        elif low in _JOINING or (low in _ARTICLES and not things[-1]):
            continue
        elif low in _BREAKS or low in _PRONOUNS or len(things[-1]) == 3:
            at = number
            break
        else:
            things[-1].append(word)
    if at == len(words) and not is_last and len(things) > 1:
        things.pop()
    return [name for thing in things if (name := _name(thing))], words[at:]


def _purpose(words: list[str]) -> str:
    if not words or words[0].casefold() != "for":
        return ""
    found, _ = _behind(words[1:], True)
    return found[0] if found else ""


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
            subject = _CHINESE_MODAL.sub("", subject.strip())
            if _CHINESE_PRONOUN.match(subject):
                break
            for thing in _AND.split(clause[match.end() : match.end() + 80])[:4]:
                thing = _CHINESE_TAIL.sub("", thing.strip())
                if thing:
                    yield Relation(
                        subject=one_line(subject, 60), predicate=name, object=one_line(thing, 60)
                    )
            break

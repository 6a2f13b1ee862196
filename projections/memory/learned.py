"""What is remembered of a session: what a person asked for at once, the rest when it has left.

At once, whether or not it has left the window: what a person asked to have remembered, what they
prefer, and who they are. When an interaction leaves the window, or the session ends, it is scored,
and what is above the threshold is remembered, with what was experienced in it.

Nothing is learned of an interaction in which something was erased, but for what the person asked
for in a message that was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from eventlog.events import MemoryKind, MemorySource, ProfileUpdated, Remembered
from eventlog.jsonvalue import Json
from eventlog.recorded import Draft
from projections.memory.clipping import one_line
from projections.memory.experiences import experiences, fix_text
from projections.memory.importance import Rule, Score, score
from projections.memory.interactions import Course, Interaction
from projections.memory.learning import BY, LearnPolicy, drafted, stream_of
from projections.memory.short_term import left
from projections.memory.signs import Sign, is_decision, said_basics, said_preferences


def learned(
    course: Course,
    policy: LearnPolicy | None = None,
    *,
    into: str = "",
    ended: bool = False,
) -> list[Draft]:
    """All that is to be remembered of a session so far, in the order in which it was said.

    ``into`` is the key of the memory stream; without one, that of the session's own person.
    ``ended``: the session has ended, and everything has left the window. The same course gives the
    same events; an append of those that are known adds nothing.
    """
    policy = policy or LearnPolicy()
    if not course.interactions:
        return []
    into = into or stream_of(course.stream)
    gone = course.interactions if ended else left(course, policy.capacity)
    # Who says two things about one subject in one message means the second.
    found = {draft.id: draft for draft in at_once(course.interactions, policy, into)}
    for draft in leaving(gone, policy, into):
        found.setdefault(draft.id, draft)  # who decides a thing again decided it the first time
    return list(found.values())


def at_once(interactions: Iterable[Interaction], policy: LearnPolicy, into: str) -> Iterator[Draft]:
    """What a person asked to have remembered, prefers, and said of themselves."""
    for interaction in interactions:
        for said in interaction.said:
            if said.by != "human":
                continue
            sources = interaction.source(said.position)
            for number, sign in enumerate(said.signs):
                if sign.kind == "remember":
                    yield from _wish(sign, number, sources, policy, into)
                elif sign.kind == "preference":
                    scored = score(["preference"], weights=policy.weights)
                    yield _preference(sign, scored, sources, policy, into)
                elif sign.kind == "basics":
                    yield _basics(sign, sources, into)


def leaving(interactions: Iterable[Interaction], policy: LearnPolicy, into: str) -> Iterator[Draft]:
    """What is remembered of interactions that have left the window."""
    for interaction in interactions:
        if interaction.erased or not interaction.said or interaction.said[0].by == "model":
            continue
        rules = rules_of(interaction)
        scored = score(rules, weights=policy.weights)
        if scored.value > policy.threshold:
            for kind, text, positions in _told(interaction, rules):
                if not text:
                    continue  # a picture, say
                sources = interaction.source(*positions)
                event = Remembered(
                    kind=kind,
                    text=one_line(text, policy.longest),
                    importance=scored.value,
                    scored=scored.rules,
                    sources=sources,
                    by=BY,
                )
                if kind == "project" and (again := _decided(interaction)):
                    yield drafted(event, into, f"decided in {sources[0].stream}: {again}", ())
                    continue
                # Named by what was asked: one that goes on later is not learned a second time.
                asked = interaction.source(interaction.said[0].position)
                yield drafted(event, into, kind, asked)
        yield from experiences(interaction, scored, policy, into)


def rules_of(interaction: Interaction) -> tuple[Rule, ...]:
    """The rules of importance that hold of an interaction."""
    rules: list[Rule] = []
    if any(True for _ in interaction.signs("decision")):
        rules.append("decision")
    if interaction.fixes and interaction.feedback != "negative":
        rules.append("error and fix")
    if interaction.feedback == "positive":
        rules.append("positive feedback")
    return tuple(rules)


def _decided(interaction: Interaction) -> str:
    """What a person said who decided something, if they asked with it: said again in the same
    session, after an interruption say, it is the same decision."""
    request = interaction.said[0]
    if request.by != "human" or not any(sign.kind == "decision" for sign in request.signs):
        return ""
    return " ".join(request.text.casefold().split())


# -- at once --------------------------------------------------------------------------------------


def _wish(
    sign: Sign, number: int, sources: tuple[MemorySource, ...], policy: LearnPolicy, into: str
) -> Iterator[Draft]:
    scored = score(["explicit"], weights=policy.weights)
    for known in said_basics(sign.text):
        yield _basics(known, sources, into)
    decides = is_decision(sign.text)
    preferred = () if decides else said_preferences(sign.text)
    for preference in preferred:
        yield _preference(preference, scored, sources, policy, into)
    if preferred:
        return
    event = Remembered(
        kind="project" if decides else "fact",
        text=one_line(sign.text, policy.longest),
        importance=scored.value,
        scored=scored.rules,
        is_explicit=True,
        subject=fact_subject(sign.text),
        sources=sources,
        by=BY,
    )
    yield drafted(event, into, f"remember {number}", sources)


def _preference(
    sign: Sign,
    scored: Score,
    sources: tuple[MemorySource, ...],
    policy: LearnPolicy,
    into: str,
) -> Draft:
    event = Remembered(
        kind="preference",
        text=one_line(sign.text, policy.longest),
        importance=scored.value,
        scored=scored.rules,
        is_explicit=True,
        subject=sign.subject,
        area=sign.area,
        values=sign.values,
        sources=sources,
        by=BY,
    )
    return drafted(event, into, f"preference {sign.subject}", sources)


def _basics(sign: Sign, sources: tuple[MemorySource, ...], into: str) -> Draft:
    values = sign.values or Json({})
    event = ProfileUpdated(
        section="basics", values=values, is_explicit=True, sources=sources, by=BY
    )
    return drafted(event, into, f"basics {' '.join(sorted(values.value))}", sources)


_FACT = re.compile(
    r"(?:the|our|my)\s(?P<en>(?:[\w'’-]{1,30}\s){0,4}(?:port|name|url|address|version|host|hostname|branch"
    r"|deadline|e-?mail|number|id|path|directory|folder|region|database|server|birthday|key|limit|budget))"
    r"\s(?:is|are|was|=)\s"
    r"|(?P<zh>[^，,。；;\s]{0,12}(?:端口|名称|名字|地址|网址|版本|主机|分支|截止日期|邮箱|编号|路径|目录|区域|数据库|服务器"
    r"|生日|上限|预算))(?:是|为|改成|改为)",
    re.IGNORECASE | re.ASCII,
)


def fact_subject(text: str) -> str:
    """What a fact is about, where it gives one thing its value: "the staging port is 8081" is about
    the staging port, and another port of it contradicts this one. Else nothing."""
    found = _FACT.match(text.strip())
    return one_line((found["en"] or found["zh"]).lower(), 80) if found else ""


# -- leaving --------------------------------------------------------------------------------------

_Told = tuple[MemoryKind, str, tuple[int, ...]]


def _told(interaction: Interaction, rules: Sequence[Rule]) -> Iterator[_Told]:
    """What an interaction leaves behind: its kind, what was said and came of it, and where."""
    if "decision" in rules:
        yield _decision(interaction)
    if "error and fix" in rules:
        yield _fix(interaction)
    if not {"decision", "error and fix"} & set(rules):
        request = interaction.said[0]
        answer = next((each for each in reversed(interaction.said) if each.by == "model"), None)
        said = one_line(request.text, 240)
        if answer is None:
            yield "conversation", said, (request.position,)
        else:
            came = one_line(answer.text, 320)
            yield "conversation", f"{said} → {came}", (request.position, answer.position)


def _decision(interaction: Interaction) -> _Told:
    found = list(interaction.signs("decision"))
    texts = list(dict.fromkeys(sign.text for _, sign in found))
    told = " ".join(one_line(text, 240) for text in texts[-3:])
    positions = {said.position for said, _ in found}
    request = interaction.said[0]
    if request.position not in positions and request.text:
        told = f"{one_line(request.text, 160)} → {told}"
        positions.add(request.position)
    return "project", told, tuple(sorted(positions))


def _fix(interaction: Interaction) -> _Told:
    positions = {said.position for said, _ in interaction.fixes}
    positions |= set(interaction.error_at)
    told = fix_text(interaction)
    return "error_fix", f"{one_line(interaction.error, 240)} → {told}", tuple(sorted(positions))

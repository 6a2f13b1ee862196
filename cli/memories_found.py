"""Memories that are related to a text, for the command line. It is no access to any of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cli.memories import kinds_of, moment_of, row_of, statuses_of
from cli.memory_values import clean
from cli.models_memory import MemoryHit, MemorySearchData
from cli.naming import session_key, whole_session
from cli.output import Output
from cli.progress import Meter
from eventlog.errors import CtxlogError, InputRefused
from eventlog.happened import iso
from harness.embedders import Embedder, VectorsRefused
from harness.memory import UserMemory
from projections.memory.recall import Found, Recall, Wanted


@dataclass(frozen=True, slots=True)
class Question:
    """What was typed."""

    query: str
    top: int
    kinds: Sequence[str] = ()
    statuses: Sequence[str] = ()
    session: str = ""
    since: str = ""
    until: str = ""
    at: str = ""


class Silent:
    """In the place of an embedder that could not be asked: it is not asked again."""

    floor = 1.0

    def __init__(self, fault: CtxlogError) -> None:
        self._fault = fault

    @property
    def name(self) -> str:
        """Raises why."""
        raise self._fault

    @property
    def dimension(self) -> int:
        """Raises why."""
        raise self._fault

    def embed(self, texts: Sequence[str], kind: str) -> Sequence[Sequence[float]]:
        """Raises why."""
        raise self._fault


def found(
    memory: UserMemory, question: Question, embedder: Embedder, out: Output
) -> MemorySearchData:
    """The memories that are related to what was asked.

    An embedder that does not answer is told, and words alone are looked for. Raises InputRefused,
    StreamNotFound, Ambiguous, VectorsRefused.
    """
    query = clean(question.query, "the query").strip()
    if not query:
        raise InputRefused("there is nothing to look for")
    wanted = _wanted(memory, question)
    now = moment_of(question.at)
    answer = _asked(memory, query, wanted, now, embedder, out)
    return MemorySearchData(
        user=memory.user,
        query=query,
        at=iso(now),
        embedder=answer.embedder,
        dimension=answer.dimension,
        fault=str(answer.fault) if answer.fault is not None else "",
        hits=[
            MemoryHit.model_validate(
                {
                    "memory": row_of(memory, each.memory, now),
                    "score": round(each.score, 6),
                    "similarity": None if each.similarity is None else round(each.similarity, 4),
                    "by": each.by,
                }
            )
            for each in answer
        ],
    )


def _wanted(memory: UserMemory, question: Question) -> Wanted:
    session = question.session
    if session:
        session = str(session_key(memory.live, whole_session(session, "asked for")))
    wanted = Wanted(
        top=question.top,
        kinds=frozenset(kinds_of(question.kinds)),
        since=moment_of(question.since) if question.since else None,
        until=moment_of(question.until, end=True) if question.until else None,
        session=session,
    )
    if not question.statuses:
        return wanted
    return Wanted(
        top=wanted.top,
        kinds=wanted.kinds,
        since=wanted.since,
        until=wanted.until,
        session=wanted.session,
        statuses=frozenset(statuses_of(question.statuses)),
    )


def _asked(
    memory: UserMemory, query: str, wanted: Wanted, now: int, embedder: Embedder, out: Output
) -> Found:
    recall = Recall(memory.live, memory.user, embedder, memory.policy)
    try:
        with Meter(out, "embedding", "memories") as meter:
            recall.catch_up(lambda at: meter.show(at.done, at.of))
    except VectorsRefused:
        raise
    except CtxlogError as error:
        recall = Recall(memory.live, memory.user, Silent(error), memory.policy)
    return recall.find(query, wanted, now)

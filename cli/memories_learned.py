"""What is learned of a session that is in the log already, on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cli.memories_changing import Typed
from cli.models_memory import LearnedRow, MemoryLearnData
from cli.naming import place_name, session_key, whole_session
from cli.profiles import named_sources
from cli.style import plural
from eventlog.errors import InputRefused, WrongExpectedVersion
from eventlog.events import ProfileUpdated, Remembered
from eventlog.recorded import Draft
from harness.memory import UserMemory
from harness.memory.dating import dated, is_expired
from harness.memory.keys import key_in_event
from projections.memory.course import READ, course_of
from projections.memory.learned import learned
from projections.memory.stream import is_memory_stream, memory_name
from projections.memory.summary import closing, summarized_to


def from_session(typed: Typed, at: str, session: str, dry_run: bool) -> bool:
    """Whether a session is learned from, and no text remembered. Raises InputRefused for both, for
    neither, and for what belongs to a text alone."""
    if not session:
        if typed.text is None:
            raise InputRefused("give a TEXT, or --from S to learn from a session")
        if dry_run:
            raise InputRefused("--dry-run goes with --from")
        return False
    rest = (typed.kind, typed.importance, typed.subject, typed.area, typed.values, at)
    more = (typed.sources, typed.entities, typed.relations)
    if typed.text is not None or any(each or each == 0 for each in (*rest, *more)):
        raise InputRefused("--from S learns by itself: only --dry-run, --force and --user go along")
    return True


def learned_from(
    memory: UserMemory, session: str, *, dry_run: bool, force: bool
) -> MemoryLearnData:
    """What was learned of a session, or would be.

    Raises StreamNotFound, Ambiguous, and InputRefused for a place in one.
    """
    live = memory.live
    key = session_key(live, whole_session(session, "learned from"))
    if is_memory_stream(key):
        raise InputRefused(f"{key} is what is remembered already: name a session")
    version = live.log.version(memory.key)  # before anything is read
    course = course_of(live.log.read(key, types=READ))
    into = str(memory.key)
    parts = [[draft] for draft in learned(course, into=into, ended=True)]
    since = summarized_to(memory.all(standing=False), str(key))
    # A session is counted with its summary, or it would be counted again.
    parts.append(closing(course, into=into, since=since))
    drafts = [draft for part in parts for draft in part]
    # What its summary and its counts said, they would not say again before the session goes on.
    said = len(closing(course, into=into)) if since and not parts[-1] else 0
    there = live.log.known_ids([draft.id for draft in drafts if draft.id is not None])
    new = [draft for draft in drafts if draft.id not in there]
    held = {id(d) for part in parts if not force and any(map(_holds_key, part)) for d in part}
    kept = dated(live, [draft for draft in new if id(draft) not in held])
    now = memory.clock()
    if not dry_run:
        try:
            memory.append_new(*kept, expected_version=version)
        except WrongExpectedVersion:  # a session is counted once, whoever ends it
            return learned_from(memory, session, dry_run=dry_run, force=force)
        there = live.log.known_ids([draft.id for draft in kept if draft.id is not None])
    at = {id: position for id, (_, position) in there.items()}
    rows = [_row(draft, at.get(draft.id) if draft.id is not None else None) for draft in kept]
    return MemoryLearnData(
        user=memory.user,
        session=str(key),
        dry_run=dry_run,
        learned=rows,
        known=len(drafts) - len(new) + said,
        withheld=len(new) - len(kept),
        expired=sum(is_expired(draft, now, memory.policy) for draft in kept),
    )


def _holds_key(draft: Draft) -> bool:
    return key_in_event(draft.event) is not None


def _row(draft: Draft, position: int | None) -> LearnedRow:
    said = draft.event
    assert isinstance(said, Remembered | ProfileUpdated)
    sources, values = named_sources(said.sources), said.values.value if said.values else {}
    if isinstance(said, ProfileUpdated):
        return LearnedRow(
            name=None,
            kind="profile",
            text="",
            values={f"{said.section}.{name}": value for name, value in values.items()},
            importance=None,
            scored=[],
            is_explicit=said.is_explicit,
            subject="",
            by=said.by,
            sources=sources,
        )
    return LearnedRow(
        name=memory_name(position) if position is not None else None,
        kind=said.kind,
        text=said.text,
        values=values,
        importance=said.importance,
        scored=list(said.scored),
        is_explicit=said.is_explicit,
        subject=said.subject,
        by=said.by,
        sources=sources,
    )


def places_of(data: MemoryLearnData) -> Iterator[str]:
    """The streams that are named in it."""
    yield data.session
    for row in data.learned:
        for source in row.sources:
            yield source
            yield source.rpartition("@")[0]


def learned_note(data: MemoryLearnData, names: Mapping[str, str]) -> str:
    """What is said of it as a whole."""
    verb = "would be learned" if data.dry_run else "learned"
    count = plural(len(data.learned), "thing") if data.learned else "nothing new"
    said = f"{count} {verb} from {place_name(names, data.session)}"
    if data.known:
        said += f"; {data.known:,} {'was' if data.known == 1 else 'were'} known"
    if data.withheld:
        said += f"; {data.withheld:,} left out that look like a key (--force)"
    if data.expired:
        one = data.expired == 1
        said += f"; {data.expired:,} of them {'is' if one else 'are'} expired already, and "
        said += f"{'is' if one else 'are'} forgotten by the next gc: it was said long ago"
    return said

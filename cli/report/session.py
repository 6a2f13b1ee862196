"""One session as the page shows it, out of what the projections say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cli.audits import finding_data
from cli.heads import session_head
from cli.models_log import TimelineRow
from cli.prefixes import prefix_sums
from cli.report.compactions import takings
from cli.report.contexts import Contexts
from cli.report.contributors import contributors
from cli.report.costs import call_costs
from cli.report.integrity import integrity
from cli.report.model import (
    CATEGORIES,
    CallData,
    Category,
    ContextData,
    MaskedData,
    PrefixData,
    RowData,
    SessionData,
    TextsData,
)
from cli.report.texts import Texts
from cli.saying import preview, who
from cli.timeline import timeline
from cli.told import rendered_by
from eventlog import RecordedEvent, StreamKey
from eventlog.happened import iso, moment
from eventlog.messages import SYSTEM_ROLES
from projections import Live, tokens
from projections.audit.auditing import RULES, audited, gathered
from projections.audit.model import Audit, CallRow
from projections.audit.subject import Subject
from projections.items import OBSERVATION, Item
from projections.memory.past import Pasts
from projections.prefix_requests import Part
from projections.prefixes import PrefixRow
from projections.recording import Step
from projections.runs import origin, position_of, standing
from projections.sessions import session_stats

Progress = Callable[[int, int], None]


def category_of(item: Item) -> Category:
    """What the tokens of an item go to."""
    if item.is_summary:
        return "summary"
    if item.kind == "tool_result" or item.role == "tool" or item.label == OBSERVATION:
        return "result"
    if item.role in SYSTEM_ROLES:
        return "system"
    if item.role == "assistant":
        return "assistant"
    return "user" if item.is_human else "injected"


@dataclass
class Reading:
    """A session, read once: what every view of it is made of."""

    live: Live
    key: StreamKey
    subject: Subject
    audit: Audit
    contexts: list[ContextData]
    renditions: list[Item]
    """Every rendition that ever stood or was sent, by row."""
    numbers: Mapping[str, int]
    """The row of each rendition."""
    counts: list[int]
    """Tokens, by row."""
    events: list[TimelineRow]
    """All rows of the log."""


def read(live: Live, key: StreamKey, pasts: Pasts, progress: Progress | None = None) -> Reading:
    """Read a session. Raises StreamNotFound, CriticalUnknown."""
    heard: list[tuple[int, Sequence[Part], int]] = []
    subject = gathered(
        live,
        key,
        tokens.counter(),
        pasts,
        lambda *call: heard.append((call[0], [*call[1]], call[2])),
    )
    known = _renditions(live, subject, (part for _, tail, _ in heard for part in tail))
    categories = {label: category_of(item) for label, (item, _) in known.items()}
    contexts = Contexts(categories.__getitem__)
    for call in heard:
        contexts.hear(*call)
    whole = live.log.version(key)

    def gone_through(position: int) -> None:
        if progress is not None and position % 100 == 0:
            progress(position, whole)

    found = audited(subject, list(RULES), gone_through)
    ordered = sorted(known.values(), key=lambda each: _order(each[0].rendition))
    numbers = {item.rendition: number for number, (item, _) in enumerate(ordered)}
    return Reading(
        live=live,
        key=key,
        subject=subject,
        audit=found,
        contexts=contexts.numbered(numbers),
        renditions=[item for item, _ in ordered],
        numbers=numbers,
        counts=[size for _, size in ordered],
        events=timeline(live, key, at=whole).rows,
    )


def _renditions(live: Live, subject: Subject, sent: Iterable[Part]) -> dict[str, tuple[Item, int]]:
    """Every rendition by its name, with its tokens; ``sent`` are those that calls were given,
    whatever the log says of them now."""
    found: dict[str, tuple[Item, int]] = {}
    for step in subject.recording.seen:
        if not isinstance(step, Step):
            for counted in step.items:
                found.setdefault(counted[0].rendition, counted)
        elif step.item is not None:
            found.setdefault(step.item.rendition, (step.item, step.tokens))
    for label, size in dict(sent).items():
        if label not in found:
            made = live.materialize(subject.recording.key, [standing(label)])
            found[label] = (made[0] if made else _absent(label)), size
    return found


def _absent(label: str) -> Item:
    return Item(
        id=label.partition("@")[0],
        rendition=label,
        kind="message",
        dialect="openai_chat",
        role="user",
        message={"role": "user", "content": ""},
        label="not in the log",
    )


def _order(label: str) -> tuple[int, int, str]:
    name, _, rendition = label.partition("@")
    at = position_of(origin(name))
    return (int(rendition) if rendition.isdigit() else at), at, label


def session_data(read: Reading, texts: Texts, name: str) -> SessionData:
    """A session as the page shows it; its long texts are put into the table, which is packed
    later."""
    live, key, info = read.live, read.key, read.live.log.stream(read.key)
    stats = session_stats(live, key)
    rows, calls = _rows(read, texts), read.subject.prefixes
    counting = read.subject.counting
    costs, cost = call_costs(read.subject.recording)
    return SessionData(
        key=str(key),
        name=name,
        title=stats.title,
        facts=stats.model_dump(mode="json"),
        categories=list(CATEGORIES),
        counter=counting.name,
        base=info.base or 0,
        parent=str(info.parent) if info.parent is not None else "",
        version=live.log.version(key),
        head=session_head(live.log, key).head,
        rows=rows,
        calls=_calls(read, costs),
        cost=cost,
        events=[row for row in read.events if not _is_item(row)],
        findings=[
            finding_data(each, str(key), name)
            for each in read.audit.findings
            if not each.position or each.position > (info.base or 0)  # the rest is its parent's
        ],
        coverage=read.audit.coverage,
        compactions=takings(read),
        integrity=integrity(read),
        prefix=prefix_sums(calls, key, counting.name) if calls else None,
        contributors=contributors(read, rows, texts),
        texts=TextsData(),
        masked=MaskedData(is_on=False),
    )


def _is_item(row: TimelineRow) -> bool:
    return row.type in ("message_appended", "tool_result_recorded") or "." in row.ref


def _rows(read: Reading, texts: Texts) -> list[RowData]:
    told = {row.ref: row for row in read.events}
    prompts = rendered_by(read.live, read.key)
    times: dict[int, str] = {}
    found = []
    for item, size in zip(read.renditions, read.counts, strict=True):
        row = told.get(item.id)
        original = read.numbers.get(item.id) if item.rendition != item.id else None
        position = _order(item.rendition)[0]
        at = row.happened_at if row is not None else ""
        if original is not None:
            at = times.get(position) or _time(read, position)
            times[position] = at
        found.append(
            RowData(
                r=item.rendition,
                original=original,
                position=position,
                at=at,
                who=row.who if row is not None and row.who else who(item),
                category=category_of(item),
                form=item.form,
                tokens=size,
                preview=preview(item),
                parts=[(p.kind, p.name, texts.put(p.text), p.is_error) for p in item.parts],
                call=row.call if row is not None and original is None else None,
                label=item.label,
                prompt=prompts.get(item.rendition, ""),
                is_error=item.is_error,
                pinned=row.pinned if row is not None else False,
                erased=item.form == "redacted",
                agents=row.started if row is not None and original is None else [],
            )
        )
    return found


def _time(read: Reading, position: int) -> str:
    event: RecordedEvent | None = read.live.log.at(read.key, [position]).get(position)
    return iso(moment(event.occurred_at, event.recorded_at)) if event is not None else ""


def _calls(read: Reading, costs: Sequence[float | None]) -> list[CallData]:
    events = {
        event.position: iso(moment(event.occurred_at, event.recorded_at))
        for event in read.live.log.read(read.key, types=["model_called"])
    }
    rows = {row.position: row for row in read.audit.calls}
    return [
        _call(rows[prefix.position], prefix, context, cost, events.get(prefix.position, ""))
        for prefix, context, cost in zip(read.subject.prefixes, read.contexts, costs, strict=True)
    ]


def _call(
    row: CallRow, prefix: PrefixRow, context: ContextData, cost: float | None, at: str
) -> CallData:
    return CallData(
        position=row.position,
        at=at,
        model=row.model,
        kind=prefix.kind,
        context=context,
        verdict=row.verdict,
        detail=row.detail,
        outcome=row.outcome,
        error=row.error,
        billed=prefix.billed,
        cost=cost,
        came=row.came_count,
        came_tokens=row.came_tokens,
        moves=list(row.moves),
        prefix=PrefixData(
            against=prefix.against,
            seconds=prefix.seconds,
            reusable=prefix.reusable,
            rewritten=prefix.rewritten,
            lost=prefix.lost,
            cause=prefix.cause,
            by=[decided.name for decided in prefix.by],
            break_at=prefix.break_at,
            now_at=prefix.now_at,
            held=prefix.held,
            missed=prefix.missed,
            contradicts=prefix.contradicts,
        ),
        memories=list(row.memories),
    )

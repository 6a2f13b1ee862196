"""What a session amounts to, as figures: what ``stats`` and ``sessions --json`` give."""

from __future__ import annotations

from pydantic import BaseModel

from eventlog.happened import iso
from projections.session_state import Provenance, SessionState
from projections.source_counts import SourceCounts
from projections.usage import UsageTotals

Source = SourceCounts | None
"""Of an import: the file counted as its format counts."""


class SessionStats(BaseModel):
    """What a session amounts to: its own events only, when it is a fork."""

    key: str
    parent: str | None
    """The session that it was forked from."""
    parent_session: str | None
    """The session that started it, of a sub-agent; of an agent's own copy, the one it is of."""
    file: str
    """Of an import: the file that it came from, as it was called then."""
    title: str
    happened_at: str
    """When it last went on, by its own clock where that can be read. Notes do not move it."""
    is_clocked: bool
    """``happened_at`` is a time of that session, not merely when it was imported. What was recorded
    as it happened always has one, the log's own."""
    is_deleted: bool
    """It is behind a tombstone."""
    provenance: Provenance | None
    """How well the contexts of its calls are known: the weakest verdict; none without a call."""
    events: int
    items: int
    """Items that ever entered the context: messages, results, summaries."""
    erased_items: int
    """Those whose text was erased since."""
    human_messages: int
    answers: int
    calls: int
    tool_calls: int
    tool_results: int
    orphan_tool_results: int
    """Results without a call of that id before them."""
    unanswered_tool_calls: int
    compactions: int
    placeholders: int
    """Substitutions, one for each item cut, cleared or deduplicated."""
    tasks: int
    """Of its list of tasks."""
    open_tasks: int
    """Those of them that are neither done nor dropped."""
    summary_length: int
    """Characters of the summaries that stand in its context."""
    unrecognized: int
    """Records of an imported file that its importer does not know, or that cannot be read."""
    usage: UsageTotals | None
    """As the provider counted; none where no answer has its count."""
    billed_answers: int
    """The answers whose provider counted anything."""
    usage_answers: dict[str, int]
    """By figure of ``usage``, the answers that it sums: those whose provider told it."""
    output_is_partial: bool
    """The format keeps a part of the output tokens only: those of ``usage`` are a lower bound."""
    source: SourceCounts | None = None
    """Of an import: the same file counted as its format counts."""


def stats_of(state: SessionState, source: SourceCounts | None = None) -> SessionStats:
    """The statistics that a state holds."""
    shared = {name: getattr(state, name) for name in _SHARED}
    return SessionStats(
        **shared,
        parent=state.parent if state.is_fork else None,
        parent_session=None if state.is_fork else state.parent,
        happened_at=iso(state.updated),
        is_clocked=state.is_clocked or not state.format,
        is_deleted=state.deleted,
        unanswered_tool_calls=sum(state.open_calls.values()),
        output_is_partial=state.format in _PARTIAL_OUTPUT,
        source=source,
    )


_COMPUTED = frozenset(
    {
        "parent",
        "parent_session",
        "happened_at",
        "is_clocked",
        "is_deleted",
        "unanswered_tool_calls",
        "output_is_partial",
        "source",
    }
)
_SHARED = [name for name in SessionStats.model_fields if name not in _COMPUTED]

_PARTIAL_OUTPUT = frozenset({"claude-code"})
"""Formats that write usage while an answer streams, in some versions never the final count."""

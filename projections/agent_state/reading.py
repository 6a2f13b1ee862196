"""The state of an agent, read from a log.

A fold reads the events that a state is made of and no others: with a table of positions and types
it costs little to pass over the messages. Whoever goes on with a session keeps a ``FollowedState``,
which reads what is new.
"""

from __future__ import annotations

from eventlog.errors import CriticalUnknown, PositionNotFound
from eventlog.recorded import StreamKey
from projections.agent_state.folding import ANSWERS, READ, FileLimits, StateFolding, initial
from projections.agent_state.state import AgentState
from projections.context import is_known
from projections.live import Live


def agent_state(
    live: Live, stream: StreamKey | str, at: int | None = None, limits: FileLimits | None = None
) -> AgentState:
    """The state after position ``at``, or now.

    Raises StreamNotFound, PositionNotFound, CriticalUnknown, EventInvalid.
    """
    return FollowedState(live, stream, limits).at(at)


class FollowedState:
    """The state of one session, moved on by what was appended since it was last asked for."""

    def __init__(
        self, live: Live, stream: StreamKey | str, limits: FileLimits | None = None
    ) -> None:
        self._live = live
        self.key = live.log.stream(stream).key
        self._limits = limits
        self._folding = initial(limits)
        self._erased = self._redactions()

    def current(self) -> AgentState:
        """The state now, with its context. Raises CriticalUnknown, EventInvalid."""
        return self.at()

    def own(self) -> AgentState:
        """The state now without a context, for what costs only what is new.

        ``started_calls`` are all that no result answers. Raises as ``current``.
        """
        return self._moved(self._live.log.version(self.key)).state

    def at(self, position: int | None = None) -> AgentState:
        """The state after a position, or now; going back folds anew. Raises PositionNotFound."""
        version = self._live.log.version(self.key)
        to = version if position is None else position
        if not 0 <= to <= version:
            raise PositionNotFound(str(self.key), f"position {to}", f"it ends at {version}")
        state = self._moved(to).state
        items = self._live.items(self.key) if to == version else None
        if items is None or self._live.log.version(self.key) != to:
            items = self._live.items(self.key, to)
        return state.with_context(items)

    def _moved(self, to: int) -> StateFolding:
        log, folding, erased = self._live.log, self._folding, self._redactions()
        if to < folding.position or erased != self._erased:
            # A redaction, also one of a parent's events, changes what earlier events say.
            folding, self._erased = initial(self._limits), erased
        headers = log.headers(self.key, folding.position, to)
        for header in headers:
            if header.critical and not is_known(header.type, header.schema_version):
                raise CriticalUnknown(str(self.key), header.position, header.type)
        kinds = {header.type for header in headers}
        read = READ & kinds
        if not folding.has_started and "tool_call_started" not in kinds:
            read -= ANSWERS
        self._folding = initial(self._limits)  # where an event cannot be read, all is read again
        for event in log.read(self.key, folding.position, to, types=read) if read else ():
            folding.evolve(event)
        folding.position, folding.session_id = to, self.key.session
        self._folding = folding
        return folding

    def _redactions(self) -> int:
        row = self._live.log.query("select coalesce(max(by_sequence), 0) from redactions")
        return int(row.fetchone()[0])

"""One session that this process goes on with: its stream, its strategy and its agent's state, which
are folds of the log and kept in step with it.

Whatever fails or is interrupted in between, the log says what holds: then they begin anew.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence

from eventlog.errors import CtxlogError
from eventlog.events import (
    DecisionUndone,
    Event,
    ItemPinned,
    ItemUnpinned,
    MessageAppended,
    MiddlewareStateSet,
    SessionRewound,
    Source,
)
from eventlog.jsonvalue import Json
from eventlog.messages import Call
from eventlog.recorded import StreamKey
from harness.conversation.charge import Charge
from harness.conversation.left_open import is_waiting, open_calls
from harness.conversation.own_stream import OwnStream
from harness.conversation.translating import check_undoable, translated
from harness.system_prompts import prompted
from projections import Live
from projections.agent_state import AgentState, initial
from projections.context import ITEM_TYPES
from projections.items import Item
from projections.legality import sendable
from projections.prompts.template import Rendered
from projections.strategies.base import Strategy
from projections.strategies.spec import parse
from projections.tokens import counter
from projections.written import Summarize


class OwnSession:
    """A session that stands in the log, as this process knows it."""

    def __init__(
        self,
        live: Live,
        key: StreamKey,
        strategy: str | Sequence[Strategy],
        summarize: Summarize | None,
    ) -> None:
        self.live, self.key = live, key
        self.stream = OwnStream(live, key)
        self.charge = Charge(live, key, _parsed(strategy), counter(), summarize)
        self._state, self._is_sure = initial(), True
        self.under_way: Callable[[], Generator[object, None, None] | None] = lambda: None
        """The reply that was begun last, as long as somebody reads it."""
        self.caught_up()

    # -- the context ----------------------------------------------------------------------------

    @property
    def state(self) -> AgentState:
        """The agent's state, without its context: ``items`` is that."""
        return self._state.state

    @property
    def version(self) -> int:
        """The position up to which this conversation has seen its session."""
        return self.stream.version

    @property
    def tokens(self) -> int:
        """Of the context, as the strategy counts."""
        return self.charge.tokens

    def items(self) -> list[Item]:
        """The context as it stands, not repaired."""
        return self.charge.items()

    def refresh(self) -> int:
        """Read what other processes appended; how many events that were."""
        before = self.stream.version
        self.recover()
        return self.stream.version - before

    def pin(self, item: str, reason: str = "") -> None:
        """No strategy may touch the item from here on."""
        self._noted(ItemPinned(item=item, reason=reason))

    def unpin(self, item: str) -> None:
        """Strategies may touch it again."""
        self._noted(ItemUnpinned(item=item))

    def undo(self, target: int, reason: str = "") -> None:
        """The context is as if the decision at that position had not been taken.

        Raises InputRefused for the translation of another dialect.
        """
        event = self.live.log.at(self.key, [target]).get(target)
        if event is not None:
            check_undoable(event)
        self._noted(DecisionUndone(target=target, reason=reason))

    def rewind(self, to: int, reason: str = "") -> None:
        """The context is again as it was after that position."""
        self._noted(SessionRewound(to=to, reason=reason))

    def prompt(self, system: str | Rendered) -> None:
        """Another system prompt from here on."""
        with self.writing():
            events = prompted(self.live, self.key, system, self.version + 1)
            if events:
                self.append(*events)

    def keep(self, name: str, state: Json | None) -> None:
        """What a middleware keeps in the session from here on; nothing: it keeps nothing."""
        self._noted(MiddlewareStateSet(name=name, state=state))

    def use(self, strategy: str | Sequence[Strategy]) -> None:
        """Another strategy decides from here on."""
        self.charge.strategies = _parsed(strategy)
        self.recover()

    # -- what a reply needs ---------------------------------------------------------------------

    def append(self, *events: Event) -> int:
        """Append what was decided or has happened; the position of the first."""
        first = self.stream.append(*events)
        self.caught_up()
        return first

    def caught_up(self) -> None:
        """Take in what was appended, by whom so ever."""
        self._is_sure = False
        events = self.stream.since(self._state.position)
        self.charge.told(events)
        if any(event.type == "redacted" for event in events):
            self._state = initial()
            events = self.stream.since(0)
        for event in events:
            self._state.evolve(event)
        self._is_sure = True

    @property
    def is_sure(self) -> bool:
        """Whether all that is known here is what stands in the log: an interruption may have struck
        behind an append, and before it was taken in."""
        return self._is_sure and self.charge.is_sure and self.stream.is_sure

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """What is decided in here is appended, or forgotten: the log says what holds."""
        if not self.is_sure:
            self.recover()
        try:
            yield
        except BaseException:
            self._is_sure = False
            with contextlib.suppress(CtxlogError):  # the next to write tries again
                self.recover()
            raise

    def recover(self) -> None:
        """Begin anew from what the log holds."""
        self._state, self._is_sure = initial(), False
        self.stream.refresh()
        self.charge.anew()
        self.caught_up()

    def settle(self) -> None:
        """Record what has to be repaired before the context can be sent.

        Raises NoContext where there is nothing to send.
        """
        if not sendable(self.charge.items()).repairs:
            return
        # Those of the log name their renditions: what is renamed has to stay cut, or cleared.
        repairs = [each.event() for each in sendable(self.live.items(self.key)).repairs]
        # What ran here was recorded when it ended, so nothing is waited for: a later call may have
        # the same id, and its result is not that of this one.
        events = [e.model_copy(update={"call_ids": ()}) for e in repairs if e is not None]
        if events:
            self.append(*events)

    def injected(self, text: str, label: str, source: Source = "injected") -> MessageAppended:
        """A message of a program."""
        message = Json({"role": "user", "content": text})
        return MessageAppended(dialect="openai_chat", source=source, label=label, message=message)

    def open_calls(self) -> list[Call]:
        """The calls of tools that wait for their results, behind the last human message."""
        return open_calls(self.charge.items())

    def was_started(self, call: Call) -> bool:
        """Whether the call began to run, and nobody saw it end."""
        return any(each.tool_call_id == call.id for each in self.state.started_calls)

    def is_waiting(self) -> bool:
        """Whether the model has the next word: the last reply did not come to its end."""
        return is_waiting(self.charge.items())

    def last_answer(self) -> str:
        """The text of the newest answer that stands; empty where there is none."""
        said = [item for item in self.charge.items() if item.source == "model"]
        return said[-1].text if said and not said[-1].call_ids else ""

    def translate(self) -> int:
        """Have what is of another dialect come in again, in OpenAI's chat; how many items."""
        if all(item.dialect == "openai_chat" for item in self.charge.items()):
            return 0
        with self.writing():
            events = translated(self.live, self.key, self.version + 1)
            if events:
                self.append(*events)
            return sum(event.type in ITEM_TYPES for event in events)

    def _noted(self, event: Event) -> None:
        with self.writing():
            self.append(event)


def _parsed(strategy: str | Sequence[Strategy]) -> tuple[Strategy, ...]:
    return parse(strategy) if isinstance(strategy, str) else tuple(strategy)

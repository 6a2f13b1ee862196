"""What a session was gone on with last: its model and its strategy, from its last call.

The address is never taken from there: a log that somebody else made would say where a session is
sent. Nor is a file: a strategy of one is run only where it is typed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cli.chat.asked import Asked
from cli.endpoints import own_model
from cli.naming import session_key
from cli.strategies import spec_of
from eventlog.errors import InputRefused, StreamNotFound
from eventlog.recorded import RecordedEvent, StreamKey
from harness.conversation.conversation import STRATEGY
from projections import Live
from projections.ownership import is_observed
from projections.strategies.spec import parse

MOST = 1_000
"""Characters of a name, or of a spec: a log may hold anything."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What was taken from a session, and what is said about it."""

    model: str = ""
    """The model that is asked as before; empty where somebody named one, or none is known."""
    instead_of: str = ""
    """The other one that the environment or the config names."""
    strategy: str = ""
    """The strategy that decides as before, where it is not the usual one."""
    fault: str = ""
    """Why the strategy that was in charge is not."""

    def about_model(self) -> str:
        """``as before``, and instead of which other one."""
        if not self.model:
            return ""
        return f"as before, not {self.instead_of}" if self.instead_of else "as before"

    def notes(self) -> Iterator[str]:
        """What is told where nobody is greeted: only what may surprise."""
        if self.instead_of:
            yield f"{self.model} answers, {self.about_model()} (--model names another)"
        if self.strategy:
            yield f"the strategy as before: {self.strategy}"
        if self.fault:
            yield self.fault


def as_before(live: Live, asked: Asked) -> tuple[Asked, Remembered]:
    """What was asked for, with what the session used last where nobody named it.

    Raises Ambiguous, and InputRefused for a config that cannot be read.
    """
    if asked.session is None or (asked.model is not None and asked.strategy is not None):
        return asked, Remembered()
    try:
        call = _last_call(live, session_key(live, asked.session))
    except StreamNotFound:
        return asked, Remembered()
    if call is None:
        return asked, Remembered()
    found = Remembered()
    model, strategy = (str(call.data.get(name) or "").strip() for name in ("model", "strategy"))
    if asked.model is None and 0 < len(model) <= MOST:
        asked = replace(asked, model=model)
        other = own_model()
        found = replace(found, model=model, instead_of=other if other != model else "")
    if asked.strategy is None and strategy and not call.erased:
        try:
            if len(strategy) > MOST:
                raise InputRefused("it is too long")
            spec = spec_of(parse(strategy))
        except InputRefused:
            fault = (
                f"its strategy was {strategy[:80]}, which --strategy has to name; the usual one is"
            )
            return asked, replace(found, fault=f"{fault} in charge")
        if spec != spec_of(parse(STRATEGY)):
            asked = replace(asked, strategy=spec)
            found = replace(found, strategy=spec)
    return asked, found


def _last_call(live: Live, key: StreamKey) -> RecordedEvent | None:
    """The last call that was answered, else the last one: a name that no model has is no habit.

    Of a fork the calls of its parent count too; what another program called does not.
    """
    at: StreamKey | None = key
    to: int | None = None
    while at is not None and not is_observed(live.log, at):
        info = live.log.stream(at)
        types = ["model_called", "model_responded"]
        calls: dict[int, RecordedEvent] = {}
        answered: RecordedEvent | None = None
        for event in live.log.read(at, info.base, to, types=types):
            if event.type == "model_called":
                if event.data.get("dialect") == "openai_chat":
                    calls[event.position] = event
            elif (call := event.data.get("call")) in calls:
                answered = calls[call]
        if calls:
            return answered or calls[max(calls)]
        at, to = info.parent, info.base
    return None

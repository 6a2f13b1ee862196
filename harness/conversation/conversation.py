"""A conversation with a model that keeps its own context in order.

    with Conversation("agent.db", OpenAI(), "gpt-x", session="monday") as conversation:
        print(conversation.ask("What does this repository do?"))

A human message comes in, the strategy decides at each moment, the context is sent, tools run, and
each step is in the log before the next begins. So a process may end anywhere: ``go_on`` finishes
what was under way, and a tool whose effects nobody saw is not run again without asking.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel

from eventlog.agent import PermissionMode
from eventlog.errors import CtxlogError
from eventlog.events import (
    DecisionUndone,
    Event,
    ItemPinned,
    ItemUnpinned,
    MessageAppended,
    MiddlewareStateSet,
    PermissionsSet,
    SessionRewound,
    Source,
)
from eventlog.jsonvalue import Json
from eventlog.messages import Call
from eventlog.outputs import Outputs
from eventlog.recorded import StreamKey
from harness.conversation.beginning import Parent, begin, key_of
from harness.conversation.charge import Charge
from harness.conversation.client import own_client
from harness.conversation.happenings import Answered, Ended, Happening
from harness.conversation.left_open import is_waiting, open_calls, repairs
from harness.conversation.own_stream import OwnStream
from harness.conversation.reply import Reply
from harness.conversation.sending import Sending
from harness.conversation.sub_agents import SubAgent
from harness.endpoint import Endpoint
from harness.errors import ReplyFailed, UpstreamFault
from harness.summarizers import EndpointSummarizer, KeptSummarizer
from harness.system_prompts import prompted
from harness.titles import Retitled, is_due, retitle
from harness.tools.permissions import Judgement
from harness.tools.tool import Tool, tool
from harness.tools.toolbox import Toolbox
from projections import Live, open_log
from projections.agent_state import AgentState, initial
from projections.items import Item
from projections.prompts.template import Rendered
from projections.sessions import keep_up
from projections.strategies.base import Strategy
from projections.strategies.spec import parse
from projections.tokens import counter
from projections.written import Summarize

if TYPE_CHECKING:
    from openai import OpenAI

STRATEGY = "cut:limit=16000 | clear:keep=5,trigger=24000 | compact:trigger_tokens=48000"
"""Results are cut as they come in, old ones cleared, old turns summarised. With the numbers of the
strategies' own a summary would be written at every turn behind the third."""

MOST_CALLS = 50
"""Calls of the model for one reply."""

Approve = Callable[[Tool, Mapping[str, Any], Judgement], bool]
"""Asked whether a tool call may run: the tool, its arguments, and why it is asked."""


Happenings = Generator[Happening, None, None]
"""What happens, as it happens; whoever stops reading interrupts it."""


class Conversation:
    """One session that this process goes on with.

    ``log`` is a path or an open log. ``session`` is a name, a key, or nothing for a new one.
    ``strategy`` is a spec or strategies; ``summarize`` what writes summaries, else the model itself
    does. ``approve`` is asked about tools that the permissions do not decide; without it they are
    denied. ``permissions`` hold from here on; a new session has those that ask where there is
    ``approve``, else those that allow the tools that it is given. ``groups`` of tools are active
    from here on; of a new session all. ``system`` is the system prompt: of a session that has
    another one it is revised, and of a rendered template the log says which one it was. A context
    of more tokens than fit into the model's ``window`` is brought down before it is sent, whatever
    the strategy does. With ``retitle`` the model is asked for a title when six human turns were
    answered, unless somebody gave one. ``parent`` is who started a sub-agent's session.

    The same session with another model, other tools or another prompt goes on with its history.

    Raises InputRefused for a session that another program writes (fork it first), for an unknown
    strategy and for a client that is not ``openai.OpenAI``, and what opening a log raises.
    """

    def __init__(
        self,
        log: Live | str | os.PathLike[str],
        client: OpenAI,
        model: str,
        *,
        session: StreamKey | str | None = None,
        system: str | Rendered | None = None,
        strategy: str | Sequence[Strategy] = STRATEGY,
        tools: Toolbox | Iterable[Tool | SubAgent | Callable[..., object]] = (),
        summarize: Summarize | None = None,
        approve: Approve | None = None,
        permissions: PermissionsSet | None = None,
        groups: Sequence[str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        window: int | None = None,
        most_calls: int = MOST_CALLS,
        retitle: bool = False,
        parent: Parent | None = None,
    ) -> None:
        self._is_ours = not isinstance(log, Live)
        self.live = log if isinstance(log, Live) else open_log(log)
        try:
            self.key = key_of(session)
            self.model = model
            self.parameters = dict(parameters or {})
            self.window = window
            self.most_calls = most_calls
            self.retitles = retitle
            self.tools = tools if isinstance(tools, Toolbox) else Toolbox(map(self._tool, tools))
            self.approve = approve
            mode: PermissionMode = "allow" if approve is None else "ask"
            begin(
                self.live,
                self.key,
                system=system,
                permissions=permissions,
                default=PermissionsSet(mode=mode),
                groups=groups,
                every_group=self.tools.groups,
                parent=parent,
            )
            self.stream = OwnStream(self.live, self.key)
            self.sending = Sending(self.stream)
            self.given_client = client
            self.client = own_client(client, self.sending)
            if summarize is None:
                writer = EndpointSummarizer(Endpoint(client, model), counting=counter())
                summarize = KeptSummarizer(writer, Outputs(self.live.log), self.key).summarize
            strategies = parse(strategy) if isinstance(strategy, str) else tuple(strategy)
            self.charge = Charge(self.live, self.key, strategies, counter(), summarize)
            self._state, self._is_sure = initial(), True
            self.caught_up()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the log, where it was opened here. Nothing has to be saved."""
        if self._is_ours:
            with contextlib.suppress(CtxlogError):  # the next list of sessions is slower then
                keep_up(self.live)
            self.live.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- what a person says ---------------------------------------------------------------------

    def say(
        self,
        content: str | Sequence[Mapping[str, Any]],
        *,
        source: Source = "human",
        label: str = "",
        output: type[BaseModel] | None = None,
    ) -> Happenings:
        """Say something, and follow the reply as it happens: it goes on as this is read.

        ``content`` is a text, or parts as OpenAI's chat takes them. What a program says has another
        ``source`` and a ``label``. With ``output`` the answer has to be JSON of that model.

        Raises WrongExpectedVersion where another process went on with the session (``refresh``,
        look, and say it again), IntegrityFault, and what an append raises. Of the model's failures
        nothing is raised: the reply then ends as ``failed``.
        """
        value = content if isinstance(content, str) else [dict(part) for part in content]
        message = MessageAppended(
            dialect="openai_chat",
            source=source,
            label=label,
            message=Json({"role": "user", "content": value}),
        )
        return Reply(self, output).begin(message)

    def ask(self, content: str, **settings: Any) -> str:
        """The same, and wait for the answer. Raises ReplyFailed too."""
        return self._answer(self.say(content, **settings))

    def go_on(self) -> Happenings:
        """Finish a reply that its process did not: run what tools wait, and ask the model.

        There is nothing to finish where the last word is the model's.
        """
        if not self.is_waiting():
            return _nothing()
        return Reply(self, reply_id=self.state.reply.reply_id).go_on()

    def retitle(self) -> Retitled:
        """Ask the model for a title of the session. Raises InputRefused where nothing was said yet,
        Unreachable, RequestRejected."""
        with self.writing():
            found = retitle(self.live, self.key, Endpoint(self.given_client, self.model))
            self.refresh()
            return found

    def inject(self, text: str, label: str, source: Source = "injected") -> int:
        """Put a message of a program into the context; the position of its item."""
        with self.writing():
            event = self.injected(text, label, source)
            events = self.charge.coming(event)
            return self.append(*events) + events.index(event)

    def _answer(self, happenings: Happenings) -> str:
        text = ""
        for each in happenings:
            if isinstance(each, Answered):
                text = each.text
            elif isinstance(each, Ended) and each.outcome != "answered":
                raise ReplyFailed(each.outcome, each.detail)
        return text

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
        """The context is as if the decision at that position had not been taken."""
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
        strategies = parse(strategy) if isinstance(strategy, str) else tuple(strategy)
        self.charge.strategies = strategies
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
        if events := repairs(self.live, self.key, self.charge.items()):
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

    def title_if_due(self) -> None:
        """Ask for a title where that was wanted, and it is time. A model that gives none, or cannot
        be asked, is asked again after the next reply."""
        if self.retitles and is_due(self.live, self.key):
            with contextlib.suppress(UpstreamFault):
                self.retitle()

    def _tool(self, given: Tool | SubAgent | Callable[..., object]) -> Tool:
        if isinstance(given, SubAgent):
            return given.tool_of(self)
        return given if isinstance(given, Tool) else tool(given)

    def _noted(self, event: Event) -> None:
        with self.writing():
            self.append(event)


def _nothing() -> Happenings:
    yield from ()

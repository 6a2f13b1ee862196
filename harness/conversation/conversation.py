"""A conversation with a model that keeps its own context in order.

    with Conversation("agent.db", OpenAI(), "gpt-x", session="monday") as conversation:
        print(conversation.ask("What does this repository do?"))

A human message comes in, the strategy decides at each moment, the context is sent, tools run, and
each step is in the log before the next begins. So a process may end anywhere: ``go_on`` finishes
what was under way, and a tool whose effects nobody saw is not run again without asking.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel

from eventlog.agent import PermissionMode
from eventlog.errors import CtxlogError
from eventlog.events import (
    MessageAppended,
    PermissionsSet,
    Source,
)
from eventlog.jsonvalue import Json
from eventlog.outputs import Outputs
from eventlog.recorded import StreamKey
from harness.conversation.beginning import Parent, begin, key_of
from harness.conversation.client import own_client
from harness.conversation.happenings import Answered, Ended, Happening, MemoriesShown, NotRemembered
from harness.conversation.own_session import OwnSession
from harness.conversation.remembering import MemorySettings, Remembering, Shown
from harness.conversation.reply import Reply
from harness.conversation.sending import Sending
from harness.conversation.sub_agents import SubAgent
from harness.conversation.summarised_memories import with_memories_as_they_are
from harness.conversation.whose_memory import check_memory
from harness.endpoint import Endpoint
from harness.errors import ReplyFailed, UpstreamFault
from harness.summarizers import EndpointSummarizer, KeptSummarizer
from harness.titles import Retitled, is_due, retitle
from harness.tools.permissions import Judgement
from harness.tools.tool import Tool, tool
from harness.tools.toolbox import Toolbox
from projections import Live, open_log
from projections.prompts.template import Rendered
from projections.sessions import keep_up
from projections.strategies.base import Strategy
from projections.tokens import counter
from projections.written import Summarize

if TYPE_CHECKING:
    from openai import OpenAI

    from harness.memory.user_memory import UserMemory

STRATEGY = "cut:limit=16000 | clear:keep=5,trigger=24000 | compact:trigger_tokens=48000"
"""Results are cut as they come in, old ones cleared, old turns summarised. With the numbers of the
strategies' own a summary would be written at every turn behind the third."""

MOST_CALLS = 50
"""Calls of the model for one reply."""

Approve = Callable[[Tool, Mapping[str, Any], Judgement], bool]
"""Asked whether a tool call may run: the tool, its arguments, and why it is asked."""


Output = TypeVar("Output", bound=BaseModel)

Happenings = Generator[Happening, None, None]
"""What happens, as it happens; whoever stops reading interrupts it."""


class NotLearned(UserWarning):
    """Something of a session could not be learned when it was closed."""


class Conversation(OwnSession):
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
    answered, unless somebody gave one. ``parent`` is who started a sub-agent's session. ``memory``
    is what it knows from earlier sessions, and remembers for later ones, as ``remembering`` says.

    The same session with another model, other tools or another prompt goes on with its history.

    Raises InputRefused for a session that another program writes (fork it first), for an unknown
    strategy, for a client that is not ``openai.OpenAI`` and for a memory of another log or of
    another person than the session's, and what opening a log raises.
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
        permissions: PermissionsSet | PermissionMode | None = None,
        groups: Sequence[str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        window: int | None = None,
        most_calls: int = MOST_CALLS,
        retitle: bool = False,
        parent: Parent | None = None,
        memory: UserMemory | None = None,
        remembering: MemorySettings | None = None,
    ) -> None:
        self._is_ours = not isinstance(log, Live)
        self._is_begun = False
        self.live = log if isinstance(log, Live) else open_log(log)
        try:
            self.key = key_of(session)
            check_memory(self.live, self.key, memory)
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
                permissions=PermissionsSet(mode=permissions)
                if isinstance(permissions, str)
                else permissions,
                default=PermissionsSet(mode=mode),
                groups=groups,
                every_group=self.tools.groups,
                parent=parent,
            )
            if summarize is None:
                writer = EndpointSummarizer(Endpoint(client, model), counting=counter())
                summarize = KeptSummarizer(writer, Outputs(self.live.log), self.key).summarize
            owner = str(memory.key) if memory is not None else ""
            given = with_memories_as_they_are(self.live, self.key, summarize, owner)
            super().__init__(self.live, self.key, strategy, given)
            self.remembering = Remembering(self, memory, remembering)
            self.sending = Sending(self.stream)
            self.given_client = client
            self.client = own_client(client, self.sending)
            self.translated = self.translate()
            """Items of another dialect that came in again, in the one that is asked."""
            self._is_begun = True
        except BaseException:
            self.close()
            raise

    def end(self) -> list[Happening]:
        """The session has ended for now: what is left of it is remembered, with a summary. There is
        nothing where nothing was said since it was last. It may be gone on with all the same.

        A failure to learn is one of what happened, and raises nothing.
        """
        return list(self.remembering.end())

    def close(self) -> None:
        """End it, and close the log, where it was opened here. Nothing has to be saved.

        What could not be learned is a NotLearned warning: it is learned when the session is gone on
        with.
        """
        try:
            if self._is_begun:
                self._warned(self.end())
        finally:
            if self._is_ours:
                with contextlib.suppress(CtxlogError):  # the next list of sessions is slower then
                    keep_up(self.live)
                self.live.close()

    @staticmethod
    def _warned(happened: Iterable[Happening]) -> None:
        for each in happened:
            if isinstance(each, NotRemembered):
                warnings.warn(f"not remembered: {each.error}", NotLearned, stacklevel=3)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def tokens(self) -> int:
        """Of the context and of the definitions of tools, as the strategy counts."""
        return self.charge.tokens + self.tool_tokens

    @property
    def tool_tokens(self) -> int:
        """Of the definitions of the tools that are active."""
        tools = self.tools.definitions(self.state.tools.groups)
        return counter().count(json.dumps(tools, ensure_ascii=False)) if tools else 0

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

    def ask_for(self, content: str, output: type[Output], **settings: Any) -> Output:
        """The same, and wait for an answer of that model. Raises ReplyFailed too."""
        self.ask(content, output=output, **settings)
        value = self.state.reply.output_value
        return output.model_validate(None if value is None else value.value)

    def go_on(self, output: type[BaseModel] | None = None) -> Happenings:
        """Finish a reply that its process did not: run what tools wait, and ask the model.

        There is nothing to finish where the last word is the model's. ``output``: what the answer
        has to be, once more; a session that is taken up again is held to no schema of before.
        """
        if not self.is_waiting():
            return _nothing()
        return Reply(self, output, reply_id=self.state.reply.reply_id).go_on()

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

    def recall(self, query: str, top: int = 5) -> MemoriesShown:
        """Put memories that are related to something into the context, but those that stand there
        already; what came in.

        Raises InputRefused where there is no memory, or nothing is asked for, and what an append
        raises.
        """
        with self.writing():
            return self._show(self.remembering.more(query, top))

    def show(self, *memories: int) -> MemoriesShown:
        """The same for memories that are named. Raises MemoryNotFound too."""
        with self.writing():
            return self._show(self.remembering.these(memories))

    def renew(self) -> list[Happening]:
        """Take out of the context what was forgotten, and say anew what was revised: now, and not
        before the next call, which would do so."""
        with self.writing():
            return list(self.remembering.renewed())

    def _show(self, shown: Shown | None) -> MemoriesShown:
        if shown is None or not shown.made.text:
            return self.remembering.happened(shown, 0) if shown is not None else MemoriesShown(0)
        events = self.charge.coming(shown.message)
        at = self.version + 1 + events.index(shown.message)
        self.append(*events, self.remembering.told(shown, at, 0))
        return self.remembering.happened(shown, at)

    def _answer(self, happenings: Happenings) -> str:
        text = ""
        for each in happenings:
            if isinstance(each, Answered):
                text = each.text
            elif isinstance(each, Ended) and each.outcome != "answered":
                raise ReplyFailed(each.outcome, each.detail)
        return text

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


def _nothing() -> Happenings:
    yield from ()

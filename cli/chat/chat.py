"""A chat: one conversation, who reads it, and who types into it.

Whatever interrupts it, the log is left so that the session resumes: what is under way is closed
first, and a text that was typed and not recorded stands in the input line again.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from cli.chat.asked import Asked
from cli.chat.elsewhere import events_elsewhere
from cli.chat.lines import Lines
from cli.chat.own_memory import memory_of
from cli.chat.permission import question, with_rule
from cli.chat.places import Place
from cli.chat.remembered import Remembered
from cli.chat.summarizing import summarize
from cli.chat.telling import FAULT, Telling
from cli.chat.trusted import as_set, taken_up
from cli.door import FINDINGS, FINE, INTERRUPTED, UPSTREAM
from cli.endpoints import Model
from cli.naming import typed_name
from cli.occurrences import number_of
from cli.output import Output
from cli.paths import current_program
from cli.underway import told_open
from eventlog import StreamKey
from eventlog.errors import WrongExpectedVersion
from eventlog.events import PermissionsSet, SessionDeleted
from harness.conversation import Conversation
from harness.conversation.happenings import Ended, Happening
from harness.memory import UserMemory
from harness.tools.patterns import matches_text
from harness.tools.permissions import Judgement, read_rule
from harness.tools.tool import Tool
from harness.tools.toolbox import toolbox
from projections import Live
from projections.agent_state import agent_state
from projections.agent_state.state import Permissions

INTERRUPTION = "interrupted; the session goes on from here"

_OVERTAKEN = (
    "another process went on with this session meanwhile; the answer was recorded behind what it "
    "wrote"
)
_NOT_SAID = "another process went on with this session first, so nothing was said: say it again"

_CODES = {"answered": FINE, "interrupted": INTERRUPTED, "exhausted": FINDINGS, "failed": UPSTREAM}


class Chat(Telling):
    """One conversation on a terminal, or over a pipe."""

    def __init__(
        self,
        live: Live,
        out: Output,
        asked: Asked,
        lines: Lines,
        model: Model,
        before: Remembered | None = None,
    ) -> None:
        super().__init__(out, lines, model, self.number_at)
        self.live, self.asked = live, asked
        self.before = before or Remembered()
        """What the session was gone on with before, and is again."""
        self.window = asked.window or model.window
        self.begun = ""
        """What stands in the input line next."""
        self.code = FINE
        self.is_left = False
        self.set_aside = ""
        """What the session allows and nobody here was asked about."""
        self.conversation: Conversation
        self.memory: UserMemory
        """What is remembered of whom the session belongs to."""
        self.remembers = False
        """Whether the model is shown it, and what is said is learned."""

    # -- a session --------------------------------------------------------------------------------

    def open(self, place: Place, permissions: PermissionsSet | None = None) -> None:
        """Begin the session, or take it up, with these permissions, else with those that were
        typed and those of it that hold. Raises what ``Conversation`` raises."""
        asked, live = self.asked, self.live
        # Files and commands are within reach only where the command line says so, whatever a log
        # says that the session had.
        tools = toolbox(",".join(asked.tools), asked.folder(), os.environ)
        if permissions is None and place.is_new:
            permissions = asked.rules.over(Permissions()) or PermissionsSet(mode="ask")
        elif permissions is None:
            known = agent_state(live, place.key).permissions
            permissions = taken_up(self, known, has_tools=bool(tools.groups))
        self.memory, self.remembers = memory_of(live, place.key, asked)
        self.conversation = Conversation(
            live,
            self.model.client,
            self.model.endpoint.model,
            session=place.key,
            system=asked.system,
            strategy=asked.strategies(),
            tools=tools,
            summarize=summarize(asked, self.model, live, place.key, self.summarising),
            approve=self.approve if self.lines.is_interactive else None,
            permissions=permissions,
            groups=tools.groups if asked.tools or place.is_new else None,
            window=self.window,
            retitle=asked.auto_title,
            memory=self.memory if self.remembers else None,
        )
        self.place = place

    def go_on_in(self, key: StreamKey) -> None:
        """Go on in another session, as in this one."""
        self.asked = replace(self.asked, system=None)
        self.open(Place(key), as_set(self.conversation.state.permissions))

    def leave(self) -> None:
        """End it: what is left of it is remembered. A session that nobody named, or asked for, and
        in which nothing was said is hidden."""
        for each in self.conversation.end():
            self.show(each)
        place, key = self.place, self.conversation.key
        is_by_the_way = place.forked_from is not None or (place.is_new and not place.is_named)
        if not is_by_the_way or key != place.key:
            return
        base = self.live.log.stream(key).base
        said = self.live.log.read(key, base, types=["message_appended"])
        if all(event.data.get("source") != "human" for event in said):
            self.conversation.append(SessionDeleted(reason="nothing was said"))

    def was_used(self) -> bool:
        """Whether there is something to go on with."""
        return self.conversation.charge.turns > 0

    @property
    def name(self) -> str:
        """What is typed in a shell for the session."""
        return typed_name(self.live, str(self.conversation.key))

    @property
    def program(self) -> str:
        """What is typed in a shell for ctxlog."""
        return current_program()

    def use(self, model: Model) -> None:
        """Another model from here on."""
        self.model = model
        self.window = self.asked.window or model.window
        of = self.conversation
        of.model, of.window = model.endpoint.model, self.window
        of.charge.summarize = summarize(self.asked, model, self.live, of.key, self.summarising)
        of.recover()

    def warn_of_rules(self, rules: Iterable[str]) -> None:
        """Tell of rules that speak about no tool that is here: a slip in a name allows, and denies,
        nothing."""
        names = [each.name for each in self.conversation.tools]
        for rule in rules:
            if not any(matches_text(read_rule(rule).name, name) for name in names):
                there = f"there are {', '.join(names)}" if names else "there is none"
                self.note(f"{rule} is about no tool that is here; {there}", sign="!")

    def number_at(self, position: int) -> str:
        """``c5`` or ``k1``, of what stands at a position."""
        return number_of(self.live, self.conversation.key, position) or ""

    # -- a reply ----------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Say something, and show what comes of it."""
        of, before = self.conversation, self.conversation.version
        try:
            self.follow(of.say(text))
        except KeyboardInterrupt:
            self._interrupted("" if self._was_said(text, before) else text)
        except WrongExpectedVersion as error:
            self.overtaken(error, "" if self._was_said(text, before) else text)
        else:
            self.lines.said(text)
            self._tell_title(before)
            if self.remembers:
                from cli.chat.memories import advise  # its rules take long to import

                advise(self, text)
            if self.code:
                self._offer()

    def _tell_title(self, before: int) -> None:
        """The title that the model gave meanwhile, where that was asked for."""
        if not self.asked.auto_title:
            return
        for event in self.live.log.read(self.conversation.key, before, types=["session_titled"]):
            self.note(f"titled: {event.data.get('title', '')}")

    def go_on(self) -> None:
        """Finish a reply that was cut off."""
        try:
            self.follow(self.conversation.go_on())
        except KeyboardInterrupt:
            self._interrupted("")
        except WrongExpectedVersion as error:
            self.overtaken(error)
        else:
            if self.code:
                self._offer()

    def follow(self, happenings: Iterator[Happening]) -> None:
        """Show what happens until it ends. Raises KeyboardInterrupt once all is closed, and what
        the conversation raises."""
        try:
            for each in happenings:
                self.show(each)
                if isinstance(each, Ended):
                    self.code = _CODES[each.outcome]
        finally:
            with _undisturbed():
                close = getattr(happenings, "close", None)
                if close is not None:  # whoever interrupts us in between leaves it open
                    close()
            self.write(self.screen.end())

    def overtaken(self, error: WrongExpectedVersion, text: str = "") -> None:
        """Another process went on with the session: show what it did, or over a pipe that it
        did; ``text`` was not recorded."""
        of = self.conversation
        of.refresh()
        if not self.lines.is_interactive:
            self.code = FINDINGS
            self.note(_OVERTAKEN if not text else _NOT_SAID, sign=FAULT)
            if not text:
                self._offer()
            return
        own = of.sending.calls[-1].position if of.sending.calls else 0
        self.tell(events_elsewhere(self.live, of.key, error, own, self.out.style))
        if text:
            self.begun = text
            self.note("what you typed was not recorded: it stands in the input line again")
        self._offer()

    def _interrupted(self, text: str) -> None:
        self.code = INTERRUPTED
        of = self.conversation
        of.refresh()
        if text:
            self.begun = text
            self.note("interrupted before it was recorded: it stands in the input line again")
            return
        self.note(INTERRUPTION, sign="!")
        self._offer()

    def _offer(self) -> None:
        """Say how a reply that has no end goes on: said again, its message would stand twice."""
        of = self.conversation
        if not of.is_waiting():
            return
        if told := told_open(self.live, of.key):
            self.note(f"{told}; if not, {self._way_on()} finishes the answer")
        elif self.lines.is_interactive:
            self.note("/continue lets the model go on with its answer; or say something else")
        else:
            self.note(f"{self._way_on()} finishes the answer")

    def _way_on(self) -> str:
        """What is typed to have a reply finished."""
        if self.lines.is_interactive:
            return "/continue"
        return f"{current_program()} chat {self.name} --continue"

    def _was_said(self, text: str, before: int) -> bool:
        """Whether a message of a person with that text stands behind a position."""
        events = self.live.log.read(self.conversation.key, before, types=["message_appended"])
        return any(
            event.data.get("source") == "human"
            and (event.data.get("message") or {}).get("content") == text
            for event in events
        )

    # -- permissions ------------------------------------------------------------------------------

    def approve(self, tool: Tool, arguments: Mapping[str, Any], judgement: Judgement) -> bool:
        """Ask whether a tool may run; ``always`` and ``never`` become rules of the session."""
        style = self.out.style
        asked = question(tool, arguments, judgement, style.width)
        self.write(self.screen.end())
        self.out.write("\n".join(asked.lines(style)))
        answer = None
        while answer is None:
            try:
                typed = self.lines.answer(style.paint(asked.choices, "bold"))
                answer = asked.answered(typed)
                if answer is None:
                    self.note(asked.refusal(typed))
            except EOFError:  # Ctrl-D is no answer, and nobody is left to give one
                self.out.write_piece("\n")
                answer = "no"
            except KeyboardInterrupt:
                self.out.write_piece("\n")
                raise
        held = with_rule(self.conversation.state.permissions, answer, asked)
        if held is not None:
            self.conversation.append(held)
            word = "allowed" if answer == "always" else "denied"
            self.note(f"{word} from here on: {asked.rule}")
        return answer in ("yes", "always")

    def summarising(self, items: int) -> None:
        """A summary is being written, which takes its time."""
        self.write(self.screen.waiting(f"summarising {items} item{'' if items == 1 else 's'} …"))


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """What closes a reply is short, and a second Ctrl-C would leave it half done."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not in the main thread, which alone is interrupted
        yield
        return
    try:
        yield
    finally:
        if before is not None:  # else it was set by no Python, and cannot be set back by it
            signal.signal(signal.SIGINT, before)

"""Tests of prompts: each case is a conversation with a real model, recorded call by call.

Every case has a session of its own, ``local/prompt-test/<file>-<run>.<case>``, which begins with
the rendered prompt and the events that say what it was rendered from. A judge is asked in sessions
below it. What the checks gave stands in the title of the session, and in the report.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eventlog.events import Event, MessageAppended, SessionTitled
from eventlog.recorded import StreamKey
from harness.endpoint import Endpoint, Reply
from harness.errors import RequestRejected, Unreachable
from harness.prompts.folder import Prompts
from harness.recording import wrap
from harness.recording.recorder import Recorder
from harness.recording.sessions import NOWHERE, Began, session
from harness.recording.streams import RecordedStream
from projections.prompts.cases import Case, Suite
from projections.prompts.checks import Answer, Check, Checked, Scan, checked, without
from projections.prompts.template import PARTS, Rendered, Template, rendered_event
from projections.session_rows import PROMPT_TESTS

USER, AGENT = "local", PROMPT_TESTS
JUDGE = "judge"
"""The bundled prompt that a judge is asked with."""

MOST = 1_024
"""Tokens of an answer, where nobody says otherwise."""

_NAME = re.compile(r"[^\w.-]+")
_LONGEST = 60
_SALT = 16
_YES_NO = re.compile(r"[\s*_\"'“]*(yes|no)\b", re.IGNORECASE)
_TRIES = 20
"""Braces of a judge's answer at which JSON may begin."""


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one case, asked once."""

    case: Case
    session: StreamKey
    answers: tuple[Reply, ...] = ()
    """One a turn; the checks are about the last."""
    checks: tuple[Checked, ...] = ()
    fault: str = ""
    """Why nothing could be checked, or not all."""
    is_unasked: bool = False
    """Whether that is the endpoint's fault."""

    @property
    def passed(self) -> bool:
        """Whether every check of it did."""
        all_passed = len(self.checks) == len(self.case.checks) and all(
            each.passed for each in self.checks
        )
        return all_passed and not self.fault


class PromptTester:
    """Asks a model the cases of prompts, and records it.

    ``secrets`` finds what must not be shown. ``judge`` is asked where a check is judged.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        recorder: Recorder,
        secrets: Scan,
        *,
        judge: Endpoint | None = None,
        most: int = MOST,
        waiting: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._endpoint, self._recorder, self._secrets = endpoint, recorder, secrets
        self._judge, self._most, self._waiting = judge or endpoint, most, waiting
        self._judging = Prompts.bundled().get(JUDGE)
        for each in (self._endpoint, self._judge):
            wrap(each.client, recorder)

    @property
    def judge(self) -> str:
        """The model that judges."""
        return self._judge.model

    def runs(self, suite: Suite, template: Template, stem: str, times: int = 1) -> Iterator[Run]:
        """Every case of a file, each so many times; nothing more after an endpoint that is gone.

        Raises PromptUnreadable before anything is asked, and what an append raises.
        """
        filled = [(case, suite.rendered(case, template)) for case in suite.cases]
        name = f"{_NAME.sub('_', stem).lstrip('-._')[:_LONGEST] or 'prompt'}-{os.urandom(3).hex()}"
        for number, (case, rendered) in enumerate(filled, 1):
            for time in range(1, times + 1):
                again = f".{time}" if times > 1 else ""
                key = StreamKey(USER, AGENT, f"{name}.{number}{again}")
                self._waiting(f"asking {self._endpoint.model}: {stem}: {case.name}{again}")
                run = self._run(key, case, rendered, f"{stem}: {case.name}")
                yield run
                if run.is_unasked:
                    return

    def _run(self, key: StreamKey, case: Case, rendered: Rendered, title: str) -> Run:
        self._begin(key, rendered, title)
        messages: list[Mapping[str, Any]] = [*rendered.messages()]
        answers: list[Reply] = []
        turns: list[str | None] = [*([None] if rendered.user else []), *case.turns]
        try:
            with session(key):
                for turn in turns:
                    if turn is not None:
                        messages.append({"role": "user", "content": turn})
                    reply = self._endpoint.ask(messages, self._most)
                    answers.append(reply)
                    if not reply.text and len(answers) < len(turns):
                        fault = f"turn {len(answers)}: {_lacking(reply)}"
                        return self._ended(Run(case, key, tuple(answers), fault=fault), title)
                    messages.append({"role": "assistant", "content": reply.text})
        except RequestRejected as error:
            return self._ended(Run(case, key, tuple(answers), fault=str(error)), title)
        except Unreachable as error:
            return Run(case, key, tuple(answers), fault=str(error), is_unasked=True)
        asked = str(messages[-2]["content"])
        found: list[Checked] = []
        try:
            for number, check in enumerate(case.checks, 1):
                found.append(self._checked(key, check, answers[-1], asked, number))
        except Unreachable as error:
            fault = f"the judge: {error}"
            return Run(case, key, tuple(answers), tuple(found), fault, is_unasked=True)
        return self._ended(Run(case, key, tuple(answers), tuple(found)), title)

    def _begin(
        self, key: StreamKey, rendered: Rendered, title: str, began: Began = NOWHERE
    ) -> None:
        """The session, with the prompt in it: each text behind it says what it was made of."""

        def plan(stream: RecordedStream) -> Sequence[Event]:
            events: list[Event] = [SessionTitled(title=title)]
            for part in PARTS:
                text = rendered.part(part)
                if not text:
                    continue
                item = stream.followed.version + len(events) + 1
                salt = os.urandom(_SALT)
                events.append(
                    MessageAppended.model_validate(
                        {
                            "dialect": "openai_chat",
                            "source": "injected" if part == "system" else "human",
                            "message": {"role": part, "content": text},
                        }
                    )
                )
                events.append(rendered_event(rendered, str(item), part=part, salt=salt))
            return events

        self._recorder.write(key, plan, began)

    def _ended(self, run: Run, title: str) -> Run:
        """The title of the session says what came of it."""
        failed = dict.fromkeys(each.check.kind for each in run.checks if not each.passed)
        said = "passed" if run.passed else f"failed: {', '.join(failed) or 'no answer'}"
        self._recorder.write(run.session, lambda stream: [SessionTitled(title=f"{title} ({said})")])
        return run

    # -- checks -----------------------------------------------------------------------------------

    def _checked(
        self, key: StreamKey, check: Check, reply: Reply, asked: str, number: int
    ) -> Checked:
        if check.kind != "judged":
            is_filtered = reply.finish_reason == "content_filter"
            return checked(check, Answer(reply.text, reply.refusal, is_filtered), self._secrets)
        own = key._replace(session=f"{key.session}.{JUDGE}{number}")
        values = {"question": check.expected, "asked": asked, "answer": reply.text or reply.refusal}
        rendered = self._judging.render(**values)
        self._waiting(f"asking {self._judge.model} to judge: {check.expected}")
        self._begin(own, rendered, f"judged: {check.expected}"[:_LONGEST], Began(key))
        try:
            with session(key), session(own):
                said = self._judge.ask(rendered.messages(), self._most)
        except RequestRejected as error:
            return Checked(check, False, f"the judge: {error}", session=str(own))
        is_yes, reason = verdict(said.text)
        if is_yes is None:
            reason = f"the judge said neither yes nor no: {said.text.strip()[:160]!r}"
        reason = without(reason, self._secrets)
        excerpt = "" if is_yes else without(reply.text, self._secrets)[:160]
        return Checked(check, is_yes is True, reason, excerpt, str(own))


def verdict(text: str) -> tuple[bool | None, str]:
    """Yes or no, and why: from the JSON that a judge was asked for, else from its first word."""
    start = -1
    for _ in range(_TRIES):
        start = text.find("{", start + 1)
        if start < 0:
            break
        try:
            found, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and isinstance(found.get("verdict"), str):
            word, reason = found["verdict"].strip().lower(), found.get("reason")
            is_yes = {"yes": True, "no": False}.get(word)
            return is_yes, reason.strip() if isinstance(reason, str) else ""
    first = _YES_NO.match(text)
    if first is None:
        return None, ""
    return first[1].lower() == "yes", text.strip()[:160]


def _lacking(reply: Reply) -> str:
    if reply.calls:
        return f"it called a tool: {', '.join(reply.calls)}"[:160]
    return f"refused: {reply.refusal}"[:160] if reply.refusal else "no text in the answer"

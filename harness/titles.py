"""A title for a session, asked of a model, and what may be a title at all."""

from __future__ import annotations

from typing import NamedTuple

from eventlog.errors import InputRefused, WrongExpectedVersion
from eventlog.events import SessionTitled
from eventlog.recorded import StreamKey
from harness.endpoint import Endpoint, Reply
from harness.prompts import Prompts
from projections.items import Item
from projections.live import Live
from projections.purging import is_to_be_purged
from projections.sessions import session_stats

TURNS = 6
"""Human messages after which there is enough to give a title to."""

LONGEST = 60
"""Characters of a title that a model gives."""

LONGEST_TYPED = 200
"""Characters of one that a person gives."""

_FIRST, _LAST = 3, 6
"""Messages from the beginning and from the end that the model is shown."""

_SHOWN = 600
"""Characters of each."""

_TOKENS = 1_000
"""Of the answer: some models think before they give ten words."""

_QUOTES = {'"': '"', "'": "'", "“": "”", "«": "»", "„": "“", "「": "」", "`": "`"}


class Retitled(NamedTuple):
    """What came of asking for a title."""

    title: str
    """The title now."""
    fault: str = ""
    """Why it is still the old one; empty where it is new."""


def title_fault(title: str, longest: int = LONGEST) -> str:
    """Why a text is no title; empty where it is one."""
    if not title.strip():
        return "it is empty"
    if len(title.splitlines()) > 1:
        return "it has several lines"
    if not title.isprintable():
        return "it holds characters that cannot be shown"
    if len(title) > longest:
        return f"it has {len(title):,} characters, over {longest}"
    return ""


def is_due(live: Live, stream: StreamKey | str, turns: int = TURNS) -> bool:
    """Whether people have said enough, and nobody has given a title yet. Raises StreamNotFound."""
    key = live.log.stream(stream).key
    given = live.log.read(key, types=["session_started", "session_titled"])
    if any(event.data.get("title") for event in given):
        return False
    return session_stats(live, key).human_messages >= turns


def retitle(live: Live, stream: StreamKey | str, endpoint: Endpoint) -> Retitled:
    """Ask a model for the title of a session, and record the one that it gives.

    An answer that is no title changes nothing, nor does one that comes after somebody else gave
    a title: then it is said why. Raises StreamNotFound, InputRefused where nothing was said yet or
    all of it was purged meanwhile, Unreachable, RequestRejected.
    """
    key = live.log.stream(stream).key
    before = live.log.version(key)
    shown = _conversation(live.items(key, before))
    if not shown:
        raise InputRefused(f"nothing was said in {key} yet, so there is nothing to give a title to")
    asked = Prompts.bundled().render("title", longest=LONGEST, conversation=shown)
    reply = endpoint.ask(asked, _TOKENS)
    title = _unquoted(reply.text.strip())
    fault = _refused(reply) or title_fault(title)
    old = session_stats(live, key).title
    while not fault and title != old:
        version = live.log.version(key)
        if is_to_be_purged(live.log, key):
            raise InputRefused(f"{key} was purged meanwhile: its new title is not kept")
        if any(live.log.read(key, before, version, types=["session_titled"])):
            fault = "somebody else gave a title meanwhile"
            break
        event = SessionTitled(title=title, by=f"model {endpoint.model}")
        try:
            live.append(key, event, expected_version=version)
        except WrongExpectedVersion:
            continue
        return Retitled(title)
    return Retitled(session_stats(live, key).title, fault)


def _refused(reply: Reply) -> str:
    if reply.refusal or reply.finish_reason == "content_filter":
        return f"the model refused: {reply.refusal or 'filtered'}"[:300]
    return "it was cut off" if reply.finish_reason == "length" else ""


def _conversation(items: list[Item]) -> str:
    """The beginning and the end of what was said, each message cut."""
    said = [item for item in items if item.is_spoken and item.text.strip()]
    chosen = said if len(said) <= _FIRST + _LAST else [*said[:_FIRST], *said[-_LAST:]]
    return "\n\n".join(f"{item.role}: {item.text.strip()[:_SHOWN]}" for item in chosen)


def _unquoted(title: str) -> str:
    """Without the quotation marks around it that models add."""
    closing = _QUOTES.get(title[:1])
    if closing is not None and len(title) > 2 and title.endswith(closing):
        return title[1:-1].strip()
    return title

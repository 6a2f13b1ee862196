"""One request to a model with its response, as somebody recorded it between the two.

Recorders agree on little, so the two are found by what they are. Read are:

* claude-trace: ``{"request": {…, "body"}, "response": {…, "body" | "body_raw"} | null}`` a line
* cc-viewer: ``{"url", "headers", "body", "response": {"status", "body"}, …}``, pretty-printed
* HTTP archives (HAR) of mitmproxy, Charles and browsers: ``{"log": {"entries": […]}}``
* the two bodies alone: ``{"request": …, "response": …}`` or ``request_body`` and ``response_body``

A body may be JSON, the text of it, or of a response the text of a stream. Sources: the recorders'
own code, and the HAR 1.2 specification.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eventlog.jsonvalue import dumps
from eventlog.messages import Dialect
from harness.exchange.answers import text_of
from harness.exchange.anthropic_answers import is_response
from harness.exchange.openai_answers import is_completion
from harness.exchange.outcomes import Outcome, outcome_of, parsed
from harness.exchange.secret_text import Withheld
from harness.exchange.withheld import body_without_secrets, record_without_secrets
from harness.importers.units import label_time

_BODIES = ("body", "body_raw", "postData", "content", "json", "text")
"""Where recorders keep the body of a request or response; the first that is there."""

_APART = frozenset({"request", "response", "request_body", "response_body"})
BODIES = frozenset({*_BODIES, "request_body", "response_body"})
"""Fields that hold a body, or the text of one."""

_AROUND = frozenset({"response", "url", "method", "headers"})
"""Of a record that is a request itself, with its response as one more field."""

_FOREIGN_ROLES = frozenset({"system", "developer", "tool", "function"})
_BEGINNING = 4096
_STATUS = ("status_code", "status", "statusCode")
_CLOCKS = ("timestamp", "startedDateTime", "time", "created_at")
_NO_CALL = re.compile(r"/count_tokens\b|/batches\b")
_BEDROCK = re.compile(r"/model/([^/]+)/invoke")


@dataclass(slots=True)
class Exchange:
    """A request, and what came back."""

    body: dict[str, Any]
    """The request as it was sent, without keys among its parameters."""
    dialect: Dialect
    address: str = ""
    """Where it was sent; empty where that was not recorded."""
    outcome: Outcome = field(default_factory=Outcome)
    asked_at: str | None = None
    answered_at: str | None = None
    rest: dict[str, Any] = field(default_factory=dict)
    """What the record says besides."""
    withheld: Withheld = field(default_factory=Withheld)
    """Headers and fields that may hold a key."""
    is_whole: bool = True
    """Whether nothing of the body was left out."""

    @property
    def is_call(self) -> bool:
        """Whether a model was asked, and not only a token count, say."""
        return not _NO_CALL.search(self.address)

    @property
    def model(self) -> str:
        """The model that was asked; Bedrock names it in the address."""
        found = _BEDROCK.search(self.address)
        return text_of(self.body.get("model")) or (found[1] if found else "")


def archive_entries(value: Any) -> list[Any] | None:
    """The records of an HTTP archive; None for anything else."""
    log = value.get("log") if isinstance(value, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    return entries if isinstance(entries, list) else None


def exchange_dialect(value: Any) -> Dialect | None:
    """In which dialect a record holds a request with messages beside what came back, or the first
    entry of it that does; None where none does."""
    entries = value if isinstance(value, list) else archive_entries(value)
    if entries is not None:
        found = (exchange_dialect(each) for each in entries if isinstance(each, dict))
        return next((dialect for dialect in found if dialect is not None), None)
    sides = _sides(value)
    body = _request_body(sides[0]) if sides is not None else None
    if sides is None or body is None:
        return None
    return _dialect(body, _Side(sides[0], body).address, _Side(sides[1]).body)


def is_foreign(message: Any) -> bool:
    """Whether a message is one that Anthropic's API does not know and OpenAI's does."""
    if not isinstance(message, dict):
        return False
    role = message.get("role")
    return "tool_calls" in message or (isinstance(role, str) and role in _FOREIGN_ROLES)


def _dialect(body: Mapping[str, Any], address: str, given: Any) -> Dialect:
    """By the address, by what came back, or by the messages."""
    if "/chat/completions" in address:
        return "openai_chat"
    if "/messages" in address or _BEDROCK.search(address):
        return "anthropic"
    if is_completion(given) or (
        isinstance(given, str) and '"chat.completion' in given[:_BEGINNING]
    ):
        return "openai_chat"
    return "openai_chat" if any(map(is_foreign, body["messages"])) else "anthropic"


def exchange_of(value: Any) -> Exchange | None:
    """The exchange that a record holds; None where it holds no request with messages."""
    sides = _sides(value)
    if sides is None:
        return None
    request, response, outer = sides
    body = _request_body(request)
    if body is None:
        return None
    asked, answered = _Side(request, body), _Side(response)
    withheld = asked.withheld + answered.withheld
    shown = body_without_secrets(body, withheld)
    found = Exchange(
        shown,
        _dialect(body, asked.address, answered.body),
        address=asked.address,
        asked_at=asked.time or _time(outer),
        answered_at=answered.time,
        withheld=withheld,
        is_whole=shown is body,
    )
    around = record_without_secrets(outer, BODIES, found.withheld)
    found.rest = {k: v for k, v in around.items() if k not in _APART and k not in _CLOCKS}
    for name, side in (("request", asked), ("response", answered)):
        if side.rest:
            found.rest[name] = side.rest
    found.outcome = _without_empty(outcome_of(found.dialect, answered.body, answered.status))
    return found


def _without_empty(outcome: Outcome) -> Outcome:
    """The outcome without the empty lists of its message, as they always were left out here: the
    answers of a log that grew are compared with those that were imported before."""
    answer = outcome.answer
    if answer is None:
        return outcome
    kept = {name: value for name, value in answer.message.items() if value != []}
    return replace(outcome, answer=replace(answer, message=kept))


def _sides(value: Any) -> tuple[Any, Any, Mapping[str, Any]] | None:
    """The request, the response, and what stands around them."""
    if not isinstance(value, Mapping):
        return None
    if "request" in value:
        return value["request"], value.get("response"), value
    if "request_body" in value:
        return value["request_body"], value.get("response_body"), value
    if "body" in value and not _AROUND.isdisjoint(value):
        return {k: v for k, v in value.items() if k not in _APART}, value.get("response"), {}
    return None


def _request_body(request: Any) -> dict[str, Any] | None:
    if isinstance(request, str):
        request = parsed(request)
    if not isinstance(request, Mapping):
        return None
    body: Any = request if "messages" in request else parsed(_given(request))
    if isinstance(body, dict) and isinstance(body.get("messages"), list):
        return body
    return None


def _given(side: Mapping[str, Any]) -> Any:
    """What stands where a body is kept; of an archive the text in there."""
    given = next((side[name] for name in _BODIES if side.get(name) is not None), None)
    if not isinstance(given, Mapping) or not isinstance(given.get("text"), str):
        return given
    text: str = given["text"]
    if given.get("encoding") != "base64":
        return text
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return text


class _Side:
    """A request or a response: its body, and what was recorded of how it was sent."""

    def __init__(self, recorded: Any, body: Any = None) -> None:
        self.withheld = Withheld()
        self.rest: dict[str, Any] = {}
        self.address, self.time = "", None
        self.status: int | None = None
        self.body = recorded
        is_body = recorded is body or _is_answer(recorded)
        if isinstance(recorded, Mapping) and not is_body:
            self.body = _given(recorded)
            kept = record_without_secrets(recorded, BODIES, self.withheld)
            self.address, self.time = text_of(kept.get("url")), _time(kept)
            found = [kept[name] for name in _STATUS if type(kept.get(name)) is int]
            self.status = found[0] if found else None
            apart = (*_BODIES, *(_CLOCKS if self.time is not None else ()))
            self.rest = {k: v for k, v in kept.items() if k not in apart and v not in (None, "")}


def _is_answer(value: Any) -> bool:
    if is_response(value) or is_completion(value):
        return True
    return isinstance(value, Mapping) and value.get("type") == "error"


def _time(side: Mapping[str, Any]) -> str | None:
    """The clock of the recorder, as it wrote it."""
    for name in _CLOCKS:
        value = side.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and name != "time":
            value = dumps(value)
        if (label := label_time(value)) is not None:
            return label
    return None

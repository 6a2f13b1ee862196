"""The request of a call as it went out, and how well that is known."""

from __future__ import annotations

import re
from typing import Any, Literal

from cli.endpoints import DEFAULT_URL
from cli.models_request import RequestData
from cli.naming import call_of, ref_of
from cli.replays import erased_items, replay
from eventlog import RecordedEvent
from eventlog.errors import InputRefused
from projections import Live
from projections.items import Item
from projections.references import Reference
from projections.sent import Requests
from projections.verdicts import Verdict, judge, messages_alone
from projections.wire import STYLES, as_sent, whole_of

As = Literal["json", "curl", "python"]

_PATHS = {
    "openai_chat": f"{DEFAULT_URL}/chat/completions",
    "openai_responses": f"{DEFAULT_URL}/responses",
    "anthropic": "https://api.anthropic.com/v1/messages",
}
"""Where a request of each dialect goes unless somebody says otherwise."""

_REQUIRED = {
    "openai_chat": ("model",),
    "openai_responses": ("model",),
    "anthropic": ("model", "max_tokens"),
}

_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]+(?:/[!#-;=?-Z_a-z~]*)?", re.ASCII)
_HEADER = re.compile(r"[!-~]+(?: [!-~]+)*", re.ASCII)


def request_of_call(live: Live, place: Reference) -> RequestData:
    """The request of the call that a place names.

    Raises InputRefused where it names none, NoContext, and IntegrityFault where the recorded one
    cannot be rebuilt.
    """
    call = call_of(live, place)
    if call is None:
        raise InputRefused(
            f"@{ref_of(place)} is no call: --request takes one, such as @c5 "
            "(`replay` makes a request of any place)"
        )
    verdict = judge(live, place.stream, call)
    text, same, notes = "", False, []
    kind: Literal["as_sent", "as_sendable"] = "as_sendable"
    if call.data.get("manifest") is not None:
        sent = Requests(live).sent(place.stream, call)
        salt = live.log.salts(place.stream, [call.position]).get(call.position)
        request: Any = whole_of(sent.body, call.data)
        body, same = as_sent(request, call.data, salt)
        kind, text = "as_sent", body.decode()
        notes = _known_as_sent(call, verdict, sent.items, same=same)
    else:
        made, problems = replay(live, place, "")
        request = made.request
        text = as_sent(request, {}, None)[0].decode()
        notes = [f"{_name(verdict)}; this is what the events give"]
        notes += [n for n in made.notes if n not in notes[0] and verdict.name != "partial"]
        notes += [f"repaired: {repair}" for repair in made.repairs]
        notes += [f"not sendable: {problem}" for problem in problems]
    if verdict.outcome_unknown:
        notes.append("nobody knows whether it was answered")
    url, headers = str(call.data.get("url") or ""), dict(call.data.get("headers") or {})
    recorded = bool(url) and _URL.fullmatch(url) is not None
    return RequestData(
        key=str(place.stream),
        ref=ref_of(place),
        call=place.number or 0,
        kind=kind,
        dialect=str(call.data["dialect"]),
        verdict=verdict.name,
        outcome_unknown=verdict.outcome_unknown,
        same_bytes=same,
        bytes=len(text.encode()),
        url=url if recorded else _PATHS[call.data["dialect"]],
        url_recorded=recorded,
        headers={name: text for name, text in headers.items() if _is_plain(text)},
        request=request,
        text=text,
        notes=notes,
    )


def before_sending(data: RequestData, form: As) -> list[str]:
    """What a person has to know before a command or a script sends the request."""
    notes = []
    lacks = [name for name in _REQUIRED[data.dialect] if name not in data.request]
    if lacks:
        notes.append(f"never recorded, and the API asks for it: {', '.join(lacks)}")
    if not data.url_recorded:
        notes.append(f"where it went was not recorded; this sends it to {data.url}")
    elif data.url.partition("?")[0] != _PATHS[data.dialect]:
        notes.append(f"this sends the request and your key to {data.url}, where the call went")
    if form == "python" and data.same_bytes and STYLES[0].text(data.request) != data.text:
        notes.append("the client of Python writes the same JSON in other bytes")
    return notes


def _is_plain(text: object) -> bool:
    return isinstance(text, str) and _HEADER.fullmatch(text) is not None


def _name(verdict: Verdict) -> str:
    return f"{verdict.name}: {verdict.detail}" if verdict.detail else verdict.name


def _known_as_sent(
    call: RecordedEvent, verdict: Verdict, items: tuple[Item, ...], *, same: bool
) -> list[str]:
    """How well the request of a call is known that was recorded, and why not better."""
    if same:
        return [f"{_name(verdict)}; byte for byte what was sent"]
    if verdict.name == "broken":
        return [f"{_name(verdict)}; this is not what was sent"]
    if verdict.erased or verdict.name == "erased":
        told = erased_items(items) or ["some of it was erased since"]
        return [f"erased: {told[0]}; what is left of it stands in its place"]
    if messages_alone(call):
        return [f"{_name(verdict)}; this is all that is known of it"]
    if call.data.get("request_digest") is None:
        return [f"{_name(verdict)}; nothing proves it"]
    if call.data.get("wire_digest") is None:
        why = "the bytes were not recorded"
    elif call.data.get("places") is None:
        why = "in which order its fields stood was not recorded"
    else:
        why = "its client wrote it in a way of its own"
    return [f"{_name(verdict)}; the same JSON as was sent, and not the same bytes: {why}"]

"""The request of a call as it went out, and how well that is known."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from cli.endpoints import DEFAULT_URL
from cli.models_request import RequestData
from cli.naming import call_of, ref_of
from cli.replays import erased_told, replay
from eventlog import RecordedEvent
from eventlog.errors import InputRefused
from projections import Live
from projections.references import Reference
from projections.sent import Requests
from projections.verdicts import Verdict, erased_in, judge, messages_alone
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
    text, same = "", False
    kind: Literal["as_sent", "as_sendable"] = "as_sendable"
    if call.data.get("manifest") is not None:
        sent = Requests(live).sent(place.stream, call)
        salt = live.log.salts(place.stream, [call.position]).get(call.position)
        request: Any = whole_of(sent.body, call.data)
        body, same = as_sent(request, call.data, salt)
        kind, text = "as_sent", body.decode()
        notes = known_as_sent(call, verdict, erased_in(sent.items), same=same)
    else:
        made, problems = replay(live, place, "")
        request = made.request
        text = as_sent(request, {}, None)[0].decode()
        notes = known_as_sendable(verdict, made.notes, made.repairs, problems)
    way = way_of(call)
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
        url=way.url,
        url_recorded=way.is_recorded,
        headers=way.headers,
        request=request,
        text=text,
        notes=notes,
    )


class Way(NamedTuple):
    """Where a request goes, and what goes with it."""

    url: str
    is_recorded: bool
    """Whether the address was; else it is the one where such a request goes."""
    headers: dict[str, str]
    """Those that were recorded and are plain text."""


def way_of(call: RecordedEvent) -> Way:
    """The way of a call."""
    url, headers = str(call.data.get("url") or ""), dict(call.data.get("headers") or {})
    plain = {name: text for name, text in headers.items() if _is_plain(text)}
    if url and _URL.fullmatch(url) is not None:
        return Way(url, True, plain)
    return Way(_PATHS[call.data["dialect"]], False, plain)


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


def known_as_sendable(
    verdict: Verdict, notes: Iterable[str], repairs: Iterable[str], problems: Iterable[str]
) -> list[str]:
    """How well the request of a call is known that was only folded.

    ``notes`` say what nobody recorded of it, ``repairs`` what was done for it, and ``problems`` why
    a provider would refuse it none the less.
    """
    found = [f"{_name(verdict)}; this is what the events give"]
    found += [note for note in notes if note not in found[0] and verdict.name != "partial"]
    found += [f"repaired: {repair}" for repair in repairs]
    found += [f"not sendable: {problem}" for problem in problems]
    return found + _unanswered(verdict)


def known_as_sent(call: RecordedEvent, verdict: Verdict, erased: int, *, same: bool) -> list[str]:
    """How well the request of a call is known that was recorded, and why not better.

    ``erased`` of its items were erased since, and ``same`` says whether its bytes are proved.
    """
    return _how_well(call, verdict, erased, same=same) + _unanswered(verdict)


def _unanswered(verdict: Verdict) -> list[str]:
    return ["nobody knows whether it was answered"] if verdict.outcome_unknown else []


def _how_well(call: RecordedEvent, verdict: Verdict, erased: int, *, same: bool) -> list[str]:
    if same:
        return [f"{_name(verdict)}; byte for byte what was sent"]
    if verdict.name == "broken":
        return [f"{_name(verdict)}; this is not what was sent"]
    if verdict.erased or verdict.name == "erased":
        told = erased_told(erased) or ["some of it was erased since"]
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

"""The keys that a request is sent with, and what is recorded of a call without them.

They stand in its headers and in its address, of which nothing is kept. But a provider repeats a key
in the error that refuses it, and among the parameters of a request there are those of MCP servers.
What was said, called and returned is not touched.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote, unquote_plus

from eventlog.events import Event, MessageAppended, ModelFailed, Origin
from eventlog.jsonvalue import Json
from harness.exchange.secret_text import WITHHELD, Withheld, is_secret_name, text_without_secrets
from harness.exchange.withheld import event_without_secrets

Keys = frozenset[str]

_SHORTEST = 8
"""Characters; what is shorter is no key, but what somebody wrote in place of one."""


_SIGNED = re.compile(r"^(?:code|key|sig)$|signature$", re.IGNORECASE)
"""Names of keys that only an address gives them."""


def keys_of(headers: Iterable[tuple[str, str]], query: str = "", user: str = "") -> Keys:
    """The keys in the headers of a request, in the query and before the host of its address."""
    found: list[str] = []
    for name, value in headers:
        if is_secret_name(name):
            found += _parts(name, value)
    for part in query.split("&"):
        name, _, value = part.partition("=")  # which may come back as it was written
        if _SIGNED.search(unquote(name)) or is_secret_name(unquote(name)):
            found += [value, unquote(value), unquote_plus(value)]
    found += [user, unquote(user.partition(":")[2])]
    return frozenset(each for each in found if len(each) >= _SHORTEST)


def _parts(name: str, value: str) -> list[str]:
    """A header's value, and what in it is the key itself."""
    if "cookie" in name.lower():
        return [value, *(part.partition("=")[2].strip() for part in value.split(";"))]
    scheme, _, rest = value.strip().partition(" ")
    found = [value.strip(), rest.strip()]
    if scheme.lower() == "basic":
        try:
            user = base64.b64decode(rest, validate=True).decode()
        except (binascii.Error, ValueError):
            return found
        found += [user, user.partition(":")[2]]
    return found


def event_without_keys(event: Event, keys: Keys) -> Event:
    """What came back to a request, without the keys that it was sent with and without others."""
    if isinstance(event, ModelFailed):
        detail = event.detail and Json(_without(event.detail.value, keys))
        error = text_without_keys(event.error, keys)
        event = event.model_copy(update={"error": error, "detail": detail})
    elif isinstance(event, MessageAppended) and event.origin is not None and event.origin.rest:
        rest = Json(_without(event.origin.rest.value, keys))
        event = event.model_copy(update={"origin": Origin(records=(), rest=rest)})
    else:
        return event
    return event_without_secrets(event, Withheld())


def text_without_keys(text: str, keys: Keys = frozenset()) -> str:
    """A text that is no part of the conversation, without keys."""
    for key in sorted(keys, key=len, reverse=True):
        text = text.replace(key, WITHHELD)
    return text_without_secrets(text, Withheld())


def _without(value: Any, keys: Keys) -> Any:
    if isinstance(value, str):
        for key in sorted(keys, key=len, reverse=True):
            value = value.replace(key, WITHHELD)
        return value
    if isinstance(value, list):
        return [_without(each, keys) for each in value]
    if isinstance(value, dict):
        return {_without(name, keys): _without(each, keys) for name, each in value.items()}
    return value

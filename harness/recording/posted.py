"""A request that is about to go out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from eventlog.messages import Dialect
from harness.exchange.secret_text import Withheld
from harness.exchange.withheld import body_without_secrets
from harness.recording.bodies import Body
from projections.followed import Asked


class Posted(NamedTuple):
    """A request that is about to go out."""

    dialect: Dialect
    body: bytes
    url: str = ""
    headers: Mapping[str, str] = MappingProxyType({})
    """Those that are kept."""


def asked_of(posted: Posted, body: Body) -> Asked:
    """A request whose body was read; among its parameters there may be keys, of MCP servers for
    example, which are left out."""
    given = body.fields
    fields = body_without_secrets(given, Withheld())
    return Asked(
        posted.dialect,
        fields,
        body.messages,
        posted.body,
        kept=body.kept,
        same=body.same,
        end=body.end,
        front=len(body.front),
        is_listed=body.is_listed,
        url=posted.url,
        headers=posted.headers,
        is_whole=fields is given,
    )

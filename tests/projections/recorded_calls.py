"""Calls put into a log by a recorder that begins anew each time: all it knows is the log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from eventlog import StreamKey
from eventlog.messages import Dialect
from projections.followed import MESSAGES, Asked, Followed, Plan
from projections.live import Live


@dataclass(frozen=True)
class Recorded:
    position: int
    """Of the ModelCalled; 0 for a side call, of which nothing was appended."""
    kind: str


def asked(dialect: str, body: Mapping[str, Any], wire: bytes | None = None) -> Asked:
    """A request of which nobody knows what it shares with the one before."""
    name = MESSAGES[dialect]
    messages = body.get(name)
    fields, front = body, 0
    if isinstance(messages, list):
        fields = {field: value for field, value in body.items() if field != name}
        front = list(body).index(name)
    raw = json.dumps(body).encode() if wire is None else wire
    return Asked(
        cast(Dialect, dialect),
        fields,
        messages if isinstance(messages, list) else [],
        raw,
        front=front,
    )


def record(live: Live, stream: StreamKey, dialect: str, body: Mapping[str, Any]) -> Recorded:
    """A call as it is recorded before its request goes out."""
    followed = Followed(live, stream)
    followed.catch_up()
    return appended(live, followed, followed.plan(asked(dialect, body)))


def appended(live: Live, followed: Followed, plan: Plan) -> Recorded:
    """What was planned, in the log."""
    if plan.kind == "side":
        return Recorded(0, "side")
    live.append(followed.key, *plan.drafts, expected_version=plan.version)
    followed.appended(plan)
    return Recorded(plan.position, plan.kind)

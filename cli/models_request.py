"""What ``--json`` gives of ``show --request``."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from projections.session_state import Provenance


class RequestData(BaseModel):
    """``show --request``: the request of a call."""

    key: str
    ref: str
    call: int
    kind: Literal["as_sent", "as_sendable"]
    """As it was sent, from the recorded manifest; else folded from the events and made legal."""
    dialect: str
    verdict: Provenance
    outcome_unknown: bool
    same_bytes: bool
    """Whether ``text`` is proved to be what was sent, to the byte."""
    bytes: int
    """Of the body, as ``text`` has it."""
    url: str
    """Where it went; where that was not recorded, where such a request goes."""
    url_recorded: bool
    headers: dict[str, str]
    """Those that were recorded."""
    request: Any
    text: str
    """The body; with ``--as`` the command or the script that sends it."""
    notes: list[str] = []

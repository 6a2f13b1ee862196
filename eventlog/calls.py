"""The events of a call: that a model was asked, and what came of it."""

from __future__ import annotations

from typing import Literal

from eventlog.jsonvalue import Json
from eventlog.messages import Dialect
from eventlog.values import EventBase, JsonObject, Manifest, NewMessage, Position, Usage


class ModelCalled(EventBase):
    """A request to a model, appended before it is sent (``c1``, ``c2`` …)."""

    type: Literal["model_called"] = "model_called"
    model: str
    dialect: Dialect
    tools: Position | None = None
    """The position of the ToolsDeclared in force."""
    strategy: str = ""
    server_edited: tuple[str, ...] = ()
    """What of the request the provider completes or edits itself: it is not exactly seen."""
    request_digest: str | None = None
    wire_digest: str | None = None
    wire_salt: str | None = None
    parameters: JsonObject | None = None
    url: str = ""
    """Where the request went, as far as that holds no secret; empty where nobody saw it."""
    headers: JsonObject | None = None
    """Those that say which version of an API, and which trials of it, were asked for."""
    places: JsonObject | None = None
    """Where among the fields of the body those stood that are no parameters, such as messages."""
    forms: Json | None = None
    """How entries differ from their stored message: to what, by the numbers of the pieces in the
    expanded manifest (``3``, or ``2,4,6`` where several differ in the same way)."""
    forms_stand: bool = False
    """Whether what the manifest takes over from an earlier one (``=N``) keeps the forms that it had
    there, but for those named here."""
    manifest: Manifest | None = None
    may_belong_to: tuple[str, ...] = ()
    """Sessions, by their full keys, that it may be a call of as well: nothing that it holds told
    them apart."""


class ModelResponded(EventBase):
    """The model answered; its message is in the same append."""

    type: Literal["model_responded"] = "model_responded"
    call: Position
    response_id: str = ""
    finish_reason: str = ""
    model: str = ""
    usage: Usage | None = None
    server_edited: tuple[str, ...] = ()
    """What the provider did to the request before the model saw it, where only the answer says."""
    alternatives: tuple[Json, ...] = ()
    """Choices beyond the first."""


class ModelFailed(EventBase):
    """The call ended without an answer."""

    type: Literal["model_failed"] = "model_failed"
    call: Position
    error: str
    status: int | None = None
    detail: Json | None = None
    partial: NewMessage | None = None
    """What had come of the answer until then. It is no item: whether it stands in the context says
    the next request."""

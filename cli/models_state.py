"""What ``ctxlog state`` gives with ``--json``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from projections.agent_state import AgentState

Form = Literal["state", "messages", "session"]


class StateShowData(BaseModel):
    """``state show``"""

    key: str
    ref: str
    """The place, as it was typed."""
    at: int
    """The position that this is the state of."""
    state: AgentState


class StateExportData(BaseModel):
    """``state export --out``"""

    key: str
    at: int
    form: Form
    file: str = ""
    bytes: int = 0
    messages: int
    warnings: list[str]
    """Why `state import` would not take it, or what it would say of it."""


class StateImportData(BaseModel):
    """``state import``"""

    key: str
    form: Form
    file: str
    events: int
    messages: int
    warnings: list[str]

"""How a summary stands in the context, shared by the strategies that ask for one."""

from __future__ import annotations

from projections.strategies.decisions import Said
from projections.strategies.marks import ACKNOWLEDGEMENT, framed

PROMPT = "handoff_v1"
"""The prompt of every strategy here, by name and version."""


def as_user(text: str) -> tuple[Said, ...]:
    """One user message between two fixed marks."""
    return (Said("user", framed(text)),)


def acknowledged(text: str) -> tuple[Said, ...]:
    """A user message and the model's fixed answer to it, so that turns alternate."""
    return (Said("user", framed(text)), Said("assistant", ACKNOWLEDGEMENT, "acknowledgement"))

"""What ``--json`` gives of what-ifs: ``replay --strategy``, ``diff`` and ``compare``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from cli.models import ReplayData


class DecidedData(BaseModel):
    """What a strategy decided, of one kind."""

    kind: str
    times: int
    items: int
    before: int
    """Tokens."""
    after: int


class WhatIfData(ReplayData):
    """``replay --strategy``: the request that another strategy would have made."""

    strategy: str
    decided: list[DecidedData]
    recorded_tokens: int
    """Of the context as it really was."""
    teacher_forced: Literal[True] = True

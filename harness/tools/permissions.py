"""Stand-in until the real one is merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from harness.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Literal["allowed", "denied", "ask"]
    by: str


def judge(permissions, tool: Tool, arguments: Mapping[str, object]) -> Judgement:
    if permissions.mode == "allow":
        return Judgement("allowed", "mode allow")
    if not tool.has_effects:
        return Judgement("allowed", "no effects")
    return Judgement("ask", f"mode {permissions.mode}")

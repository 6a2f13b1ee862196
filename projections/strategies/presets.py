"""What known agents do, in the words of our own strategies: named with system and version.

They imitate a rule and its numbers, never a provider's hidden machinery; what a system does by
wall-clock time, or with its own prompt, is left out and said. Sources: reference/strategies.md,
sections 2 and 3, read in source or documentation at the version named.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from projections.strategies import base
from projections.strategies.base import Combination, Strategy
from projections.strategies.clear import Clear
from projections.strategies.condense import Condense
from projections.strategies.halve import Halve
from projections.strategies.mask import Mask
from projections.strategies.users import Users


class Preset(Combination):
    """A strategy after a known system. ``window`` is the model's, where its rule asks for it."""

    system: ClassVar[str]
    version: ClassVar[str]
    source: ClassVar[str]

    class Parameters(base.Parameters):
        """The window of the model, in tokens."""

        window: Annotated[int, Field(ge=1_000)] = 200_000

    parameters: Parameters


class SweAgent(Preset):
    """SWE-agent: all but the last five observations are masked, at each step.

    ``last_n_observations`` with the paper's n = 5 and its default polling of 1, which breaks the
    prefix at every call. Its first observation, which stays, is the message of the task and no
    result. Tags, and results that are shorter than the text in their place, are left out.
    """

    name = "swe-agent"
    system = "SWE-agent"
    version = "3ea751c"
    source = "sweagent/agent/history_processors.py"

    def expand(self) -> tuple[Strategy, ...]:
        """One masking."""
        return (Mask(Mask.Parameters(n=5, polling=1, count_task=True, marker="lines")),)


class OpenHands(Preset):
    """OpenHands: over 240 events the middle becomes a summary, and half of that many stay.

    ``LLMSummarizingCondenser`` of the SDK, ``max_size`` 240 and ``keep_first`` 2 by default; its
    own agents are given 80 and 4. Events are counted as it counts them. What a person requests,
    its token limit and its prompt are left out.
    """

    name = "openhands"
    system = "OpenHands SDK"
    version = "118402a"
    source = "openhands-sdk/openhands/sdk/context/condenser"

    class Parameters(Preset.Parameters):
        """The condenser's own numbers, as a conversation's configuration names them."""

        max_size: Annotated[int, Field(ge=4)] = 240
        """Events over which it happens."""
        keep_first: Annotated[int, Field(ge=0)] = 2
        """Events that stay at the beginning, the system prompt among them."""

        @model_validator(mode="after")
        def _a_tail(self) -> Self:
            if self.max_size // 2 - self.keep_first - 1 <= 0:
                raise ValueError("keep_first must be less than half of max_size, less one")
            return self

    parameters: Parameters

    def expand(self) -> tuple[Strategy, ...]:
        """One summary."""
        p = self.parameters
        return (Halve(Halve.Parameters(max_size=p.max_size, keep_first=p.keep_first)),)


class Codex(Preset):
    """Codex CLI: at 90 % of the window 20,000 tokens of users and a summary behind them stay.

    ``build_compacted_history``, read in the fork mirror. The initial context that Codex injects
    again is part of the recording, and is not made anew.
    """

    name = "codex"
    system = "Codex CLI, local compaction"
    version = "6ad6d5c (fork mirror), 2026-08"
    source = "codex-rs/core/src/compact.rs"

    def expand(self) -> tuple[Strategy, ...]:
        """One compaction."""
        tokens = self.parameters.window * 9 // 10
        return (Users(Users.Parameters(tokens=tokens, user_tokens=20_000)),)


class ClaudeCode(Preset):
    """Claude Code: 33,000 tokens under the window everything becomes a summary.

    Window less 20,000 for the answer and 13,000 of reserve: 167,000 of 200,000, a third party's
    figure; under a window of 66,000 half of it. Its clearing of old results after an hour of
    silence goes by the clock, and the files that it reads again come from the disk: both left out.
    """

    name = "claude-code"
    system = "Claude Code, auto-compact"
    version = "2.1.x, 2026-08"
    source = "changelog and third-party measurements; its prompt is not used"

    def expand(self) -> tuple[Strategy, ...]:
        """One summary of everything."""
        window = self.parameters.window
        tokens = max(window - 33_000, window // 2)
        return (Condense(Condense.Parameters(tokens=tokens, keep_last=0, max_summary_tokens=4000)),)


class AnthropicClear(Preset):
    """Anthropic's API: over 100,000 tokens all results but those of the last 3 tool uses go.

    ``clear_tool_uses_20250919`` with its defaults. The window plays no part.
    """

    name = "anthropic-clear"
    system = "Anthropic API, context editing"
    version = "clear_tool_uses_20250919"
    source = "docs.anthropic.com, context editing"

    def expand(self) -> tuple[Strategy, ...]:
        """One clearing."""
        return (Clear(Clear.Parameters(trigger=100_000, keep=3), at="model_call"),)


PRESETS: dict[str, type[Preset]] = {
    preset.name: preset for preset in (SweAgent, OpenHands, Codex, ClaudeCode, AnthropicClear)
}
"""By name."""

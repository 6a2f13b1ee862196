"""What ``prompt log --json`` and ``prompt diff --json`` give."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

State = Literal["same", "changed", "added", "removed"]


class PromptData(BaseModel):
    """A prompt, as it stood in a context."""

    item: str
    """Empty for a file that was never rendered there."""
    rendition: str
    message_role: str
    """Of the message: system, developer, user."""
    template: str
    """Empty for a text that no template gave."""
    role: str
    version: str
    rendered_at: int | None
    """The position of its ``PromptRendered``."""
    template_text: str
    variables: dict[str, Any]
    text: str
    """What the model was given."""
    tokens: int
    """Estimated."""
    state: Literal["holds", "erased", "no_template", "broken"]
    """Whether template, variables, text and digests fit together."""
    fault: str = ""
    """Of a broken one: what does not fit."""


class VariableData(BaseModel):
    """A variable that differs."""

    name: str
    state: State
    left: Any
    right: Any


class ToolData(BaseModel):
    """A tool that differs."""

    name: str
    state: State
    fields: list[str]
    """Of a changed one: which parts of its definition."""


class PromptSpanData(BaseModel):
    """A prompt, and the calls that had it."""

    prompt: PromptData
    renditions: list[str]
    """All in which it stood."""
    calls: list[int]
    """None where it was rendered and shown to no model yet."""
    before: PromptData | None
    """The one that stood there before it; null of the first."""
    changed: list[str]
    """In what it differs from the one before it: template, version, template_text, variables,
    text."""
    variables: list[VariableData]


class ToolsSpanData(BaseModel):
    """A set of tools, and the calls that had it."""

    position: int | None
    """Of its declaration; null where a call had none."""
    names: list[str]
    calls: list[int]
    changes: list[ToolData]
    """Against the set before it."""


class PromptLogData(BaseModel):
    """``prompt log``: what a session was told, by its calls."""

    key: str
    calls: int
    prompts: list[PromptSpanData]
    tools: list[ToolsSpanData]
    without_prompt: list[int]
    """Calls in which no prompt is known to have stood."""
    without_tools: list[int]
    """Calls of whose tools nobody knows."""


class PromptPairData(BaseModel):
    """A prompt on both sides, or on one."""

    state: State
    changed: list[str]
    left: PromptData | None
    right: PromptData | None
    variables: list[VariableData]


class PromptDiffData(BaseModel):
    """``prompt diff``: what was told at one place, held against another, or against a file."""

    key: str
    left: str
    """The place, such as c2."""
    right: str
    """Likewise; with a file, the prompt's name."""
    file: str = ""
    """The file that the left place is held against, as it is now."""
    since: int | None = None
    """With one place: the first call that was told what is told there."""
    same: bool
    prompts: list[PromptPairData]
    tools: list[ToolData]
    tools_known: bool
    """Whether the tools of both are known; with a file there are none."""
    notes: list[str] = []

    @property
    def broken(self) -> list[PromptData]:
        """The prompts that do not hold."""
        both = (each for pair in self.prompts for each in (pair.left, pair.right))
        return [each for each in both if each is not None and each.state == "broken"]

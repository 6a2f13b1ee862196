"""What ``prompt … --json`` gives."""

from __future__ import annotations

from pydantic import BaseModel


class PromptRow(BaseModel):
    """A template, without its texts."""

    name: str
    role: str
    """Empty where its file holds one template."""
    version: str
    variables: list[str]
    """In the order of the alphabet."""
    parts: list[str]
    """Which texts it has: system, user."""
    description: str


class PromptProblem(BaseModel):
    """A file that is no prompt."""

    name: str
    message: str


class PromptListData(BaseModel):
    """``prompt list``"""

    place: str
    """The folder, or the file."""
    bundled: bool
    """Whether these are the ones that come with this program."""
    prompts: list[PromptRow]
    problems: list[PromptProblem]


class PromptShowData(PromptRow):
    """``prompt show``"""

    file: str
    declared: bool
    """Whether the file says which names are variables."""
    system: str
    user: str


class PromptRenderData(BaseModel):
    """``prompt render``"""

    name: str
    role: str
    version: str
    variables: dict[str, str]
    messages: list[dict[str, str]]

"""What ``prompt test --json`` gives."""

from __future__ import annotations

from pydantic import BaseModel


class CheckData(BaseModel):
    """One check of one answer."""

    kind: str
    expected: str
    passed: bool
    detail: str
    """Of a failed one: why; of a judged one always the judge's reason."""
    excerpt: str
    """Of a failed one: what of the answer it is about, keys masked."""
    session: str
    """Of a judged one: where the judge was asked."""


class RunData(BaseModel):
    """One case, asked once."""

    case: str
    time: int
    """With ``--repeat``: which of them; else 1."""
    line: int
    """Of the case in its file."""
    session: str
    calls: int
    """That gave an answer; those of a judge are in sessions of their own."""
    passed: bool
    unasked: bool
    """Whether the endpoint could not be asked."""
    fault: str
    """Why nothing could be checked, or not all."""
    cut_off: bool
    """Whether the last answer ended at ``--max-tokens``."""
    answer: str
    """The last one, keys masked."""
    input: int | None
    """Tokens of all its answers, as the provider counts; null where it does not."""
    output: int | None
    checks: list[CheckData]


class SuiteData(BaseModel):
    """The tests of one file."""

    file: str
    prompt: str
    """The name of the prompt; of one that the file holds, that of the file."""
    role: str
    version: str
    runs: list[RunData]


class PromptTestData(BaseModel):
    """``prompt test``"""

    model: str
    url: str
    judge: str
    """The model that judges."""
    files: list[SuiteData]
    cases: int
    """That were to be asked, each as often as it was to be."""
    passed: int
    failed: int
    unasked: int
    missed: int
    """Calls that could not be recorded."""

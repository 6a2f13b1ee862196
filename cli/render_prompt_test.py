"""The report of tests of prompts as text. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from cli.models_prompt_test import CheckData, PromptTestData, RunData, SuiteData
from cli.style import Style, plural

_WORDS = {True: "ok", False: "FAILED"}


def render_prompt_test(data: PromptTestData, style: Style) -> Iterator[str]:
    """Each case check by check, and of a failed one what of the answer it is about."""
    many = any(run.time > 1 for file in data.files for run in file.runs)
    for file in data.files:
        yield style.paint(style.line(_head(file, data), style.width), "bold")
        for run in file.runs:
            yield from _run(run, style, many)
    yield ""
    yield _sums(data)


def _head(file: SuiteData, data: PromptTestData) -> str:
    name = f"{file.prompt}/{file.role}" if file.role else file.prompt
    version = f" v{file.version}" if file.version else ""
    return f"{file.file}: {name}{version}, asked of {data.model} at {data.url}"


def _run(run: RunData, style: Style, many: bool) -> Iterator[str]:
    word = "not asked" if run.unasked else _WORDS[run.passed]
    case = f"{run.case} (time {run.time})" if many else run.case
    line = f" {word}  {style.line(case, max(20, style.width - len(word) - 3))}"
    yield style.paint(line, "dim") if run.passed else style.paint(line, "bold")
    for check in run.checks:
        yield from _check(check, style)
    if run.fault:
        yield _indented(run.fault, style, 4)
    if run.cut_off:
        yield _indented("the answer was cut off: --max-tokens gives it more room", style, 4)
    if not run.unasked:
        yield style.paint(_indented(run.session, style, 4), "dim")


def _check(check: CheckData, style: Style) -> Iterator[str]:
    sign = "+" if check.passed else "-"
    detail = f" · {check.detail}" if check.detail else ""
    yield _indented(f"{sign} {_asked(check)}{detail}", style, 4)
    if not check.passed and check.excerpt:
        yield style.paint(_indented(f"“{check.excerpt}”", style, 8), "yellow")


def _asked(check: CheckData) -> str:
    if check.expected == "true":
        return check.kind
    is_number = check.kind.endswith("_length")
    return f"{check.kind} {check.expected if is_number else f'“{check.expected}”'}"


def _indented(text: str, style: Style, by: int) -> str:
    return " " * by + style.line(text, style.width - by)


def _sums(data: PromptTestData) -> str:
    said = [f"{data.passed:,} of {plural(data.cases, 'case')} passed"]
    if data.failed:
        said.append(f"{data.failed:,} failed")
    if data.unasked:
        said.append(f"{data.unasked:,} not asked")
    return ", ".join(said)

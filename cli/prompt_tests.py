"""Tests of prompts for the command line: the files read, the model asked, the report as data."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cli.models_prompt_test import CheckData, PromptTestData, RunData, SuiteData
from cli.prompts import chosen
from eventlog.errors import InputRefused
from harness.prompts import Prompts
from harness.prompts.testing import PromptTester, Run
from projections.prompts import PromptFault, Template
from projections.prompts.cases import Case, Suite, suite
from projections.prompts.checks import Scan, without

MOST_BYTES = 1 << 20
"""Of one file."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file of tests, with the prompt that it tests."""

    suite: Suite
    template: Template
    stem: str


def loaded(files: Sequence[str], of: Prompts, only: str = "") -> list[Loaded]:
    """Files of tests, each ready to be asked: its prompt is there and its variables fit.

    ``only``: the cases in whose names that stands. Raises InputRefused, with the line where the
    file is to blame.
    """
    found = [_loaded(file, of) for file in files]
    if only:
        found = [
            replace(each, suite=replace(each.suite, cases=tuple(_named(each.suite.cases, only))))
            for each in found
        ]
        found = [each for each in found if each.suite.cases]
        if not found:
            raise InputRefused(f"no case has {only!r} in its name")
    for each in found:
        for case in each.suite.cases:
            each.suite.rendered(case, each.template)
    return found


def _named(cases: Sequence[Case], only: str) -> Iterator[Case]:
    return (case for case in cases if only.lower() in case.name.lower())


def _loaded(file: str, of: Prompts) -> Loaded:
    stem = Path(file).stem or "prompt"
    made = suite(_text(file), stem, file)
    template = made.template
    if template is None:
        try:
            template = chosen(of, made.prompt, made.role)
        except PromptFault as error:
            raise made.refused(str(error), made.line) from None
    return Loaded(made, template, stem)


def _text(file: str) -> str:
    """What stands in a file. Raises InputRefused."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise InputRefused(f"{file} is no regular file")
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputRefused(f"{file}: {error.strerror or error}") from None
    except ValueError:
        raise InputRefused("the name of a file holds a null character") from None
    if len(data) > MOST_BYTES:
        raise InputRefused(f"{file} has more than {MOST_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputRefused(f"{file}, line {line}: it is no UTF-8") from None


def tested(
    tester: PromptTester, files: Sequence[Loaded], times: int, secrets: Scan, model: str, url: str
) -> PromptTestData:
    """Ask every case, each so many times, until the endpoint is gone. Raises what an append
    raises."""
    data = PromptTestData(
        model=model,
        url=url,
        judge=tester.judge,
        files=[],
        cases=sum(len(each.suite.cases) for each in files) * times,
        passed=0,
        failed=0,
        unasked=0,
        missed=0,
    )
    for each in files:
        template = each.template
        data.files.append(
            SuiteData(
                file=each.suite.file,
                prompt=template.name,
                role=template.role,
                version=template.version,
                runs=[],
            )
        )
        runs = data.files[-1].runs
        for run in tester.runs(each.suite, template, each.stem, times):
            again = sum(one.case == run.case.name for one in runs) + 1
            runs.append(_run(run, again, secrets))
            data.passed += run.passed
            data.failed += not run.passed and not run.is_unasked
            if run.is_unasked:
                data.unasked = data.cases - data.passed - data.failed
                return data
    return data


def _run(run: Run, time: int, secrets: Scan) -> RunData:
    last = run.answers[-1] if run.answers else None
    usages = [reply.usage for reply in run.answers]
    return RunData(
        case=run.case.name,
        time=time,
        line=run.case.line,
        session=str(run.session),
        calls=len(run.answers),
        passed=run.passed,
        unasked=run.is_unasked,
        fault=run.fault,
        cut_off=last is not None and last.finish_reason == "length",
        answer=without(last.text or last.refusal, secrets) if last is not None else "",
        input=_sum([usage.prompt if usage is not None else None for usage in usages]),
        output=_sum([usage.output if usage is not None else None for usage in usages]),
        checks=[
            CheckData(
                kind=each.check.kind,
                expected=each.check.expected,
                passed=each.passed,
                detail=each.detail,
                excerpt=each.excerpt,
                session=each.session,
            )
            for each in run.checks
        ],
    )


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None

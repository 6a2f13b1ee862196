"""``ctxlog prompt test``"""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from cli.door import FINDINGS, UPSTREAM
from cli.options import BaseUrlOption, settings_of
from cli.output import output
from cli.prompt_options import PromptsOption


def command(
    ctx: typer.Context,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="YAML files with test cases.")
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model", "-m", metavar="NAME", help="The model (else CTXLOG_MODEL, else the config)."
        ),
    ] = "",
    judge: Annotated[
        str, typer.Option("--judge", metavar="NAME", help="Which one judges (else the same).")
    ] = "",
    base_url: BaseUrlOption = None,
    case: Annotated[
        str, typer.Option("--case", metavar="TEXT", help="Only cases with this in their name.")
    ] = "",
    repeat: Annotated[
        int, typer.Option("--repeat", metavar="N", min=1, max=100, help="Ask each N times.")
    ] = 1,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=1, help="Of an answer, at most.")
    ] = 1_024,
    temperature: Annotated[
        float | None,
        typer.Option("--temperature", metavar="T", min=0, max=2, help="Else the model's own."),
    ] = None,
    folder: PromptsOption = None,
) -> None:
    """Ask a model what files of test cases ask, check the answers, and record every call.

    A file names a prompt (or holds one), values for its variables, and cases: what is said behind
    it, and what the answer is checked for: contains, not_contains, regex, not_regex, no_secret,
    refuses, min_length, max_length, and judged, a question to a model that is answered yes or no.
    docs/prompts.md shows one. Each case is a session of its own, local/prompt-test/…, in the log;
    `sessions` lists them by --agent prompt-test.

    The exit code is 1 where a check failed, and 6 where the endpoint could not be asked to the end.

    Example: ctxlog prompt test review.test.yaml -m qwen3 --base-url http://127.0.0.1:8080/v1
    """
    from cli.endpoints import MODEL, model_named, own_model
    from cli.paths import current_database
    from cli.prompt_tests import loaded, tested
    from cli.prompts import prompts
    from cli.render_prompt_test import render_prompt_test
    from eventlog.errors import InputRefused
    from harness.prompts.testing import PromptTester
    from harness.recording.recorder import Recorder
    from projections.findings import for_secrets

    out, settings = output(ctx), settings_of(ctx)
    model = model.strip() or own_model()
    if not model:
        raise InputRefused(f"name the model that is asked: --model, {MODEL}, or [model] name")
    ready = loaded(files, prompts(folder), case)
    endpoint = model_named(model, base_url, temperature=temperature).endpoint
    judging = model_named(judge or model, base_url).endpoint
    secrets = for_secrets().scan
    recorder = Recorder(current_database(settings.db), on_error="ignore")
    with contextlib.closing(recorder):
        tester = PromptTester(
            endpoint, recorder, secrets, judge=judging, most=max_tokens, waiting=out.note
        )
        data = tested(tester, ready, repeat, secrets, model, endpoint.url)
    data.missed = recorder.missed
    out.show(data, render_prompt_test(data, out.style))
    if data.missed:
        out.note(f"{data.missed:,} of the calls could not be recorded")
    if data.unasked:
        raise typer.Exit(UPSTREAM)
    if data.failed:
        raise typer.Exit(FINDINGS)

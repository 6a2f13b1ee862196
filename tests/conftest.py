"""Shared by all tests: helpers beside a test file can be imported, samples are found or skipped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

for folder in ("projections", "harness", "cli", "eventlog", "browser"):
    sys.path.append(str(Path(__file__).parent / folder))
sys.path.append(str(Path(__file__).parents[1]))  # bench, of which some tests take sessions and sets

# Threads of a library that wait for each other while other tests need the processor take ten times
# as long as one of them.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# In the background of a shell the one is ignored, under nohup the other, and would be by every
# process that a test stops: it would wait for ever for one that goes on.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# How long an example takes says how busy the machine is, not whether it is right.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("new", UNTIMED)
# Two runs of the same code say the same; ``make reliability`` looks for new examples.
settings.register_profile("same", UNTIMED, derandomize=True)
settings.load_profile("same")
FEWER = 0.4
"""The share of its examples that a test runs in that profile; they are the first of the same ones,
and a test that names a handful runs them all. ``make reliability`` runs all of every test."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Scale what tests say of themselves: a profile alone is only the default of those that do not.

    Hypothesis offers no other place for it than the attribute that its own plugin reads.
    """
    if settings.get_current_profile_name() != "same":
        return
    tests = {getattr(item, "function", None) for item in items}
    for test in (test for test in tests if getattr(test, "is_hypothesis_test", False)):
        own = test._hypothesis_internal_use_settings or settings.default
        if own.max_examples > 20:
            fewer = max(20, int(own.max_examples * FEWER))
            test._hypothesis_internal_use_settings = settings(own, max_examples=fewer)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of a provider tries again at once, and as often as it always does."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)


@pytest.fixture
def samples() -> Path:
    """The folder of public transcripts; a test that needs it is skipped where it is absent."""
    folder = Path(__file__).parents[2] / "shared" / "samples"
    if not folder.is_dir():
        pytest.skip("the sample transcripts are not here")
    return folder


# -- nothing is left in the working tree ----------------------------------------------------------

ROOT = Path(__file__).parents[1]
UNTRACKED = pytest.StashKey[frozenset[str]]()
LEFT = pytest.StashKey[list[str]]()


def untracked() -> frozenset[str]:
    """The files that git does not know; none where there is no git, or no repository."""
    try:
        told = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=all", "-z"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return frozenset()
    return frozenset(line[3:] for line in told.stdout.split("\0") if line.startswith("?? "))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remember what lies there already."""
    if not hasattr(session.config, "workerinput"):
        session.config.stash[UNTRACKED] = untracked()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run that left a file in the working tree has failed: the next commit would take it."""
    before = session.config.stash.get(UNTRACKED, None)
    if before is not None:
        session.config.stash[LEFT] = sorted(untracked() - before)
        if session.config.stash[LEFT] and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was left."""
    for name in terminalreporter.config.stash.get(LEFT, []):
        terminalreporter.write_line(f"left in the working tree: {name}", red=True)

"""Long work tells how far it is: on a terminal as it goes, elsewhere in a few plain lines."""

from __future__ import annotations

import io

import pytest

from cli import progress
from cli.options import Settings
from cli.output import Output
from cli.progress import Meter


class Clock:
    """A time that a test moves on."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def worked(clock: Clock, seconds: int, *, quiet: bool = False) -> None:
    """A hundred steps in all, a few in each second."""
    out = Output(Settings(command="audit", quiet=quiet))
    with Meter(out, "audited", "events") as meter:
        for step in range(100):
            clock.now += seconds / 100
            meter.show(1000 * step, 100_000)


class TestOnAPipe:
    """A log of a build with a thousand lines of progress is as bad as one that seems to hang."""

    @pytest.mark.parametrize(("seconds", "lines"), [(4, 0), (8, 1), (60, 4), (3600, 7)])
    def test_there_are_few_lines_and_none_of_short_work(
        self, capsys: pytest.CaptureFixture[str], clock: Clock, seconds: int, lines: int
    ) -> None:
        worked(clock, seconds)
        shown = capsys.readouterr().err
        assert shown.count("\n") == lines
        assert "\r" not in shown
        if lines:
            assert "audited: " in shown
            assert "% of 100,000 events" in shown

    def test_quiet_says_nothing(self, capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
        worked(clock, 60, quiet=True)
        assert capsys.readouterr().err == ""

    def test_what_nobody_has_counted_is_told_as_it_is(
        self, capsys: pytest.CaptureFixture[str], clock: Clock
    ) -> None:
        meter = Meter(Output(Settings(command="import")), "looked into", "transcripts")
        clock.now += 6
        meter.show(1_200)
        assert capsys.readouterr().err.strip() == "looked into: 1,200 transcripts so far"


class TestOnATerminal:
    """There it is one line, and none is left."""

    def test_it_is_written_over_and_gone(
        self, monkeypatch: pytest.MonkeyPatch, clock: Clock
    ) -> None:
        stream = Terminal()
        monkeypatch.setattr("sys.stderr", stream)
        worked(clock, 60)
        shown = stream.getvalue()
        assert "\n" not in shown
        assert shown.count("\r") > 50
        assert shown.rsplit("\r", 2)[1].strip() == ""
        assert "audited: 50 % of 100,000 events" in shown

"""How sessions and places are named, so that what is shown can be typed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from running import run
from small_log import said

from cli.naming import place_name, place_names
from eventlog import StreamKey
from eventlog.events import Remembered
from projections import Live, open_log
from projections.memory import memory_stream
from projections.references import resolve

LONG = StreamKey("local", "claude-code", "8f31c0a9-5d2e-4b7a-9c1f-6e0d3a7b4c21")
NEAR = StreamKey("local", "claude-code", "8f31c0a9-0000-4b7a-9c1f-6e0d3a7b4c21")
BLANK = StreamKey("local", "chat", "my talk")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as found:
        for key in (LONG, BLANK):
            found.append(key, said("user", "hello"))
        found.append(memory_stream("local"), Remembered(text="x"))
        yield found


class TestPlaceNames:
    """A place that is cut, or that means another session, costs whoever copies it."""

    def test_a_session_goes_by_the_least_that_means_it_alone(self, live: Live) -> None:
        assert place_names(live, [str(LONG)]) == {str(LONG): "8f31c0a9"}
        live.append(NEAR, said("user", "hello"))
        (name,) = place_names(live, [str(LONG)]).values()
        assert name != "8f31c0a9"
        assert resolve(live, f"{name}@1").stream == LONG

    def test_what_a_shell_would_split_is_quoted(self, live: Live) -> None:
        names = place_names(live, [str(BLANK)])
        assert place_name(names, f"{BLANK}@1") == "'my talk'@1"
        assert place_name(names, str(BLANK)) == "'my talk'"

    def test_what_is_no_session_of_this_log_goes_by_its_whole_name(self, live: Live) -> None:
        others = [str(memory_stream("local")), "local/chat/elsewhere", "no key", "", "a/b/\ud800"]
        assert place_names(live, others) == {}
        assert place_name({}, "local/chat/elsewhere@7") == "local/chat/elsewhere@7"

    def test_a_deleted_one_goes_by_the_name_that_it_still_answers_to(
        self, live: Live, tmp_path: Path
    ) -> None:
        assert run("delete", str(LONG), "--yes", "--db", tmp_path / "log.db").exit_code == 0
        assert place_names(live, [str(LONG)]) == {}
        assert resolve(live, f"{LONG}@1").stream == LONG

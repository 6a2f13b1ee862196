"""Keys of streams, and events with their place."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import KEY, said
from hypothesis import given
from hypothesis import strategies as st

from eventlog import EventLog, StreamKey
from eventlog.errors import EventInvalid
from eventlog.recorded import MAX_NAME


class TestStreamKey:
    """Without it two keys could be one text, and a session of one user be another's."""

    names = st.text("abcé -_.:@ü漢", min_size=1, max_size=20).filter(lambda s: s == s.strip())

    @given(names, names, names, names)
    def test_text_and_key_are_each_other(self, user: str, agent: str, a: str, b: str) -> None:
        key = StreamKey(user, agent, f"{a}/{b}")
        assert StreamKey.parse(str(key)) == key

    def test_only_a_session_holds_a_slash(self) -> None:
        assert StreamKey.parse("u/a/s/1/2") == ("u", "a", "s/1/2")
        for key in (StreamKey("u/x", "a", "s"), StreamKey("u", "a/x", "s")):
            with pytest.raises(EventInvalid, match="holds no '/'"):
                key.checked()

    @pytest.mark.parametrize(
        "part", ["", " ", "a ", "\ta", "a\x00", "a\u202eb", "\ud800", "é" * 257]
    )
    def test_a_part_that_is_no_name_is_refused_everywhere(self, part: str, log: EventLog) -> None:
        for key in map(StreamKey, (part, "u", "u"), ("a", part, "a"), ("s", "s", part)):
            with pytest.raises(EventInvalid):
                key.checked()
            for use in (log.append, log.read, log.exists, log.version, log.import_key):
                arguments = (key, said()) if use == log.append else (key,)
                with pytest.raises(EventInvalid):
                    use(*arguments)  # type: ignore[operator]
        assert log.streams() == []

    def test_the_limit_counts_bytes(self) -> None:
        assert StreamKey("u", "a", "x" * MAX_NAME).checked()


class TestRecordedEvent:
    """Without it reading headers would cost as much as reading everything."""

    def test_nothing_is_decoded_before_it_is_asked_for(self, log: EventLog, path: Path) -> None:
        from given import plain

        log.append(KEY, said("a"))
        with plain(path) as db:
            db.execute("drop trigger events_update")
            db.execute("update events set payload = 'no json'")
        (event,) = log.read(KEY)
        assert (event.position, event.sequence, event.payload) == (1, 1, "no json")
        assert "a 1" not in repr(event)
        assert repr(event) == f"RecordedEvent({KEY} 1 message_appended)"
        for name in ("event", "data"):
            with pytest.raises(EventInvalid):
                getattr(event, name)

    def test_it_is_decoded_once(self, log: EventLog) -> None:
        log.append(KEY, said("a"))
        (event,) = log.read(KEY)
        assert event.event is event.event
        assert event.data is event.data

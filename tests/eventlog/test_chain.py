"""The hashes: fixed for ever, and no two different logs with the same one."""

from __future__ import annotations

import hashlib

import pytest
from given import KEY, OTHER, said
from own_chain import recompute

from eventlog import EventLog, StreamKey, chain

LINK = {
    "previous": b"p" * 32,
    "stream_id": b"s" * 16,
    "position": 7,
    "event_id": b"e" * 16,
    "type_name": "message_appended",
    "schema_version": 1,
    "critical": True,
    "occurred_at": "2026-01-01T00:00:00Z",
    "recorded_at": 1_700_000_000_000_000,
    "payload_digest": b"d" * 32,
}


class TestFixedValues:
    """Without it a refactoring would make every log of before look tampered with."""

    def test_each_function_gives_what_it_gave_in_format_1(self) -> None:
        key = StreamKey("ann", "coder", "é")
        root = chain.root(b"s" * 16, key)
        found = {
            "digest": chain.digest(b"salt", b"payload").hex(),
            "link": chain.link(**LINK).hex(),  # type: ignore[arg-type]
            "root": root.hex(),
            "fork": chain.fork(b"f" * 16, key, root).hex(),
            "head": chain.head([(key, 3, root), (KEY, 1, b"c" * 32)]),
            "address": chain.address(b"k" * 32, b"data"),
        }
        assert found == FORMAT_1

    def test_the_digest_is_plain_sha_256(self) -> None:
        assert chain.digest(b"a", b"b") == hashlib.sha256(b"ab").digest()


class TestEveryFieldCounts:
    """Without it a part of an event could be changed and the log still verify."""

    @pytest.mark.parametrize(
        ("field", "other"),
        [
            ("previous", b"q" * 32),
            ("stream_id", b"t" * 16),
            ("position", 8),
            ("event_id", b"f" * 16),
            ("type_name", "message_appende"),
            ("schema_version", 2),
            ("critical", False),
            ("occurred_at", None),
            ("occurred_at", ""),
            ("occurred_at", "2026-01-01T00:00:00"),
            ("recorded_at", -1),
            ("payload_digest", b"x" * 32),
        ],
    )
    def test_a_changed_field_changes_the_link(self, field: str, other: object) -> None:
        changed = {**LINK, field: other}
        assert chain.link(**changed) != chain.link(**LINK)  # type: ignore[arg-type]

    def test_no_time_and_an_empty_time_differ(self) -> None:
        none, empty = ({**LINK, "occurred_at": value} for value in (None, ""))
        assert chain.link(**none) != chain.link(**empty)  # type: ignore[arg-type]

    def test_names_cannot_be_cut_elsewhere(self) -> None:
        keys = [StreamKey("ab", "c", "d"), StreamKey("a", "bc", "d"), StreamKey("a", "b", "cd")]
        assert len({chain.root(b"s" * 16, key) for key in keys}) == 3
        assert len({chain.fork(b"s" * 16, key, b"c" * 32) for key in keys}) == 3
        assert len({chain.head([(key, 1, b"c" * 32)]) for key in keys}) == 3

    def test_a_root_is_no_fork_and_no_head(self) -> None:
        assert chain.root(b"s" * 16, KEY) != chain.fork(b"s" * 16, KEY, b"")

    def test_the_head_does_not_depend_on_the_order_of_creation(self) -> None:
        streams = [(KEY, 1, b"a" * 32), (OTHER, 2, b"b" * 32)]
        assert chain.head(streams) == chain.head(streams[::-1])
        assert chain.head(streams) != chain.head(streams[:1]) != chain.head([])


class TestStoredChain:
    """Without it the chain in the file would be anything: here it is computed by other code."""

    def test_it_is_what_the_documentation_says(self, log: EventLog) -> None:
        log.append(KEY, *[said(n) for n in range(30)])
        log.append(OTHER, said("QUJD" * 9000), said("é\ud83d"))
        log.fork(KEY._replace(session="f"), KEY, at=20)
        log.fork(KEY._replace(session="g"), KEY._replace(session="f"), at=21)
        log.append(KEY._replace(session="g"), said())
        log.close()
        assert recompute(log.path) == []

    def test_that_other_code_does_see_a_change(self, log: EventLog) -> None:
        """The control of the test above, and of every crash test that uses the same code."""
        from given import plain

        log.append(KEY, *[said(n) for n in range(5)])
        log.close()
        with plain(log.path) as db:
            db.execute("drop trigger events_update")
            db.execute("update events set payload = '{}' where sequence = 3")
        assert recompute(log.path)[0] == "stream 1 position 3: the chain"
        with plain(log.path) as db:
            db.execute("drop trigger events_delete")
            db.execute("delete from events where sequence = 2")
        assert "a gap in the sequences" in recompute(log.path)


FORMAT_1 = {
    "digest": "b25afe29043ff2d979035661619d2dbff5f9d22aee46755277d7731e44a0026b",
    "link": "48558f5e707f027a9155cc5d57a44f2bd936377a652a416c4d5df74bda6a506a",
    "root": "46e749e06fab272407fa1c237225466e0f21bc6ed85aa273384825c2de1278fd",
    "fork": "5896e9c9cb9251dac30b73b07d9e206340f660e52d1f70b031cad3d22d676b0d",
    "head": "721484e22e413d5a7918033d55aa60167c0c0d714e9753b04156c46e40b6a54e",
    "address": "eedca5e79a7fa4f145644ea125666fbe8bab590801956fec0d4b7607d1427bc8",
}

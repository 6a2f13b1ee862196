"""``serve`` over logs that are odd, and over what was erased or goes while it is looked at."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from running import run
from serving import LONG, SECRET, append, served
from small_log import KEY, said, small_log

from cli.report.served_log import ServedLog
from cli.report.server import Server
from eventlog import StreamKey
from eventlog.errors import CriticalUnknown
from eventlog.events import SessionStarted
from projections import open_log

HALF = "half of one: \ud83d"


class TestOddText:
    """Without these one answer that was cut within an emoji takes a session out of sight."""

    def test_half_a_character_is_served_as_it_stands_in_a_file(self, tmp_path: Path) -> None:
        key = StreamKey("ann", "bot", "odd")
        with open_log(tmp_path / "odd.db") as live:
            live.append(
                key, SessionStarted(title=HALF), said("user", HALF), said("user", HALF * 40)
            )
        with served(tmp_path / "odd.db") as client:
            for name in ("session-0", "sessions", "head", "pulse?session=0"):
                answer = client.get(name)
                assert answer.status == 200, answer.body
                assert answer.data is not None
            assert client.get("session-0").data["rows"][0]["preview"] == HALF
        with served(tmp_path / "odd.db", key) as client:
            assert len(client.get("head").data["sessions"]) == 1


class TestSecretsOfTheList:
    """Without these the first thing that is shown is a key."""

    def test_titles_are_masked_also_where_they_end_within_a_key(self, tmp_path: Path) -> None:
        one, two = StreamKey("ann", "bot", "one"), StreamKey("ann", "bot", "two")
        with open_log(tmp_path / "s.db") as live:
            live.append(one, SessionStarted(title=f"use {SECRET}"), said("user", "x"))
            live.append(two, said("user", f"{'x' * 40} {SECRET} is what it is called"))
        with served(tmp_path / "s.db") as client, served(tmp_path / "s.db", one, two) as named:
            for answer in (client.get("sessions"), named.get("head"), named.get("sessions")):
                titles = [each["title"] for each in answer.data["sessions"]]
                assert len(titles) == 2
                assert SECRET[:12] not in json.dumps(titles)
        with served(tmp_path / "s.db", one, with_secrets=True) as client:
            assert SECRET in client.get("head").data["sessions"][0]["title"]


class TestWhatIsGone:
    """Without these the text that somebody erased is read on from a cache."""

    def test_a_chunk_of_what_was_erased_is_not_there_for_who_asks_for_it_alone(
        self, tmp_path: Path
    ) -> None:
        db = small_log(tmp_path)
        append(db, LONG)
        with served(db) as client:
            listed = client.get("sessions").data["sessions"]
            (own,) = [each["number"] for each in listed if each["key"] == str(KEY)]
            names = client.get(f"session-{own}").data["texts"]["names"]
            assert {client.get(f"chunk-{name}").status for name in names} == {200}
            done = run("redact", KEY.session, "27", "--reason", "a secret", "--yes", "--db", db)
            assert done.exit_code == 0, done.output
            assert {client.get(f"chunk-{name}").status for name in names} == {404}
            assert client.get(f"session-{own}").status == 200

    @pytest.mark.parametrize("is_replaced", [True, False])
    def test_a_log_that_goes_takes_its_chunks_with_it(
        self, tmp_path: Path, is_replaced: bool
    ) -> None:
        db = small_log(tmp_path)
        append(db, LONG)
        with served(db, KEY) as client:
            own = client.get("head").data["sessions"][0]["number"]
            (name, *_) = client.get(f"session-{own}").data["texts"]["names"]
            aside = db.rename(db.with_name("aside.db"))
            if is_replaced:
                with open_log(db) as live:
                    live.append(StreamKey("a", "b", "c"), said("user", "another"))
            assert client.get(f"chunk-{name}").status == 503
            db.unlink(missing_ok=True)
            aside.rename(db)
            assert client.get(f"chunk-{name}").status in (404, 503)

    def test_why_there_is_no_answer_names_no_key(self, tmp_path: Path) -> None:
        with (
            open_log(small_log(tmp_path), read_only=True) as live,
            closing(Server(ServedLog(live, []))) as server,
        ):
            told = server.fault(CriticalUnknown(f"ann/a-{SECRET}/s", 3, "another"))
        assert b"another" in told
        assert SECRET.encode() not in told

"""Search in a session of 40 MB: the size of the index, the time to fill it, and single searches.

The session is that of ``bench.big``. A search is everything up to its first 50 hits with their
states. It stands beside the limit of a search without an index: one ``like`` over the payloads,
which knows neither words nor what became of them. The same texts in other FTS5 tables say what our
own words cost and save.
"""

from __future__ import annotations

import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path

from bench.big import KEY, SIZE, write
from bench.harness import Row, compared, folder, interleaved
from eventlog import StreamKey
from eventlog.events import ContextCompacted, MessageAppended
from harness.importers import import_path
from harness.importers.importing import Options
from projections import open_log
from projections.live import Live
from projections.search import Place, Search, Wanted
from projections.search_index import SearchIndex
from projections.search_query import parse
from projections.searchable import carried, item_texts, note_texts, safe

SHOWN = 50
SEARCHES = {
    "an id": ("ORD-70500", "ORD-70500"),
    "a word that is everywhere": ("settled", "settled"),
    "two words": ("ORD-70500 settled", "ORD-70500"),
    "a Chinese word of two characters": ("要动", "要动"),
    "a part of a word": ("*0500*", "0500"),
    "nothing": ("quokka", "quokka"),
}
"""What is typed, and the part that ``like`` looks for."""

TABLES = {
    "unicode61, with places": "tokenize='unicode61'",
    "trigram, rows only": "detail=none, columnsize=0, tokenize='trigram'",
}
"""What else FTS5 offers: the first finds no part of a Chinese run, the second none of two signs."""


def run(rounds: int) -> list[Row]:
    with folder() as place:
        transcript = place / "big.jsonl"
        write(transcript, SIZE)
        db = place / "big.db"
        with open_log(db, durability="normal") as live:
            report = import_path(live.log, transcript, Options(session="big"))
            assert report.new > 10_000
            rows = _filled(live, db, min(rounds, 3))
            rows += _others(live, place, _pages(live.log.path))
            rows += _searches(live, transcript, rounds)
            rows.append(_states(place, min(rounds, 3)))
    return rows


def _pages(path: Path) -> int:
    """Bytes of the file that hold something."""
    with closing(sqlite3.connect(path)) as db:
        used = "select page_count - freelist_count from pragma_page_count, pragma_freelist_count"
        size: int = db.execute("select page_size from pragma_page_size").fetchone()[0]
        return int(db.execute(used).fetchone()[0]) * size


def _filled(live: Live, db: Path, rounds: int) -> list[Row]:
    index = SearchIndex(live)
    bare = _pages(db)

    def fill() -> float:
        index.drop()
        began = time.perf_counter()
        for _ in index.catch_up():
            pass
        return time.perf_counter() - began

    def read() -> None:
        assert all(isinstance(event.data, dict) for event in live.log.read(KEY))

    steps: list[float] = []
    times = interleaved({"ctxlog": fill, "reading the payloads": read}, rounds)
    index.drop()
    last = time.perf_counter()
    for _ in index.catch_up():
        steps.append(time.perf_counter() - last)
        last = time.perf_counter()
    share = (_pages(db) - bare) / bare
    row = compared("filling the index, 40 MB", times, base="reading the payloads")
    return [
        row._replace(value=row.value / 1e6, base=(row.base or 0) / 1e6, unit="s"),
        Row("longest page, of which a part keeps writers waiting", max(steps) * 1e3, "ms"),
        Row("size of the index, of the log's", share * 100, "%", aim=50),
    ]


def _others(live: Live, place: Path, size: int) -> list[Row]:
    rows = []
    texts = list(_texts(live))
    for name, options in TABLES.items():
        path = place / "other.db"
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"create virtual table search using fts5 (words, content='', {options})")
            began = time.perf_counter()
            db.executemany("insert into search (rowid, words) values (?, ?)", texts)
            db.commit()
            spent = time.perf_counter() - began
            share = path.stat().st_size / size
        path.unlink()
        rows.append(Row(f"size of an index of {name}", share * 100, "%", spent, "s to fill"))
    return rows


def _texts(live: Live) -> Iterator[tuple[int, str]]:
    for event in live.log.read(KEY):
        found = safe(note_texts(event))
        for item in live.materialize(event.stream, carried(event)):
            found += safe(item_texts(item))
        if found:
            yield event.sequence, "\n".join(text.text for text in found)


def _searches(live: Live, transcript: Path, rounds: int) -> list[Row]:
    key = live.log.stream(KEY).key
    places = [Place(key, live.log.version(key), inherited=False)]
    rows = []
    for name, (typed, part) in SEARCHES.items():
        cases: dict[str, Callable[[], float | None]] = {
            "ctxlog": partial(_search, live, typed, places),
            "like": partial(_like, live, part),
            "grep": partial(_grep, transcript, part),
        }
        times = interleaved(cases, rounds)
        rows.append(compared(f"search for {name}", times, base="like"))
        rows.append(compared(f"search for {name}", times, base="grep"))
    return [
        row._replace(value=row.value / 1e3, base=(row.base or 0) / 1e3, unit="ms") for row in rows
    ]


def _search(live: Live, typed: str, places: list[Place]) -> None:
    search = Search(live, SearchIndex(live), Wanted(parse(typed)), places)
    list(islice(search.hits(), SHOWN))


def _like(live: Live, part: str) -> None:
    live.log.query("select count(*) from events where payload like ?", (f"%{part}%",)).fetchone()


def _grep(transcript: Path, part: str) -> None:
    subprocess.run(["grep", "-ciF", part, transcript], capture_output=True, check=False)


def _states(place: Path, rounds: int) -> Row:
    """The states of hits all over a session that a sliding window cut 1,000 times."""
    key = StreamKey("bench", "agent", "window")
    said = MessageAppended(
        dialect="openai_chat", source="human", message={"role": "user", "content": "a word"}
    )
    with open_log(place / "window.db", durability="normal") as live:
        for number in range(1000):
            live.append(key, *[said] * 10)
            if number > 20:
                first = live.view(key).standing()[0][0]
                covered = f"{first}-{int(first) + 10}"
                live.append(key, ContextCompacted(covered=(covered,)))
        places = [Place(key, live.log.version(key), inherited=False)]

        def work() -> None:
            wanted = Wanted(parse("word"), states=frozenset({"dropped"}))
            hits = list(Search(live, SearchIndex(live), wanted, places).hits())
            assert len(hits) > 5000

        times = interleaved({"ctxlog": work}, rounds)
        return Row("states of 10,000 hits, 979 truncations", min(times["ctxlog"]), "s")

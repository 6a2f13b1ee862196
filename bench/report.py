"""The report of a session of 40 MB and 7,000 messages: how long it takes to make, how large the
file is, and how it feels in a browser.

No two texts of the transcript are alike, and they are as dense as source code; there is a
compaction at every eighth question. The command is a process of its own. The page is opened by
Chromium from the file; a step of the slider is the time from the input event to the frame that
shows it, over a hundred steps all along the session. Without Chromium the browser's rows are left
out.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.big import spent
from bench.harness import Row, folder

MESSAGES = 7_000
STEPS = 100

_STEP = """
async (steps) => {
  const input = document.querySelector('input[type=range]');
  const times = [];
  for (let k = 1; k <= steps; k += 1) {
    input.value = Math.round((k * Number(input.max)) / steps) - (k % 2);
    const began = performance.now();
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - began);
  }
  return times;
}
"""


def run(rounds: int) -> list[Row]:
    """Few rounds: each is long."""
    with folder() as place:
        transcript = place / "dense.jsonl"
        write(transcript)
        size = transcript.stat().st_size / 1e6
        spent(["import", str(transcript), "--db", "d.db"], place)
        command = ["report", "last", "--db", "d.db", "-o", "d.html", "--force"]
        took = [spent(command, place) for _ in range(min(rounds, 3))]
        rows = [
            Row("made in", statistics.median(t.seconds for t in took), "s", aim=20),
            Row("peak memory", max(t.memory for t in took), "MB"),
            Row("the file", (place / "d.html").stat().st_size / 1e6, "MB", aim=15),
            *_in_browser(place / "d.html", min(rounds, 3)),
        ]
        return [
            row._replace(name=f"{size:.0f} MB, {MESSAGES:,} messages: {row.name}") for row in rows
        ]


def _in_browser(file: Path, rounds: int) -> Iterator[Row]:
    program = os.environ.get("CTXLOG_BROWSER") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return
    if program is None:
        return
    paints, steps = [], list[float]()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(rounds):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{file.as_uri()}#transcript")
            page.wait_for_selector("input[type=range]")
            paints.append(
                page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            )
            steps += page.evaluate(_STEP, STEPS)
            page.close()
        browser.close()
    yield Row("first contentful paint", statistics.median(paints), "ms", aim=2_000)
    yield Row("a step of the slider", statistics.median(steps), "ms", aim=100)
    yield Row("the slowest of 20 steps", statistics.quantiles(steps, n=20)[-1], "ms", aim=100)


def write(path: Path) -> None:
    """A transcript of about 40 MB."""
    choose = random.Random(7)
    words = [
        "".join(choose.choices("abcdefghijklmnopqrstuvwxyz_", k=choose.randint(2, 11)))
        for _ in range(4_000)
    ]
    weights = [1 / (rank + 1) for rank in range(len(words))]

    def text(size: int) -> str:
        lines: list[str] = []
        length = 0
        while length < size:
            line = " " * (4 * choose.randint(0, 3)) + " ".join(
                choose.choices(words, weights, k=choose.randint(3, 14))
            )
            if choose.random() < 0.3:
                line += f" = {choose.randint(0, 10**6)}"
            lines.append(line)
            length += len(line) + 1
        return "\n".join(lines)[:size]

    number = messages = round_ = 0
    with path.open("w", encoding="utf-8") as out:

        def put(kind: str, message: object, **fields: Any) -> None:
            nonlocal number
            number += 1
            seconds = number * 5
            moment = f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            record = {
                "type": kind,
                "uuid": f"u{number}",
                "parentUuid": f"u{number - 1}" if number > 1 else None,
                "isSidechain": False,
                "sessionId": "dense",
                "cwd": "/srv/shop",
                "version": "2.1.17",
                "timestamp": f"2026-03-{1 + seconds // 86_400 % 28:02}T{moment}.000Z",
                **({"message": message} if message is not None else {}),
                **fields,
            }
            out.write(json.dumps(record, ensure_ascii=False) + "\n")

        def answer(*blocks: object) -> None:
            usage = {
                "input_tokens": 3,
                "output_tokens": 60,
                "cache_read_input_tokens": 9_000 + number,
            }
            message = {"id": f"m{number}", "role": "assistant", "model": "claude-opus-4-5"}
            put("assistant", {**message, "content": blocks, "usage": usage})

        while messages < MESSAGES:
            round_ += 1
            order = f"ORD-{70_000 + round_}"
            file = f"src/shop/part_{round_ % 97}.py"
            put("user", {"role": "user", "content": f"Look up {order} in {file}. {text(500)}"})
            for step in range(3):
                call, tool = f"t{round_}.{step}", choose.choice(("Bash", "Read", "Grep"))
                given = {"command": f"grep -n {order} {file}"}
                answer({"type": "tool_use", "id": call, "name": tool, "input": given})
                found = f"{order}: {text(min(int(choose.paretovariate(1.3) * 4_150), 200_000))}"
                block = {"type": "tool_result", "tool_use_id": call, "content": found}
                put("user", {"role": "user", "content": [block]})
            answer({"type": "text", "text": f"{order} is settled. {text(600)}"})
            messages += 8
            if round_ % 8 == 0:
                data = {"trigger": "auto", "preTokens": 150_000}
                put("system", None, subtype="compact_boundary", compactMetadata=data)
                summary = (
                    f"This session is being continued from a previous conversation. {text(3_000)}"
                )
                put("user", {"role": "user", "content": summary}, isCompactSummary=True)

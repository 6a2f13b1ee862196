"""Recall among 1,000, 10,000 and 100,000 memories, beside brute force over the same vectors.

The memories are sentences made of a seed, two in five of them Chinese. The limit is what numpy
takes for the product of all vectors with that of the question, and for the five highest: it knows
neither words nor filters, and reads no memory. Vectors are random ones of 384 numbers, and those
of the embedder that needs nothing (512); what a question's vector costs counts on neither side. A
question is close to one memory, as questions are, and asks with a few of its words.

Further: a question in the middle of a run, in which each is followed by an event that says which
memories were recalled; the first question of a process; and what it keeps on the disk and in
memory.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.harness import Row, compared, folder, interleaved
from eventlog.catching_up import catch_up_in_steps
from eventlog.clock import now_us
from eventlog.events import MemoryRecalled, Remembered
from harness.embedders import default
from projections import open_log
from projections.live import Live
from projections.memory.embedding import TextKind
from projections.memory.index import RecallIndex
from projections.memory.recall import Recall, Wanted
from projections.memory.stream import memory_stream
from projections.memory.table import MemoryTable

COUNTS = (1_000, 10_000, 100_000)
ASKED = 40
"""Questions of a round."""
USER = "bench"

_PARTS = """
the billing service|our nightly backup|the staging cluster|a failed login|the German invoice
the import of orders|this retry loop|the search page|an expired token|the mobile client
the payment webhook|the feature flag|a slow query|the release branch|the audit report|the cache key

is deployed by|must never call|was moved to|depends on|is owned by|times out without
writes its logs to|should be tested with|was fixed by restarting|is documented in
reads its settings from|is reviewed before|breaks when it meets|prefers the format of

on Fridays|since the migration|for customers abroad|in production only|as agreed with legal
after the second attempt|behind the proxy|under heavy load|with tabs and no spaces|in UTC
until the quarter ends|because of daylight saving time

账单服务|夜间备份|测试集群|登录失败|德国发票|订单导入|重试循环|搜索页面|过期令牌|移动客户端|支付回调

由谁部署|绝不能调用|已经迁移到|依赖于|超时因为没有|日志写入|应当先测试|重启之后修复|配置读取自|不兼容

只在周五|迁移以后|海外客户|仅限生产环境|法务已经确认|第二次尝试之后|代理后面|高负载时|使用制表符
季度结束之前|夏令时的原因

ba|co|di|fu|ge|ha|ji|ko|lu|ma|ne|po|qui|ra|so|tu|ve|wa|xo|zi
"""
_WHAT, _DOES, _WHICH, _WAS, _TUT, _WIE, _SYLLABLES = (
    part.strip().replace("\n", "|").split("|") for part in _PARTS.split("\n\n")
)


def texts(count: int, seed: int = 7) -> list[str]:
    """So many memories: each names a project out of hundreds, and mostly an id of its own."""
    choose = random.Random(seed)
    projects = ["".join(choose.choices(_SYLLABLES, k=3)) for _ in range(400)]
    found = []
    for number in range(count):
        project = choose.choice(projects)
        if number % 5 < 2:
            said = (
                f"{project} 项目的{choose.choice(_WAS)}{choose.choice(_TUT)}{choose.choice(_WAS)}，"
            )
            said += choose.choice(_WIE)
        else:
            said = f"In {project}, {choose.choice(_WHAT)} {choose.choice(_DOES)} "
            said += f"{choose.choice(_WHAT)} {choose.choice(_WHICH)}"
        found.append(f"{said} (see {choose.choice(('PR', 'ORD', 'TASK'))}-{number * 37 % 99_991})")
    return found


class Known:
    """An embedder whose vectors are known before."""

    def __init__(self, name: str, floor: float, vectors: dict[str, Any]) -> None:
        self.name, self.floor, self.vectors = name, floor, vectors
        self.dimension = len(next(iter(vectors.values())))

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Sequence[float]]:
        return [self.vectors[text].tolist() for text in texts]


def fill(live: Live, said: Sequence[str]) -> None:
    """Remember all of it, over a month."""
    key = memory_stream(USER)
    kinds = ("fact", "project", "preference", "error_fix")
    for start in range(0, len(said), 1_000):
        page = said[start : start + 1_000]
        live.append(
            key,
            *(
                Remembered.model_validate({"kind": kinds[n % 4], "text": text, "importance": 0.7})
                for n, text in enumerate(page)
            ),
        )


def run(rounds: int) -> list[Row]:
    rows: list[Row] = []
    with folder() as place:
        for count in COUNTS:
            path = place / f"{count}.db"
            said = texts(count)
            with open_log(path, durability="normal") as live:
                empty = _bytes(live)
                fill(live, said)
                rows += _grown(live, "the events", empty, said)
                rows += _measured(live, said, "384 random", _random(said, rounds), rounds)
                rows += _measured(live, said, "512 hashed", _hashed(said, rounds), rounds)
            rows += _fresh(path, count, min(rounds, 5))
    return rows


def _questions(said: Sequence[str], rounds: int) -> list[list[tuple[str, str]]]:
    """What is asked in each round, and the memory that it is close to: no question comes twice."""
    choose = random.Random(3)
    found = []
    for _ in range(rounds + 1):
        targets = choose.choices(said, k=ASKED)
        found.append(
            [
                (
                    " ".join(
                        [*choose.sample(words := target.split(), min(len(words), 5)), words[-1]]
                    ),
                    target,
                )
                for target in targets
            ]
        )
    return found


def _random(said: Sequence[str], rounds: int) -> Known:
    import numpy as np

    asked = [pair for of in _questions(said, rounds) for pair in of]
    made = np.random.default_rng(5).standard_normal((len(said) + len(asked), 384))
    places = {text: row for row, text in enumerate(said)}
    for row, (_, target) in enumerate(asked, len(said)):
        made[row] += made[places[target]]
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    names = [*said, *(question for question, _ in asked)]
    return Known("random/384", 0.0, dict(zip(names, made.astype(np.float32), strict=True)))


def _hashed(said: Sequence[str], rounds: int) -> Known:
    import numpy as np

    names = [*said, *(question for of in _questions(said, rounds) for question, _ in of)]
    embedder = default()
    vectors = np.array(embedder.embed(names, "passage"), dtype=np.float32)
    return Known(embedder.name, embedder.floor, dict(zip(names, vectors, strict=True)))


def _measured(
    live: Live, said: Sequence[str], name: str, embedder: Known, rounds: int
) -> list[Row]:
    import numpy as np

    title = f"{len(said):,} memories, {name}"
    rows = []
    if name.startswith("384"):
        before, began = _bytes(live), time.perf_counter()
        live.log.catch_up(MemoryTable(live.log))
        rows += _grown(live, "the table of memories", before, said, began)
        before, began = _bytes(live), time.perf_counter()
        for _ in catch_up_in_steps(live.log, RecallIndex.of(live.log)):
            pass
        rows += _grown(live, "their words", before, said, began)
    before, began = _bytes(live), time.perf_counter()
    recall = Recall(live, USER, embedder)
    recall.catch_up()
    rows += _grown(live, f"their vectors, {name}", before, said, began)
    matrix = np.array([embedder.vectors[text] for text in said])
    wanted, now = Wanted(), now_us()
    asked = [[question for question, _ in of] for of in _questions(said, rounds)]
    of_ours, of_brute = iter(asked), iter(asked)

    def ours() -> None:
        for question in next(of_ours):
            assert recall.find(question, wanted, now)

    def brute() -> None:
        for question in next(of_brute):
            near = matrix @ embedder.vectors[question]
            best = np.argpartition(near, -5)[-5:]
            assert len(best[np.argsort(-near[best])].tolist()) == 5

    rows.append(
        compared(
            f"recall, {title}",
            interleaved({"ctxlog": ours, "numpy": brute}, rounds),
            base="numpy",
            per=ASKED,
            aim=1.5,
        )
    )
    spent = []
    of = str(memory_stream(USER))
    for question in asked[0]:
        began = time.perf_counter()
        found = recall.find(question, wanted, now)
        spent.append(time.perf_counter() - began)
        shown = tuple(each.memory.rendition for each in found)
        live.append("bench/agent/s", MemoryRecalled(of=of, item="1", memories=shown))
    rows.append(Row("  when the one before was recorded", statistics.median(spent) * 1e6))
    return rows


def _grown(
    live: Live, what: str, before: int, said: Sequence[str], began: float | None = None
) -> list[Row]:
    """What something takes on the disk, a memory, and how long all of it took to make."""
    spent = 0.0 if began is None else time.perf_counter() - began
    grown = (_bytes(live) - before) / len(said)
    rows = [Row(f"{len(said):,} memories: {what}, each", grown, "B")]
    return [*rows, Row("  all of them made in", spent, "s")] if began is not None else rows


def _bytes(live: Live) -> int:
    """How much of the file holds something."""
    used = "select page_count - freelist_count from pragma_page_count, pragma_freelist_count"
    pages = live.log.query(used).fetchone()[0]
    return int(pages * live.log.query("pragma page_size").fetchone()[0])


_CHILD = """
import json, os, sys, time
from bench.recall import USER
from eventlog.clock import now_us
from harness.embedders import default
from projections import open_log
from projections.memory.recall import Recall, Wanted
began = time.perf_counter()
def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
before = held()
with open_log(sys.argv[1]) as live:
    recall = Recall(live, USER, default())
    assert recall.find(sys.argv[2], Wanted(), now_us())
    spent = time.perf_counter() - began
    print(json.dumps([spent, held() - before]))
"""


def _fresh(path: Path, count: int, rounds: int) -> list[Row]:
    question = _questions(texts(count), 0)[0][0][0]
    found = []
    for _ in range(rounds):
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, str(path), question],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[1],
        )
        found.append(json.loads(done.stdout))
    seconds, size = (sorted(values)[len(found) // 2] for values in zip(*found, strict=True))
    return [
        Row(f"first recall of a process, {count:,} memories, 512 hashed", seconds, "s"),
        Row("  what it holds in memory", size, "MB"),
    ]

"""Recall among 1,000, 10,000 and 100,000 memories, beside brute force over the same vectors.

The memories are sentences made of a seed, two in five of them Chinese. The limit is what numpy
takes for the product of all vectors with that of the question, and for the five highest: it knows
neither words nor filters, and reads no memory. Vectors are random ones of 384 numbers, and those
of the embedder that needs nothing (128); what a question's vector costs counts on neither side. A
question is close to one memory, as questions are, and asks with a few of its words.

Further: a question in the middle of a run, in which each is followed by an event that says which
memories were recalled; the first question of a process; and what it keeps on the disk and in
memory.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.harness import Row, compared, folder, interleaved
from eventlog.clock import now_us
from eventlog.events import MemoryRecalled, Remembered
from projections import open_log
from projections.live import Live
from projections.memory.embedding import TextKind
from projections.memory.recall import Recall, Wanted
from projections.memory.stream import memory_stream
from projections.strategies import hashing

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


class Hashing:
    name, dimension, floor = "hashing/1", hashing.DIMENSIONS, 0.3

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Sequence[float]]:
        return [hashing.embed(text) for text in texts]


class Known:
    """An embedder whose vectors are known before."""

    def __init__(self, name: str, floor: float, vectors: dict[str, Any]) -> None:
        self.name, self.floor, self.vectors = name, floor, vectors
        self.dimension = len(next(iter(vectors.values())))

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Sequence[float]]:
        return [self.vectors[text] for text in texts]


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
                fill(live, said)
                rows += _measured(live, said, "384 random", _random(said), rounds)
                rows += _measured(live, said, "128 hashed", _hashed(said), rounds)
            rows += _fresh(path, count, min(rounds, 5))
    return rows


def _questions(said: Sequence[str]) -> list[tuple[str, str]]:
    """What is asked, and the memory that it is close to."""
    choose = random.Random(3)
    found = []
    for target in choose.choices(said, k=ASKED):
        words = target.split()
        found.append((" ".join(choose.sample(words, min(len(words), 6))), target))
    return found


def _random(said: Sequence[str]) -> Known:
    import numpy as np

    made = np.random.default_rng(5).standard_normal((len(said) + ASKED, 384)).astype(np.float32)
    vectors = dict(zip(said, made, strict=False))
    for noise, (question, target) in zip(made[len(said) :], _questions(said), strict=True):
        vectors[question] = vectors[target] + noise
    return Known(
        "random/384", 0.0, {text: (v / np.linalg.norm(v)).tolist() for text, v in vectors.items()}
    )


def _hashed(said: Sequence[str]) -> Known:
    asked = [question for question, _ in _questions(said)]
    floor = Hashing.floor
    return Known(Hashing.name, floor, {text: hashing.embed(text) for text in [*said, *asked]})


def _measured(
    live: Live, said: Sequence[str], name: str, embedder: Known, rounds: int
) -> list[Row]:
    import numpy as np

    recall = Recall(live, USER, embedder)
    before = _bytes(live)
    began = time.perf_counter()
    recall.catch_up()
    spent = time.perf_counter() - began
    grown = (_bytes(live) - before) / len(said)
    matrix = np.array([embedder.vectors[text] for text in said], dtype=np.float32)
    asked = [question for question, _ in _questions(said)]
    vectors = [np.array(embedder.vectors[text], dtype=np.float32) for text in asked]
    wanted, now = Wanted(), now_us()

    def ours() -> None:
        for question in asked:
            assert recall.find(question, wanted, now)

    def brute() -> None:
        for vector in vectors:
            near = matrix @ vector
            best = np.argpartition(near, -5)[-5:]
            best = best[np.argsort(-near[best])]
            assert len(best.tolist()) == 5

    def running() -> float:
        spent = 0.0
        for question in asked[:10]:
            began = time.perf_counter()
            found = recall.find(question, wanted, now)
            spent += time.perf_counter() - began
            shown = tuple(each.memory.rendition for each in found)
            of = str(memory_stream(USER))
            live.append("bench/agent/s", MemoryRecalled(of=of, item="1", memories=shown))
        return spent

    title = f"{len(said):,} memories, {name}"
    times = interleaved({"ctxlog": ours, "numpy": brute}, rounds)
    run = interleaved({"ctxlog": running, "numpy": brute}, min(rounds, 5))
    run["numpy"] = [seconds * 10 / ASKED for seconds in run["numpy"]]
    return [
        compared(f"recall, {title}", times, base="numpy", per=ASKED, aim=1.5),
        compared("  each followed by an event of it", run, base="numpy", per=10),
        Row("  words and vectors made anew", spent, "s"),
        Row("  what they take on the disk, a memory", grown, "B"),
    ]


def _bytes(live: Live) -> int:
    """What the derived tables of memory take."""
    used = "select page_count - freelist_count from pragma_page_count, pragma_freelist_count"
    pages = live.log.query(used).fetchone()[0]
    return int(pages * live.log.query("pragma page_size").fetchone()[0])


_CHILD = """
import json, resource, sys, time
from bench.recall import USER, Hashing
from eventlog.clock import now_us
from projections import open_log
from projections.memory.recall import Recall, Wanted
began = time.perf_counter()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with open_log(sys.argv[1]) as live:
    assert Recall(live, USER, Hashing()).find(sys.argv[2], Wanted(), now_us())
spent = time.perf_counter() - began
print(json.dumps([spent, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024]))
"""


def _fresh(path: Path, count: int, rounds: int) -> list[Row]:
    question = _questions(texts(count))[0][0]
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
        Row(f"first recall of a process, {count:,} memories, 128 hashed", seconds, "s"),
        Row("  what it holds in memory", size, "MB"),
    ]

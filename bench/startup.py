"""What a person waits for: the help, and a window of a thousand messages.

A second row gives the milliseconds of processor, which another program on the machine changes less.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.big import spent
from bench.harness import Row, compared, folder, interleaved, messages
from eventlog import StreamKey
from eventlog.events import MessageAppended
from projections import open_log

KEY = StreamKey("bench", "agent", "session")


def run(rounds: int) -> list[Row]:
    command = str(Path(sys.executable).parent / "ctxlog")
    with folder() as place:
        path = place / "log.db"
        with open_log(path, durability="normal") as live:
            live.append(
                KEY,
                *(
                    MessageAppended(dialect="openai_chat", source="human", message=message)
                    for message in messages(1000)
                ),
            )

        def runs(*arguments: str) -> None:
            subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)

        cases = {
            "python": lambda: runs(sys.executable, "-c", "pass"),
            "help": lambda: runs(command, "--help"),
            "show": lambda: runs(command, "--db", str(path), "show", "session", "--context"),
        }
        times = interleaved(cases, rounds)
        show = ["show", "session", "--context", "--db", str(path)]
        cpu = {
            name: min(spent(args, place).cpu for _ in range(rounds))
            for name, args in (("help", ["--help"]), ("show", show))
        }
    rows = []
    for name, ours, aim in (
        ("ctxlog --help", "help", 120),
        ("ctxlog show S --context, 1,000 messages", "show", 400),
    ):
        row = compared(name, times, ours=ours, base="python")
        rows.append(
            row._replace(
                value=row.value / 1000,
                base=(row.base or 0) / 1000,
                unit="ms",
                against="python -c pass",
                ratio=None,
                aim=aim,
            )
        )
        rows.append(Row(f"processor of {name}", cpu[ours] * 1e3, "ms", aim=aim))
    return rows

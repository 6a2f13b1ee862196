"""Run every measurement of this folder and print one table."""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from pathlib import Path

from bench.harness import MIN_ROUNDS, Row, machine, table


def main() -> None:
    names = sorted(
        found.name
        for found in pkgutil.iter_modules([str(Path(__file__).parent)])
        if found.name not in ("__main__", "harness")
    )
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="module", help=f"of {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=MIN_ROUNDS, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="the rows as JSON")
    options = parser.parse_args()
    unknown = set(options.modules) - set(names)
    if unknown:
        parser.error(f"no measurement {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    rows: list[Row] = []
    for name in options.modules or names:
        module = importlib.import_module(f"bench.{name}")
        if not hasattr(module, "run"):  # a helper of another module
            continue
        print(f"{name} …", file=sys.stderr, flush=True)
        rows += module.run(max(options.rounds, 1))
    if options.json:
        shown = [{**row._asdict(), "reached": row.reached} for row in rows]
        print(json.dumps({"machine": machine(), "rounds": options.rounds, "rows": shown}, indent=1))
    else:
        print(f"{machine()}; {options.rounds} interleaved rounds, medians\n\n{table(rows)}")


main()

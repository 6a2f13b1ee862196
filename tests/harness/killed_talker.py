"""A process that talks until it is killed: ``folder url first last where``.

Each thing that happened is a line on its standard output, told when it stands in the log. ``where``
says at what it stops and waits, for ever: ``ToolEnded 5``, ``Ended 5``, ``write 5``, ``look 5``,
or nothing at all.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any


def main(folder: Path, url: str, first: int, last: int, where: str) -> None:
    from conversing import LOW, look
    from openai import OpenAI

    from harness.conversation import Conversation
    from harness.tools.tool import tool

    def tell(**what: Any) -> None:
        os.write(1, json.dumps(what, default=str).encode() + b"\n")

    def stop_at(place: str) -> None:
        if place == where:
            tell(stopped=place)
            threading.Event().wait()

    def write(n: int) -> str:
        """Write a number down."""
        with (folder / "written").open("a") as file:
            file.write(f"{n}")
            file.flush()
            stop_at(f"write {n}")
            file.write("\n")
        return f"wrote {n}"

    def looking(n: int) -> str:
        """Look at a number."""
        stop_at(f"look {n}")
        return look(n)

    tools = [tool(looking, name="look", has_effects=False), tool(write)]
    client = OpenAI(api_key="sk-test-1234567", base_url=url, max_retries=0)
    with Conversation(
        folder / "talk.db", client, "m", session="s", system="Be brief.", strategy=LOW, tools=tools
    ) as talk:
        for n in range(first, last + 1):
            for each in talk.say(f"turn {n}: look, write"):
                kind = type(each).__name__
                if kind == "Changed":
                    continue
                tell(**{**asdict(each), "kind": kind, "version": talk.version})
                stop_at(f"{kind} {n}")


if __name__ == "__main__":
    folder, url, first, last, where = sys.argv[1:]
    main(Path(folder), url, int(first), int(last), where)

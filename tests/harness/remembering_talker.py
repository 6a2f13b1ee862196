"""A process that talks with a memory: ``db url session stop``, and what it says on its standard
input, a line each. It tells ``ready`` first. At the happening of that name it waits, for ever."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path


def main(path: Path, url: str, session: str, stop: str) -> None:
    from openai import OpenAI
    from remembered import Letters

    from harness.conversation import Conversation
    from harness.memory import UserMemory
    from projections import open_log

    client = OpenAI(api_key="sk-test-1234567", base_url=url, max_retries=0)
    with open_log(path) as live:
        memory = UserMemory(live, embedder=Letters())
        with Conversation(live, client, "m", session=session, memory=memory) as talk:
            os.write(1, b"ready\n")
            for line in sys.stdin:
                for each in talk.say(line.strip()):
                    if type(each).__name__ == stop:
                        os.write(1, b"stopped\n")
                        threading.Event().wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

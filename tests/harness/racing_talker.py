"""The other process of a race on one session: ``db url``. It says what it is told to on its
standard input, a line each, and answers ``said``, or the version that was another one."""

from __future__ import annotations

import sys
from pathlib import Path


def main(path: Path, url: str) -> None:
    from conversing import LOOK, LOW, told
    from openai import OpenAI

    from eventlog.errors import WrongExpectedVersion
    from harness.conversation import Conversation

    client = OpenAI(api_key="sk-test-1234567", base_url=url, max_retries=0)
    with Conversation(path, client, "m", session="s", strategy=LOW, tools=[LOOK]) as talk:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for line in sys.stdin:
            if line == "refresh\n":
                talk.refresh()
                answer = "refreshed"
            else:
                try:
                    told(talk.say(line.strip()))
                    answer = "said"
                except WrongExpectedVersion as error:
                    answer = f"not at {error.expected}"
            sys.stdout.write(answer + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

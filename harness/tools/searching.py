"""The process that searches: run as a script, with nothing but Python's own library.

A regular expression that a model wrote can take for ever, and while it is matched nothing else runs
in its process, no interruption either. So it is matched here, in a process that can be killed.

It is given one JSON object on its input (regex, files by name and place, most, memory in bytes,
seconds) and prints one.
"""

import contextlib
import json
import os
import re
import resource
import stat
import sys
from typing import Any

MOST_BYTES = 16 << 20
SHOWN = 400
"""Characters of a line around its match."""


def searched(wanted: dict[str, Any]) -> dict[str, Any]:
    """The matches of a search, and what was not searched."""
    try:
        found = re.compile(wanted["regex"])
    except (re.error, OverflowError, RecursionError) as error:
        return {"fault": f"that is no regular expression: {error}"}
    matches: list[list[Any]] = []
    count = unread = 0
    for name, place in wanted["files"]:
        content = read(place)
        if content is None or b"\0" in content[:8192]:
            unread += 1
            continue
        count += 1
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
            match = found.search(line)
            if match is None:
                continue
            if len(matches) == wanted["most"]:
                return {"matches": matches, "searched": count, "unread": unread, "is_cut": True}
            matches.append([name, number, around(line.rstrip("\r"), match.start())])
    return {"matches": matches, "searched": count, "unread": unread, "is_cut": False}


def around(line: str, at: int) -> str:
    """A line, or what of a long one stands around a place."""
    begin = max(0, min(at - SHOWN // 4, len(line) - SHOWN))
    end = begin + SHOWN
    return ("…" if begin else "") + line[begin:end] + ("…" if end < len(line) else "")


def read(place: str) -> "bytes | None":
    """What a regular file holds; None where it cannot be read or is too large."""
    try:
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(place, flags), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
                return None
            content = file.read(MOST_BYTES + 1)
    except OSError:
        return None
    return content if len(content) <= MOST_BYTES else None


def limit(what: int, most: int) -> None:
    """Hold this process to a limit, where the system takes it."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def main() -> None:
    """Answer on the output what stands on the input."""
    wanted = json.load(sys.stdin)
    limit(resource.RLIMIT_AS, wanted["memory"])
    limit(resource.RLIMIT_CPU, wanted["seconds"])  # where nobody is left to kill it
    try:
        answer = searched(wanted)
    except MemoryError:
        answer = {"fault": "it takes too much memory"}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()

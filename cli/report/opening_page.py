"""Opening a page in the browser of the person who asked for it."""

from __future__ import annotations

import html
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cli.child import PASSED

PATIENCE = 5.0
"""Seconds to wait for what begins a browser. One that runs in the terminal goes on for longer."""

NO_BROWSER = "no browser could be opened here; open it yourself"


def open_page(address: str) -> bool:
    """Show a page; whether there was anything to show it with.

    The browser is no part of this program: a signal that waits for somebody here does not wait
    there.
    """
    found = [True]

    def work() -> None:
        import webbrowser

        numbers = {signal.Signals[f"SIG{name}"] for name in PASSED}
        before = signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
        try:
            found[0] = webbrowser.open(address)
        except (OSError, webbrowser.Error):
            found[0] = False
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    thread = threading.Thread(target=work, name="ctxlog-open", daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return found[0]


@contextmanager
def way_to(address: str) -> Iterator[str]:
    """A file that leads to an address, for as long as the block lasts: what a browser is given
    can be read by everybody on the machine, in the list of processes, and the address is secret."""
    descriptor, name = tempfile.mkstemp(prefix="ctxlog-", suffix=".html")  # of mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(
                '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
                f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">'
                f'<title>ctxlog</title><a href="{html.escape(address)}">the log</a>\n'
            )
        yield Path(name).as_uri()
    finally:
        with suppress(OSError):
            os.unlink(name)

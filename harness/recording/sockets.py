"""Reading from a socket without ever waiting for ever.

What is read is buffered above these, so they are asked only when nothing is left to read.
"""

from __future__ import annotations

import contextlib
import io
import math
import select
import socket
import time

PIECE = 1 << 18
"""Bytes that are sent at a time: the limit of time is one of each piece."""

SENDING = 600.0
"""Seconds that a piece may take to be sent."""


class ClientGone(ConnectionError):
    """Nobody waits for the answer any more."""


class Spent(Exception):
    """More was sent than may be."""


class Patient(io.RawIOBase):
    """What a client sends, for so long and so much."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock = sock
        self._until = math.inf
        self._left = math.inf
        self.is_over = False
        """Whether its end was read."""

    def allow(self, seconds: float, most: float = math.inf) -> None:
        """From now on so many seconds and so many bytes."""
        self._until, self._left = time.monotonic() + seconds, most

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Raises TimeoutError, Spent, and what a socket raises."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the client was silent")
        if self._left <= 0:
            raise Spent
        self._sock.settimeout(left if left < math.inf else None)
        got = self._sock.recv_into(buffer)
        self._left -= got
        self.is_over = not got
        return got


class Watched(io.RawIOBase):
    """What a provider sends, as long as the client is there to get it."""

    def __init__(self, sock: socket.socket, client: socket.socket, silence: float) -> None:
        super().__init__()
        self._sock, self._client, self._silence = sock, client, silence
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)
        self._poll.register(client, select.POLLIN)
        self._watches = True

    def makefile(self, mode: str) -> io.BufferedReader:
        """As a response wants to read it."""
        return io.BufferedReader(self, 1 << 16)

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Raises ClientGone, TimeoutError, and what a socket raises."""
        if not _pending(self._sock):
            self._wait()
        return self._sock.recv_into(buffer)

    def _wait(self) -> None:
        until = time.monotonic() + self._silence
        while True:
            left = until - time.monotonic()
            ready = {number for number, _ in self._poll.poll(max(left, 0) * 1000)}
            if not ready:
                raise TimeoutError("the provider was silent")
            if self._client.fileno() in ready and self._watches:
                if is_closed(self._client):
                    raise ClientGone("the client went away")
                # It sends its next request before the answer to this one: that has to wait.
                self._watches = False
                self._poll.unregister(self._client)
            if self._sock.fileno() in ready:
                return


def is_closed(sock: socket.socket) -> bool:
    """Whether a socket that can be read has come to its end."""
    try:
        sock.setblocking(False)
        return not sock.recv(1, socket.MSG_PEEK)
    except (BlockingIOError, InterruptedError):
        return False
    except OSError:
        return True


def is_idle(sock: socket.socket) -> bool:
    """Whether a connection that was kept can still be used: nothing came, and not its end."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return not _pending(sock) and not poll.poll(0)


def send(sock: socket.socket, data: bytes) -> None:
    """Send everything. Raises TimeoutError, and what a socket raises."""
    for at in range(0, len(data), PIECE):
        sock.settimeout(SENDING)
        sock.sendall(data[at : at + PIECE])


def close(sock: socket.socket) -> None:
    """Close it; whatever is wrong with it is over."""
    with contextlib.suppress(OSError):
        sock.close()


def _pending(sock: socket.socket) -> int:
    """Bytes that TLS has read already."""
    pending = getattr(sock, "pending", None)
    return int(pending()) if pending is not None else 0

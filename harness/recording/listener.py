"""What listens on this machine: a thread for each connection, and no more of them than it bears."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOOPBACK = ("127.0.0.1", "localhost", "::1")

MOST_CONNECTIONS = 256
"""At once; one more is told to come again."""

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
    b"Connection: close\r\n\r\n"
)


class Listener(ThreadingHTTPServer):
    """Listens from its making on. Raises OSError where it cannot."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, host: str, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        if ":" in host:
            self.address_family = socket.AF_INET6
        self._slots = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__((host, port), handler)

    def server_bind(self) -> None:
        """Without asking for the name of this machine, which may take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own, as long as there are not too many."""
        if not self._slots.acquire(blocking=False):
            with suppress(OSError):
                request.settimeout(1)
                request.sendall(_FULL)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._slots.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Until the connection ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()


def names_of(hosts: tuple[str, ...], port: int) -> frozenset[str]:
    """What the header ``Host`` says of a server that listens under some names."""
    shown = [f"[{name}]" if ":" in name else name for name in hosts]
    names = {f"{name}:{port}".lower() for name in shown}
    return frozenset(names | {name.lower() for name in shown if port == 80})

"""A call that goes through the proxy: what comes back is read for the record as it passes."""

from __future__ import annotations

import threading

from eventlog.errors import InputRefused
from harness.recording.codings import TooMuch, Unpacking
from harness.recording.passing import EndOfStream
from harness.recording.recorder import RecordedCall
from harness.recording.wire import MOST_BYTES, Answering, said


class PassedCall:
    """One call, from its request to the end of what came back."""

    def __init__(self, call: RecordedCall) -> None:
        self.call = call
        self.is_over = False
        self._ending = threading.Lock()
        self._answering: Answering | None = None
        self._unpacking: Unpacking | None = None
        self._end = EndOfStream()
        self._fault: InputRefused | None = None

    def answers(self, status: int, coding: str) -> None:
        """An answer begins."""
        self._answering = Answering(self.call, status, _text)
        try:
            self._unpacking = Unpacking(coding, MOST_BYTES)
        except InputRefused as fault:
            self._fault = fault

    def take(self, piece: bytes) -> bool:
        """The next piece of it as it came over the wire; whether a stream ends with it."""
        if self._unpacking is None or self._answering is None or self._fault is not None:
            return False
        try:
            text = self._unpacking.take(piece)
        except InputRefused as fault:  # it is passed on all the same
            self._fault = fault
            if isinstance(fault, TooMuch):
                self._answering.forget()
            return False
        self._answering.take(text)
        return self._end.take(text)

    def ended(self, fault: BaseException | None = None) -> None:
        """Nothing more comes, or nobody waits for it. Only the first end counts, and it is recorded
        when this returns, whoever told it."""
        with self._ending:
            if not self.is_over:
                self.is_over = True
                self._ended(fault or self._fault)

    def _ended(self, fault: BaseException | None) -> None:
        if self._answering is not None:
            self._answering.ended(fault)
        else:
            self.call.failed(said(fault) if fault is not None else "nothing came back")


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")

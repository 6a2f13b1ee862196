"""An answer of Anthropic's API as it was streamed: server-sent events made into the message.

The text of a stream may be cut off anywhere, hold events of a later version, or be no stream at
all. What can be read of it is put together; that it did not end, or failed, is said beside it.

Amazon's Bedrock sends the same events, each as base64 in a binary frame. Sources: Anthropic's page
on streaming messages; the recordings of claude-trace, which keep both kinds as text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from eventlog.errors import EventInvalid
from eventlog.jsonvalue import loads
from harness.exchange.answers import text_of
from harness.exchange.streams import Streamed, stream_data

_EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
    }
)
_FRAME = re.compile(r'"bytes"\s*:\s*"([A-Za-z0-9+/=]+)"')
_APPENDED = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "compaction_delta": "content",
}
"""By the type of a delta: the field of it, and of its block, whose text goes on."""


def read_stream(text: str) -> Streamed:
    """Put the message of a stream together. Raises nothing, whatever the text is."""
    builder = _Builder()
    for piece in _frames(text) if text.startswith("\0\0") else stream_data(text):
        try:
            event = loads(piece)
        except EventInvalid:
            builder.found.unread.append(piece)
            continue
        if not isinstance(event, dict) or not builder.take(event):
            builder.found.unread.append(piece)
    return builder.finished()


def _frames(text: str) -> Iterator[str]:
    for found in _FRAME.finditer(text):
        try:
            yield base64.b64decode(found[1]).decode("utf-8", "replace")
        except binascii.Error:
            yield found[1]


class _Builder:
    def __init__(self) -> None:
        self.found = Streamed()
        self._blocks: dict[int, dict[str, Any]] = {}
        self._text: dict[tuple[int, str], list[str]] = {}
        """By block and field: the pieces that it is made of."""

    def take(self, event: dict[str, Any]) -> bool:
        """Take an event in; False for one that is not known or does not fit."""
        kind = text_of(event.get("type"))
        if kind not in _EVENTS:
            return False
        match kind:
            case "message_start":
                return self._start(event.get("message"))
            case "content_block_start":
                index, block = event.get("index"), event.get("content_block")
                if not isinstance(index, int) or not isinstance(block, dict):
                    return False
                self._blocks[index] = dict(block)
            case "content_block_delta":
                return self._delta(event.get("index"), event.get("delta"))
            case "message_delta":
                return self._end(event)
            case "message_stop":
                self.found.complete = True
            case "error":
                error = event.get("error")
                self.found.error = error if isinstance(error, dict) else {"message": str(error)}
        return True

    def _start(self, message: Any) -> bool:
        if not isinstance(message, dict) or self.found.message is not None:
            return False
        self.found.message = dict(message)
        return True

    def _delta(self, index: Any, delta: Any) -> bool:
        if not isinstance(index, int) or index not in self._blocks or not isinstance(delta, dict):
            return False
        kind = text_of(delta.get("type"))
        name = "partial_json" if kind == "input_json_delta" else _APPENDED.get(kind, "")
        if name:
            if not isinstance(delta.get(name), str):
                return False
            self._text.setdefault((index, name), []).append(delta[name])
            return True
        if kind == "citations_delta" and "citation" in delta:
            block = self._blocks[index]
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
            return True
        return False

    def _end(self, event: dict[str, Any]) -> bool:
        delta, usage = event.get("delta"), event.get("usage")
        message = self.found.message
        if message is None or not isinstance(delta, dict):
            return False
        more = {k: v for k, v in event.items() if k not in ("type", "delta", "usage")}
        message.update({**delta, **more})
        if isinstance(usage, dict):
            before = message.get("usage")
            known = {k: v for k, v in usage.items() if v is not None}
            message["usage"] = {**(before if isinstance(before, dict) else {}), **known}
        return True

    def finished(self) -> Streamed:
        """The message with its blocks, in their order."""
        if self.found.message is None:
            return self.found
        for (index, name), pieces in self._text.items():
            block, text = self._blocks[index], "".join(pieces)
            if name != "partial_json":
                before = block.get(name)
                block[name] = (before if isinstance(before, str) else "") + text
            elif text.strip():
                block["input"] = _input(text)
        blocks = [block for _, block in sorted(self._blocks.items())]
        if blocks or not isinstance(self.found.message.get("content"), list):
            self.found.message["content"] = blocks
        return self.found


def _input(text: str) -> Any:
    """The input of a call; as the text that came, where that is not JSON."""
    try:
        return loads(text)
    except EventInvalid:
        return text

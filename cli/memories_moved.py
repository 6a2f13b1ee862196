"""The memories of a person, written out and taken in, on the command line."""

from __future__ import annotations

import sys
from typing import Any

from cli.files import text_of
from cli.memory_values import STDIN
from cli.models_memory import MemoryImportData
from eventlog.errors import EventInvalid, InputRefused
from eventlog.jsonvalue import loads
from harness.exchange.secret_text import may_hold_secrets
from harness.memory import UserMemory
from harness.memory.documents import read_document
from harness.memory.keys import key_in
from harness.memory.taking_up import import_memories
from projections.quotes import texts_in

MOST_BYTES = 256 * 1024 * 1024
"""Of a document that is read."""


def document_in(file: str, force: bool) -> Any:
    """The document of a file, looked through before a log is made for it.

    Raises InputRefused with the file's name: for what is no document of memories and, unless it is
    forced, for one that holds what looks like a key.
    """
    shown = "standard input" if file == STDIN else file
    text = _standard_input() if file == STDIN else text_of(file, MOST_BYTES)
    try:
        document = loads(text)
        told, _ = read_document(document)
    except (InputRefused, EventInvalid) as error:
        raise InputRefused(f"{shown}: {error}") from None
    for each in told if not force else ():
        texts = [text for text in texts_in(each.event.model_dump()) if may_hold_secrets(text)]
        found = key_in(*texts)
        if found is not None:
            raise InputRefused(
                f"{shown}: {each.where} holds what looks like a key ({': '.join(found)}), and "
                "models are shown what is remembered; --force takes it all the same"
            )
    return document


def _standard_input() -> str:
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputRefused(f"standard input: it has more than {MOST_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputRefused("standard input: it is no UTF-8") from None


def taken_in(memory: UserMemory, document: Any, file: str, dry_run: bool) -> MemoryImportData:
    """What became of a document, or would. Raises InputRefused, and what an append raises."""
    done = import_memories(memory, document, dry_run=dry_run)
    return MemoryImportData(
        user=memory.user,
        file=file,
        stream=str(document.get("stream", ""))[:2_000],
        dry_run=dry_run,
        added=done.added,
        known=done.known,
        warnings=list(done.warnings),
    )

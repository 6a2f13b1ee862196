"""The state of an agent on the command line: shown, written out, read in."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

from cli.models_state import Form, StateExportData, StateImportData, StateShowData
from cli.naming import ref_of
from eventlog import StreamKey
from eventlog.errors import EventInvalid, InputRefused, WrongExpectedVersion
from eventlog.events import MessageAppended, ToolResultRecorded
from eventlog.jsonvalue import loads
from harness.brought_in import BroughtIn
from harness.message_files import export_messages, export_session
from harness.state_documents import export_state, read_document
from projections import Live
from projections.agent_state import agent_state
from projections.references import Reference, reads_otherwise

MOST_BYTES = 256 * 1024 * 1024
"""Of a document that is read."""

LOCAL = ("local", "chat")
"""User and agent of a session whose document names none."""

STDIN = "-"


def shown(live: Live, where: Reference) -> StateShowData:
    """The state at a place."""
    return StateShowData(
        key=str(where.stream),
        ref=ref_of(where),
        at=where.position,
        state=agent_state(live, where.stream, where.position),
    )


def exported(live: Live, where: Reference, form: Form) -> tuple[StateExportData, Any]:
    """The document of a place, and what is to be told of it."""
    key, at = where.stream, where.position
    document: Any
    if form == "state":
        document = export_state(live, key, at)
        messages = document["state"]["context"]
    elif form == "messages":
        document = messages = export_messages(live, key, at)
    else:
        document = export_session(live, key, at)
        messages = document["messages"]
    try:
        warnings = list(read_document(document, trust=True).warnings)
    except InputRefused as error:
        warnings = [f"`state import` does not take it: {error}"]
    data = StateExportData(
        key=str(key), at=at, form=form, messages=len(messages), warnings=warnings
    )
    return data, document


def read(file: str, trust: bool = False) -> BroughtIn:
    """The session that a file begins; its permissions hold as they are only with ``trust``.

    Raises InputRefused with the file's name, and OSError.
    """
    shown = "standard input" if file == STDIN else file
    data = sys.stdin.buffer.read(MOST_BYTES + 1) if file == STDIN else _bytes(file)
    if len(data) > MOST_BYTES:
        raise InputRefused(f"{shown}: a document of more than {MOST_BYTES >> 20} MiB")
    try:
        return read_document(loads(data.removeprefix(b"\xef\xbb\xbf").decode()), trust)
    except UnicodeDecodeError:
        raise InputRefused(f"{shown}: it is no UTF-8") from None
    except (InputRefused, EventInvalid) as error:
        raise InputRefused(f"{shown}: {error}") from None


def _bytes(file: str) -> bytes:
    try:
        mode = os.stat(file).st_mode if file else 0
        if stat.S_ISREG(mode):
            with open(file, "rb") as stream:
                return stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputRefused(f"{file}: {error.strerror or error}") from None
    what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
    raise InputRefused(f"{file}: it is {what}" if file else "the name of the file is empty")


def brought_in(live: Live, found: BroughtIn, file: str, name: str) -> StateImportData:
    """Begin the session. Raises InputRefused for a name that is taken or is none."""
    key = _key(found, file, name)
    try:
        done = found.append(live, key)
    except WrongExpectedVersion:
        taken = f"that name is taken: {key} exists; choose another --name"
        raise InputRefused(taken) from None
    items = sum(isinstance(e, MessageAppended | ToolResultRecorded) for e in found.events)
    return StateImportData(
        key=str(key),
        form=found.kind,
        file=file,
        events=done.last,
        messages=items,
        warnings=list(found.warnings),
    )


def _key(found: BroughtIn, file: str, name: str) -> StreamKey:
    """``--name``, else what the document says, else what the file is called."""
    user, agent, session = found.key or (*LOCAL, found.session_id)
    session = name or session or ("" if file == STDIN else Path(file).stem)
    if not session:
        raise InputRefused("standard input has no name: give the session one with --name")
    if reads_otherwise(session):
        raise InputRefused(f"{session!r} would be read as a place or as last; choose a --name")
    return StreamKey(user, agent, session).checked()

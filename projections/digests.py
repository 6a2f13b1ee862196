"""The digests that prove a request.

    entry hash     = SHA-256(salts of the events its bytes come from, by position ‖ canonical JSON)
    request digest = SHA-256("ctxlog/request/1" ‖ entry hashes ‖ tools hash ‖ parameters hash)

Tools and parameters are hashed with the salt of their own event. No unsalted digest of content is
ever stored: a short secret could be guessed from it. The canonical JSON of an entry is that of the
message as sent; where it stood outside the messages (Anthropic's system), of ``{field: message}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from eventlog.errors import IntegrityFault
from projections import forms, runs
from projections.dialects.entries import RequestEntry
from projections.manifest import Piece, SentAs

DOMAIN = b"ctxlog/request/1"
NO_TOOLS = bytes(32)


def entry_hash(pieces: Sequence[Piece], sent: Any, salts: Mapping[int, bytes]) -> bytes:
    """The hash of one entry as sent."""
    salted = b"".join(salts[position] for position in sorted(positions([tuple(pieces)])))
    return sha256(salted + forms.canonical(sent).encode()).digest()


def value_hash(salt: bytes, value: Any) -> bytes:
    """The salted hash of tools or parameters."""
    return sha256(salt + forms.canonical(value).encode()).digest()


def request_digest(hashes: Iterable[bytes], tools: bytes, parameters: bytes) -> str:
    """The digest of a whole request, as hexadecimal."""
    return ended(begun(hashes), tools, parameters)


def begun(hashes: Iterable[bytes]) -> Any:
    """The digest of a request as far as its entries; it may be gone on with."""
    state = sha256(DOMAIN)
    state.update(b"".join(hashes))
    return state


def ended(entries: Any, tools: bytes, parameters: bytes) -> str:
    """The digest of a whole request, from that of its entries, which stays as it is."""
    state = entries.copy()
    state.update(tools + parameters)
    return str(state.hexdigest())


def positions(entries: Iterable[SentAs]) -> set[int]:
    """The positions of the events that the bytes of entries come from.

    What was erased already when it was sent has no salt any more, and no text to guess.
    """
    found: set[int] = set()
    for entry in entries:
        for piece in entry:
            if piece.redacted:
                continue
            found.add(runs.position_of(piece.item))
            if piece.rendition:
                found.add(piece.rendition)
    return found


def grouped(entries: Sequence[RequestEntry], pieces: Sequence[Piece]) -> list[SentAs]:
    """The pieces, those that were sent as one message together."""
    found: list[SentAs] = []
    last: tuple[str, int] | None = None
    for entry, piece in zip(entries, pieces, strict=True):
        group = (entry.place, entry.group) if entry.group is not None else None
        if group is not None and group == last:
            found[-1] = (*found[-1], piece)
        else:
            found.append((piece,))
        last = group
    return found


def sent_value(sent: Sequence[RequestEntry], named: SentAs) -> Any:
    """What is hashed for the pieces of one entry. Raises IntegrityFault where they were not sent
    as one message, whatever the manifest says."""
    found = sent_values(sent)
    if len(found) != 1:
        names = ", ".join(piece.label for piece in named)
        raise IntegrityFault(f"the manifest names {names} as one message, and that they were not")
    return found[0]


def sent_values(entries: Sequence[RequestEntry]) -> list[Any]:
    """What is hashed for each entry: the message as sent, a group as one message."""
    found: list[Any] = []
    last: tuple[str, int] | None = None
    for entry in entries:
        group = (entry.place, entry.group) if entry.group is not None else None
        value: Any = dict(entry.message)
        if entry.place != "messages":
            value = {entry.place: value}
        if group is None:
            found.append(value)
        elif group == last:
            found[-1].append([value, list(entry.blocks)])
        else:
            found.append([dict(entry.frame or {}), [value, list(entry.blocks)]])
        last = group
    return found

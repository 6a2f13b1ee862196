"""Session ids as people shorten them: ``fdd2``, ``fdd2.fork1``, ``98b7~2``, ``fe5e.6690``.

A session that came out of another one (a fork, a sub-agent, a rewritten file) has that one's id and
a suffix behind ``.`` or ``~``. So an id is read in pieces, each of which may be cut short, and a
short name means a session also when others have grown out of it. ``shortest`` is the inverse of
``matching``: what it gives names that one session. ``last`` is always the newest, so a session that
came with such an id goes by its full key. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_PIECES = re.compile(r"^[^.~]*|[.~][^.~]*")
LAST = re.compile(r"last(?:~(\d{1,9}))?", re.ASCII)
"""The newest session, or one counted from there."""

BEGIN = 8
"""Characters that are kept of a long piece."""

_LIKE = 0.7
"""How like two names must be, as ``difflib`` counts it."""

_WHOLE = 16
"""A piece up to this length is what a person would type, and is not cut."""


def pieces(name: str) -> tuple[str, ...]:
    """The id up to its first ``.`` or ``~``, then each suffix with its sign."""
    return tuple(_PIECES.findall(name))


def matching(text: str, names: Iterable[str]) -> list[str]:
    """The ids that a short name could mean; one, unless it is ambiguous or two are equal.

    The id itself comes first, then ids that begin with the text, then those of which each piece
    begins as it was typed; of these, the ones in which more pieces were typed whole. Where all that
    are left are one session and those that grew out of it, it is that session.
    """
    all_names = list(names)
    if text in all_names:
        return [name for name in all_names if name == text]
    found = [name for name in all_names if name.startswith(text)] or _cut_short(text, all_names)
    if not found:
        return []
    eldest = min(found, key=len)
    if all(name == eldest or _grew_out_of(name, eldest) for name in found):
        return [name for name in found if name == eldest]
    return found


def _grew_out_of(name: str, eldest: str) -> bool:
    return name.startswith(eldest) and name[len(eldest)] in ".~"


def _cut_short(text: str, names: Sequence[str]) -> list[str]:
    typed = pieces(text)
    if len(typed) == 1:
        return []
    graded: list[tuple[tuple[bool, ...], str]] = []
    for name in names:
        have = pieces(name)
        pairs = list(zip(have, typed, strict=False))
        if len(have) >= len(typed) and all(piece.startswith(cut) for piece, cut in pairs):
            graded.append((tuple(piece == cut for piece, cut in pairs), name))
    best = max((grade for grade, _ in graded), default=())
    return [name for grade, name in graded if grade == best]


def shortest(names: Sequence[str]) -> list[str]:
    """For each id the shortest name that is useful: it can be typed, and means that id alone.

    Of a long piece its first 8 characters stay, more where others begin with the same.
    """
    split = [pieces(name) for name in names]
    siblings: dict[tuple[str, ...], set[str]] = {}
    for parts in split:
        for at, part in enumerate(parts):
            siblings.setdefault(parts[:at], set()).add(part)
    cut: dict[tuple[str, ...], str] = {}
    for parents, found in siblings.items():
        cut.update(((*parents, part), short) for part, short in _apart(sorted(found)))
    return ["".join(cut[parts[: at + 1]] for at in range(len(parts))) for parts in split]


def _apart(found: list[str]) -> Iterable[tuple[str, str]]:
    """Each of some sorted pieces with the beginning that none of the others has."""
    for at, piece in enumerate(found):
        if len(piece) <= _WHOLE:
            yield piece, piece
            continue
        near = found[max(at - 1, 0) : at] + found[at + 1 : at + 2]
        shared = max((_shared(piece, other) for other in near), default=0)
        yield piece, piece[: max(shared + 1, BEGIN + (piece[0] in ".~"))]


def is_last(text: str) -> bool:
    """Whether it means the newest session, or one counted from there."""
    return LAST.fullmatch(text) is not None


def is_memory(key: str) -> bool:
    """Whether a full key is that of the memories of a person: ``user/_/memory``."""
    return key.split("/", 1)[1:] == ["_/memory"]


def typed_for(keys: Iterable[str]) -> dict[str, str]:
    """For each key the least that can be typed for it, when these are all sessions that there are.

    The full key where two have the same id, and where the id would be read as something else:
    ``last``, an option, the key of another session. So it is for a stream of memories, which is no
    session.
    """
    given = list(keys)
    every = [key for key in given if not is_memory(key)]
    ids = [key.split("/", 2)[2] for key in every]
    count = Counter(ids)
    taken = set(every)

    def is_other(name: str) -> bool:
        return is_last(name) or name.startswith("-") or name in taken

    return {key: key for key in given} | {
        key: key if count[name] > 1 or is_other(short) else short
        for key, name, short in zip(every, ids, shortest(ids), strict=True)
    }


def near(text: str, sessions: Sequence[tuple[str, str]], most: int = 3) -> list[int]:
    """The sessions that somebody may have meant who typed what names none: their places.

    ``sessions`` are ids with titles. Those of which the id or the title contains the text come
    first, then those of which the title, or the beginning of it or of the id, is like it.
    """
    wanted = text.casefold().strip()
    if not wanted:
        return []
    size = len(wanted)
    cut = [
        {name.casefold()[:size], title.casefold()[:size], title.casefold()}
        for name, title in sessions
    ]
    found = [
        at
        for at, (name, title) in enumerate(sessions)
        if wanted in name.casefold() or wanted in title.casefold()
    ]
    if len(found) < most:
        from difflib import get_close_matches

        places: dict[str, list[int]] = {}
        for at, both in enumerate(cut):
            for each in both:
                places.setdefault(each, []).append(at)
        for each in get_close_matches(wanted, places, most, _LIKE):
            found += [at for at in places[each] if at not in found]
    return found[:most]


def _shared(one: str, other: str) -> int:
    length = min(len(one), len(other))
    return next((i for i in range(length) if one[i] != other[i]), length)

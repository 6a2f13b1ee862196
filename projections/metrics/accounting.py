"""What became of every item of the session: nothing is unaccounted for.

kept: stands as it came · edited: stands cut, cleared or deduplicated · summarised: a summary stands
for it · dropped: nothing does · never_visible: it came, or was taken back, between two calls, or
the session was rewound to before it.
"""

from __future__ import annotations

from typing import Literal

from projections.metrics.ground import Ground
from projections.metrics.model import Result, ratio
from projections.metrics.taken import Taken
from projections.reading import role_of
from projections.runs import Origin
from projections.strategies.window import Window

State = Literal["kept", "edited", "summarised", "dropped", "never_visible"]
STATES: tuple[State, ...] = ("kept", "edited", "summarised", "dropped", "never_visible")
Speaker = Literal["system", "user", "assistant", "tool"]
SPEAKERS: tuple[Speaker, ...] = ("system", "user", "assistant", "tool")


class Fate(Result):
    """Items in one state for one reason, oldest first, as a list of their ids."""

    state: State
    reason: str
    """``cleared: all but the last 3`` …; empty for what was kept."""
    items: tuple[str, ...]
    tokens: int
    """As they came."""
    tokens_left: int
    """Of these in the context."""


class Speech(Result):
    """Of one speaker."""

    speaker: Speaker
    items: int
    tokens: int
    """As they came."""
    kept: int
    """Tokens of them that stand verbatim."""
    left: int
    """Tokens that stand for them, edited ones included."""
    kept_share: float | None
    left_share: float | None


class Accounting(Result):
    """At the last call."""

    fates: tuple[Fate, ...]
    speakers: tuple[Speech, ...]
    tokens: int
    """Of everything that came before the call."""
    summary_tokens: int
    """Of what compactions put into the context."""
    context_tokens: int
    oldest_verbatim: str | None
    """The oldest item, behind the leading system messages, that stands as it came."""


def accounting(ground: Ground, window: Window, taken: dict[Origin, Taken]) -> Accounting:
    """Of the context of the last call, which is the one that stands."""
    last = ground.calls[-1].position if ground.calls else 0
    groups: dict[tuple[State, str], list[tuple[str, int, int]]] = {}
    speech: dict[Speaker, list[int]] = {}
    oldest: str | None = None
    for origin, step in ground.items.items():
        if step.position >= last or step.item is None:
            continue
        entry = window.entries.get(origin)
        state, reason, left = _state(origin, ground, window, taken)
        tokens = entry.original_tokens if entry is not None else step.tokens
        groups.setdefault((state, reason), []).append((step.item.id, tokens, left))
        if state != "never_visible":
            role = role_of(step.item)
            speaker: Speaker = "system" if role == "developer" else role
            counts = speech.setdefault(speaker, [0, 0, 0, 0])
            kept = left if state == "kept" else 0
            for place, count in enumerate((1, tokens, kept, min(left, tokens))):
                counts[place] += count
        if oldest is None and state == "kept" and entry is not None and not entry.is_system:
            oldest = step.item.id
    own = sum(left for each in groups.values() for _, _, left in each)
    return Accounting(
        fates=tuple(
            _fate(state, reason, groups[(state, reason)]) for state, reason in _in_order(groups)
        ),
        speakers=tuple(_speech(each, speech[each]) for each in SPEAKERS if each in speech),
        tokens=sum(tokens for each in groups.values() for _, tokens, _ in each),
        summary_tokens=window.tokens - own,
        context_tokens=window.tokens,
        oldest_verbatim=oldest,
    )


def _state(
    origin: Origin, ground: Ground, window: Window, taken: dict[Origin, Taken]
) -> tuple[State, str, int]:
    entry = window.entries.get(origin)
    said = taken.get(origin)
    if entry is not None:
        if entry.item.form in ("original", "revised"):
            return "kept", "", entry.tokens
        return "edited", _reason(entry.item.form, said), entry.tokens
    if origin not in ground.standing:
        return "never_visible", "rewound", 0
    if said is None:
        return "dropped", "no decision says why", 0
    state: State = "summarised" if said.kind == "summarised" else "dropped"
    return state, _reason(said.kind, said), 0


def _reason(kind: str, said: Taken | None) -> str:
    return f"{kind}: {said.reason}" if said is not None and said.reason else kind


def _in_order(
    groups: dict[tuple[State, str], list[tuple[str, int, int]]],
) -> list[tuple[State, str]]:
    return sorted(groups, key=lambda key: (STATES.index(key[0]), key[1]))


def _fate(state: State, reason: str, items: list[tuple[str, int, int]]) -> Fate:
    return Fate(
        state=state,
        reason=reason,
        items=tuple(item for item, _, _ in items),
        tokens=sum(tokens for _, tokens, _ in items),
        tokens_left=sum(left for _, _, left in items),
    )


def _speech(speaker: Speaker, counts: list[int]) -> Speech:
    items, tokens, kept, left = counts
    return Speech(
        speaker=speaker,
        items=items,
        tokens=tokens,
        kept=kept,
        left=left,
        kept_share=ratio(kept, tokens),
        left_share=ratio(left, tokens),
    )

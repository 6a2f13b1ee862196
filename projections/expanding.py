"""The manifests of a stream's calls, each expanded from the one before it.

A manifest is stored as the difference from an earlier one, and so are the forms of its entries. So
the calls of a stream are read in their order, from one whose manifest is whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from eventlog.recorded import RecordedEvent
from projections import manifest
from projections.forms import identical
from projections.manifest import SentAs
from projections.runs import ItemPositions


class Form(NamedTuple):
    """How an entry differs from its stored message, as ``ModelCalled.forms`` has it."""

    shape: Mapping[str, Any]
    call: int
    """The position of the call that says so: the erasure of that call takes it away."""
    is_erased: bool = False
    """Whether that call was erased: its texts are gone from the form."""


class Expanded(NamedTuple):
    """The manifest of a call."""

    entries: list[SentAs]
    forms: dict[int, Form]
    """By the number of the piece; most have none."""

    def form(self, number: int) -> Mapping[str, Any]:
        """The form of the n-th piece."""
        found = self.forms.get(number)
        return found.shape if found is not None else {}

    @property
    def has_erased(self) -> bool:
        """Whether the form of an entry was erased with the call that says it."""
        return any(form.is_erased for form in self.forms.values())


def following(
    before: Expanded | None,
    entries: list[SentAs],
    shapes: Mapping[int, Mapping[str, Any]],
    call: int,
) -> Expanded:
    """The manifest of a call at a position, whose forms are known whole.

    A form that stood at its number in the manifest before is of the call that said it first.
    """
    forms = {}
    for number, shape in shapes.items():
        known = before.forms.get(number) if before is not None else None
        same = known is not None and identical(known.shape, shape)
        forms[number] = known if known is not None and same else Form(shape, call)
    return Expanded(entries, forms)


def expand(
    call: RecordedEvent, before: Expanded | None, positions: ItemPositions
) -> Expanded | None:
    """The manifest of a call, given that of the call before; None for one without a manifest."""
    data = call.data
    stored = data.get("manifest")
    if stored is None:
        return None
    entries = manifest.expand(stored, before and before.entries, positions)
    forms: dict[int, Form] = {}
    if data.get("forms_stand") and before is not None:
        forms = dict(before.forms)
        behind = before.entries[manifest.kept(stored) :]
        pieces = sum(map(len, entries[: manifest.kept(stored)])) if behind else 0
        if behind and forms and max(forms) >= pieces:
            forms = {n: form for n, form in forms.items() if n < pieces}
    for number, shape in stated(data):
        forms.pop(number, None)
        if shape:
            forms[number] = Form(shape, call.position, call.erased)
    return Expanded(entries, forms)


_UNFIT: Mapping[str, Any] = {"changes": None}
"""Fits no message: that is found where the request is made, as a fault of the call."""


def stated(call: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The pieces of which a call says a form, and that; empty for one that has none any more.

    Whoever writes into a log may write there what makes no sense.
    """
    forms = call.get("forms") or {}
    if not isinstance(forms, Mapping):
        yield 0, _UNFIT
        return
    for named, shape in forms.items():
        for number in str(named).split(","):
            if number.isascii() and number.isdigit() and len(number) < _DIGITS:
                fits = isinstance(shape, Mapping) or not shape
                yield int(number), (shape or {}) if fits else _UNFIT
            else:
                yield 0, _UNFIT


_DIGITS = 10
"""Of the number of a piece, at most."""

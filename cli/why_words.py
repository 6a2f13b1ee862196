"""What each event did to an item, in words. Pure; what comes out has not been made safe yet."""

from __future__ import annotations

from cli.models_reasons import WhyStep
from cli.style import plural, shrunk, tokens
from cli.timeline import SUBSTITUTED
from eventlog import RecordedEvent
from projections import runs
from projections.runs import Origin
from projections.why import Touch

SOURCES = {
    "human": "a person said it",
    "model": "the model said it",
    "retrieval": "it was retrieved",
    "memory": "it was put in from memory",
    "injected": "it was put in by the program",
}
"""How an item came in, by its source."""


def label(item: Origin, rendition: int) -> str:
    """``12`` or ``12@340``."""
    return runs.label(item, rendition)


def ref(touch: Touch) -> str:
    """``k1`` of a compaction, else the position."""
    return f"k{touch.number}" if touch.number else str(touch.event.position)


def form_of(event: RecordedEvent) -> str:
    """What a rendition made of its item: cut, cleared, deduplicated, revised, repaired."""
    if event.type == SUBSTITUTED:
        return str(event.data.get("kind", "cleared"))
    return {"message_revised": "revised"}.get(event.type, "repaired")


def _size(step: WhyStep) -> str:
    if step.before_tokens is None:
        return ""
    return f"{tokens(step.before_tokens)} → {tokens(step.after_tokens)} tokens"


def _with(*facts: str) -> str:
    told = "; ".join(fact for fact in facts if fact)
    return f": {told}" if told else ""


def _who(step: WhyStep) -> str:
    return f"by {step.by}" if step.by else ""


def _substituted(touch: Touch, step: WhyStep) -> str:
    form = form_of(touch.event)
    if touch.effect == "nothing":
        return f"{form}, but it did not stand in the context then: nothing changed"
    return f"{form}{_with(step.reason, _who(step), step.pass_name, _size(step))}"


def compacted(touch: Touch, step: WhyStep) -> str:
    """A compaction, with who did it and how much was left."""
    size = shrunk(step, " tokens")
    summarizer = f"written by {step.summarizer}" if step.summarizer else ""
    if step.not_shown:
        summarizer = f"{summarizer or 'its summarizer'}, which was not shown it"
    # How one that nobody told was found is said behind it.
    told = "" if step.inferred and step.trigger == "request" else step.trigger
    facts = (told, _who(step), summarizer, size)
    if touch.effect == "keeps_out":
        return f"keeps it out, since what took it first is no longer in force{_with(*facts)}"
    if touch.effect == "left":
        is_alone = step.items == 1
        among = "" if is_alone else f", one of {plural(step.items or 0, 'item')},"
        if not step.brought:
            place = "its place" if is_alone else "their place"
            return f"taken out{among or ','} with nothing in {place}{_with(*facts)}"
        return f"folded{among} into {', '.join(step.brought)}{_with(*facts)}"
    if touch.effect == "kept":
        return f"it was named, and stayed where it was{_with(*facts)}"
    if touch.effect == "nothing":
        return f"it was named, but did not stand in the context then{_with(*facts)}"
    return f"it stands {'again' if touch.effect == 'back' else 'otherwise'}{_with(*facts)}"


def _revised(touch: Touch, step: WhyStep) -> str:
    if touch.effect == "nothing":
        return "revised, but it did not stand in the context then: nothing changed"
    return f"revised{_with(step.reason, _size(step))}"


_UNDONE = {
    "back": "it stands again",
    "left": "it does not stand any more",
    "restored": "it stands as it came in",
    "changed": "it stands in another rendition",
    "nothing": "where it stands did not change",
    "keeps_out": "this keeps it out of the context",
    "pinned": "it is pinned",
    "unpinned": "it is not pinned",
}


def _undone(touch: Touch, step: WhyStep) -> str:
    return _UNDONE.get(touch.effect, touch.effect)


def _rewound(touch: Touch, step: WhyStep) -> str:
    said = _UNDONE.get(touch.effect, touch.effect)
    return f"the session was rewound to {touch.event.data.get('to')}: {said}"


def _forked(touch: Touch, step: WhyStep) -> str:
    data = touch.event.data
    stands = "stood" if touch.after.stands else "did not stand"
    return f"forked from {data.get('parent')} after event {data.get('at')}, where it {stands}"


def _pinned(touch: Touch, step: WhyStep) -> str:
    return "pinned" + (", as it was already" if touch.effect == "nothing" else "")


def _unpinned(touch: Touch, step: WhyStep) -> str:
    return "unpinned" + (", as it was already" if touch.effect == "nothing" else "")


def _repaired(touch: Touch, step: WhyStep) -> str:
    rule = str(touch.event.data.get("rule", "")).replace("_", " ")
    done = {"left": "left out", "changed": "a call id in it was renamed", "back": "put in again"}
    return f"{done.get(touch.effect, 'named')} by a repair: {rule}"


def _erased(touch: Touch, step: WhyStep) -> str:
    return "its text was erased from the log"


def _real(touch: Touch, step: WhyStep) -> str:
    return "the real result took its place"


def other(touch: Touch, step: WhyStep) -> str:
    """Any other event."""
    kind = touch.event.type.replace("_", " ")
    return f"{kind}: {_UNDONE.get(touch.effect, touch.effect)}"


SAID = {
    SUBSTITUTED: _substituted,
    "message_revised": _revised,
    "decision_undone": _undone,
    "session_rewound": _rewound,
    "session_forked": _forked,
    "item_pinned": _pinned,
    "item_unpinned": _unpinned,
    "repair_applied": _repaired,
    "redacted": _erased,
    "tool_result_recorded": _real,
}
"""By the type of the event."""

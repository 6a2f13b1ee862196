"""A call and a compaction, with what became of them."""

from __future__ import annotations

from collections.abc import Iterator

from cli.counts import Counts
from cli.models import CallData, CompactionData
from cli.saying import full_text
from cli.shown_memories import at_call
from eventlog import RecordedEvent, StreamKey
from eventlog.jsonvalue import dumps
from projections import Live, runs
from projections.materialize import original
from projections.partial import length, partial_of
from projections.shown import not_shown
from projections.triggers import trigger_of
from projections.usage import UsageTotals, usage_totals
from projections.verdicts import judge
from projections.views import NUMBERED

LETTERS = {kind: letter for letter, kind in NUMBERED.items()}
"""Of what people count: ``c`` for calls, ``k`` for compactions."""


def number_of(live: Live, stream: StreamKey, position: int) -> str | None:
    """``c5`` or ``k1``, of what stands at a position; None where it has no such name."""
    event = live.log.at(stream, [position]).get(position)
    letter = LETTERS.get(event.type) if event is not None else None
    return f"{letter}{live.number(stream, event)}" if event is not None and letter else None


def in_pass(live: Live, stream: StreamKey, pass_id: str) -> Iterator[RecordedEvent]:
    """The substitutions that were decided together, by the id that they share."""
    if pass_id:
        for event in live.log.read(
            stream, types=["placeholder_substituted"], containing=f'"pass_id":{dumps(pass_id)}'
        ):
            if event.data.get("pass_id") == pass_id:
                yield event


def pass_name(live: Live, stream: StreamKey, pass_id: str) -> str | None:
    """``pass 77``: a pass goes by the position of its first substitution."""
    first = next(in_pass(live, stream, pass_id), None)
    return f"pass {first.position}" if first is not None else None


def name_of(live: Live, stream: StreamKey, what: int | str) -> str | None:
    """How people call what stands at a position, or a pass; see ``saying.NameAt``."""
    if isinstance(what, str):
        return pass_name(live, stream, what)
    return number_of(live, stream, what)


def outcome(live: Live, call: RecordedEvent) -> RecordedEvent | None:
    """The answer to a call, or its failure; None where there is none yet."""
    found = live.log.read(
        call.stream,
        after=call.position,
        types=["model_responded", "model_failed"],
        containing=f'"call":{call.position}',
    )
    return next((event for event in found if event.data.get("call") == call.position), None)


def usage_of(answer: RecordedEvent | None) -> UsageTotals | None:
    """The tokens that the provider counted for an answer."""
    usage = answer.data.get("usage") if answer is not None else None
    return usage_totals(usage) if isinstance(usage, dict) else None


def billed(answer: RecordedEvent | None) -> int | None:
    """The input tokens that the provider counted for a call; None where it told none."""
    usage = usage_of(answer)
    return usage.prompt if usage is not None else None


class Outcomes:
    """The first answer or failure of each call of a stream, asked for in the calls' order."""

    def __init__(self, live: Live, stream: StreamKey) -> None:
        self._live, self._stream = live, stream
        self._found: dict[int, RecordedEvent] = {}
        self._said: set[int] | None = None
        self._coming: Iterator[RecordedEvent] | None = None

    def of(self, call: int) -> RecordedEvent | None:
        """That of the call at a position; None where there is none yet."""
        if self._coming is None:
            types = ["model_responded", "model_failed"]
            self._coming = self._live.log.read(self._stream, after=call, types=types)
        while call not in self._found:
            event = next(self._coming, None)
            if event is None:
                return None
            if event.data["call"] < event.position:
                self._found.setdefault(event.data["call"], event)
        return self._found[call]

    def is_lacking(self, call: int) -> bool:
        """Whether nothing is known of what came of the call at a position: no answer to it, no
        failure, and nothing that the model said."""
        if self.of(call) is not None:
            return False
        if self._said is None:
            spoken = self._live.log.read(self._stream, after=call, types=["message_appended"])
            self._said = {event.data.get("call") or 0 for event in spoken}
        return call not in self._said


def outcome_words(answer: RecordedEvent | None) -> tuple[str, str]:
    """answered, failed or unknown; and why."""
    if answer is None:
        return "unknown", ""
    if answer.type == "model_failed":
        return "failed", str(answer.data.get("error", ""))
    return "answered", str(answer.data.get("finish_reason", ""))


def call_data(live: Live, call: RecordedEvent) -> CallData:
    """What a call was given, how well that is known, and what came of it."""
    answer, verdict = outcome(live, call), judge(live, call.stream, call)
    standing = live.view(call.stream, call.position).standing()
    came, why = outcome_words(answer)
    partial = partial_of(answer) if answer is not None else None
    return CallData(
        model=str(call.data.get("model", "")),
        verdict=verdict.name,
        detail=verdict.detail,
        request_digest=call.data.get("request_digest"),
        outcome=came,
        finish_reason=why if came == "answered" else "",
        error=why if came == "failed" else "",
        partial=full_text(partial) if partial is not None else None,
        partial_characters=length(partial) if partial is not None else None,
        usage=usage_of(answer),
        items=len(standing),
        tokens=Counts(live, call.stream).total(standing),
        memories=at_call(live, call.stream, call.position),
    )


def compaction_data(live: Live, event: RecordedEvent) -> CompactionData:
    """What left with a compaction, and what came in."""
    key, data = event.stream, event.data
    after = live.view(key, event.position).items
    before = live.view(key, event.position - 1).standing()
    gone = [(item, 0) for item, _ in before if item not in after]
    whole = {item for item, _ in before if isinstance(item, int)}
    stay = sorted(item for item in whole if item in after)
    brought = [
        original(f"{event.position}.{index}", {event.position: event})
        for index in range(len(data.get("messages", ())))
    ]
    by = data.get("by") or {}
    shown = (data.get("summarizer") or {}).get("shown") or ()
    unseen = not_shown(shown, event.position, [item for item, _ in gone])
    others = sorted(float(item) for item in whole.difference(unseen))
    parameters = by.get("parameters")
    told = f" {dumps(parameters)}" if parameters else ""
    counts = Counts(live, key)
    recorded = counts.total(before), counts.total(list(after.items()))
    told_before, told_after = data.get("pre_tokens"), data.get("post_tokens")
    return CompactionData(
        trigger=trigger_of(data),
        by=str(by.get("name", "")) + told,
        left=runs.encode(gone, [float(item) for item in stay]),
        left_count=len(gone),
        not_shown=runs.encode([(item, 0) for item in unseen], others),
        not_shown_count=len(unseen),
        before_tokens=recorded[0] if told_before is None else told_before,
        before_estimated=told_before is None,
        before_recorded=recorded[0],
        after_tokens=recorded[1] if told_after is None else told_after,
        after_estimated=told_after is None,
        after_recorded=recorded[1],
        texts=[item.text for item in brought if item is not None],
    )

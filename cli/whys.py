"""Why an item stands where it stands, as data: the chain of decisions, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from cli.changing import change, more_than
from cli.counts import Counts
from cli.into_context import bringing_back, more_than_asked
from cli.item_places import ItemPlace
from cli.models_reasons import ChangeData, GivenData, HeldData, WayBack, WhyAnchor, WhyData, WhyStep
from cli.naming import ref_of, short_names
from cli.occurrences import compaction_data, in_pass, number_of, pass_name
from cli.recovering import recovered
from cli.saying import preview
from cli.shown_memories import brought_back_by, by_rendition, words_of
from cli.style import plural, tokens, typed
from cli.timeline import SUBSTITUTED
from cli.why_words import SAID, SOURCES, compacted, form_of, label, other, ref
from cli.windows import item_data, tool_names
from eventlog import RecordedEvent, StreamKey
from eventlog.errors import InputRefused
from eventlog.jsonvalue import dumps
from projections import Live, runs
from projections.ownership import is_observed
from projections.reasons import Reasons, given, reasons
from projections.recovered import stands_in
from projections.runs import Origin, origin, position_of
from projections.shown import not_shown
from projections.takings import KINDS
from projections.views import NUMBERED
from projections.why import Touch

_COPIES = 3
"""Items that hold its text and are named."""


def why(live: Live, asked: ItemPlace) -> WhyData:
    """What became of an item, up to a place. Raises CriticalUnknown."""
    return _Why(live, asked).data()


class _Why:
    def __init__(self, live: Live, asked: ItemPlace) -> None:
        self.live, self.asked = live, asked
        self.key, self.at = asked.stream, asked.where.position
        self.item: Origin = origin(asked.item)
        self.counts = Counts(live, self.key)
        call = self.at + 1 if asked.where.kind == "call" else None
        self.found: Reasons = reasons(live, self.key, self.item, self.at, call)
        self.trace, self.made = self.found.trace, self.found.item
        self.names = short_names(live, [str(self.key)])

    def data(self) -> WhyData:
        found = self.trace
        shown = item_data(self.made, self.counts.counter, self._tools())
        rendition = label(self.item, found.now.rendition) if found.now.stands else None
        steps = [self._step(touch) for touch in found.touches]
        return WhyData(
            key=str(self.key),
            item=self.asked.item,
            asked=self.asked.rendition,
            ref=ref_of(self.asked.where),
            at=self.at,
            who=shown.who,
            preview=preview(self.made),
            tokens=shown.tokens,
            state=self.found.state,
            rendition=rendition,
            pinned=found.now.pinned,
            erased=self.found.is_erased,
            answer=self._answer(),
            steps=steps,
            calls=[f"c{number}" for number in found.calls],
            given=[
                GivenData(form=form, calls=[f"c{number}" for number in calls])
                for form, calls in found.given_as.items()
            ],
            held=self._held(),
            anchors=[
                WhyAnchor(
                    kind=one.anchor.kind,
                    text=one.anchor.text,
                    in_place=one.in_place,
                    elsewhere=one.elsewhere,
                    in_other_words=one.is_reworded,
                    used_by=list(one.used_by),
                )
                for one in self.found.survived
            ],
            sealed=self.found.is_sealed,
            summary_erased=self.found.is_summary_erased,
            stands_in=list(self.found.stands_in),
            replaced_by=[item.rendition for item in self.found.in_its_place],
            back=list(self._back()),
        )

    def _tools(self) -> dict[str, str]:
        """The tool of a result that does not name its own, from the message that called it."""
        if self.made.kind != "tool_result" or self.made.tool_name:
            return {}
        at = position_of(self.item)
        return tool_names(self.live.items(self.key, min(at, self.at)))

    # -- where it stands --------------------------------------------------------------------------

    def _answer(self) -> str:
        name, found = self.asked.item, self.trace
        when = f" at {ref_of(self.asked.where)}" if self.asked.where.kind != "now" else ""
        state = self.found.state
        if state == "not_yet":
            at = position_of(self.item)
            comes = f"comes with {number_of(self.live, self.key, at) or f'event {at}'}"
            return f"{name} had not come in yet{when}: it {comes}."
        if state == "never":
            said = f"{name} never stood in the context{' up to' + when[3:] if when else ''}."
        elif found.now.stands:
            changed = found.changed
            said = f"{name} stands in the context{when}"
            if changed is None:
                said += "." if self.found.is_erased else ", as it came in."
            else:
                said += f" as {label(self.item, found.now.rendition)}, {form_of(changed.event)}"
                said += f" with event {changed.event.position}."
        else:
            left = found.left
            assert left is not None
            into = " into a summary" if state == "folded" else ""
            said = f"{name} does not stand in the context{when}: {ref(left)} "
            said += f"{'folded it' + into if into else 'took it out'}."
        if self.found.stands_in:
            said += f" Its whole text stands in {', '.join(self.found.stands_in[:_COPIES])}."
        if found.now.pinned:
            since = (t.event.position for t in reversed(found.touches) if t.effect == "pinned")
            said += f" It is pinned since event {next(since, self.at)}."
        if not found.calls:
            said += " No call was given it."
        asked = runs.standing(self.asked.rendition)[1] if "@" in self.asked.rendition else 0
        if asked and asked != found.now.rendition:
            said += f" Its rendition {self.asked.rendition} is not in force."
        if self.found.is_erased:
            said += " Its text was erased from the log for good."
        return said

    def _held(self) -> HeldData | None:
        """What the request of the call that was asked for held of it, or that of the last call."""
        where = self.asked.where
        if where.kind == "call":
            at = self.at + 1
        elif where.kind == "now":
            headers = self.live.log.headers(self.key, 0, self.at)
            at = max((h.position for h in headers if h.type == NUMBERED["c"]), default=0)
            if at < position_of(self.item):
                return None  # no call was made since it came
        else:
            at = 0
        if not at:
            return None
        call = self.live.log.at(self.key, [at])[at]
        held = given(self.live, self.key, self.item, at)
        return HeldData(
            call=f"c{self.live.number(self.key, call)}",
            recorded=held.is_recorded,
            rendition=held.rendition,
        )

    def _back(self) -> Iterator[WayBack]:
        """What to type to get it back."""
        touch = self.found.since
        if touch is None or self.found.is_erased:
            return
        if self.made.source == "memory":
            for command in brought_back_by(self.live, self.key, self.asked.item):
                yield WayBack(command=command, does="what was forgotten is remembered again")
            return
        name = typed(self.names[str(self.key)])
        yield WayBack(command=f"recover {name} {self.asked.item}", does="prints the original")
        yield from self._into_context(f"recover {name} {self.asked.item} --into-context")
        if touch.event.type in KINDS and any(one.is_lost for one in self.found.survived):
            yield WayBack(
                command=f"recover {name} --lost {ref(touch)}",
                does=f"prints everything that {ref(touch)} lost",
            )

    def _into_context(self, command: str) -> Iterator[WayBack]:
        """How it gets into the context as that is now: alone, and with what came with it."""
        version = self.live.log.version(self.key)
        if version == self.at:
            copies = self.found.stands_in
        else:
            copies = stands_in(self.live, self.key, self.made, version)
        if copies:
            return
        observed = is_observed(self.live.log, self.key)
        where = "; in a fork, since the session is another program's" if observed else ""
        try:
            undone = self._undone()
        except InputRefused:  # no undo brings it back
            undone = None
        if undone is not None and not undone.events:
            return  # it stands there as it came in
        others = len(more_than_asked(undone)) if undone is not None else 0
        if undone is not None and not others:
            size = f"context {tokens(undone.before.tokens)} → {tokens(undone.after.tokens)} tokens"
            yield WayBack(command=command, does=f"it stands again as it came in: {size}{where}")
            return
        size = f"{tokens(self.counts.total([(self.item, 0)]))} tokens"
        yield WayBack(
            command=f"{command} --only", does=f"puts it at the end of the context, {size}{where}"
        )
        if undone is not None:
            size = f"context {tokens(undone.before.tokens)} → {tokens(undone.after.tokens)} tokens"
            size += f", {more_than(undone.outgrown)}" if undone.outgrown is not None else ""
            yield WayBack(
                command=f"{command} --dry-run",
                does=f"looks at what an undo brings back: {plural(others, 'other item')}, {size}",
            )

    def _undone(self) -> ChangeData:
        """What undoing the decisions that took it would change. Raises InputRefused."""
        data = recovered(self.live, self.key, [self.asked.item])
        planned = bringing_back(self.live, data, only=False, name="", dry_run=True)
        found = change(self.live, planned)
        found.asked = [self.asked.item]
        return found

    # -- steps ------------------------------------------------------------------------------------

    def _step(self, touch: Touch) -> WhyStep:
        event, data = touch.event, touch.event.data
        by = data.get("by") or {}
        by = by if isinstance(by, dict) else {}
        parameters = by.get("parameters")
        owner = self._owner(event.position)
        step = WhyStep(
            position=event.position,
            ref=ref(touch),
            type=event.type,
            effect=touch.effect,
            sentence="",
            rendition=label(self.item, touch.after.rendition) if touch.after.stands else None,
            by=str(by.get("name", "")) + (f" {dumps(parameters)}" if parameters else ""),
            trigger=str(data.get("trigger") or ""),
            reason=str(data.get("reason") or ""),
            summarizer=str((data.get("summarizer") or {}).get("model", "")),
            pass_id=str(data.get("pass_id") or ""),
            pass_name=self._pass(event),
            inferred=bool(data.get("inferred")),
            undone_by=touch.undone_by,
            stream=str(owner) if owner != self.key else "",
            occurred_at=event.occurred_at,
        )
        self._sizes(touch, step)
        step.sentence = self._sentence(touch, step)
        return step

    def _pass(self, event: RecordedEvent) -> str:
        """The name of the pass that a substitution was decided in, where it was not alone."""
        if event.type != SUBSTITUTED or not event.data.get("pass_id"):
            return ""
        members = list(in_pass(self.live, self.key, event.data["pass_id"]))
        return f"pass {members[0].position}" if len(members) > 1 else ""

    def _sizes(self, touch: Touch, step: WhyStep) -> None:
        event = touch.event
        if event.type == "context_compacted":
            found = compaction_data(self.live, event)
            step.items = found.left_count
            shown = (event.data.get("summarizer") or {}).get("shown") or ()
            step.not_shown = touch.effect == "left" and bool(
                not_shown(shown, event.position, [self.item])
            )
            step.brought = [
                f"{event.position}.{n}" for n in range(len(event.data.get("messages", ())))
            ]
            step.before_tokens, step.after_tokens = found.before_tokens, found.after_tokens
            step.before_recorded, step.after_recorded = found.before_recorded, found.after_recorded
            step.before_estimated, step.after_estimated = (
                found.before_estimated,
                found.after_estimated,
            )
        elif touch.effect in ("changed", "restored"):
            step.before_tokens = self.counts.total([(self.item, touch.before.rendition)])
            step.after_tokens = self.counts.total([(self.item, touch.after.rendition)])

    def _owner(self, position: int) -> StreamKey:
        info = self.live.log.stream(self.key)
        while info.parent is not None and position <= info.base:
            info = self.live.log.stream(info.parent)
        return info.key

    def _sentence(self, touch: Touch, step: WhyStep) -> str:
        event = touch.event
        if event.position == position_of(self.item):
            said = self._came(touch)
        elif event.type == "context_compacted":
            said = compacted(touch, step)
        else:
            said = SAID.get(event.type, other)(touch, step)
            if event.type == "decision_undone":
                said = f"{self._named(event)} was undone: {said}"
        if self.made.source == "memory" and event.type in ("message_appended", "message_revised"):
            rendition = 0 if event.position == position_of(self.item) else event.position
            shown = by_rendition(self.live, self.key).get(label(self.item, rendition), [])
            said += "".join(f"; it shows {words_of(each)}" for each in shown)
        if step.reason and event.type not in (SUBSTITUTED, "message_revised"):
            said += f" ({step.reason})"
        if step.inferred:
            said += "; found by comparing requests"
        if step.undone_by is not None:
            said += f"; no longer in force since {step.undone_by}"
        if step.stream and event.position == position_of(self.item):
            said += f"; in {step.stream}, which this session was forked from"
        return said

    def _named(self, undo: RecordedEvent) -> str:
        """What was undone: ``k1``, ``event 12`` or ``pass p1``."""
        target = undo.data.get("target")
        if not target:
            pass_id = str(undo.data.get("pass_id") or "")
            return pass_name(self.live, self.key, pass_id) or f"pass {pass_id}"
        numbered = (t for t in self.trace.touches if t.event.position == target and t.number)
        return next(map(ref, numbered), f"event {target}")

    def _came(self, touch: Touch) -> str:
        event, data = touch.event, touch.event.data
        if event.type == "context_compacted":
            said = f"k{touch.number} brought it in, in place of what it covers"
        elif event.type == "repair_applied":
            said = f"a repair put it in ({data.get('rule', '')})"
        elif event.type == "tool_result_recorded":
            said = f"{item_data(self.made, self.counts.counter, self._tools()).who} returned it"
            said += f" after c{self.trace.call}" if self.trace.call else ""
        else:
            said = SOURCES.get(self.made.source, "it came in")
            if self.made.is_recovered:
                said = "recover put it in, with what had left"
            is_system = self.made.role in ("system", "developer")
            if is_system and self.made.source != "memory":
                said = "it came in as a system message"
            if isinstance(data.get("call"), int):
                call = self.live.log.at(self.key, [data["call"]]).get(data["call"])
                if call is not None:
                    said += f", as the answer of c{self.live.number(self.key, call)}"
        if not touch.after.stands:
            said += ", and the context did not take it"
        return said

"""Compactions that only the provider can read."""

from __future__ import annotations

from collections.abc import Iterator

from projections.audit.model import Finding
from projections.audit.passages import Move
from projections.audit.rule import Rule, plural, some, spans
from projections.audit.subject import Subject
from projections.items import Item
from projections.verdicts import has_blob


class Opaque(Rule):
    """One finding for each, and one for calls that are opaque for another reason."""

    name = "opaque"
    about = "encrypted summaries: what they kept, nobody but the provider knows"

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._sealed: dict[int, str] = {}
        """Compactions with a blob in a message of theirs, by position; and items with one."""

    def came(self, item: Item, move: Move | None) -> None:
        """Note a blob."""
        if has_blob(item):
            at = self.subject.noted.compactions.get(int(item.id.partition(".")[0]))
            position = int(item.id.partition(".")[0])
            self._sealed.setdefault(position, at.name if at is not None else item.id)

    def find(self) -> Iterator[Finding]:
        """Each compaction that is sealed; calls that are so for another reason."""
        told = 0
        for position, compaction in self.subject.noted.compactions.items():
            if compaction.is_opaque or position in self._sealed:
                told += 1
                yield self._finding(position, compaction.name)
        for position, name in self._sealed.items():
            if position not in self.subject.noted.compactions:
                told += 1
                yield self._finding(position, name)
        calls = [
            call
            for call, verdict in zip(self.subject.calls, self.subject.verdicts, strict=True)
            if verdict.name == "opaque"
        ]
        if calls and not told:
            yield Finding(
                rule=self.name,
                severity="warning",
                refs=some(call.name for call in calls),
                message=f"{plural(len(calls), 'call')} cannot be read whole, "
                f"{spans(call.number for call in calls)}",
                next=("show", f"S@{calls[0].name}"),
                position=calls[0].position,
                count=len(calls),
            )

    def _finding(self, position: int, name: str) -> Finding:
        force = self.subject.recording.force
        gone = sum(
            not fate.stands and force.taker(item) == position
            for item, fate in self.subject.passages.fates.items()
        )
        what = f": what it kept of {plural(gone, 'item')} cannot be read" if gone else ""
        return Finding(
            rule=self.name,
            severity="warning",
            refs=(name,),
            message=f"{name} is encrypted by the provider{what}",
            next=("recover", "S", "--lost", name) if gone else ("show", f"S@{name}"),
            position=position,
            count=max(gone, 1),
        )

"""Whether a summary covers what its summarizer was shown, and is one at all.

What a summarizer was shown is recorded by those who call one themselves. Most imported compactions
do not say; then nothing is said here either.
"""

from __future__ import annotations

from collections.abc import Iterator

from projections.audit.model import Finding
from projections.audit.passages import EDITED, Move
from projections.audit.rule import Rule, about, first, plural, some
from projections.audit.subject import Compacted, Subject
from projections.items import Item
from projections.metrics.mentions import texts
from projections.runs import Origin, origin
from projections.shown import not_shown


class Summaries(Rule):
    """Looks at each compaction that put messages in."""

    name = "summaries"
    about = "summaries that cover what their summarizer was not shown, that are empty or grew"

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._made: list[tuple[Compacted, Move, list[Origin], bool]] = []
        """With what stood as a placeholder when it was covered, and whether it says anything."""
        self._edited: list[Origin] = []
        self._says = False

    def left(self, item: Item, move: Move) -> None:
        """Note what was covered when it did not stand whole; what a message of memories does not
        show any more is no loss."""
        if item.form in EDITED - {"redacted"} and item.source != "memory":
            self._edited.append(origin(item.id))

    def came(self, item: Item, move: Move | None) -> None:
        """Note whether a summary says anything."""
        if move is not None and move.kind == "summarised":
            self._says |= any(text.strip() for text in texts(item)) or not item.parts

    def decided(self, move: Move) -> None:
        """Keep what was noted of a compaction."""
        compaction = self.subject.noted.compactions.get(move.position)
        if compaction is not None and move.kind == "summarised":
            self._made.append((compaction, move, self._edited, self._says))
        self._edited, self._says = [], False

    def find(self) -> Iterator[Finding]:
        """By compaction."""
        for compaction, move, edited, says in self._made:
            if compaction.is_opaque:
                continue
            missing = not_shown(compaction.shown, compaction.position, move.items)
            if missing:
                yield self._not_shown(compaction, missing)
                unseen = set(missing)
                edited = [item for item in edited if item not in unseen]
            if edited:
                yield self._placeholders(compaction, edited, bool(compaction.shown))
            if not says:
                yield self._finding(compaction, "error", f"{compaction.name} put in an empty text")
            elif move.after >= move.before > 0 and len(move.items) > 1:
                text = (
                    f"{compaction.name} put in {about(move.after)} for {about(move.before)}: "
                    "it saved nothing"
                )
                yield self._finding(compaction, "warning", text)

    def _not_shown(self, compaction: Compacted, missing: list[Origin]) -> Finding:
        names, listed = self.told(missing)
        tokens = sum(self.subject.passages.fates[item].came for item in missing)
        return Finding(
            rule=self.name,
            severity="error",
            refs=some((compaction.name, *names)),
            message=f"{compaction.name} covers {plural(len(missing), 'item')} that its summarizer "
            f"was not shown, by its own record of what it was: {listed} ({about(tokens)})",
            next=("recover", "S", *first(names)),
            position=compaction.position,
            count=len(missing),
        )

    def _placeholders(self, compaction: Compacted, edited: list[Origin], known: bool) -> Finding:
        names, listed = self.told(edited)
        how = "may have seen" if compaction.is_inferred else "can have seen"
        how = "was shown" if known else how
        what = plural(len(edited), "item")
        return Finding(
            rule=self.name,
            severity="warning" if known else "info",
            refs=some((compaction.name, *names)),
            message=f"{compaction.name} covers {what} of which its summarizer {how} only what had "
            f"been left of {'it' if len(edited) == 1 else 'them'}: {listed}",
            heuristic=not known,
            next=("recover", "S", *first(names)),
            position=compaction.position,
            count=len(edited),
        )

    def _finding(self, compaction: Compacted, severity: str, message: str) -> Finding:
        return Finding.model_validate(
            {
                "rule": self.name,
                "severity": severity,
                "refs": (compaction.name,),
                "message": message,
                "next": ("diff", f"S@{compaction.name}"),
                "position": compaction.position,
            }
        )

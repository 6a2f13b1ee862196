"""Placeholders behind which there is nothing: the original bytes are not in the log.

A placeholder that this log knows as one has its original beside it, unless that was erased. But an
agent may have written no more than a placeholder in the first place: Claude Code keeps a large
result in another file and clears old ones, Codex cuts results before it writes them. Their words
for that are known, and stand at the beginning of the text (or, where the middle was cut, between
its ends).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from projections.audit.model import Finding, Severity
from projections.audit.rule import Rule, listed, plural, some
from projections.items import Item
from projections.reading import results_of
from projections.runs import Origin, origin

_CLEARED = re.compile(
    r"\s*(?:\[Old tool result content cleared\]"
    r"|\[Old tool output (?:cleared|trimmed)[^\]\n]{0,80}\]"
    r"|\[(?:tool (?:result|output) )?(?:cleared|elided|removed|omitted)\]|<MASKED>"
    r"|Old environment output: \(\d{1,7} lines? omitted\)(?: \(\d{1,5} images? omitted\))?)\s*"
)
"""The whole text: of Claude Code, opencode, OpenHands, SWE-agent, and plain ones."""

_SPILLED = re.compile(
    r"\s*<persisted-output>\s*Output too large \([^)\n]{1,20}\)\. Full output saved to: "
    r"([^\n]{1,500})"
)
"""The beginning: Claude Code keeps the rest in a file beside the transcript."""

_CUT = re.compile(
    r"Total output lines: \d{1,9}\n|…\d{1,9} (?:tokens|chars) truncated…"
    r"|\.\.\. \[\d{1,9} (?:lines|characters|tokens) truncated\] \.\.\."
    r"|\[\.\.\. omitted \d{1,9} of \d{1,9} lines \.\.\.\]"
)
"""Anywhere: of Codex and of Claude Code's shell. The model saw no more than this either."""

_LOOK = 64_000
"""Characters of each end of a result in which a cut is looked for."""

_SAYS: tuple[tuple[str, Severity, str], ...] = (
    ("cleared", "warning", "came into the log as a placeholder already"),
    ("spilled", "warning", "came in as a preview, the rest is in a file that is not part of it"),
    ("cut", "info", "came in cut, as the model saw it too"),
)


class Placeholders(Rule):
    """One finding for each way in which an original is missing."""

    name = "placeholders"
    about = "placeholders whose original is not in the log"

    def find(self) -> Iterator[Finding]:
        """Of substitutions, then of what came in as less."""
        yield from self._of_nothing()
        yield from self._stored()

    def _of_nothing(self) -> Iterator[Finding]:
        """Substitutions of what was erased, and of what never was in this log."""
        subject = self.subject
        unknown: list[tuple[int, str]] = []
        erased: list[tuple[int, str]] = []
        empty: list[tuple[int, str]] = []
        for made in subject.noted.substitutions:
            name = origin(made.item)
            item = subject.items.get(name)
            if name not in subject.passages.fates:
                unknown.append((made.position, made.item))
            elif item is not None and item.form == "redacted":
                erased.append((made.position, made.item))
            elif item is not None and not any(part.text or part.native for part in item.parts):
                empty.append((made.position, made.item))
        for found, severity, why in (
            (unknown, "warning", "of which this log never had the original"),
            (erased, "info", "of which the original was erased"),
            (empty, "info", "of which the original has no text"),
        ):
            if found:
                items = tuple(dict.fromkeys(item for _, item in found))
                what = plural(len(items), "item")
                yield Finding.model_validate(
                    {
                        "rule": self.name,
                        "severity": severity,
                        "refs": some(f"{item}@{at}" for at, item in found),
                        "message": f"a placeholder stands for {what} {why}: {listed(items)}",
                        "next": ("show", f"S@{found[0][0]}"),
                        "position": found[0][0],
                        "count": len(items),
                    }
                )

    def _stored(self) -> Iterator[Finding]:
        found: dict[str, list[Origin]] = {}
        for name, item in self.subject.items.items():
            how = _how(item)
            if how:
                found.setdefault(how, []).append(name)
        for how, severity, why in _SAYS:
            items = found.get(how, [])
            if items:
                names, text = self.told(items)
                yield Finding(
                    rule=self.name,
                    severity=severity,
                    refs=some(names),
                    message=f"{plural(len(items), 'tool result')} {why}: {text}",
                    next=("show", f"S@{items[0]}"),
                    position=items[0] if isinstance(items[0], int) else 0,
                    count=len(items),
                )


def _how(item: Item) -> str:
    """How a tool result came in incomplete; empty where it did not."""
    for part in results_of(item):
        text = part.text
        if len(text) < 400 and _CLEARED.fullmatch(text):
            return "cleared"
        if _SPILLED.match(text):
            return "spilled"
        ends = text if len(text) <= 2 * _LOOK else text[:_LOOK] + text[-_LOOK:]
        if _CUT.search(ends):
            return "cut"
    return ""

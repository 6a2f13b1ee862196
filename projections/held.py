"""Which of some anchors stand in which items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from projections.anchors import Anchor
from projections.items import Item
from projections.metrics.mentions import Mentions, texts


class Held:
    """Which anchors some items hold; upper and lower case are equal in a rule."""

    def __init__(self, anchors: Sequence[Anchor]) -> None:
        self._rules = [at for at, anchor in enumerate(anchors) if anchor.kind == "rule"]
        self._others = [at for at, anchor in enumerate(anchors) if anchor.kind != "rule"]
        self._of_rules = Mentions([anchors[at].text.casefold() for at in self._rules])
        self._of_others = Mentions([anchors[at].text for at in self._others])

    def inside(self, items: Iterable[Item]) -> set[int]:
        """The places of those that stand in any of the items."""
        found: set[int] = set()
        for item in items:
            said = texts(item)
            found |= {self._others[at] for at in self._of_others.inside(said)}
            if self._rules:
                folded = (text.casefold() for text in said)
                found |= {self._rules[at] for at in self._of_rules.inside(folded)}
        return found

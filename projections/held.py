"""Which of some anchors stand in which items: word for word, or, of a rule, in other words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from projections.anchors import Anchor
from projections.items import Item
from projections.metrics.keepers import content_words, is_reworded
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


def reworded(anchors: Sequence[Anchor], items: Iterable[Item]) -> set[int]:
    """The places of the rules that some items together say in other words, as far as words tell."""
    rules = [(at, anchor) for at, anchor in enumerate(anchors) if anchor.kind == "rule"]
    if not rules:
        return set()
    words = content_words("\n".join(text for item in items for text in texts(item)))
    return {at for at, rule in rules if is_reworded(content_words(rule.text), words)}

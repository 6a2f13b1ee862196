"""The strategy that is in force, told to the model: it knows then why things are gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from projections.prompts.guarding import guarded
from projections.prompts.variables import filled
from projections.strategies.base import Strategy
from projections.strategies.described import described
from projections.strategies.spec import parse

_ABOUT = (
    "This conversation is longer than what you can be shown, so parts of it change for you while it"
    " goes on:"
)
_ADVICE = (
    "What you will need later, such as paths, ids, numbers and decisions, say in your answers. What"
    " is no longer there was not deleted: ask for it, or run the tool again."
)

WORDS = {
    "cut": "a tool result over {limit} characters is cut: its head and its tail stay",
    "clear": "of older tool results only a placeholder stays; the newest {keep} are whole",
    "compact": "older turns become one summary; the newest {keep_turns} stay word for word",
    "truncate": "the oldest messages leave; about {turns} turns stay",
    "compress": "older messages become one summary; the newest {keep_recent} stay word for word",
    "window": "the oldest messages leave when there are more than {tokens} tokens",
    "dedup": "of tool results that say the same, the newest stays",
    "mask": "old tool results become placeholders",
    "prune": "messages that seem to matter least leave when there are more than {tokens} tokens",
    "tiered": "older messages move into a summary when there are more than {tokens} tokens",
}
"""What some strategies do, as it shows to the model; the braces are parameters. Others are told as
they describe themselves."""


@dataclass(frozen=True, slots=True)
class StrategyInForce:
    """The active strategy, by its spec.

    >>> for line in StrategyInForce.of("cut:limit=4000 | clear:keep=3").inject().split("\\n")[2:4]:
    ...     print(line)
    - cut: a tool result over 4000 characters is cut: its head and its tail stay
    - clear: of older tool results only a placeholder stays; the newest 3 are whole
    """

    strategies: tuple[Strategy, ...]

    @classmethod
    def of(cls, spec: str) -> StrategyInForce:
        """By a spec such as ``cut:limit=4000 | clear:keep=3``. Raises InputRefused."""
        return cls(parse(spec))

    def inject(self) -> str:
        """What they do, one a line; nothing where none changes anything."""
        lines = [f"- {words}" for words in _told(self.strategies)]
        if not lines:
            return ""
        return "\n".join(["<strategy>", _ABOUT, *lines, _ADVICE, "</strategy>"])


def _told(strategies: Iterable[Strategy]) -> list[str]:
    return [
        f"{guarded(strategy.name)}: {_does(strategy)}"
        for strategy in strategies
        if strategy.name != "none"
    ]


def _does(strategy: Strategy) -> str:
    given = {key: str(value) for key, value in strategy.parameters.model_dump().items()}
    if strategy.name in WORDS:
        return filled(WORDS[strategy.name], given)
    try:
        told = described(type(strategy))
        about = told.about.replace("``", "").rstrip(".")
        if told.preset:  # whose habit it is says nothing to the model
            about = about.partition(": ")[2] or about
    except (OSError, TypeError):  # a class whose source nobody can read
        about = "messages may be changed or leave"
    changed = strategy.spec.partition(":")[2]
    return guarded(f"{about} ({changed})" if changed else about)

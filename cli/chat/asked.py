"""What a command line asks of a chat, before anything is opened or written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cli.endpoints import DEFAULT_URL, MODEL, Model, model_named, own_model
from cli.strategies import strategies_of
from eventlog.agent import PermissionMode
from eventlog.errors import InputRefused
from eventlog.events import PermissionsSet
from harness.conversation.conversation import STRATEGY
from harness.tools.permissions import check_rule
from projections.agent_state.state import Permissions
from projections.prompts import Rendered
from projections.strategies.base import Strategy

MODES: dict[str, PermissionMode] = {
    "ask": "ask",
    "allow": "allow",
    "deny": "deny",
    "read-only": "read_only",
}
"""What is done where no rule speaks, as it is typed."""

MOST_BYTES = 1 << 20
"""Of a file with a system prompt."""


HOW = (
    "a chat needs a model behind an OpenAI-compatible address:",
    "- of a service: its key in OPENAI_API_KEY, its address in OPENAI_BASE_URL or --base-url",
    f"  (else {DEFAULT_URL})",
    "- on this machine, without a key: llama-server (--base-url http://127.0.0.1:8080/v1)",
    "  or ollama (--base-url http://127.0.0.1:11434/v1)",
    f'- which one: --model NAME, or {MODEL}, or name = "…" under [model] in the config',
)
"""How to get one."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Permissions as they were typed; what was not typed stays as it is."""

    mode: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.mode is not None and self.mode not in MODES:
            raise InputRefused(f"--permissions: {self.mode!r} is none of {', '.join(MODES)}")
        for rule in (*self.allow, *self.deny):
            check_rule(rule)

    def over(self, held: Permissions) -> PermissionsSet | None:
        """What holds from here on; None where nothing was typed."""
        if self.mode is None and not self.allow and not self.deny:
            return None
        return PermissionsSet(
            mode=MODES[self.mode] if self.mode is not None else held.mode,
            allow=tuple(dict.fromkeys((*held.allow, *self.allow))),
            deny=tuple(dict.fromkeys((*held.deny, *self.deny))),
            ask=held.ask,
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for. Making it raises InputRefused."""

    session: str | None = None
    model: str | None = None
    base_url: str | None = None
    strategy: str | None = None
    tools: Sequence[str] = ()
    root: str | None = None
    system: str | Rendered | None = None
    window: int | None = None
    summarizer: str | None = None
    auto_title: bool = False
    memory: bool | None = None
    """Whether it knows what is remembered; None: as the config says."""
    rules: Rules = field(default_factory=Rules)

    def named_model(self, name: str | None = None) -> Model:
        """The model of the conversation, or another one at the same address.

        Raises InputRefused where there is none, or no key, with how to get one.
        """
        chosen = name or self.model or own_model()
        try:
            if not chosen:
                raise InputRefused("which model? name it with --model")
            return model_named(chosen, self.base_url)
        except InputRefused as error:
            for line in HOW:
                error.add_note(line)
            raise

    def strategies(self) -> tuple[Strategy, ...]:
        """What decides about the context."""
        return strategies_of(self.strategy if self.strategy is not None else STRATEGY)

    def folder(self) -> Path:
        """The folder in which tools work: the one that was named, else this one."""
        return Path(self.root).expanduser() if self.root is not None else Path()


def system_of(text: str | None) -> str | None:
    """A system prompt as it was typed; ``@FILE`` is what the file holds. Raises InputRefused."""
    if text is None or not text.startswith("@"):
        return text
    path = Path(text[1:]).expanduser()
    try:
        if not path.is_file():
            raise InputRefused(f"--system: {path} is no file")
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise InputRefused(f"--system: {path} has over {MOST_BYTES >> 20} MiB")
        return data.decode("utf-8-sig").rstrip("\n")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise InputRefused(f"--system: {path} cannot be read: {why}") from None


def template_of(name: str, typed: Sequence[str], folder: str | None = None) -> Rendered:
    """A prompt template, filled in. Raises InputRefused, and what rendering raises."""
    from cli.prompts import beside, chosen_beside, values_of

    template = chosen_beside(beside(folder), name)
    return template.only("system").render(**values_of(typed, ()))

"""A prompt template, and what comes of it when its variables have values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal, cast

from eventlog.agent import PromptRendered
from projections.prompts.faults import (
    PromptMissing,
    VariablesRefused,
    near_misses,
)
from projections.prompts.variables import filled, plain, said, variables_in

Part = Literal["system", "user"]
PARTS: tuple[Part, ...] = ("system", "user")


@dataclass(frozen=True, slots=True)
class Template:
    """One prompt: what a role is told as the system, and what it is asked."""

    name: str
    """Of its file, below the folder, without the ending: ``review``, ``team/review``."""
    role: str = ""
    """Empty where its file holds one template."""
    description: str = ""
    """What it is for; of a role that is a sub-agent, what its tool says of itself."""
    version: str = ""
    system: str = ""
    user: str = ""
    declared: tuple[str, ...] | None = None
    """The only names that are variables; None: every identifier that stands alone in braces."""

    @property
    def label(self) -> str:
        """The name, and the role behind it where it has one."""
        return f"{self.name}/{self.role}" if self.role else self.name

    @property
    def variables(self) -> frozenset[str]:
        """The names that need a value."""
        return frozenset(self._names())

    @property
    def tool_description(self) -> str:
        """What is said of the tool that runs this role as a sub-agent. Raises PromptMissing where
        the template has no description: a model would not know when to call it."""
        if not self.description.strip():
            detail = f"the prompt {self.label} has no description for its tool"
            raise PromptMissing(self.name, detail, role=self.role)
        return self.description

    def part(self, part: Part) -> str:
        """The text of one part, with its variables as they were written."""
        return self.system if part == "system" else self.user

    def only(self, part: Part) -> Template:
        """This template with one of its parts alone. Raises PromptMissing where it is empty."""
        text = self.part(part)
        if not text:
            raise PromptMissing(
                self.name, f"the prompt {self.label} has no {part} text", role=self.role
            )
        declared = self.declared
        if declared is not None:
            there = variables_in(text)
            declared = tuple(name for name in declared if name in there)
        alone = {each: self.part(each) if each == part else "" for each in PARTS}
        return replace(self, system=alone["system"], user=alone["user"], declared=declared)

    def render(self, /, **variables: object) -> Rendered:
        """The texts with a value in the place of each variable.

        A text stands as it is, every other value as JSON. Raises VariablesRefused where a variable
        has no value or a value no variable, and ValueRefused for one that is neither.
        """
        wanted = self._names()
        missing = [name for name in wanted if name not in variables]
        unused = [name for name in variables if name not in wanted]
        if missing or unused:
            raise VariablesRefused(
                self.label, missing=missing, unused=unused, hints=self._hints(missing, unused)
            )
        where = f"the prompt {self.label}"
        values = {name: plain(value, name, where) for name, value in variables.items()}
        texts = {name: said(value) for name, value in values.items()}
        return Rendered(
            self,
            MappingProxyType(values),
            filled(self.system, texts),
            filled(self.user, texts),
        )

    def _names(self) -> list[str]:
        if self.declared is not None:
            return list(self.declared)
        return list(dict.fromkeys([*variables_in(self.system), *variables_in(self.user)]))

    def _hints(self, missing: list[str], unused: list[str]) -> list[str]:
        hints = []
        wanted = self._names()
        for name in unused:
            spaced = next(
                (f for f in (f"{{{{ {name} }}}}", f"{{ {name} }}") if f in self._text), ""
            )
            if spaced:
                hints.append(f"{spaced} is no variable, {{{name}}} is")
            elif near := near_misses(name, missing or wanted, 1):
                hints.append(f"is {name!r} meant for {near[0]!r}?")
        if not unused and not hints and self.declared is None and "{" in self._text:
            hints.append("where it is code and no variable, `variables:` says which ones are")
        if unused and not hints:
            has = ", ".join(wanted)
            hints.append(f"it has {has}" if has else "it has none")
        return hints

    @property
    def _text(self) -> str:
        return f"{self.system}\n{self.user}"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A template that was filled in."""

    template: Template
    variables: Mapping[str, object]
    """The values as they were given: text, or JSON."""
    system: str
    user: str

    def messages(self) -> list[dict[str, str]]:
        """The system and the human message, those that have a text, as ``openai_chat`` has them."""
        return [
            {"role": part, "content": text}
            for part, text in (("system", self.system), ("user", self.user))
            if text
        ]

    @property
    def system_prompt(self) -> str:
        """The system text. Raises PromptMissing where the template has none."""
        if not self.template.system:
            self.template.only("system")
        return self.system

    def part(self, part: Part) -> str:
        """The text of one part."""
        return self.system if part == "system" else self.user


def rendered_event(
    rendered: Rendered, item: str, *, part: Part = "system", salt: bytes
) -> PromptRendered:
    """The event that says which template an item's text came from.

    ``salt``: random bytes of the caller's, 16 or more, so that the digests prove a text and give
    none away. Raises PromptMissing for a part that the template does not have.
    """
    template = rendered.template.only(part)
    there = template.variables
    values = {name: value for name, value in rendered.variables.items() if name in there}
    return PromptRendered(
        item=item,
        template=template.name,
        role=template.role,
        version=template.version,
        template_text=template.part(part),
        variables=cast(Any, values) or None,
        salt=salt.hex(),
        template_digest=_digest(salt, template.part(part)),
        rendered_digest=_digest(salt, rendered.part(part)),
    )


def _digest(salt: bytes, text: str) -> str:
    """A value may hold half of a surrogate pair, which UTF-8 has no bytes for."""
    return sha256(salt + text.encode("utf-8", "surrogatepass")).hexdigest()

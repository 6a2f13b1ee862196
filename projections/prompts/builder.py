"""A system prompt built of sections.

The sections have one order, whatever order they are given in, and the same content gives the same
bytes. What changes from call to call stands last, so that what is in front of it can be cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from projections.prompts.faults import SectionRefused, listed, near_misses, short
from projections.prompts.injectors import Injector
from projections.prompts.template import Template
from projections.prompts.variables import variables_in

SECTIONS = (
    "identity",
    "capabilities",
    "constraints",
    "tools",
    "safety",
    "output_format",
    "context",
)
"""In the order in which they stand; ``context`` is what changes from call to call."""

HEADINGS: Mapping[str, str] = {
    "identity": "",
    "capabilities": "Capabilities",
    "constraints": "Constraints",
    "tools": "Tools",
    "safety": "Safety",
    "output_format": "Output format",
    "context": "Context",
}
"""What stands over each section; nothing over the first."""

CONTEXT = "context"
"""The variable that stands for the dynamic context in a template."""

Content = str | Iterable[str]
"""A text is a paragraph, several are a list."""


@dataclass(frozen=True, slots=True)
class PromptBuilder:
    """Sections that become one text. It never changes: each method gives a new one.

    >>> base = PromptBuilder().identity("You review code.")
    >>> print(base.safety("Run nothing.").constraints(["Be brief.", "Show the line."]).build())
    You review code.
    <BLANKLINE>
    ## Constraints
    <BLANKLINE>
    - Be brief.
    - Show the line.
    <BLANKLINE>
    ## Safety
    <BLANKLINE>
    Run nothing.
    """

    _pieces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _headings: Mapping[str, str] = field(default_factory=dict)
    _declared: tuple[str, ...] | None = None

    @classmethod
    def from_template(cls, template: Template) -> PromptBuilder:
        """The system text of a template, its variables unfilled, for sections to stand behind.

        Raises PromptMissing where it has none.
        """
        made = cls().identity(template.only("system").system)
        return replace(made, _declared=template.only("system").declared)

    def identity(self, content: Content) -> PromptBuilder:
        """Who the model is here. A second call of any of these methods adds to the first."""
        return self._with("identity", content)

    def capabilities(self, content: Content) -> PromptBuilder:
        """What it can do."""
        return self._with("capabilities", content)

    def constraints(self, content: Content) -> PromptBuilder:
        """What it has to keep to."""
        return self._with("constraints", content)

    def tools(self, content: Content | Mapping[str, str]) -> PromptBuilder:
        """Which tools it has, or what each of them is for."""
        if isinstance(content, Mapping):
            content = [f"{name}: {about}" if about else name for name, about in content.items()]
        return self._with("tools", content)

    def safety(self, content: Content) -> PromptBuilder:
        """What it must never do, and what it asks about first."""
        return self._with("safety", content)

    def output_format(self, content: Content) -> PromptBuilder:
        """How its answer has to look."""
        return self._with("output_format", content)

    def context(self, content: Content) -> PromptBuilder:
        """What holds now and changes from call to call. It is taken as it is: what comes from
        outside is fenced by an injector."""
        return self._with("context", content)

    def inject(self, *injectors: Injector) -> PromptBuilder:
        """The sections of injectors as dynamic context, in this order."""
        made = self
        for each in injectors:
            made = made.context(each.inject())
        return made

    def headings(self, **headings: str) -> PromptBuilder:
        """Other headings over sections; an empty one is none. Raises SectionRefused.

        >>> print(PromptBuilder().headings(constraints="Rules").constraints("Be brief.").build())
        ## Rules
        <BLANKLINE>
        Be brief.
        """
        for name, text in headings.items():
            if name not in SECTIONS:
                near = near_misses(name, SECTIONS, 1)
                hint = f"is {near[0]!r} meant?" if near else f"there are {listed(SECTIONS)}"
                raise SectionRefused(f"no section {short(name)}; {hint}")
            if len(text.splitlines()) > 1:
                raise SectionRefused(f"the heading of {name!r} has more than one line")
        return replace(self, _headings={**self._headings, **headings})

    def build(self) -> str:
        """The text, without a line end. A section without content leaves nothing behind."""
        return self._built(SECTIONS)

    def static_text(self) -> str:
        """The text without the dynamic context."""
        return self._built(SECTIONS[:-1])

    def context_text(self) -> str:
        """The dynamic context alone, with its heading; empty where there is none."""
        return self._built(SECTIONS[-1:])

    def template(
        self,
        name: str,
        role: str = "",
        *,
        description: str = "",
        version: str = "",
        user: str = "",
        variables: Iterable[str] | None = None,
    ) -> Template:
        """A template with the sections as its system text.

        In the place of dynamic context stands the variable ``{context}``, whose value
        ``context_text`` gives: no brace in it is ever a variable. ``variables`` as in a file: where
        they are given, nothing else in braces is one. Raises SectionRefused where ``{context}`` is
        in use already.
        """
        system = self.static_text()
        declared = self._declared if variables is None else tuple(dict.fromkeys(variables))
        if self._pieces.get("context"):
            if CONTEXT in variables_in(f"{system}\n{user}"):
                raise SectionRefused(
                    f"{{{CONTEXT}}} is a variable of a section; give it another name"
                )
            system = f"{system}\n\n{{{CONTEXT}}}" if system else f"{{{CONTEXT}}}"
            declared = None if declared is None else (*declared, CONTEXT)
        return Template(name, role, description, version, system, user, declared)

    def _with(self, section: str, content: Content) -> PromptBuilder:
        pieces = self._pieces.get(section, ())
        if isinstance(content, str):
            new = _trimmed(content)
        else:
            items = [item for each in content if (item := _trimmed(each))]
            new = "\n".join("- " + item.replace("\n", "\n  ") for item in items)
        if not new:
            return self
        return replace(self, _pieces={**self._pieces, section: (*pieces, new)})

    def _built(self, sections: Iterable[str]) -> str:
        parts: list[str] = []
        for name in sections:
            pieces = self._pieces.get(name, ())
            heading = self._headings.get(name, HEADINGS[name]).strip()
            if pieces and heading:
                parts.append(f"## {heading}")
            parts += _joined(pieces)
        return "\n\n".join(parts)


def _joined(pieces: Iterable[str]) -> list[str]:
    """Lists that follow on each other are one."""
    found: list[str] = []
    for piece in pieces:
        if found and piece.startswith("- ") and found[-1].startswith("- "):
            found[-1] += "\n" + piece
        else:
            found.append(piece)
    return found


def _trimmed(text: str) -> str:
    """Without blank lines in front and white space behind: neither says anything."""
    lines = text.rstrip().split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    return "\n".join(lines)

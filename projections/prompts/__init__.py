"""Prompts: templates outside of the code, and what is made of them. Pure."""

from projections.prompts.faults import (
    PromptFault,
    PromptMissing,
    PromptUnreadable,
    ValueRefused,
    VariablesRefused,
)
from projections.prompts.parsing import parse
from projections.prompts.template import Part, Rendered, Template, rendered_event

__all__ = [
    "Part",
    "PromptFault",
    "PromptMissing",
    "PromptUnreadable",
    "Rendered",
    "Template",
    "ValueRefused",
    "VariablesRefused",
    "parse",
    "rendered_event",
]

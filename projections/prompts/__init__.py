"""Prompts: templates outside of the code, and what is made of them. Pure.

``StrategyInForce`` stands in ``projections.prompts.strategy``: it needs all strategies, which take
longer to import than everything here.
"""

from projections.prompts.builder import PromptBuilder
from projections.prompts.faults import (
    PromptFault,
    PromptMissing,
    PromptUnreadable,
    SectionRefused,
    ValueRefused,
    VariablesRefused,
)
from projections.prompts.injectors import Environment, Injector, Memories, Memory, Profile
from projections.prompts.parsing import parse
from projections.prompts.template import Part, Rendered, Template, rendered_event

__all__ = [
    "Environment",
    "Injector",
    "Memories",
    "Memory",
    "Part",
    "Profile",
    "PromptBuilder",
    "PromptFault",
    "PromptMissing",
    "PromptUnreadable",
    "Rendered",
    "SectionRefused",
    "Template",
    "ValueRefused",
    "VariablesRefused",
    "parse",
    "rendered_event",
]

"""Prompts from files: ``Prompts("prompts").render("review", "coder", diff=…)``."""

from harness.prompts.folder import Prompts

__all__ = ["Prompts"]

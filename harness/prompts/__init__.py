"""Prompts from files: ``Prompts("prompts").render("review", "coder", diff=…)``."""

from harness.prompts.folder import Prompts
from harness.prompts.scenarios import SCENARIOS, scenario, scenario_name

__all__ = ["SCENARIOS", "Prompts", "scenario", "scenario_name"]

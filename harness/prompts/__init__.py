"""Prompts from files: ``Prompts("prompts").render("review", "coder", diff=…)``."""

from harness.prompts.environment import environment
from harness.prompts.folder import Prompts
from harness.prompts.scenarios import SCENARIOS, scenario, scenario_name

__all__ = ["SCENARIOS", "Prompts", "environment", "scenario", "scenario_name"]

"""numpy, where it is there: nothing here needs it, and without it every answer is the same."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def loaded() -> Any:
    """numpy, where somebody has loaded it; else None."""
    # Asked for by its name, since another thread may be in the middle of loading it.
    return importlib.import_module("numpy") if sys.modules.get("numpy") is not None else None


def load() -> Any:
    """numpy, where it is installed; else None."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None

"""What no provider takes, whatever its dialect: what is no JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_fault(request: Mapping[str, Any]) -> str:
    """Why a request cannot be sent as JSON; nothing where it can."""
    try:
        json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "a lone surrogate cannot be sent"
    except (TypeError, ValueError) as error:
        return f"not JSON: {error}"
    return ""

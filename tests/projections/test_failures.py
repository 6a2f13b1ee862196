"""Why a call failed, in words."""

from __future__ import annotations

import pytest

from projections.failures import why_failed


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (None, "KeyboardInterrupt", "interrupted"),
        (200, "KeyboardInterrupt", "interrupted"),
        (None, "CancelledError", "cancelled"),
        (500, "HTTP 500", "HTTP 500"),
        (500, "later", "500 later"),
        (500, "", "500"),
        (None, "ReadTimeout: slow", "ReadTimeout: slow"),
    ],
)
def test_it_names_the_status_once_and_an_interruption_as_one(
    status: int | None, error: str, told: str
) -> None:
    assert why_failed(status, error) == told

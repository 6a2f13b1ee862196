"""What the results of all metrics have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Result(BaseModel):
    """A frozen result, with no field that nobody declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Share(Result):
    """A part of a whole, always with its denominator."""

    of: int
    """The denominator."""
    part: int

    @property
    def value(self) -> float | None:
        """None where there is nothing to be a part of."""
        return ratio(self.part, self.of)


def ratio(part: float, whole: float, digits: int = 6) -> float | None:
    """A rounded quotient; None where there is no whole."""
    return round(part / whole, digits) if whole else None

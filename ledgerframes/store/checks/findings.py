"""`CheckFinding`: one thing that a check of a store found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class CheckFinding:
    """One thing that a check found.

    Attributes:
        name: what is wrong.
        severity: "error", or "note" if it does no harm.
        count: how often.
        example: one case.
        advice: what to do.
    """

    name: str
    severity: Literal["error", "note"]
    count: int
    example: str
    advice: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.name} ({self.count:,}), such as {self.example}. {self.advice}"

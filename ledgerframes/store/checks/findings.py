"""`CheckFinding`: one finding of a check of a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class CheckFinding:
    """One finding of a check.

    Attributes:
        name: what is wrong.
        severity: "error", or "note" if it does no harm.
        count: the number of cases.
        example: one case.
        advice: the remedy.
    """

    name: str
    severity: Literal["error", "note"]
    count: int
    example: str
    advice: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.name} ({self.count:,}), such as {self.example}. {self.advice}"

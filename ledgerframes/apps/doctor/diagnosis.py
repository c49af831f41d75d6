"""The result of an examination: `Diagnosis`, the answer of `doctor`, for people, notebooks and programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal

from ledgerframes.results import Result, html_table

if TYPE_CHECKING:
    import pandas as pd

Status = Literal["ok", "warn", "fail", "unknown", "skipped"]

_MARKS: Final = {"ok": "ok  ", "warn": "WARN", "fail": "FAIL", "unknown": "?   ", "skipped": "-   "}
_COLUMNS: Final = ("subject", "check", "status", "found", "advice")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        subject: the examined interface and its address, or this machine.
        check: the name of the check.
        status: "ok"; "warn", it works but may mislead; "fail", it does not work; "unknown", it
            could not be found out; "skipped", there was nothing to check.
        found: the answer, without secrets.
        advice: what to do, where something is to be done.
    """

    subject: str
    check: str
    status: Status
    found: str
    advice: str = ""


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """Every finding of an examination, in order; true if nothing fails.

    Attributes:
        findings: one per question that was answered.
        requests: the number of requests sent.
        seconds: how long it took.
    """

    findings: tuple[Finding, ...]
    requests: int
    seconds: float

    @property
    def ok(self) -> bool:
        """Nothing fails; there may be warnings."""
        return not self.of("fail")

    def of(self, status: Status) -> tuple[Finding, ...]:
        """The findings of one status."""
        return tuple(finding for finding in self.findings if finding.status == status)

    def to_frame(self) -> pd.DataFrame:
        """One row per finding: subject, check, status, found, advice."""
        import pandas as pd

        return pd.DataFrame([asdict(finding) for finding in self.findings], columns=_COLUMNS)

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as plain values."""
        return super().to_dict() | {"ok": self.ok}

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = []
        for subject, findings in groupby(self.findings, attrgetter("subject")):
            lines += ["", subject]
            for finding in findings:
                lines.append(f"  {_MARKS[finding.status]}  {finding.check}: {finding.found}")
                lines += [f"        -> {finding.advice}"] if finding.advice else []
        return "\n".join([self._heading(), *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._heading(), _COLUMNS, (asdict(finding).values() for finding in self.findings))

    def _heading(self) -> str:
        counts = Counter(finding.status for finding in self.findings)
        unknown = f"{counts['unknown']} of {len(self.findings)} checks could not be made" if counts["unknown"] else ""
        verdict = (
            f"{counts['fail']} of {len(self.findings)} checks fail" if not self.ok else unknown or "nothing is wrong"
        )
        warned = f", {counts['warn']} to look at" if counts["warn"] else ""
        return f"{verdict}{warned} ({self.requests} requests, {self.seconds:.1f} s)"


def bare(error: Exception) -> str:
    """The cause in an error's message, without its advice."""
    return str(error).partition(" What to do:")[0]


def remedy(error: Exception) -> str:
    """The advice in an error's message; empty if there is none."""
    return str(error).partition(" What to do: ")[2].partition(" Gave up after ")[0].rstrip(".")

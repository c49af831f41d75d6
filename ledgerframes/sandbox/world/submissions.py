"""Which commands have been carried out, so that none is twice; the ledger's command routes ask and write it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ledgerframes.sandbox.world.timestamps import SECOND

# A day, which applies if a command names no period of its own.
MAXIMUM: Final = 86_400 * SECOND


class ChangeId(NamedTuple):
    """The identity of an intended change (contract: Resources, ReassignmentCommands)."""

    user_id: str
    submitters: frozenset[str]
    command_id: str


class Period(NamedTuple):
    """How far back a change counts as the same; without a limit of its own, a day of the ledger's time.

    Attributes:
        span: microseconds before now.
        offset: completions up to this offset of the participant do not count.
    """

    span: int | None = None
    offset: int | None = None


class Submission(NamedTuple):
    """A change that was carried out.

    Attributes:
        at: its record time in microseconds.
        offset: the participant's number of its last update.
    """

    change_id: ChangeId
    submission_id: str
    workflow_id: str
    at: int
    offset: int


@dataclass(slots=True)
class Submissions:
    """Every change that was carried out, by its id and by its updates."""

    _newest: dict[ChangeId, Submission] = field(default_factory=dict)
    _by_update: dict[str, Submission] = field(default_factory=dict)

    def earlier(self, change_id: ChangeId, *, period: Period, now: int) -> Submission | None:
        """The submission that already did this, if one did within the period before `now` in microseconds."""
        submission = self._newest.get(change_id)
        if submission is None:
            return None
        if period.offset is not None:
            return submission if submission.offset > period.offset else None
        span = MAXIMUM if period.span is None else period.span
        return submission if now - submission.at <= span else None

    def accept(self, submission: Submission, update_ids: list[str]) -> None:
        """Note a change that was carried out with its updates."""
        self._newest[submission.change_id] = submission
        self._by_update.update(dict.fromkeys(update_ids, submission))

    def of(self, update_id: str) -> Submission | None:
        """The submission that an update comes from, if it was a command."""
        return self._by_update.get(update_id)

"""Admits a submitted change once and carries it out as a whole or not at all; the command routes call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ledgerframes.sandbox.commands import errors
from ledgerframes.sandbox.commands.errors import LedgerError
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.timestamps import SECOND
from ledgerframes.sandbox.world.world import ChangeId, Submission, Update, World

# How far a command advances the ledger's clock, in microseconds: its record time is later than everything before it.
PACE: Final = 100_000
# For so long a change counts as the same, in the ledger's time.
_REMEMBERED: Final = 86_400 * SECOND

# Writes the updates of the change from a record time on and applies them; or raises and changes nothing.
Write = Callable[[Simulation, int], list[Update]]


class RequestedChange(NamedTuple):
    """A change as it was submitted.

    Attributes:
        journal_entry: how to ask for it again: the kind of command, the user and the body.
    """

    change_id: ChangeId
    submission_id: str
    workflow_id: str
    journal_entry: tuple[str, str, str] = ("", "", "")


def admit(world: World, change: RequestedChange) -> Simulation:
    """The simulation that the change may be carried out on.

    Raises:
        LedgerError: the ledger takes no commands, the change was carried out before, or its parties act elsewhere.
    """
    sim = world.simulation
    if sim is None or not world.ledger_updates:
        cause = "The ledger has no updates yet, or takes no commands; let it advance by one first"
        raise LedgerError("SYNCHRONIZER_NOT_READY", cause, kind=errors.UNAVAILABLE, retry=errors.SOON)
    earlier = world.submissions.get(change.change_id)
    if earlier is not None and sim.now - earlier.at <= _REMEMBERED:
        known, offset = earlier.submission_id, str(earlier.offset)
        context = {"existing_submission_id": known, "completion_offset": offset, "accepted": "true"}
        cause = f"A command with this change id has already been carried out, as submission {known!r}"
        raise LedgerError("DUPLICATE_COMMAND", cause, kind=errors.EXISTS, context=context)
    elsewhere = sim.elsewhere(change.change_id.submitters)
    if elsewhere:
        code = "NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT"
        cause = f"No synchronizer on which this participant can submit for {sorted(elsewhere)}; they act elsewhere"
        raise LedgerError(code, cause, kind=errors.STATE)
    return sim


def carry_out(world: World, change: RequestedChange, write: Write) -> list[str]:
    """Carry out a change, under the world's lock; the ids of its updates.

    Raises:
        LedgerError: it is refused, and nothing has changed.
    """
    sim = admit(world, change)
    chance, stored = sim.rng.getstate(), sim.stored
    try:
        updates = write(sim, sim.now + PACE)
    except BaseException:
        # A refused command must not change the bytes of what the seed makes up later.
        sim.rng.setstate(chance)
        sim.stored = stored
        raise
    world.record(updates)
    sim.now = updates[-1].record_time
    ids = [update.update_id for update in updates]
    known = change.submission_id or f"submission-{ids[0][-16:]}"
    submission = Submission(change.change_id, known, change.workflow_id, sim.now, world.offset(ids[-1]))
    world.submissions[change.change_id] = submission
    world.submitted.update(dict.fromkeys(ids, submission))
    world.later_changes.append(change.journal_entry)
    return ids

"""Admits a submitted change once and carries it out as a whole or not at all; the command routes call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ledgerframes.sandbox.commands import errors
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.submissions import ChangeId, Period, Submission
from ledgerframes.sandbox.world.world import Update, World

# How far a command advances the ledger's clock, in microseconds: its record time is later than everything before it.
PACE: Final = 100_000

# Writes the updates of the change from a record time on and applies them; or raises and changes nothing.
Write = Callable[[Simulation, int], list[Update]]


class RequestedChange(NamedTuple):
    """A change as it was submitted.

    Attributes:
        period: how long the same change counts as a duplicate.
        asked: how to ask for it again: the kind of command, the user and the body.
    """

    change_id: ChangeId
    submission_id: str
    workflow_id: str
    period: Period = Period()
    asked: tuple[str, str, str] = ("", "", "")


def admit(world: World, change: RequestedChange) -> Simulation:
    """The simulation that the change may be carried out on.

    Raises:
        LedgerError: the ledger takes no commands, the change was carried out before, or its parties act elsewhere.
    """
    if world.simulation is None:
        raise errors.no_commands()
    if not world.ledger_updates:
        raise errors.not_begun()
    earlier = world.submissions.earlier(change.change_id, period=change.period, now=world.simulation.now)
    if earlier is not None:
        raise errors.duplicate(earlier.submission_id, earlier.offset)
    elsewhere = world.simulation.elsewhere(change.change_id.submitters)
    if elsewhere:
        raise errors.not_hosted(elsewhere)
    return world.simulation


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
    submission = Submission(
        change.change_id,
        change.submission_id or f"submission-{ids[0][-16:]}",
        change.workflow_id,
        sim.now,
        world.offset(ids[-1]),
    )
    world.submissions.accept(submission, ids)
    world.asked.append(change.asked)
    return ids

"""A change that somebody submits: admitted once, carried out whole or not at all; the command routes call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ledgerframes.sandbox.commands import errors
from ledgerframes.sandbox.commands.submissions import ChangeId, Period, Submission
from ledgerframes.sandbox.generator.simulation import Stage
from ledgerframes.sandbox.world.world import Update, World

# How far the ledger's clock goes on with a command, in microseconds.
PACE: Final = 100_000

# Writes what the change records from a record time on, and lets it count; or raises, having changed nothing.
Write = Callable[[Stage, int], list[Update]]


class RequestedChange(NamedTuple):
    """A change as it was submitted.

    Attributes:
        period: within which the same change is a duplicate.
    """

    change_id: ChangeId
    submission_id: str
    workflow_id: str
    period: Period = Period()


def admit(world: World, change: RequestedChange) -> Stage:
    """What the change can be carried out with.

    Raises:
        LedgerError: the ledger takes no commands, the change was carried out before, or its parties act elsewhere.
    """
    if world.stage is None:
        raise errors.no_commands()
    if not world.updates:
        raise errors.not_begun()
    earlier = world.submissions.earlier(change.change_id, period=change.period, now=world.stage.now)
    if earlier is not None:
        raise errors.duplicate(earlier.submission_id, earlier.offset)
    elsewhere = world.stage.elsewhere(change.change_id.submitters)
    if elsewhere:
        raise errors.not_hosted(elsewhere)
    return world.stage


def carry_out(world: World, change: RequestedChange, write: Write) -> list[str]:
    """Carry out a change; the ids of its updates.

    Raises:
        LedgerError: it is refused, and nothing has changed.
    """
    with world.lock:
        stage = admit(world, change)
        chance, stored = stage.rng.getstate(), stage.stored
        try:
            updates = write(stage, stage.now + PACE)
        except BaseException:
            stage.rng.setstate(chance)
            stage.stored = stored
            raise
        world.record(updates)
        stage.now = updates[-1].record_time
        ids = [update.update_id for update in updates]
        submission = Submission(
            change.change_id,
            change.submission_id or f"submission-{ids[0][-16:]}",
            change.workflow_id,
            stage.now,
            world.offset(ids[-1]),
        )
        world.submissions.accept(submission, ids)
        return ids

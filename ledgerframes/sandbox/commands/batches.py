"""Carries out a batch of commands as one transaction, all or none; the command routes call `write_batch`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ledgerframes.sandbox.commands import errors
from ledgerframes.sandbox.commands.bodies import (
    Command,
    CreateAndExerciseCommand,
    CreateCommand,
    DisclosedContract,
    ExerciseByKeyCommand,
    ExerciseCommand,
)
from ledgerframes.sandbox.commands.command_context import CommandContext
from ledgerframes.sandbox.commands.errors import invalid
from ledgerframes.sandbox.commands.event_filters import REFERENCE
from ledgerframes.sandbox.commands.models import MODELS
from ledgerframes.sandbox.commands.pending_changes import PendingChanges
from ledgerframes.sandbox.commands.values import read_record, write_record
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract, Template, blob
from ledgerframes.sandbox.world.parties import fingerprint
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.transaction import Transaction
from ledgerframes.sandbox.world.world import Update, World

# Participants refuse ledger times that are too far from the record time.
SKEW: Final = 60 * timestamps.SECOND


@dataclass(frozen=True, slots=True)
class Batch:
    """Commands with everything that determines their outcome.

    Attributes:
        act_as: the parties that agree.
        read_as: the parties whose contracts are seen besides.
        synchronizer_id: where it is to run; if empty, the contracts used decide.
        not_before: the least ledger effective time in microseconds.
        not_before_by: the same, counted from the record time.
    """

    commands: list[Command]
    act_as: frozenset[str]
    read_as: frozenset[str] = frozenset()
    disclosed: tuple[DisclosedContract, ...] = ()
    workflow_id: str = ""
    synchronizer_id: str = ""
    not_before: int = timestamps.FIRST
    not_before_by: int = 0


def write_batch(batch: Batch, sim: Simulation, now: int) -> list[Update]:
    """Carry a batch out and let it count.

    Args:
        batch: the commands.
        sim: the simulated ledger.
        now: the record time in microseconds.

    Raises:
        LedgerError: a command is refused, and nothing has changed.
    """
    update_id, pending = fingerprint(sim.rng), PendingChanges()
    place = _place(batch, sim.world, sim.main)
    tx = Transaction(sim, update_id=update_id, synchronizer_id=place, effective=_effective(batch, now), effects=pending)
    tx.workflow_id = batch.workflow_id
    context = CommandContext(sim, MODELS, tx, pending, batch.act_as | batch.read_as, _disclosed(batch.disclosed), now)
    for command in batch.commands:
        _carry_out(context, command, batch.act_as)
    # Rendered before anything is applied: whatever fails up to here leaves the ledger unchanged.
    update = tx.update(migration_id=sim.migration_id, record_time=now, external_hash=None)
    pending.apply(sim.world, (sim.migration_id, now))
    # A snapshot at once, so that the effect of a command on holdings can be looked up.
    sim.world.after_commands.append(now)
    return [update]


def _carry_out(context: CommandContext, command: Command, authority: frozenset[str]) -> None:
    template = _template(context.sim, command.template_id)
    if isinstance(command, CreateCommand):
        _create(context, template, command, authority)
        return
    if isinstance(command, CreateAndExerciseCommand):
        contract = _create(context, template, command, authority)
    elif isinstance(command, ExerciseByKeyCommand):
        raise errors.wrong_values(f"{template.entity} has no keys such as {command.contract_key!r}")
    else:
        contract = context.fetch(command.contract_id, template)
    context.exercise(contract, command.choice, command.choice_argument, authority=authority)


def _create(
    context: CommandContext,
    template: Template,
    command: CreateCommand | CreateAndExerciseCommand,
    authority: frozenset[str],
) -> Contract:
    model, reference = MODELS[template.entity], command.template_id
    if model.payload is None:
        raise errors.not_authorized(f"The creation of a {template.entity}", [context.sim.parties.dso])
    payload = read_record(command.create_arguments, model.payload, place=template.entity)
    model.check(payload)
    # A reference by package name means the newest version, one by hash that version.
    exact = "" if reference.startswith("#") else reference
    return context.create(template, write_record(payload), authority=authority, template_id=exact)


def _template(sim: Simulation, reference: str) -> Template:
    if not REFERENCE.fullmatch(reference):
        raise invalid(f"templateId {reference!r} is not a package reference, module and entity")
    template = sim.packages.named(reference)
    if template is None:
        raise errors.no_template(reference)
    return template


def _place(batch: Batch, world: World, main: str) -> str:
    """Where a batch runs: on the synchronizer it names, else on that of its first contract, else on the main one."""
    if batch.synchronizer_id:
        if batch.synchronizer_id not in world.synchronizers:
            raise errors.unknown_synchronizer(batch.synchronizer_id)
        return batch.synchronizer_id
    used = (world.contracts.active.get(one.contract_id) for one in batch.commands if isinstance(one, ExerciseCommand))
    return next((one.synchronizer_id for one in used if one is not None and one.synchronizer_id is not None), main)


def _effective(batch: Batch, now: int) -> int:
    wanted = max(now, batch.not_before, now + batch.not_before_by)
    if wanted > now + SKEW:
        raise errors.out_of_time(timestamps.exact(min(wanted, timestamps.LAST)), timestamps.exact(now))
    return wanted


def _disclosed(given: Iterable[DisclosedContract]) -> frozenset[str]:
    """The ids of the contracts disclosed, each by its own blob."""
    for contract in given:
        if contract.created_event_blob != blob(contract.contract_id):
            raise invalid(f"createdEventBlob of the disclosed contract {contract.contract_id} is not that contract's")
    return frozenset(contract.contract_id for contract in given)

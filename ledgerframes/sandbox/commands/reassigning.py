"""Carries out reassignments, all halves of a submission or none; the command routes call `write_reassignment`."""

from __future__ import annotations

from ledgerframes.sandbox.commands import errors
from ledgerframes.sandbox.commands.bodies import AssignCommand, UnassignCommand
from ledgerframes.sandbox.commands.command_context import check_place
from ledgerframes.sandbox.generator.simulation import Stage
from ledgerframes.sandbox.http.ledger_errors import invalid
from ledgerframes.sandbox.world.parties import fingerprint
from ledgerframes.sandbox.world.reassignment_legs import Leg, render_half
from ledgerframes.sandbox.world.world import Update, World


def write_reassignment(
    commands: list[UnassignCommand] | list[AssignCommand], submitter: str, stage: Stage, now: int
) -> list[Update]:
    """Carry out the commands of one submission and let them count (contract: States, Contract reassignment).

    Scan's items hold one contract each, so every command becomes an update, a microsecond after the one before.

    Args:
        commands: all of one kind, from one source to one target.
        submitter: a stakeholder of every contract.
        stage: the ledger.
        now: the record time of the first, in microseconds.

    Raises:
        LedgerError: a command is refused, and nothing has changed.
    """
    for one in (commands[0].source, commands[0].target):
        if one not in stage.world.synchronizers:
            raise errors.unknown_synchronizer(one)
    halves = [_half(command, submitter, stage) for command in commands]
    if len({half.contract.contract_id for half in halves}) < len(halves):
        raise invalid("the commands of one reassignment name a contract twice")
    for half in halves:
        _move(half, stage.world)
    return [_update(half, stage, now + place) for place, half in enumerate(halves)]


def _half(command: UnassignCommand | AssignCommand, submitter: str, stage: Stage) -> Leg:
    return (
        _leaving(command, submitter, stage)
        if isinstance(command, UnassignCommand)
        else _arriving(command, submitter, stage.world)
    )


def _leaving(command: UnassignCommand, submitter: str, stage: Stage) -> Leg:
    contract_id, contracts = command.contract_id, stage.world.contracts
    origin = contracts.origins.get(contract_id)
    if origin is None or submitter not in (*origin.signatories, *origin.observers):
        raise errors.no_contract(contract_id)
    contract = contracts.active.get(contract_id)
    if contract is None:
        raise errors.ended(contract_id)
    check_place(stage, contract, command.source)
    unassign_id = f"00{stage.rng.getrandbits(64):016x}"
    return Leg(
        assigning=False,
        contract=contract,
        source=command.source,
        target=command.target,
        unassign_id=unassign_id,
        counter=contract.counter + 1,
        submitter=submitter,
    )


def _arriving(command: AssignCommand, submitter: str, world: World) -> Leg:
    reassignment_id = command.reassignment_id
    if reassignment_id in world.reassignments.assigned:
        raise errors.already_assigned(reassignment_id)
    half = world.reassignments.open.get(reassignment_id)
    if half is None or submitter not in (*half.contract.signatories, *half.contract.observers):
        raise errors.no_reassignment(reassignment_id)
    if (half.source, half.target) != (command.source, command.target):
        raise errors.other_reassignment(reassignment_id, source=half.source, target=half.target)
    return half._replace(assigning=True, submitter=submitter)


def _move(half: Leg, world: World) -> None:
    if not half.assigning:
        world.contracts.unassign(half.contract)
        world.reassignments.unassigned(half)
        return
    world.contracts.assign(half.contract, half.target)
    world.contracts.release(half.contract)
    world.reassignments.arrived(half)


def _update(half: Leg, stage: Stage, at: int) -> Update:
    update_id = fingerprint(stage.rng)
    rendered = render_half(half, update_id=update_id, migration_id=stage.migration_id, record_time=at)
    return Update(stage.migration_id, at, update_id, half.synchronizer_id, None, rendered)

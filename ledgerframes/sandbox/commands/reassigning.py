"""Carries out the reassignment commands of a submission, all or none; the command routes call it."""

from __future__ import annotations

from ledgerframes.sandbox.commands import errors
from ledgerframes.sandbox.commands.batches import check_place
from ledgerframes.sandbox.commands.bodies import AssignCommand, UnassignCommand
from ledgerframes.sandbox.commands.errors import LedgerError, invalid
from ledgerframes.sandbox.world.parties import fingerprint
from ledgerframes.sandbox.world.reassignment_legs import Leg, departure
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.world import Update, World


def write_reassignment(
    commands: list[UnassignCommand] | list[AssignCommand], submitter: str, sim: Simulation, now: int
) -> list[Update]:
    """Carry out and apply the commands of one submission (contract: States, Contract reassignment).

    Scan's items hold one contract each, so every command becomes an update, a microsecond after the one before.

    Args:
        commands: all of one kind, from one source to one target.
        submitter: a stakeholder of every contract.
        sim: the simulated ledger.
        now: the record time of the first, in microseconds.

    Raises:
        LedgerError: a command is refused, and nothing has changed.
    """
    for synchronizer_id in (commands[0].source, commands[0].target):
        if synchronizer_id not in sim.world.synchronizers:
            raise errors.unknown_synchronizer(synchronizer_id)
    # All are checked before the first contract moves.
    legs = [_leg(command, submitter, sim) for command in commands]
    if len({leg.contract.contract_id for leg in legs}) < len(legs):
        raise invalid("the commands of one reassignment name a contract twice")
    for leg in legs:
        _move(leg, sim.world)
    # One microsecond apart: record times increase strictly within a synchronizer.
    return [_update(leg, sim, now + place) for place, leg in enumerate(legs)]


def _leg(command: UnassignCommand | AssignCommand, submitter: str, sim: Simulation) -> Leg:
    return (
        _leaving(command, submitter, sim)
        if isinstance(command, UnassignCommand)
        else _arriving(command, submitter, sim.world)
    )


def _leaving(command: UnassignCommand, submitter: str, sim: Simulation) -> Leg:
    contract_id, contracts = command.contract_id, sim.world.contracts
    origin = contracts.origins.get(contract_id)
    if origin is None or submitter not in (*origin.signatories, *origin.observers):
        raise errors.no_contract(contract_id)
    contract = contracts.active.get(contract_id)
    if contract is None:
        raise errors.ended(contract_id)
    check_place(sim, contract, command.source)
    return departure(contract, command.source, command.target, submitter=submitter, rng=sim.rng)


def _arriving(command: AssignCommand, submitter: str, world: World) -> Leg:
    reassignment_id = command.reassignment_id
    about = ("REASSIGNMENT_ID", reassignment_id)
    if reassignment_id in world.reassignments.assigned:
        cause = f"The reassignment {reassignment_id!r} has already been completed"
        raise LedgerError("REASSIGNMENT_ALREADY_COMPLETED", cause, kind=errors.EXISTS, resource=about)
    leg = world.reassignments.open.get(reassignment_id)
    if leg is None or submitter not in (*leg.contract.signatories, *leg.contract.observers):
        cause = f"No reassignment with the id {reassignment_id!r} is known to the submitter"
        raise LedgerError("REASSIGNMENT_NOT_FOUND", cause, kind=errors.MISSING, resource=about)
    if (leg.source, leg.target) != (command.source, command.target):
        route = f"from {leg.source} to {leg.target}; name these as source and target"
        cause = f"The reassignment {reassignment_id!r} goes {route}"
        raise LedgerError("REASSIGNMENT_MISMATCH", cause, kind=errors.STATE, resource=about)
    return leg._replace(assigning=True, submitter=submitter)


def _move(leg: Leg, world: World) -> None:
    if not leg.assigning:
        world.contracts.unassign(leg.contract)
        world.reassignments.unassigned(leg)
        return
    world.contracts.assign(leg.contract, leg.target)
    world.contracts.release(leg.contract)
    world.reassignments.arrived(leg)


def _update(leg: Leg, sim: Simulation, at: int) -> Update:
    update_id = fingerprint(sim.rng)
    return sim.world.leg(leg, update_id=update_id, migration_id=sim.migration_id, record_time=at)

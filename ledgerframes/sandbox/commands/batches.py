"""Admits a submitted change once and carries it out as a whole or not at all; the command routes call it.

A change is a batch of commands, which becomes one transaction, or of reassignments, each of which becomes an update.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ledgerframes.sandbox.commands import errors
from ledgerframes.sandbox.commands.bodies import (
    AssignCommand,
    Command,
    CreateAndExerciseCommand,
    CreateCommand,
    ExerciseCommand,
    SubmitCommands,
    UnassignCommand,
)
from ledgerframes.sandbox.commands.choices import Exercise, choice_of, create_iou, read_iou, read_record, write_record
from ledgerframes.sandbox.commands.errors import LedgerError, invalid
from ledgerframes.sandbox.commands.event_filters import REFERENCE
from ledgerframes.sandbox.world.contracts import Contract, Contracts, Leg, Template, departure
from ledgerframes.sandbox.world.parties import fingerprint
from ledgerframes.sandbox.world.simulation import Simulation, Transaction
from ledgerframes.sandbox.world.templates import COIN_RULES, IOU, OPEN_ROUND
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


# Any party may use these: scan returns them to everybody.
_PUBLIC: Final = frozenset({COIN_RULES, OPEN_ROUND})


def write_batch(commands: list[Command], body: SubmitCommands, sim: Simulation, now: int) -> list[Update]:
    """Carry a batch out and let it count.

    Args:
        commands: the commands of the body.
        body: who agrees, who reads besides, and where it is to run; if it does not say, the contracts used decide.
        sim: the simulated ledger.
        now: the record time in microseconds.

    Raises:
        LedgerError: a command is refused, and nothing has changed.
    """
    update_id, batch = fingerprint(sim.rng), _Batch(sim, frozenset(body.act_as), {*body.act_as, *body.read_as})
    place = _place(body.synchronizer_id, commands, sim.world, sim.main)
    batch.tx = Transaction(sim, update_id=update_id, synchronizer_id=place, effective=now, effects=batch)
    batch.tx.workflow_id = body.workflow_id or ""
    for command in commands:
        batch.carry_out(command)
    # Rendered before anything is applied: whatever fails up to here leaves the ledger unchanged.
    update = batch.tx.update(migration_id=sim.migration_id, record_time=now, external_hash=None)
    for contract in batch.created.values():
        sim.world.create(contract)
    for contract in batch.ended.values():
        sim.world.archive(contract)
    # A snapshot at once, so that the effect of a command on holdings can be looked up.
    sim.world.after_commands.append(now)
    return [update]


@dataclass(slots=True)
class _Batch:
    """A batch being carried out; the world sees its contracts only if all of it succeeds.

    Attributes:
        authority: the parties that agree.
        readers: the parties whose contracts the batch sees.
        created: new contracts by id, including those that the batch archives again.
        ended: archived contracts by id.
    """

    sim: Simulation
    authority: frozenset[str]
    readers: set[str]
    tx: Transaction = field(init=False)
    created: dict[str, Contract] = field(default_factory=dict)
    ended: dict[str, Contract] = field(default_factory=dict)

    def create(self, contract: Contract) -> None:
        """Add a new contract."""
        # The simulated activities leave it alone, so that it is still there for the next command.
        contract.commanded = True
        self.created[contract.contract_id] = contract

    def archive(self, contract: Contract) -> None:
        """Archive a contract of the world or of this batch."""
        self.ended[contract.contract_id] = contract

    def carry_out(self, command: Command) -> None:
        template = _template(self.sim, command.template_id)
        if isinstance(command, ExerciseCommand):
            contract = self._fetch(command.contract_id, template)
        else:
            contract = self._create(template, command)
        if not isinstance(command, CreateCommand):
            self._exercise(contract, command.choice, command.choice_argument)

    def _create(self, template: Template, command: CreateCommand | CreateAndExerciseCommand) -> Contract:
        if template is not IOU:
            raise errors.not_authorized(f"The creation of a {template.entity}", [self.sim.parties.dso])
        iou, reference = read_iou(command.create_arguments), command.template_id
        self._check_authority(f"The creation of a {template.entity}", [iou.issuer])
        # A reference by package name means the newest version, one by hash that version.
        exact = "" if reference.startswith("#") else reference
        return create_iou(self.tx, write_record(iou), template_id=exact)

    def _exercise(self, contract: Contract, name: str, argument: Any) -> None:
        choice, place = choice_of(contract.template, name), f"{contract.template.entity} {name}"
        read = read_record(argument, choice.argument, place=place)
        controllers = tuple(dict.fromkeys(choice.controllers(contract, read)))
        self._check_authority(f"The exercise of {place}", controllers)
        written = write_record(read)
        event = self.tx.exercise(contract, name, written, acting=controllers, consuming=choice.consuming)
        event["exercise_result"] = choice.run(Exercise(self.tx, contract, read, event, self._fetch))

    def _fetch(self, contract_id: str, template: Template) -> Contract:
        """A contract to work with.

        Raises:
            LedgerError: it is unknown, hidden, archived, of another template, in flight or on another synchronizer.
        """
        contract = self.created.get(contract_id) or self.sim.world.contracts.active.get(contract_id)
        origin = contract or self.sim.world.contracts.origins.get(contract_id)
        # Not found, rather than not allowed: a caller must not learn of contracts that are not visible to it.
        if origin is None or not (
            contract_id in self.created
            or origin.template in _PUBLIC
            or not self.readers.isdisjoint((*origin.signatories, *origin.observers))
        ):
            raise errors.no_contract(contract_id)
        if contract is None or contract_id in self.ended:
            raise errors.ended(contract_id)
        if contract.template is not template:
            cause = f"Contract {contract_id} is a {contract.template.entity}, not a {template.entity}"
            about = ("CONTRACT_ID", contract_id)
            raise LedgerError("WRONGLY_TYPED_CONTRACT", cause, kind=errors.STATE, resource=about)
        check_place(self.sim, contract, self.tx.synchronizer_id)
        return contract

    def _check_authority(self, what: str, needed: Iterable[str]) -> None:
        missing = [party for party in needed if party not in self.authority]
        if missing:
            raise errors.not_authorized(what, missing)


def check_place(sim: Simulation, contract: Contract, synchronizer_id: str) -> None:
    """Check that a contract is on a synchronizer.

    Raises:
        LedgerError: it is in flight, or on another one.
    """
    at, about = contract.synchronizer_id, ("CONTRACT_ID", contract.contract_id)
    if at is None or contract.contract_id in sim.world.contracts.early_arrivals:
        cause = f"Contract {contract.contract_id} is being reassigned; complete the reassignment first"
        kind = errors.CONTENTION
        raise LedgerError("CONTRACT_BEING_REASSIGNED", cause, kind=kind, resource=about, retry=errors.SOON)
    if at != synchronizer_id:
        cause = (
            f"Contract {contract.contract_id} is assigned to {at}, not to {synchronizer_id}; reassign it, or name {at}"
        )
        raise LedgerError("INVALID_PRESCRIBED_SYNCHRONIZER_ID", cause, kind=errors.STATE, resource=about)


def _template(sim: Simulation, reference: str) -> Template:
    if not REFERENCE.fullmatch(reference):
        raise invalid(f"templateId {reference!r} is not a package reference, module and entity")
    template = sim.packages.named(reference)
    if template is None:
        cause, about = f"Templates or interfaces do not exist: {reference!r}", ("TEMPLATE_ID", reference)
        raise LedgerError("TEMPLATES_OR_INTERFACES_NOT_FOUND", cause, kind=errors.MISSING, resource=about)
    return template


def _place(named: str | None, commands: list[Command], world: World, main: str) -> str:
    """Where a batch runs: on the synchronizer it names, else on that of its first contract, else on the main one."""
    if named:
        if named not in world.synchronizers:
            raise errors.unknown_synchronizer(named)
        return named
    used = (world.contracts.active.get(one.contract_id) for one in commands if isinstance(one, ExerciseCommand))
    return next((one.synchronizer_id for one in used if one is not None and one.synchronizer_id is not None), main)


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
        _move(leg, sim.world.contracts)
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
    if reassignment_id in world.contracts.assigned:
        cause = f"The reassignment {reassignment_id!r} has already been completed"
        raise LedgerError("REASSIGNMENT_ALREADY_COMPLETED", cause, kind=errors.EXISTS, resource=about)
    leg = world.contracts.open.get(reassignment_id)
    if leg is None or submitter not in (*leg.contract.signatories, *leg.contract.observers):
        cause = f"No reassignment with the id {reassignment_id!r} is known to the submitter"
        raise LedgerError("REASSIGNMENT_NOT_FOUND", cause, kind=errors.MISSING, resource=about)
    if (leg.source, leg.target) != (command.source, command.target):
        route = f"from {leg.source} to {leg.target}; name these as source and target"
        cause = f"The reassignment {reassignment_id!r} goes {route}"
        raise LedgerError("REASSIGNMENT_MISMATCH", cause, kind=errors.STATE, resource=about)
    return leg._replace(assigning=True, submitter=submitter)


def _move(leg: Leg, contracts: Contracts) -> None:
    if leg.assigning:
        contracts.arrive(leg)
        contracts.release(leg.contract)
    else:
        contracts.depart(leg)


def _update(leg: Leg, sim: Simulation, at: int) -> Update:
    update_id = fingerprint(sim.rng)
    return sim.world.leg(leg, update_id=update_id, migration_id=sim.migration_id, record_time=at)

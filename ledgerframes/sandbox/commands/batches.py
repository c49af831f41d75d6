"""Carries out a batch of commands as one transaction, all or none; the command routes call `write_batch`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from ledgerframes.sandbox.commands import errors
from ledgerframes.sandbox.commands.bodies import (
    Command,
    CreateAndExerciseCommand,
    CreateCommand,
    DisclosedContract,
    ExerciseByKeyCommand,
    ExerciseCommand,
)
from ledgerframes.sandbox.commands.choices import Exercise, choice_of, create_iou, read_iou
from ledgerframes.sandbox.commands.errors import invalid
from ledgerframes.sandbox.commands.event_filters import REFERENCE
from ledgerframes.sandbox.commands.values import read_record, write_record
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract, Origin, Template, blob
from ledgerframes.sandbox.world.parties import fingerprint
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import COIN_RULES, IOU, NAME_RULES, OPEN_ROUND, PREAPPROVAL, TRANSFER_FACTORY
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.transaction import Transaction
from ledgerframes.sandbox.world.world import Update, World

# Any party may use these: scan returns them to everybody.
_PUBLIC: Final = frozenset({COIN_RULES, NAME_RULES, OPEN_ROUND, PREAPPROVAL, TRANSFER_FACTORY})

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
    update_id, pending = fingerprint(sim.rng), _Pending()
    place = _place(batch, sim.world, sim.main)
    tx = Transaction(sim, update_id=update_id, synchronizer_id=place, effective=_effective(batch, now), effects=pending)
    tx.workflow_id = batch.workflow_id
    context = _Context(sim, tx, pending, batch.act_as, batch.act_as | batch.read_as, _disclosed(batch.disclosed))
    for command in batch.commands:
        context.carry_out(command)
    # Rendered before anything is applied: whatever fails up to here leaves the ledger unchanged.
    update = tx.update(migration_id=sim.migration_id, record_time=now, external_hash=None)
    pending.apply(sim.world, (sim.migration_id, now))
    # A snapshot at once, so that the effect of a command on holdings can be looked up.
    sim.world.after_commands.append(now)
    return [update]


@dataclass(slots=True)
class _Pending:
    """Contracts that a batch creates and archives, in order; the world sees them only if the whole batch succeeds.

    Attributes:
        created: new contracts by id, including those that the batch archives again.
        ended: ids of archived contracts.
    """

    created: dict[str, Contract] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    _steps: list[tuple[bool, Contract]] = field(default_factory=list)

    def create(self, contract: Contract) -> None:
        """Add a new contract."""
        # The simulated activities leave it alone, so that it is still there for the next command.
        contract.commanded = True
        self.created[contract.contract_id] = contract
        self._steps.append((True, contract))

    def archive(self, contract: Contract) -> None:
        """Archive a contract of the world or of this batch."""
        self.ended.add(contract.contract_id)
        self._steps.append((False, contract))

    def apply(self, world: World, at: Cursor) -> None:
        """Apply the changes to the world at that migration id and record time."""
        for creates, contract in self._steps:
            if creates:
                world.create(contract, at)
            else:
                world.archive(contract, at)


@dataclass(frozen=True, slots=True)
class _Context:
    """A batch being carried out on pending changes.

    Attributes:
        authority: the parties that agree.
        readers: the parties whose contracts the batch sees.
        disclosed: ids of contracts it sees besides.
    """

    sim: Simulation
    tx: Transaction
    pending: _Pending
    authority: frozenset[str]
    readers: frozenset[str]
    disclosed: frozenset[str]

    def carry_out(self, command: Command) -> None:
        template = _template(self.sim, command.template_id)
        if isinstance(command, CreateCommand):
            self._create(template, command)
            return
        if isinstance(command, CreateAndExerciseCommand):
            contract = self._create(template, command)
        elif isinstance(command, ExerciseByKeyCommand):
            raise errors.wrong_values(f"{template.entity} has no keys such as {command.contract_key!r}")
        else:
            contract = self._fetch(command.contract_id, template)
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
        contract = self.pending.created.get(contract_id) or self.sim.world.contracts.active.get(contract_id)
        origin = contract or self.sim.world.contracts.origins.get(contract_id)
        # Not found, rather than not allowed: a caller must not learn of contracts that are not visible to it.
        if origin is None or not self._sees(contract_id, origin):
            raise errors.no_contract(contract_id)
        if contract is None or contract_id in self.pending.ended:
            raise errors.ended(contract_id)
        if contract.template is not template:
            raise errors.wrong_template(contract_id, is_a=contract.template.entity, wanted=template.entity)
        check_place(self.sim, contract, self.tx.synchronizer_id)
        return contract

    def _sees(self, contract_id: str, origin: Contract | Origin) -> bool:
        """Whether the batch may use a contract."""
        if contract_id in self.pending.created or contract_id in self.disclosed or origin.template in _PUBLIC:
            return True
        return not self.readers.isdisjoint((*origin.signatories, *origin.observers))

    def _check_authority(self, what: str, needed: Iterable[str]) -> None:
        missing = [party for party in needed if party not in self.authority]
        if missing:
            raise errors.not_authorized(what, missing)


def check_place(sim: Simulation, contract: Contract, synchronizer_id: str) -> None:
    """Check that a contract is on a synchronizer.

    Raises:
        LedgerError: it is in flight, or on another one.
    """
    if contract.synchronizer_id is None or contract.contract_id in sim.world.reassignments.early_arrivals:
        raise errors.in_flight(contract.contract_id)
    if contract.synchronizer_id != synchronizer_id:
        raise errors.elsewhere(contract.contract_id, at=contract.synchronizer_id, wanted=synchronizer_id)


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

"""How a batch of commands creates and exercises contracts under the ledger's rules; batches and models call it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ledgerframes.sandbox.commands import errors
from ledgerframes.sandbox.commands.pending_changes import PendingChanges
from ledgerframes.sandbox.commands.values import Nothing, Record, read_record, write_record
from ledgerframes.sandbox.world.contracts import Contract, Origin, Template
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import COIN_RULES, NAME_RULES, OPEN_ROUND, PREAPPROVAL, TRANSFER_FACTORY
from ledgerframes.sandbox.world.transaction import Event, Transaction

ARCHIVE: Final = "Archive"

# Any party may use these: scan returns them to everybody.
_PUBLIC: Final = frozenset({COIN_RULES, NAME_RULES, OPEN_ROUND, PREAPPROVAL, TRANSFER_FACTORY})

Payload = dict[str, Any]
Parties = Iterable[str]


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of a template.

    Attributes:
        argument: the record it takes.
        controllers: who must agree, by the contract and the argument.
        run: carries out the consequences; returns the exercise's result.
        consuming: the exercise archives the contract.
    """

    name: str
    argument: type[Record]
    controllers: Callable[[Contract, Any], Parties]
    run: Callable[[ChoiceContext], Any]
    consuming: bool = True


@dataclass(frozen=True, slots=True)
class Model:
    """A template as commands meet it.

    Attributes:
        signatories: who signs, by the payload.
        observers: who else sees it, by the payload.
        payload: the record a contract is created from; None where only choices create it.
        check: checks that record.
        owner: the party that can use it, by the payload.
    """

    template: Template
    signatories: Callable[[Payload], Parties]
    observers: Callable[[Payload], Parties] = lambda _: ()
    payload: type[Record] | None = None
    check: Callable[[Any], None] = lambda _: None
    owner: Callable[[Payload], str] = lambda _: ""
    choices: tuple[Choice, ...] = ()

    def choice(self, name: str) -> Choice:
        """The choice of that name.

        Raises:
            LedgerError: the template has none.
        """
        known = {choice.name: choice for choice in (*self.choices, _ARCHIVING)}
        if name not in known:
            raise errors.wrong_values(f"{self.template.entity} has no choice {name!r}; it has {sorted(known)}")
        return known[name]


@dataclass(frozen=True, slots=True)
class CommandContext:
    """One batch being carried out on pending changes.

    Attributes:
        readers: the parties whose contracts the batch sees.
        disclosed: ids of contracts it sees besides.
        now: the record time, in microseconds.
    """

    sim: Simulation
    models: Mapping[str, Model]
    tx: Transaction
    pending: PendingChanges
    readers: frozenset[str]
    disclosed: frozenset[str]
    now: int

    def create(
        self,
        template: Template,
        payload: Payload,
        *,
        authority: frozenset[str],
        under: Event | None = None,
        template_id: str = "",
    ) -> Contract:
        """Create a contract.

        Raises:
            LedgerError: a signatory did not agree.
        """
        model = self.models[template.entity]
        signatories, observers = _distinct(model.signatories(payload)), _distinct(model.observers(payload))
        _check_authority(f"The creation of a {template.entity}", signatories, authority)
        return self.tx.create(
            template,
            payload,
            signatories=signatories,
            observers=tuple(party for party in observers if party not in signatories),
            owner=model.owner(payload),
            under=under,
            template_id=template_id,
        )

    def exercise(
        self, contract: Contract, name: str, argument: Any, *, authority: frozenset[str], under: Event | None = None
    ) -> Any:
        """Exercise a choice of a contract that `fetch` or `create` gave.

        Args:
            contract: the contract.
            name: of the choice.
            argument: a record, or its JSON.
            authority: the parties that agree.
            under: the exercise it follows from.

        Raises:
            LedgerError: the choice, its argument, or a controller's consent is missing, or what follows is refused.
        """
        choice = self.models[contract.template.entity].choice(name)
        place = f"{contract.template.entity} {name}"
        read = argument if isinstance(argument, Record) else read_record(argument, choice.argument, place=place)
        controllers = _distinct(choice.controllers(contract, read))
        _check_authority(f"The exercise of {place}", controllers, authority)
        written = write_record(read)
        event = self.tx.exercise(contract, name, written, acting=controllers, consuming=choice.consuming, under=under)
        result = choice.run(
            # A choice's body acts with the authority of its controllers and of the contract's signatories.
            ChoiceContext(self, contract, read, event, frozenset((*controllers, *contract.signatories)))
        )
        event["exercise_result"] = result
        return result

    def fetch(self, contract_id: str, template: Template | None = None) -> Contract:
        """A contract to work with.

        Raises:
            LedgerError: it is unknown, hidden, archived, of another template, in flight or on another synchronizer.
        """
        contract = self.pending.created.get(contract_id) or self.sim.world.contracts.active.get(contract_id)
        origin = contract or self.sim.world.contracts.origins.get(contract_id)
        # Not found, rather than not allowed: a caller must not learn of contracts that are not visible to it.
        if origin is None or not self.sees(contract_id, origin):
            raise errors.no_contract(contract_id)
        if contract is None or contract_id in self.pending.ended:
            raise errors.ended(contract_id)
        if template is not None and contract.template != template:
            raise errors.wrong_template(contract_id, is_a=contract.template.entity, wanted=template.entity)
        check_place(self.sim, contract, self.tx.synchronizer_id)
        return contract

    def sees(self, contract_id: str, origin: Contract | Origin) -> bool:
        """Whether the batch may use a contract."""
        if contract_id in self.pending.created or contract_id in self.disclosed or origin.template in _PUBLIC:
            return True
        return not self.readers.isdisjoint((*origin.signatories, *origin.observers))


@dataclass(frozen=True, slots=True)
class ChoiceContext:
    """A choice being carried out: its contract and argument, and actions with its parties' authority."""

    commands: CommandContext
    contract: Contract
    argument: Any
    event: Event
    authority: frozenset[str]

    @property
    def payload(self) -> Payload:
        """The contract's payload."""
        return self.contract.payload

    @property
    def sim(self) -> Simulation:
        """The simulated ledger."""
        return self.commands.sim

    def create(self, template: Template, payload: Payload) -> str:
        """Create a contract; its id."""
        return self.commands.create(template, payload, authority=self.authority, under=self.event).contract_id

    def exercise(self, contract: Contract, name: str, argument: Record) -> Any:
        """Exercise a choice; its result."""
        return self.commands.exercise(contract, name, argument, authority=self.authority, under=self.event)

    def archive(self, contract: Contract) -> None:
        """End a contract."""
        self.exercise(contract, ARCHIVE, Nothing())


def check_place(sim: Simulation, contract: Contract, synchronizer_id: str) -> None:
    """Check that a contract is on a synchronizer.

    Raises:
        LedgerError: it is in flight, or on another one.
    """
    if contract.synchronizer_id is None or contract.contract_id in sim.world.reassignments.early_arrivals:
        raise errors.in_flight(contract.contract_id)
    if contract.synchronizer_id != synchronizer_id:
        raise errors.elsewhere(contract.contract_id, at=contract.synchronizer_id, wanted=synchronizer_id)


def _check_authority(what: str, needed: Parties, authority: frozenset[str]) -> None:
    missing = [party for party in needed if party not in authority]
    if missing:
        raise errors.not_authorized(what, missing)


def _distinct(parties: Parties) -> tuple[str, ...]:
    return tuple(dict.fromkeys(parties))


_ARCHIVING: Final = Choice(ARCHIVE, Nothing, lambda contract, _: contract.signatories, lambda _: {})

"""The state of one simulated ledger: its update history in server order and its contracts; every interface reads it."""

from __future__ import annotations

import json
import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ledgerframes.sandbox.world.amounts import units
from ledgerframes.sandbox.world.contracts import Contract, Contracts, Leg, render_leg
from ledgerframes.sandbox.world.parties import User
from ledgerframes.sandbox.world.templates import COIN, LICENSE, LOCKED_COIN, OPEN_ROUND
from ledgerframes.sandbox.world.timestamps import Cursor

if TYPE_CHECKING:
    from ledgerframes.sandbox.world.archives import Package
    from ledgerframes.sandbox.world.simulation import Simulation

# A coin that holding fees use up within this many rounds counts as dust.
_SOON: Final = 24


@dataclass(slots=True)
class CoinSupply:
    """The coins there are, locked ones and those in flight included; transactions write it.

    Attributes:
        units: the current value of all coins, in ten-billionths.
        dust: the small coins by contract id, each with the round from which on it can be expired.
        living: the value of each coin by its contract id.
    """

    units: int = 0
    dust: dict[str, int] = field(default_factory=dict)
    living: dict[str, int] = field(default_factory=dict)

    def create(self, contract: Contract) -> None:
        """Enter a new contract, if it is coin."""
        if contract.template not in (COIN, LOCKED_COIN):
            return
        payload = contract.payload["amulet"] if contract.template is LOCKED_COIN else contract.payload
        terms = payload["amount"]
        worth = self.living[contract.contract_id] = units(terms["initialAmount"])
        self.units += worth
        lasts = -(-worth // units(terms["ratePerRound"]["rate"]))
        if lasts <= _SOON:
            self.dust[contract.contract_id] = int(terms["createdAt"]["number"]) + lasts

    def end(self, contract_id: str) -> None:
        """Note the end of a coin by its contract's id; another contract's is ignored."""
        self.units -= self.living.pop(contract_id, 0)
        self.dust.pop(contract_id, None)


# Three hours, as on real networks.
SNAPSHOT_PERIOD: Final = 3 * 3_600_000_000


class Update(NamedTuple):
    """One item of the history; its first three members are the server's order.

    Attributes:
        record_time: microseconds since 1970.
        synchronizer_id: where it was sequenced: for an assignment the target, for an unassignment the source.
        external_hash: the hash an external party signed, if any.
        rendered: the item as JSON, in the form of a page of `POST /v2/updates`.
        scanned: the part that the scan shows, if that is less; empty for nothing at all.
    """

    migration_id: int
    record_time: int
    update_id: str
    synchronizer_id: str
    external_hash: str | None
    rendered: bytes
    scanned: bytes | None = None


class ChangeId(NamedTuple):
    """The identity of an intended change (contract: Resources, ReassignmentCommands)."""

    user_id: str
    submitters: frozenset[str]
    command_id: str


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


class World:
    """A ledger's history and state, safe to read while it grows.

    Args:
        synchronizers: their ids, the main one first and the slowest last.
        grow: adds a number of updates to this world; `advance` calls it.

    Attributes:
        updates: the history that the scan shows, in the order (migration id, record time, update id).
        ledger_updates: all updates, including private ones, which participants of their parties see.
        scan_party: the scan shows what this party is a stakeholder of or takes part in; empty: it shows everything.
        contracts: the active ones.
        license_rows: stored validator licenses as (row number, contract id), ascending; ended ones stay.
        coins: how much coin there is.
        rules: the contracts that exist only once, by template entity.
        accounts: the users of the participant, by id.
        instruments: those in the coin's registry besides the coin, by id, as it sends them.
        packages: the packages that were uploaded, by id, oldest first.
        snapshot_period: microseconds between two snapshots of the contracts.
        earliest_round: the first round with complete reward records, if there is one yet.
        submissions: the newest of each change that a command has carried out; `submitted` has them by update id.
        after_commands: record times of the newest migration at which a snapshot was taken after a command, ascending.
        simulation: the state that commands work with; None if the ledger accepts none.
        made: the arguments that it was created from; empty if it was assembled differently.
        later_changes: the later changes of its history: a number of updates to add, or a command: kind, user and body.
    """

    def __init__(self, *, synchronizers: Sequence[str], grow: Callable[[int], None], scan_party: str = "") -> None:
        self.synchronizers = tuple(synchronizers)
        self.scan_party = scan_party
        self.updates: list[Update] = []
        self.ledger_updates: list[Update] = [] if scan_party else self.updates
        self.contracts = Contracts()
        self.coins = CoinSupply()
        self.rules: dict[str, Contract] = {}
        self.accounts: dict[str, User] = {}
        self.instruments: dict[str, dict[str, Any]] = {}
        self.packages: dict[str, Package] = {}
        self.snapshot_period = SNAPSHOT_PERIOD
        self.license_rows: list[tuple[int, str]] = []
        self.earliest_round: int | None = None
        self.submissions: dict[ChangeId, Submission] = {}
        self.submitted: dict[str, Submission] = {}
        self.after_commands: list[int] = []
        self.simulation: Simulation | None = None
        self.made: dict[str, Any] = {}
        self.later_changes: list[int | tuple[str, str, str]] = []
        # Reentrant, because growing the ledger records updates, which takes the lock again.
        self.lock = threading.RLock()
        self._grow = grow
        self._by_id: dict[str, Update] = {}
        self._by_hash: dict[str, Update] = {}
        self._offsets: dict[str, int] = {}

    @property
    def now(self) -> int:
        """The ledger's own clock: its newest record time in microseconds, 0 before its first update."""
        return self.ledger_updates[-1].record_time if self.ledger_updates else 0

    @property
    def rounds(self) -> list[Contract]:
        """The open mining rounds, the earliest first."""
        return self.contracts.of(OPEN_ROUND)

    def create(self, contract: Contract) -> None:
        """Take in a new contract."""
        self.contracts.create(contract)
        self.coins.create(contract)
        if contract.template is LICENSE:
            # Not quite in the order of creation: "newest first" of real servers is not by `created_at` either.
            insort(self.license_rows, (contract.row, contract.contract_id))

    def archive(self, contract: Contract) -> None:
        """End a contract."""
        self.contracts.archive(contract)
        self.coins.end(contract.contract_id)

    def leg(self, leg: Leg, *, update_id: str, migration_id: int, record_time: int) -> Update:
        """The update of a leg of a reassignment; the scan's party sees it for its own contracts."""
        rendered = render_leg(leg, update_id=update_id, migration_id=migration_id, record_time=record_time)
        shown = not self.scan_party or self.scan_party in (*leg.contract.signatories, *leg.contract.observers)
        scanned = None if shown else b""
        return Update(migration_id, record_time, update_id, leg.synchronizer_id, None, rendered, scanned)

    def record(self, updates: Iterable[Update]) -> int:
        """Add updates to the history, each at its place in the server's order; return how many the scan shows."""
        with self.lock:
            before = len(self.updates)
            for update in updates:
                _insert(self.ledger_updates, update)
                if self.scan_party and update.scanned != b"":
                    _insert(self.updates, _as_scanned(update))
                self._by_id[update.update_id] = update
                self._offsets[update.update_id] = len(self._offsets) + 1
                if update.external_hash:
                    self._by_hash[update.external_hash] = update
            return len(self.updates) - before

    def advance(self, updates: int) -> None:
        """Add a number of updates, all in the newest migration."""
        with self.lock:
            self._grow(updates)
            self.later_changes.append(updates)

    def update(self, update_id: str) -> Update | None:
        """The update with that id, if the ledger has it."""
        return self._by_id.get(update_id)

    def scanned(self, update_id: str) -> Update | None:
        """The update with that id as the scan shows it, if it does."""
        update = self._by_id.get(update_id)
        return None if update is None or update.scanned == b"" else _as_scanned(update)

    def scanned_by_hash(self, external_hash: str) -> Update | None:
        """The update whose prepared transaction has that hash as the scan shows it, if it does."""
        update = self._by_hash.get(external_hash)
        return None if update is None else self.scanned(update.update_id)

    def offset(self, update_id: str) -> int:
        """The number under which the participant recorded an update, from 1."""
        return self._offsets[update_id]

    @property
    def last_offset(self) -> int:
        """The offset of the update that the participant recorded last; 0 before the first."""
        return len(self._offsets)

    def recorded(self, after: int, last: int) -> list[str]:
        """The ids of the updates after an offset and up to another one, in the order in which they were recorded."""
        return list(islice(self._offsets, after, last))

    def span(self, migration_id: int) -> tuple[int, int] | None:
        """The first and last record time of a migration in microseconds, if it has updates."""
        start, end = (bisect_left(self.updates, (migration_id + n,)) for n in (0, 1))
        return (self.updates[start].record_time, self.updates[end - 1].record_time) if start < end else None

    def position(self, after: Cursor | None, *, private: bool = False) -> int:
        """Where the updates strictly after (migration id, record time in microseconds) begin; None: at the first.

        With `private` in all of the ledger's updates, else in those that the scan shows.
        """
        if after is None:
            return 0
        # Strictly after a time, so ties that a page has cut are skipped: real servers do the same.
        return bisect_left(self.ledger_updates if private else self.updates, (after[0], after[1] + 1))

    def items(self, *, private: bool = False) -> Iterator[dict[str, Any]]:
        """The scan's items as in a page of `POST /v2/updates`, in order; fractions as Decimal.

        With `private` all of the ledger's, whole, in the same form.
        """
        for update in self.ledger_updates if private else self.updates:
            yield json.loads(update.rendered, parse_float=Decimal)


def _insert(history: list[Update], update: Update) -> None:
    # A slower synchronizer's update may be recorded before one that is already there.
    if history and update < history[-1]:
        insort(history, update)
    else:
        history.append(update)


def _as_scanned(update: Update) -> Update:
    return update if update.scanned is None else Update(*update[:5], update.scanned)

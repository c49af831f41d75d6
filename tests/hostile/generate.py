"""A ledger of the nastiest legal data: `generate_hostile` is called by the server and the tests of decoding."""

import string
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import msgspec

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import OFFSET, Contract
from ledgerframes.sandbox.world.parties import ADMIN, OPERATOR, Right, User, fingerprint
from ledgerframes.sandbox.world.templates import LICENSE, NAME_RULES
from ledgerframes.sandbox.world.world import Update, World
from tests.hostile import values
from tests.hostile.instruments import invent_instruments
from tests.hostile.json_variants import SPELLINGS
from tests.hostile.trees import created_event, tree

# The limits of 64 bits, and the first whole number that a float cannot hold.
MIGRATIONS: Final = (-(2**63), -1, 0, 1, 2**31, 2**53 + 1, 2**63 - 1)
SYNCHRONIZERS: Final = tuple(f"{name}::1220{'ab' * 32}" for name in ("global-domain", "s y-n_c", "a", "b", "c"))

# (rhythm, first position, shape): a special shape comes early in every world, then at its rhythm.
_SPECIALS: Final = ((250, 3, "deep"), (1_000, 5, "wide"), (100, 7, "nested"), (500, 9, "long"), (40, 11, "empty"))
# Every so many updates, one of the usual economy.
_ECONOMY: Final = 5


def generate_hostile(seed: int, updates: int) -> World:
    """Make up a history of nothing but legal extremes; the same arguments give the same bytes.

    Its scan shows all of it: in the view of one stakeholder most of these trees and payloads would be missing. Its
    usual economy is as the DSO sees it. What the bytes mean is `world.items()`.
    """
    generator = _HostileGenerator(seed, updates)
    for position, migration_id in enumerate(MIGRATIONS):
        share = updates // len(MIGRATIONS) + (position < updates % len(MIGRATIONS))
        generator.migrate(migration_id, share, last=position == len(MIGRATIONS) - 1)
    return generator.world


class _HostileGenerator:
    def __init__(self, seed: int, updates: int) -> None:
        self.rng = Random(f"hostile/{seed}")
        self.world = World(synchronizers=SYNCHRONIZERS, grow=self.grow)
        self.world.earliest_round = 2**63 - 1
        self.world.snapshot_period = (timestamps.LAST - timestamps.FIRST) // 100
        self.world.accounts = invent_hostile_accounts()
        self.world.instruments = invent_instruments()
        self.migration_id = MIGRATIONS[0]
        self.now = timestamps.FIRST
        self.tied = 0
        self.written = 0
        self.economy = _usual_economy(seed, updates // _ECONOMY)
        self._contracts()

    def migrate(self, migration_id: int, updates: int, *, last: bool) -> None:
        """Begin a migration at the first instant there is; but for the last one, end it at the last instant."""
        self.migration_id, self.now, self.tied = migration_id, timestamps.FIRST, 0
        self.grow(updates if last else updates - 1)
        if updates and not last:
            self.now, self.tied = timestamps.LAST, 0
            self.world.record([self._update()])

    def grow(self, updates: int) -> None:
        """Write a number of updates, some with equal record times, and leave room for more."""
        for left in range(updates, 0, -1):
            self.world.record([self._update()])
            # Ties of as many updates as there are synchronizers: within one, record times increase strictly.
            if self.rng.random() < 0.12 and self.tied < len(SYNCHRONIZERS) - 1:
                self.tied += 1
            else:
                room = max(2, (timestamps.LAST - 1 - self.now) // (2 * left))
                self.now += 1 if self.rng.random() < 0.2 else self.rng.randrange(1, room)
                self.tied = 0

    def _update(self) -> Update:
        rng = self.rng
        update_id = fingerprint(rng)
        if rng.random() < 0.1:
            # Legal characters that have to be percent-encoded in a path.
            update_id = f"{update_id[:40]}/a b#c:_-{rng.getrandbits(64):x}"
        synchronizer_id = SYNCHRONIZERS[self.written % len(SYNCHRONIZERS)]
        shape = next((name for every, first, name in _SPECIALS if self.written % every == first), "")
        self.written += 1
        # Of the economy, two of one record time could change places in the order.
        if not shape and self.tied == 0 and self.written % _ECONOMY == 0 and self.now < timestamps.LAST:
            place = {"migration_id": self.migration_id, "record_time": timestamps.exact(self.now)}
            item = next(self.economy) | place | {"synchronizer_id": synchronizer_id, **values.unknown(rng)}
        elif not shape and rng.random() < 0.25:
            item = self._reassignment(update_id, synchronizer_id)
        else:
            item = self._transaction(update_id, synchronizer_id, shape)
        members = list(item.items())
        if rng.random() < 0.3:
            # The order of members in a JSON object means nothing, so a decoder must not rely on it.
            rng.shuffle(members)
        rendered, signed = rng.choice(SPELLINGS).write(dict(members)).encode(), item.get("external_transaction_hash")
        return Update(self.migration_id, self.now, item["update_id"], synchronizer_id, signed or None, rendered)

    def _transaction(self, update_id: str, synchronizer_id: str, shape: str) -> dict[str, Any]:
        rng = self.rng
        roots, events = tree(rng, update_id, shape)
        item: dict[str, Any] = {
            "update_id": update_id,
            "migration_id": self.migration_id,
            "workflow_id": values.text(rng),
            "record_time": timestamps.exact(self.now),
            "synchronizer_id": synchronizer_id,
            "effective_at": values.time(rng),
            "root_event_ids": roots,
            "events_by_id": events,
            **values.unknown(rng),
        }
        signed = rng.choice(("absent", "absent", None, f"{rng.getrandbits(256):064x}"))
        return item if signed == "absent" else {**item, "external_transaction_hash": signed}

    def _reassignment(self, update_id: str, synchronizer_id: str) -> dict[str, Any]:
        rng = self.rng
        assigning, other = rng.random() < 0.5, rng.choice(SYNCHRONIZERS)
        event: dict[str, Any] = {
            "submitter": values.text(rng),
            "source_synchronizer": other if assigning else synchronizer_id,
            "target_synchronizer": synchronizer_id if assigning else other,
            "migration_id": self.migration_id,
            "unassign_id": values.text(rng),
            "reassignment_counter": values.integer(rng),
            **values.unknown(rng),
        }
        contract_id = values.text(rng)
        event |= {"created_event": created_event(rng, contract_id)} if assigning else {"contract_id": contract_id}
        at = {"offset": OFFSET, "record_time": timestamps.exact(self.now)}
        return {"update_id": update_id, **at, "event": event, **values.unknown(rng)}

    def _contracts(self) -> None:
        """A few contracts for the calls that are no history."""
        rng = self.rng
        for position in range(6):
            template = LICENSE if position else NAME_RULES
            odd = {"dso": "", "validator": values.text(rng), "config": {"a/b": None, "": []}, "faucetState": None}
            event: dict[str, Any] = {
                "contract_id": f"{position}{values.text(rng)}", "template_id": f"{'0f' * 32}:{template.entity}",
                "payload": odd, "created_at": values.time(rng), "signatories": (), "observers": (),
            }  # fmt: skip
            contract = Contract(**event, template=template, owner="", row=position, synchronizer_id=SYNCHRONIZERS[0])
            self.world.contracts.create(contract)
            if position:
                self.world.license_rows.append((2**63 - 8 + position, contract.contract_id))
            else:
                self.world.rules[NAME_RULES.entity] = contract


def _usual_economy(seed: int, updates: int) -> Iterator[dict[str, Any]]:
    """The transactions of a plausible ledger, one after the other, without end."""
    world, taken = generate(seed, updates, synchronizers=1, migrations=1), 0
    while True:
        if taken == len(world.updates):
            world.advance(20)
        item: dict[str, Any] = msgspec.json.decode(world.updates[taken].rendered)
        taken += 1
        if "events_by_id" in item:
            yield item


def invent_hostile_accounts() -> dict[str, User]:
    """The users of a hostile ledger: the managers, one whose id has every legal character, one whose party is odd."""
    characters, alice = "@^$.!`-#+'~_|:()" + string.ascii_letters + string.digits, "alice::1220ab"
    users = (
        User(ADMIN, rights=frozenset({Right("ParticipantAdmin")})),
        User(OPERATOR, rights=frozenset({Right("ParticipantAdmin"), Right("CanReadAsAnyParty")})),
        User(characters.ljust(128, "|"), annotations={"x" * 63: "\U0001f4dc" * 1_000, "a.b/c": '"\\\n'}),
        User("alice", primary_party=alice, rights=frozenset({Right("CanActAs", alice)})),
    )
    return {user.id: user for user in users}

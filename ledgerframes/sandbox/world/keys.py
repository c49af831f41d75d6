"""Contract keys: the one template that has them, and which contracts a key names; the world keeps it, commands ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import msgspec

from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import OFFER

Key = tuple[str, str]


def has_key(entity: str) -> bool:
    """Whether contracts of a template have keys."""
    return entity == OFFER.entity


def key_of(entity: str, payload: Mapping[str, Any]) -> Key | None:
    """The key of a contract: a transfer offer's sender and tracking id; other templates have none."""
    return (payload["sender"], payload["trackingId"]) if has_key(entity) else None


def key_record(key: Key) -> dict[str, str]:
    """A key as the ledger interface sends it: a pair."""
    return {"_1": key[0], "_2": key[1]}


def read_key(value: Any) -> Key | None:
    """A key as commands send it: a pair, or a record of its members; None if it is neither."""
    # A tuple key comes as a record with numbered members; callers may also name its fields.
    names = (("_1", "_2"), ("sender", "trackingId"))
    members = next((pair for pair in names if isinstance(value, dict) and value.keys() == set(pair)), None)
    return None if members is None else (str(value[members[0]]), str(value[members[1]]))


def key_hash(key: Key) -> str:
    """An opaque hash of a key."""
    return blake2b(msgspec.json.encode(key), digest_size=32).hexdigest()


@dataclass(slots=True)
class KeyIndex:
    """The contracts that have not ended and have a key."""

    _found: dict[Key, dict[str, Contract]] = field(default_factory=dict)

    def create(self, contract: Contract) -> None:
        """Enter a new contract, if it has a key."""
        key = key_of(contract.template.entity, contract.payload)
        if key is not None:
            self._found.setdefault(key, {})[contract.contract_id] = contract

    def archive(self, contract: Contract) -> None:
        """Drop a contract that has ended."""
        key = key_of(contract.template.entity, contract.payload)
        if key is not None:
            named = self._found[key]
            del named[contract.contract_id]
            if not named:
                del self._found[key]

    def named(self, key: Key) -> list[Contract]:
        """The contracts that a key names, the oldest first."""
        return list(self._found.get(key, {}).values())

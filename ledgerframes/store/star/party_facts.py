"""`PartyFacts`: what the ledger's contracts say about parties: names, super validators, featured apps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import parsed

_ENTRY: Final = "Splice.Ans:AnsEntry"
_RIGHT: Final = "Splice.Amulet:FeaturedAppRight"
_RULES: Final = "Splice.DsoRules:DsoRules"


class Entry(Struct, frozen=True, gc=False):
    """A name of the name service."""

    user: str
    name: str


class Right(Struct, frozen=True, gc=False):
    """The right of a featured app."""

    provider: str


class SuperValidator(Struct, frozen=True, gc=False):
    """A member of the rules' list."""

    name: str | None = None


class Rules(Struct, frozen=True, gc=False):
    """The rules of the network's governance."""

    svs: list[tuple[str, SuperValidator]]


@dataclass
class PartyFacts:
    """What contracts said so far.

    Attributes:
        notes: where contracts that cannot be read are counted.
        names: of the name service: the first by alphabet of each party.
        super_validators: the name of each, as the rules have it.
        featured: parties with a featured app right or a featured reward.
    """

    notes: NotUnderstood
    names: dict[str, str] = field(default_factory=dict)
    super_validators: dict[str, str | None] = field(default_factory=dict)
    featured: set[str] = field(default_factory=set)

    def add(self, contracts: pa.Table) -> None:
        """Take contracts, whose columns are template_name and payload."""
        for entry in self._read(contracts, _ENTRY, Entry):
            self.names[entry.user] = min(entry.name, self.names.get(entry.user, entry.name))
        self.featured.update(right.provider for right in self._read(contracts, _RIGHT, Right))
        for rules in self._read(contracts, _RULES, Rules):
            self.super_validators.update({party: member.name for party, member in rules.svs})

    def add_rewards(self, kinds: Any, providers: Any, featured: Any) -> None:
        """Take rewards: a featured one tells of a featured app, one of kind sv of a super validator."""
        apps = providers.filter(pc.fill_null(featured, False))  # noqa: FBT003
        self.featured.update(pc.unique(apps).to_pylist())
        for party in pc.unique(providers.filter(pc.equal(kinds, "sv"))).to_pylist():
            self.super_validators.setdefault(party, None)

    def name(self, party: str) -> str | None:
        """The name of a party, if it has one."""
        return self.names.get(party) or self.super_validators.get(party)

    def _read(self, contracts: pa.Table, template: str, shape: Any) -> list[Any]:
        own = contracts.filter(pc.fill_null(pc.equal(contracts["template_name"], template), False))  # noqa: FBT003
        structs = parsed(own["payload"], shape, [template] * own.num_rows, self.notes) if own.num_rows else []
        return [contract for contract in structs if contract is not None]

"""The coins that updates create and end, with their amounts as far as these are known; `mint_burn` begins here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.reading.amounts import amounts
from ledgerframes.economics.reading.models import AMULET, COINS, LOCKED_AMULET, Amulet, LockedAmulet
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import columns_of
from ledgerframes.economics.reading.source import Source, assigned_rows, opening_rows
from ledgerframes.tables.kinds import AMOUNT

_CREATED: Final = ("update_id", "record_time", "contract_id", "template_name", "payload")
_ENDED: Final = ("update_id", "record_time", "contract_id", "template_name", "choice", "consuming")
_KINDS: Final = {"amount": AMOUNT.arrow}
_AMOUNTS: Final = {
    AMULET: (Amulet, {"amount": attrgetter("amount.initial")}),
    LOCKED_AMULET: (LockedAmulet, {"amount": attrgetter("amulet.amount.initial")}),
}


@dataclass
class Inputs:
    """Coins created and ended.

    Attributes:
        created: update_id, record_time, contract_id and amount.
        ended: update_id, record_time, contract_id, choice and amount, which is null where it is not known.
        stated: for updates, the sums that summaries state for ended coins whose amounts are not known.
        settled: the contract ids whose amounts are in such a sum.
    """

    created: pa.Table
    ended: pa.Table
    stated: list[tuple[str, Decimal]] = field(default_factory=list)
    settled: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, source: Source, opening: Any, notes: NotUnderstood) -> Inputs:
        """Read them."""
        created = _with_amounts(source.creates(COINS, _CREATED), notes)
        ended = source.exercises(_ENDED, templates=COINS)
        ended = ended.filter(pc.fill_null(ended["consuming"], False)).drop_columns(["consuming"])  # noqa: FBT003
        known = created.select(["contract_id", "amount"])
        for others in (opening_rows(opening, COINS), assigned_rows(source, COINS)):
            wanted = others.filter(pc.is_in(others["contract_id"], ended["contract_id"]))
            read = _with_amounts(wanted, notes)
            known = pa.concat_tables([known, read.select(["contract_id", "amount"]).cast(known.schema)])
        places = pc.index_in(ended["contract_id"], known["contract_id"])
        return cls(created, ended.append_column("amount", known["amount"].take(places)))

    def amount_of(self, names: Iterable[str]) -> dict[str, Decimal]:
        """The amounts of coins that were created in the events."""
        rows = self.created.filter(pc.is_in(self.created["contract_id"], pa.array(list(names), pa.string())))
        return dict(zip(rows["contract_id"].to_pylist(), rows["amount"].to_pylist(), strict=True))

    def missing(self) -> set[str]:
        """The ended coins whose amounts are not known."""
        return set(self.ended["contract_id"].filter(pc.is_null(self.ended["amount"])).to_pylist())

    def settle(self, update: str, names: Iterable[str], amount: Decimal) -> None:
        """Take a summary's sum for the coins that went into its transfer."""
        self.stated.append((update, amount))
        self.settled.update(names)

    def changes(self) -> pa.Table:
        """What each create, end and stated sum adds to an update's net_change."""
        settled = pc.is_in(self.ended["contract_id"], pa.array(list(self.settled), pa.string()))
        gone = self.ended.filter(pc.and_(pc.invert(settled), pc.is_valid(self.ended["amount"])))
        # An update whose coins are all settled or unknown has to have a row too.
        rest = self.ended.filter(pc.or_(settled, pc.is_null(self.ended["amount"])))
        names = pa.array([update for update, _ in self.stated], pa.string())
        parts = [
            (self.created["update_id"], self.created["amount"]),
            (gone["update_id"], _negative(gone["amount"])),
            (rest["update_id"], _zeros(rest.num_rows)),
            (names, amounts(-amount for _, amount in self.stated)),
        ]
        plain = pa.schema({"update_id": pa.string(), "net_change": AMOUNT.arrow})
        return pa.concat_tables([pa.table(list(part), names=plain.names).cast(plain) for part in parts])

    def unknown(self) -> Any:
        """The updates with an ended coin whose amount is not known."""
        lost = pc.and_(
            pc.is_null(self.ended["amount"]),
            pc.invert(pc.is_in(self.ended["contract_id"], pa.array(list(self.settled), pa.string()))),
        )
        return pc.unique(self.ended["update_id"].filter(lost))

    def from_summary(self) -> pa.Array:
        """The updates with a sum that a summary states."""
        return pa.array([update for update, _ in self.stated], pa.string())

    def times(self) -> pa.Table:
        """The record times of the updates that create or end a coin."""
        columns = ["update_id", "record_time"]
        plain = self.created.select(columns).schema.remove_metadata()
        return pa.concat_tables([rows.select(columns).cast(plain) for rows in (self.created, self.ended)])


def _with_amounts(rows: pa.Table, notes: NotUnderstood) -> pa.Table:
    """Coins with their amounts in place of their payloads; in the order of their templates."""
    parts = []
    for template, (coin, values) in _AMOUNTS.items():
        own = rows.filter(pc.equal(rows["template_name"], template))
        parts.append(columns_of(own, "payload", coin, _KINDS, values, notes))
    return pa.concat_tables(parts)


def _zeros(count: int) -> pa.Array:
    return pa.repeat(pa.scalar(Decimal(0), AMOUNT.arrow), count)


def _negative(values: pa.ChunkedArray) -> Any:
    return pc.negate(values)

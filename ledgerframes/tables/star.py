"""The star that a store exports for BI programs: its tables, and how their keys relate them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ledgerframes.tables.star_dimensions import DIMENSIONS
from ledgerframes.tables.star_facts import FACTS
from ledgerframes.tables.table import Table

#: In the order of writing: facts first, because dimensions have a row for everything that a fact names.
STAR: Final[dict[str, Table]] = {table.name: table for table in (*FACTS, *DIMENSIONS)}


@dataclass(frozen=True)
class Relation:
    """Many rows of one table belong to one row of another.

    Attributes:
        table: the table with many rows.
        column: its column of keys.
        to: the table with one row per key.
        to_column: the key there.
        active: whether it is the one that reports follow by default; a program has one such path between two tables.
    """

    table: str
    column: str
    to: str
    to_column: str
    active: bool = True


#: The dimension or fact that a column of keys leads to, and whether by default.
_LEADS_TO: Final = {
    "date_key": ("dim_date", "date_key", True),
    "ended_date_key": ("dim_date", "date_key", False),
    "round_key": ("dim_round", "round_key", True),
    "template_key": ("dim_template", "template_key", True),
    "synchronizer_key": ("dim_synchronizer", "synchronizer_key", True),
    "validator_key": ("dim_validator", "validator_key", True),
    "party_key": ("dim_party", "party_key", True),
    "sender_party_key": ("dim_party", "party_key", True),
    "receiver_party_key": ("dim_party", "party_key", False),
    "provider_party_key": ("dim_party", "party_key", True),
    "beneficiary_party_key": ("dim_party", "party_key", False),
    "counterparty_party_key": ("dim_party", "party_key", False),
    "sponsor_party_key": ("dim_party", "party_key", False),
    "update_key": ("fact_updates", "update_key", False),
    "event_key": ("fact_events", "event_key", False),
    "verdict_key": ("fact_verdicts", "verdict_key", False),
}


def _relations(table: Table) -> list[Relation]:
    """The relations of a table; active ones lead at most once to each other table, directly or through a third."""
    relations: list[Relation] = []
    for name in table.names:
        to, to_column, active = _LEADS_TO.get(name, ("", "", False))
        if not to or (to, to_column) == (table.name, name):
            continue
        # A bridge is there to lead from its fact to the parties.
        follows = active or table.name.startswith("bridge_")
        direct = [relation.to for relation in relations if relation.active]
        further = [relation.to for third in direct for relation in _relations(STAR[third]) if relation.active]
        relations.append(Relation(table.name, name, to, to_column, active=follows and to not in direct + further))
    return relations


RELATIONS: Final = tuple(relation for table in STAR.values() for relation in _relations(table))

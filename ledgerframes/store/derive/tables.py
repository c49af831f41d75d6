"""The computed tables that a store keeps, with their names and the version of their rules; all of `store` uses it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ledgerframes.arguments import did_you_mean, names
from ledgerframes.errors import InputError
from ledgerframes.tables.derived import COMPUTED, DERIVED
from ledgerframes.tables.kinds import JSON, TEXT, TIME
from ledgerframes.tables.table import Column, Table

#: Earlier contracts that computed tables need, instead of the whole history.
OPEN_CONTRACTS: Final = Table(
    "open_contracts",
    "One row per contract that computed tables may need later, while it is active: a coin, a coupon, an instruction.",
    ("contract_id",),
    (
        Column("contract_id", TEXT, "Id of the contract.", source="contract_id of its create"),
        Column("template_name", TEXT, "Template as Module:Entity.", source="template_name of its create"),
        Column("created_at", TIME, "Ledger effective time of the creation.", source="created_at of its create"),
        Column("payload", JSON, "The contract's arguments.", source="payload of its create"),
    ),
)

#: The version of the rules of each table, in the order of writing. A table of an older version is computed again.
VERSIONS: Final = {
    "round_history": 2,
    "rewards": 5,
    "transfers": 2,
    "token_transfers": 2,
    "traffic_purchases": 2,
    "mint_burn": 2,
    "coin_history": 1,
    "supply_per_round": 2,
    OPEN_CONTRACTS.name: 3,
}
DERIVED_TABLES: Final[dict[str, Table]] = {
    name: OPEN_CONTRACTS if name == OPEN_CONTRACTS.name else DERIVED[name] for name in VERSIONS
}
#: The tables that a caller can ask for.
DERIVABLE: Final = tuple(name for name in DERIVED_TABLES if name != OPEN_CONTRACTS.name)
#: The table that is computed from rows of others, and not from events.
SUMMED: Final = "supply_per_round"
#: The tables that another one needs as input.
NEEDS: Final = {"rewards": ("round_history",), SUMMED: ("round_history", "mint_burn")}


def derivable(wanted: Iterable[str], argument: str) -> tuple[str, ...]:
    """The requested tables with the inputs that they need, in the order of writing.

    Args:
        wanted: names of tables.
        argument: the name of the caller's argument.

    Raises:
        InputError: one of them is not a computed table, or a store does not keep it.
    """
    chosen: set[str] = set()
    for table in names(wanted, argument):
        if table in DERIVABLE:
            chosen.update((table, *NEEDS.get(table, ())))
            continue
        if table in COMPUTED:
            raise InputError(
                f"{argument}: a store does not keep {table!r}; compute it when you need it with"
                f" lf.{table}(store). It keeps {', '.join(DERIVABLE)}"
            )
        hint = did_you_mean(table, DERIVABLE) or f"; there are {', '.join(DERIVABLE)}"
        raise InputError(f"{argument}: {table!r} is not a computed table{hint}")
    return tuple(name for name in DERIVABLE if name in chosen)

"""`with_issuance`, `supply_rows`: models computed from tables that a lake keeps; `rules` and `deriving` call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.models.engine import Engine
from ledgerframes.tables.coin_stocks import SUPPLY_PER_ROUND
from ledgerframes.tables.kinds import AMOUNT, TEXT, TEXTS

#: The earlier coins that `supply_per_round` reads; a lake from ledger begin has none.
_NO_COINS = pa.schema({"amount": AMOUNT.arrow, "shown_by": TEXT.arrow, "wrong": TEXTS.arrow}).empty_table()


def unissued(rows: pa.Table) -> pa.ChunkedArray:
    """Whether coupons still wait for the issuance of their round; those that state an amount of coin do not.

    All coupons of the second version state an amount, a round and their expiry; the others expire with the round that
    issues them.
    """
    waits = pc.and_(pc.is_null(rows["issuance"]), pc.is_valid(rows["round"]))
    return pc.and_(waits, pc.is_null(rows["expires_at"]))


def with_issuance(rows: pa.Table, known: pa.Table) -> pa.Table:
    """Add issuance and price of their round to coupons that lacked them, and the resulting value.

    Args:
        rows: rows of `rewards`.
        known: rows of `round_history`.
    """
    without = pc.or_(unissued(rows), pc.and_(pc.is_null(rows["amount_usd"]), pc.is_valid(rows["amount"])))
    mask = pc.and_(without, pc.is_in(rows["round"], known["round"]))
    if not pc.any(mask).as_py():
        return rows
    return _rows("issued_rewards", {"rewards": rows, "round_history": known}, rows.schema)


def supply_rows(sources: Mapping[str, Any], *, begun: bool) -> pa.Table:
    """Compute the rows of `supply_per_round`.

    Args:
        sources: the rows of `mint_burn` and `round_history`; datasets are read in batches.
        begun: whether they begin at ledger begin; otherwise the total is unknown.
    """
    return _rows("supply_per_round", {**sources, "coin_contracts": _NO_COINS}, SUPPLY_PER_ROUND.schema, begun=begun)


def _rows(model: str, sources: Mapping[str, Any], schema: pa.Schema, **variables: Any) -> pa.Table:
    """The rows of a model over other tables, in declared columns without metadata."""
    with Engine({name: lambda *_, rows=rows: rows for name, rows in sources.items()}) as engine:
        engine.set(variables)
        rows = engine.interruptible(lambda: engine.rows(model), model)
    plain = pa.schema([pa.field(field.name, field.type) for field in schema])
    return rows.select(plain.names).cast(plain)

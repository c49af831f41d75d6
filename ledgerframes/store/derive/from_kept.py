"""`with_issuance` and `supply_rows`: what models compute from tables that a lake keeps; `rules` and `deriving` ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.models.engine import Engine
from ledgerframes.tables.coin_stocks import SUPPLY_PER_ROUND
from ledgerframes.tables.kinds import AMOUNT, TEXT, TEXTS

#: What `supply_per_round` reads of coins that were there before; a lake from ledger begin has none.
_NO_COINS = pa.schema({"amount": AMOUNT.arrow, "shown_by": TEXT.arrow, "wrong": TEXTS.arrow}).empty_table()


def unissued(rows: pa.Table) -> pa.ChunkedArray:
    """Whether a round of each coupon is still to say what it issues: none does for one that states coin.

    Those of the second version, of whatever kind, state coin, a round and when they expire; the others that a round
    issues expire with it.
    """
    waits = pc.and_(pc.is_null(rows["issuance"]), pc.is_valid(rows["round"]))
    return pc.and_(waits, pc.is_null(rows["expires_at"]))


def with_issuance(rows: pa.Table, known: pa.Table) -> pa.Table:
    """Coupons with the issuance and price of their round where these were not known to them, and their worth with it.

    Args:
        rows: rows of `rewards`.
        known: rows of `round_history`.
    """
    without = pc.or_(unissued(rows), pc.and_(pc.is_null(rows["amount_usd"]), pc.is_valid(rows["amount"])))
    places = pc.and_(without, pc.is_in(rows["round"], known["round"]))
    if not pc.any(places).as_py():
        return rows
    return _rows("issued_rewards", {"rewards": rows, "round_history": known}, rows.schema)


def supply_rows(given: Mapping[str, Any], *, begun: bool) -> pa.Table:
    """The rows of `supply_per_round`.

    Args:
        given: the rows of `mint_burn` and `round_history`; of a dataset they are read in batches.
        begun: whether they begin at ledger begin; the total is not known otherwise.
    """
    return _rows("supply_per_round", {**given, "coin_contracts": _NO_COINS}, SUPPLY_PER_ROUND.schema, begun=begun)


def _rows(model: str, given: Mapping[str, Any], schema: pa.Schema, **variables: Any) -> pa.Table:
    """The rows of a model over other tables, in declared columns without metadata."""
    with Engine({name: lambda *_, rows=rows: rows for name, rows in given.items()}) as engine:
        engine.set(variables)
        rows = engine.interruptible(lambda: engine.rows(model))
    plain = pa.schema([pa.field(field.name, field.type) for field in schema])
    return rows.select(plain.names).cast(plain)

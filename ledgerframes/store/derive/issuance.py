"""`with_issuance`: what coupons are worth whose round became known after them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.reading.amounts import amounts, product


def unissued(rows: pa.Table) -> pa.ChunkedArray:
    """Whether a round of each coupon is still to say what it issues: none does for one that states coin.

    Those of the second version, of whatever kind, state coin, a round and when they expire; the others that a round
    issues expire with it.
    """
    waits = pc.and_(pc.is_null(rows["issuance"]), pc.is_valid(rows["round"]))
    return pc.and_(waits, pc.is_null(rows["expires_at"]))


def with_issuance(rows: pa.Table, known: pa.Table) -> pa.Table:
    """Coupons with the issuance of their round where that was not known to them, and what they are worth with it.

    Args:
        rows: rows of `rewards`.
        known: rows of `round_history`.
    """
    places = pc.fill_null(pc.and_(unissued(rows), pc.is_in(rows["round"], known["round"])), False)  # noqa: FBT003
    if not pc.any(places).as_py():
        return rows
    by_round = {cells["round"]: cells for cells in known.to_pylist()}
    columns = (rows[name].to_pylist() for name in ("kind", "featured", "round", "weight", "issuance", "amount"))
    cells = []
    for wanted, kind, featured, number, weight, issuance, amount in zip(places.to_pylist(), *columns, strict=True):
        if not wanted:
            cells.append((issuance, amount))
            continue
        issued = kind if kind != "app" else "featured_app" if featured else "unfeatured_app"
        own = by_round[number].get(f"issuance_per_{issued}")
        cells.append((own, product(weight, own)))
    for place, name in enumerate(("issuance", "amount")):
        at = rows.column_names.index(name)
        rows = rows.set_column(at, rows.schema.field(at), amounts(pair[place] for pair in cells))
    return rows

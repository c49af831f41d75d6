"""`mint_burn`: what each update mints and burns, and whether that explains how the amount of coin changed."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.burns import burned_otherwise, entries_of_summaries, minted_otherwise
from ledgerframes.economics.coin_inputs import Inputs
from ledgerframes.economics.entries import COLUMNS, Entries
from ledgerframes.economics.form import from_opening, given
from ledgerframes.economics.reading.amounts import narrow, summed, wide
from ledgerframes.economics.reading.choices import COIN_CHOICES, COIN_RULES, RULES_CHOICES
from ledgerframes.economics.reading.models import COINS
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.source import Source, source_of_events
from ledgerframes.economics.reading.tree import Tree
from ledgerframes.frames import As, Decimals
from ledgerframes.tables.coin_flows import BURNED, MINT_BURN, MINTED

_MINTED: Final = tuple(column.name for column in MINTED)
_BURNED: Final = tuple(column.name for column in BURNED)


@from_opening
def mint_burn(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Compute what each update mints and burns, with a check: coin created less coin ended is minted less burned.

    The recipe is that of the network's own documentation. Traffic burns what was paid, in which the fees of outputs
    are contained, and the other fees; a transfer its fees; preapprovals what was paid, and all fees; names the coin
    that is collected for them. A transfer inside a purchase is not counted again. Validators' rewards contain their
    faucets, which are counted once.

    What is not 0 in `unexplained` is an update of a model that this version does not know. The amount of a coin that
    ended is that of its create, in the events or in `opening`; else, of a transfer's inputs, what its summary states;
    else `net_change`, `unexplained` and, of an expiry, `burned_expiry` are null, and never 0.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        opening: contracts active before the events, as `load_active_contracts` or `active_contracts` gives them.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row per update that creates, ends, mints or burns coin, in the order of record time, with the columns of
        `lf.describe("mint_burn")`: amounts in coin, times in UTC. `attrs["unexplained"]` counts updates: `zero`,
        `other` and `unknown`.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     flows = lf.mint_burn(lf.load_events(net))
        >>> flows.attrs["unexplained"]["other"]
        0
    """
    source, notes = source_of_events(events), NotUnderstood()
    rows = flows_of(source, opening, notes)
    return given(rows, MINT_BURN, source, notes, as_=as_, decimals=decimals, unexplained=_counts(rows["unexplained"]))


def flows_of(source: Source, opening: Any, notes: NotUnderstood) -> pa.Table:
    """The rows of the table, in the order of record time."""
    inputs = Inputs.of(source, opening, notes)
    entries = Entries()
    tree = Tree.of(source)
    entries_of_summaries(source, tree, inputs, entries, notes)
    minted_otherwise(source, inputs, entries, notes)
    burned_otherwise(source, tree, inputs, entries, notes)
    _count_unknown(source, notes)
    sums = _together(entries.table(), summed(inputs.changes(), "update_id", ["net_change"]))
    rounds = entries.rounds()
    places = pc.index_in(sums["update_id"], rounds["update_id"])
    known = sums.append_column("round", rounds["round"].take(places))
    unknown = pc.is_in(known["update_id"], inputs.unknown())
    summary = pc.is_in(known["update_id"], inputs.from_summary())
    nothing = pa.scalar(None, known.schema.field("net_change").type)
    net = pc.if_else(unknown, nothing, known["net_change"])
    explained = pc.subtract(total_of(known, _MINTED), total_of(known, _BURNED))
    columns = {name: narrow(known[name]) for name in COLUMNS} | {
        "update_id": known["update_id"],
        "record_time": _times(known["update_id"], inputs, entries),
        "round": known["round"],
        "net_change": narrow(net),
        "unexplained": narrow(wide(pc.subtract(net, explained))),
        "inputs_from": pc.if_else(unknown, "unknown", pc.if_else(summary, "summary", "creates")),
    }
    flows = pa.table(columns)
    return flows.sort_by([("record_time", "ascending"), ("update_id", "ascending")])


def _together(entries: pa.Table, changes: pa.Table) -> pa.Table:
    """The entries and the change of each update that has either; 0 where it has none."""
    both = [*entries["update_id"].chunks, *changes["update_id"].chunks]
    updates = pc.unique(pa.chunked_array(both, pa.string()))
    columns = {"update_id": updates}
    for rows, names in ((entries, COLUMNS), (changes, ("net_change",))):
        places = pc.index_in(updates, rows["update_id"])
        for name in names:
            # A null of the rows stays null: it is not known.
            values = wide(rows[name]).take(places)
            columns[name] = pc.if_else(pc.is_null(places), pa.scalar(0, pa.int64()).cast(values.type), values)
    return pa.table(columns)


def total_of(rows: pa.Table, names: tuple[str, ...]) -> Any:
    """The sum of columns, row by row; null if one is."""
    total = wide(rows[names[0]])
    for name in names[1:]:
        total = wide(pc.add(total, wide(rows[name])))
    return total


def _times(updates: pa.ChunkedArray, inputs: Inputs, entries: Entries) -> Any:
    """The record time of each update."""
    known = pa.concat_tables([inputs.times(), entries.times()])
    return known["record_time"].take(pc.index_in(updates, known["update_id"]))


def _count_unknown(source: Source, notes: NotUnderstood) -> None:
    """Count choices on the coin's templates that may move coin in a way that this version does not know."""
    columns = ("template_name", "choice")
    notes.choices(source.exercises(columns, templates=COIN_RULES), RULES_CHOICES)
    notes.choices(source.exercises(columns, templates=COINS), COIN_CHOICES)


def _counts(unexplained: pa.ChunkedArray) -> dict[str, int]:
    zero = pc.sum(pc.equal(unexplained, pa.scalar(0, unexplained.type))).as_py() or 0
    return {"zero": zero, "other": len(unexplained) - zero - unexplained.null_count, "unknown": unexplained.null_count}

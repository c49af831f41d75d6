"""`transfers`: who paid whom, one row per output of a coin transfer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.form import from_opening, given
from ledgerframes.economics.reading.amounts import narrow, products, wide
from ledgerframes.economics.reading.choices import (
    COIN_RULES,
    NAME_PAYMENTS,
    PREAPPROVALS,
    RULES_CHOICES,
    SENDS,
    STANDARD,
    TRAFFIC,
    TRANSFER,
)
from ledgerframes.economics.reading.models import TransferArgument
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import column, columns_of
from ledgerframes.economics.reading.source import source_of_events
from ledgerframes.economics.reading.tree import Places, Tree
from ledgerframes.economics.summaries import SAYINGS, other_fees, outcomes_of, paying_exercises
from ledgerframes.economics.wrapped_transfers import Wrapped, wrapped_transfers
from ledgerframes.frames import As, Decimals
from ledgerframes.tables.coin_flows import TRANSFERS
from ledgerframes.tables.kinds import AMOUNT

#: Below these an output is burned.
_BURNS: Final = (TRAFFIC, *PREAPPROVALS, *NAME_PAYMENTS)


@from_opening
def transfers(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the outputs of coin transfers: who paid whom how much, in which round, with which fees and lock.

    An `AmuletRules_Transfer` counts wherever it lies; a choice that wraps it is not counted again, and gives the
    reason. From release 0.5.16 on token-standard choices and preapprovals move coin without one; then they count
    themselves. A transfer without outputs, which only merges coins or claims rewards, has no row; see `mint_burn`.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        opening: contracts active before the events, as `load_active_contracts` or `active_contracts` gives them:
            instructions and preapprovals among them say who sends and receives.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row per output, in the order of the events, with the columns of `lf.describe("transfers")`: amounts in
        coin. `update_id` and `event_id` lead to the time in the events.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     transfers = lf.transfers(lf.load_events(net))
        >>> "transfer" in set(transfers.kind)
        True
    """
    source, notes = source_of_events(events), NotUnderstood()
    exercises = paying_exercises(source, "payload", choices=[TRANSFER])
    # In the order of the tree, in which the events are.
    tree = Tree.of(source)
    wrapped = wrapped_transfers(source, tree, opening, notes)
    outputs = pa.concat_tables([_outputs(exercises, tree, wrapped, notes), _of_wrappers(wrapped)])
    order = np.argsort(outputs["place"].to_numpy(), kind="stable")
    notes.choices(source.exercises(("template_name", "choice"), templates=COIN_RULES), RULES_CHOICES)
    return given(outputs.take(order), TRANSFERS, source, notes, as_=as_, decimals=decimals)


def _outputs(exercises: pa.Table, tree: Tree, wrapped: Wrapped, notes: NotUnderstood) -> pa.Table:
    """One row per output of the transfers, with the place of its exercise."""
    outcomes = outcomes_of(exercises, notes, sayings=True)
    places = tree.places(exercises["event_id"])
    numbered = exercises.select(["update_id", "event_id", "template_name", "choice", "payload"])
    numbered = numbered.append_column("row", pa.array(np.arange(exercises.num_rows)))
    asked = columns_of(numbered, "payload", TransferArgument, _ASKED, _VALUES, notes, choice="choice")
    outcomes, places = outcomes.take(asked["row"]), places[asked["row"].to_numpy()]
    above = tree.above(places)
    said = _said(outcomes, wrapped.metas, tree.nearest(above, tree.mask((*STANDARD, *SENDS))))
    burned = pa.array(tree.nearest(above, tree.mask(_BURNS)) >= 0)
    rows, index = _each(asked["receiver"])
    per_output = {name: pc.list_flatten(asked[name]) for name in _LISTED}
    per_transfer = {name: asked[name].take(rows) for name in ("update_id", "event_id", "sender", "provider")}
    kind = _kinds(said["tx_kind"].take(rows), burned.take(rows), per_transfer["sender"], per_output["receiver"])
    columns = per_transfer | per_output | {
        "output_index": index,
        "round": outcomes["round"].take(rows),
        "sender_fees": _fees(outcomes, rows, index, per_output["receiver_fee_ratio"]),
        "kind": kind,
        "reason": said["reason"].take(rows),
        "place": pa.array(places).take(rows),
    }  # fmt: skip
    return _in_form(columns)


def _of_wrappers(wrapped: Wrapped) -> pa.Table:
    """The rows of the choices that transfer by themselves."""
    columns = {name: column([row.cells.get(name) for row in wrapped.rows], kind) for name, kind in _TYPES.items()}
    return _in_form(columns | {"place": pa.array([row.place for row in wrapped.rows], pa.int64())})


def _in_form(columns: Mapping[str, Any]) -> pa.Table:
    schema = pa.schema({**_TYPES, "place": pa.int64()})
    return pa.table({name: columns[name] for name in schema.names}).cast(schema)


def _each(lists: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """For each item of a column of lists its row, and its number in its list."""
    whole = lists.combine_chunks()
    rows = pc.list_parent_indices(whole).to_numpy()
    starts = _starts(whole)
    return pa.array(rows), pa.array(np.arange(len(rows)) - starts[rows])


def _starts(lists: pa.Array) -> Places:
    """Where each list begins among the items of all."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    starts: Places = np.cumsum(lengths) - lengths
    return starts


def _said(outcomes: pa.Table, metas: Mapping[int, Mapping[str, Any]], wrappers: Places) -> dict[str, Any]:
    """For each transfer the kind and the reason: what its result says, else the choice around it."""
    values = {}
    for name, key in SAYINGS.items():
        texts: list[str | None] = [None] * len(wrappers)
        for row in np.flatnonzero(wrappers >= 0).tolist():
            text = metas.get(int(wrappers[row]), {}).get(key)
            texts[row] = text if isinstance(text, str) else None
        values[name] = pc.if_else(outcomes[f"says_{name}"], outcomes[name], pa.array(texts, pa.string()))
    return values


def _kinds(stated: Any, burned: Any, sender: Any, receiver: Any) -> Any:
    """As `kind_of` tells it, for columns."""
    plain = pc.is_in(pc.fill_null(stated, ""), pa.array(["", "transfer"]))
    to_self = pc.if_else(pc.equal(sender, receiver), "self", "transfer")
    return pc.if_else(plain, pc.if_else(burned, "burn", to_self), stated)


def _fees(outcomes: pa.Table, rows: pa.Array, index: pa.Array, ratios: Any) -> Any:
    """What the sender pays for each output; the first bears the fees of the whole transfer."""
    lists = outcomes["output_fees"].combine_chunks()
    numbers, of_rows = index.to_numpy(), rows.to_numpy()
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    places = _starts(lists)[of_rows] + numbers
    fees = pc.list_flatten(lists).take(pa.array(places, mask=numbers >= lengths[of_rows]))
    one, zero = (pa.scalar(number, pa.int64()).cast(AMOUNT.arrow) for number in (1, 0))
    shares = narrow(pc.subtract(wide(one), wide(pc.fill_null(ratios, zero))))
    own = wide(products(fees, shares))
    first = pc.if_else(pa.array(numbers == 0), other_fees(outcomes).take(rows), wide(zero))
    return narrow(pc.add(own, first))


def _listed(name: str) -> Callable[[TransferArgument], list[Any]]:
    get = attrgetter(name)
    return lambda argument: list(map(get, argument.transfer.outputs))


def _locks(argument: TransferArgument) -> list[str | None]:
    texts = (bytes(output.lock).decode() for output in argument.transfer.outputs)
    return [None if text == "null" else text for text in texts]


_TYPES: Final = {name: TRANSFERS.schema.field(name).type for name in TRANSFERS.names}
_LISTED: Final = ("receiver", "amount", "receiver_fee_ratio", "lock")
_ASKED: Final = {name: _TYPES[name] for name in ("sender", "provider")} | {
    name: pa.list_(_TYPES[name]) for name in _LISTED
}
_VALUES: Final[dict[str, Callable[[Any], Any]]] = {
    "sender": attrgetter("transfer.sender"),
    "provider": attrgetter("transfer.provider"),
    "receiver": _listed("receiver"),
    "amount": _listed("amount"),
    "receiver_fee_ratio": _listed("ratio"),
    "lock": _locks,
}

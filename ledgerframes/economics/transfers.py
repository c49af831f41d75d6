"""`transfers`: who paid whom, one row per output of a coin transfer."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from ledgerframes.economics.amounts import product
from ledgerframes.economics.choices import (
    COIN_RULES,
    NAME_PAYMENTS,
    PREAPPROVALS,
    RULES_CHOICES,
    SENDS,
    STANDARD,
    TRAFFIC,
    TRANSFER,
)
from ledgerframes.economics.form import from_opening, given
from ledgerframes.economics.models import META, Output, TransferArgument
from ledgerframes.economics.not_understood import NotUnderstood
from ledgerframes.economics.parsing import column, fits, parsed
from ledgerframes.economics.source import source_of_events
from ledgerframes.economics.standard import kind_of
from ledgerframes.economics.summaries import Outcome, outcomes_of, paying_exercises
from ledgerframes.economics.tree import Tree
from ledgerframes.economics.wrapped_transfers import wrapped_transfers
from ledgerframes.frames import As, Decimals
from ledgerframes.tables.coin_flows import TRANSFERS

#: Below these an output is burned.
_BURNS: Final = (TRAFFIC, *PREAPPROVALS, *NAME_PAYMENTS)
Cells = dict[str, Any]


@from_opening
def transfers(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals = "object") -> Any:
    """List the outputs of coin transfers: who paid whom how much, in which round, with which fees and lock.

    An `AmuletRules_Transfer` counts wherever it lies; a choice that wraps it is not counted again, and gives the
    reason. From release 0.5.16 on token-standard choices and preapprovals move coin without one; then they count
    themselves. A transfer without outputs, which only merges coins or claims rewards, has no row; see `mint_burn`.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        opening: contracts active before the events, as `load_active_contracts` or `active_contracts` gives them:
            instructions and preapprovals among them say who sends and receives.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`.

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
    names = [f"{template}/{TRANSFER}" for template in exercises["template_name"].to_pylist()]
    arguments = parsed(exercises["payload"], TransferArgument, names, notes)
    outcomes = outcomes_of(exercises, notes)
    places = tree.places(exercises["event_id"])
    above = tree.above(places)
    wrappers = tree.nearest(above, tree.mask((*STANDARD, *SENDS)))
    burns = tree.nearest(above, tree.mask(_BURNS)) >= 0
    found: list[tuple[int, list[Cells]]] = []
    identities = exercises.select(["update_id", "event_id"]).to_pylist()
    for row, (argument, outcome, identity) in enumerate(zip(arguments, outcomes, identities, strict=True)):
        if argument is None:
            continue
        wrapper = wrapped.metas.get(int(wrappers[row]))
        if not all(fits(output.amount) and fits(output.ratio) for output in argument.transfer.outputs):
            notes[names[row]] += 1
            continue
        cells = _outputs(argument, outcome, wrapper, burned=bool(burns[row]))
        found.append((int(places[row]), [identity | cell for cell in cells]))
    found += [(row.place, [row.cells]) for row in wrapped.rows]
    rows = [cells for _, listed in sorted(found, key=lambda item: item[0]) for cells in listed]
    kinds = {name: TRANSFERS.schema.field(name).type for name in TRANSFERS.names}
    data = pa.table({name: column([cells.get(name) for cells in rows], kind) for name, kind in kinds.items()})
    notes.choices(source.exercises(("template_name", "choice"), templates=COIN_RULES), RULES_CHOICES)
    return given(data, TRANSFERS, source, notes, as_=as_, decimals=decimals)


def _outputs(
    argument: TransferArgument, outcome: Outcome, wrapper: Mapping[str, Any] | None, *, burned: bool
) -> list[Cells]:
    """The cells of each output of a transfer."""
    asked = argument.transfer
    meta = dict(wrapper or {}) | ({} if outcome.meta is None else outcome.meta.values)
    reason = meta.get(f"{META}reason")
    return [
        {
            "output_index": index,
            "round": outcome.round,
            "sender": asked.sender,
            "provider": asked.provider,
            "receiver": output.receiver,
            "amount": output.amount,
            "receiver_fee_ratio": output.ratio,
            "lock": None if bytes(output.lock) == b"null" else bytes(output.lock).decode(),
            "sender_fees": _fees(outcome, index, output),
            "kind": kind_of(meta, asked.sender, output.receiver, burned=burned),
            "reason": reason if isinstance(reason, str) else None,
        }
        for index, output in enumerate(asked.outputs)
    ]


def _fees(outcome: Outcome, index: int, output: Output) -> Decimal | None:
    """What the sender pays for an output; the first bears the fees of the whole transfer."""
    summary = outcome.summary
    if summary is None or index >= len(summary.output_fees):
        return None
    own = product(summary.output_fees[index], 1 - (output.ratio or Decimal(0)))
    return own if own is None or index else own + summary.other_fees

"""`token_transfers`: transfers, mints and burns of any instrument, by the token standard, versions 1 and 2."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.form import from_opening, given
from ledgerframes.economics.holdings_changes import Change, changes_of
from ledgerframes.economics.reading.choices import ALLOCATION_STEPS, HOLDINGS_CHANGE, INSTRUCTION_STEPS, STANDARD
from ledgerframes.economics.reading.ledger_source import is_ledger_frame, source_of_ledger
from ledgerframes.economics.reading.models import META
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import column
from ledgerframes.economics.reading.source import Source, opening_rows, source_of_events
from ledgerframes.economics.reading.tree import Tree
from ledgerframes.economics.standard import COLUMNS, Step, steps_of
from ledgerframes.economics.wrapped_transfers import coins_of
from ledgerframes.frames import As, Decimals
from ledgerframes.tables.coin_flows import TOKEN_TRANSFERS

_INTERFACE: Final = r"(^|:)Splice\.Api\.Token\."
#: Choices of the standard's interfaces that move nothing.
_STILL: Final = (
    "Archive",
    "TransferFactory_PublicFetch",
    "AllocationFactory_PublicFetch",
    "BurnMintFactory_PublicFetch",
)


@from_opening
def token_transfers(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the transfers, mints and burns of all instruments that follow the token standard.

    Version 1 is read from the choices of its interfaces, version 2 from `EventLog_HoldingsChange`, whose two sides of
    a leg are one row; a choice of version 1 that reports by version 2 is not counted again. Metadata is merged in the
    order transfer, extra arguments, argument, result; the last to state a key counts. A scan only sees instruments that
    its operator sees: for others, pass the events of one's own ledger.

    Args:
        events: events of `load_events`, a `History` or a `Store`, or of `load_ledger_transaction(...).events`.
        opening: contracts active before the events, as `load_active_contracts` or `active_contracts` gives them:
            instructions and allocations among them say who sends how much.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row per leg, in the order of the events, with the columns of `lf.describe("token_transfers")`: amounts in
        units of the instrument. A pending instruction and its acceptance are two rows, whose `step` differs: sum only
        what is completed or reported.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     transfers = lf.token_transfers(lf.load_events(net))
        >>> set(transfers.step) <= {"completed", "pending", "failed"}
        True
    """
    source = source_of_ledger(events) if is_ledger_frame(events) else source_of_events(events)
    notes = NotUnderstood()
    rows = _exercises(source, notes)
    tree = Tree.of(source)
    reported = pc.equal(rows["choice"], HOLDINGS_CHANGE)
    first, second = rows.filter(pc.invert(reported)), rows.filter(reported)
    steps = steps_of(first, _contracts(source, opening, first), notes)
    # A choice of version 1 below which version 2 reports is told by the report.
    own, logged = tree.places(first["event_id"]), tree.places(second["event_id"])
    told = set(tree.nearest(tree.above(logged), tree.mask(STANDARD)).tolist())
    coins = coins_of(source, [name for step in steps if step.amount is None for name in step.receivers])
    named, changed = (rows.select(["update_id", "event_id"]).to_pylist() for rows in (first, second))
    legs = [
        (int(own[step.row]), named[step.row] | _of_step(step, coins))
        for step in steps
        if int(own[step.row]) not in told
    ]
    legs += [
        (int(logged[change.row]), changed[change.row] | _of_change(change)) for change in changes_of(second, notes)
    ]
    cells = [row for _, row in sorted(legs, key=lambda item: item[0])]
    kinds = {name: TOKEN_TRANSFERS.schema.field(name).type for name in TOKEN_TRANSFERS.names}
    data = pa.table({name: column([cell.get(name) for cell in cells], kind) for name, kind in kinds.items()})
    return given(data, TOKEN_TRANSFERS, source, notes, as_=as_, decimals=decimals)


def _exercises(source: Source, notes: NotUnderstood) -> pa.Table:
    """The exercises of the standard's interfaces; those of choices that this version does not know are counted."""
    light = source.exercises(("event_id", "template_name", "choice", "interface_id"))
    by_interface = pc.fill_null(pc.match_substring_regex(light["interface_id"], _INTERFACE), False)  # noqa: FBT003
    known = (*STANDARD, HOLDINGS_CHANGE)
    notes.choices(light.filter(by_interface), (*known, *_STILL))
    # One that is not exercised through its interface only has the same name.
    named = pc.is_in(light["choice"], pa.array(known))
    notes.choices(light.filter(pc.and_(named, pc.invert(by_interface))), ())
    rows = source.exercises(COLUMNS, choices=known)
    return rows.filter(pc.fill_null(pc.match_substring_regex(rows["interface_id"], _INTERFACE), False))  # noqa: FBT003


def _contracts(source: Source, opening: Any, rows: pa.Table) -> pa.Table:
    """The instructions and allocations that are exercised, of whatever template."""
    asked = pc.is_in(rows["choice"], pa.array((*INSTRUCTION_STEPS, *ALLOCATION_STEPS)))
    templates = pc.unique(rows["template_name"].filter(asked)).drop_null().to_pylist()
    columns = ["contract_id", "payload"]
    created = source.creates(templates, columns)
    return pa.concat_tables([created, opening_rows(opening, templates).select(columns).cast(created.schema)])


def _of_step(step: Step, coins: dict[str, Any]) -> dict[str, Any]:
    given_coins = [coins[name] for name in step.receivers if name in coins]
    amount = step.amount
    if amount is None and given_coins:
        amount = sum(coin.amount.initial for coin in given_coins)
    kind = step.stated("tx-kind") or step.kind
    return {
        "leg": step.leg,
        "instrument_admin": step.admin if step.instrument is None else step.instrument.admin,
        "instrument_id": None if step.instrument is None else step.instrument.id,
        "sender": step.sender or (None if kind == "mint" else step.stated("sender")),
        "receiver": step.receiver or (given_coins[0].owner if given_coins else None),
        "amount": amount,
        "kind": kind,
        "step": step.step,
        "reason": step.stated("reason"),
    }


def _of_change(change: Change) -> dict[str, Any]:
    reason = change.meta.get(f"{META}reason")
    return {
        "leg": change.leg,
        "instrument_admin": change.admin,
        "instrument_id": change.instrument,
        "sender": change.sender,
        "receiver": change.receiver,
        "amount": change.amount,
        "kind": change.kind,
        "step": "reported",
        "reason": reason if isinstance(reason, str) else None,
    }

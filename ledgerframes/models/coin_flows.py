"""`transfers`, `movements`, `token_transfers`, `traffic_purchases` and `mint_burn`: coin that moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import party_ids
from ledgerframes.frames import As, Decimals
from ledgerframes.models.coverage import begun
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import Inputs
from ledgerframes.models.signatures import MOVERS, of_model


def _unexplained(_: Engine, rows: pa.Table) -> dict[str, dict[str, int]]:
    """Count the updates that are explained, not explained, and unknown."""
    column = rows["unexplained"]
    zero = pc.sum(pc.equal(column, pa.scalar(0, column.type))).as_py() or 0
    return {
        "unexplained": {"zero": zero, "other": len(column) - zero - column.null_count, "unknown": column.null_count}
    }


@of_model(unknown=["unknown_rules_choices"])
def traffic_purchases(events: Any, *, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the purchases of traffic: who paid, for which member, how many bytes, how much in coin and in USD.

    They are the `AmuletRules_BuyMemberTraffic` of the events. Traffic that is bought by a plain transfer with a memo,
    which the network prepares, is a row of `transfers`, and not of this table.

    Returns:
        One row per purchase, in the order of record time, with the columns of `lf.describe("traffic_purchases")`: what
        was paid in coin, with the fees of outputs and without other fees, and the same in USD at the price of its
        round, rounded half even to 10 places.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     purchases = lf.traffic_purchases(lf.load_events(net))
        >>> purchases.columns.to_list()[2:6]
        ['record_time', 'provider', 'member_id', 'synchronizer_id']
    """


@of_model(unknown=["unknown_rules_choices"])
def transfers(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the outputs of coin transfers: who paid whom how much, in which round, with which fees and lock.

    An `AmuletRules_Transfer` counts at any depth; a choice that wraps it is not counted again, and gives the
    reason. From release 0.5.16 on token-standard choices and preapprovals move coin without one; then they count
    themselves. A transfer without outputs, which only merges coins or claims rewards, has no row; see `mint_burn`.

    Args:
        opening: what was active before the events, an `Opening` of `load_opening`:
            instructions and preapprovals among them say who sends and receives.

    Returns:
        One row per output, in the order of record time, with the columns of `lf.describe("transfers")`: amounts in
        coin. `update_id` and `event_id` lead to the time in the events.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     transfers = lf.transfers(lf.load_events(net))
        >>> "transfer" in set(transfers.kind)
        True
    """


@of_model(unknown=["unknown_token_choices"])
def token_transfers(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """List the transfers, mints and burns of all instruments that follow the token standard.

    Version 1 is read from the choices of its interfaces, version 2 from `EventLog_HoldingsChange`, whose two sides of
    a leg are one row; a choice of version 1 that reports by version 2 is not counted again. Metadata is merged in the
    order transfer, extra arguments, argument, result; the last to state a key counts. A scan only sees instruments that
    its operator sees: for others, pass the events of one's own ledger.

    Args:
        events: events of `load_events` or of `load_ledger_transaction(...).events`, a `History`, a `Store`, or a path
            of Parquet.
        opening: what was active before the events, an `Opening` of `load_opening`:
            instructions and allocations among them say who sends how much.

    Returns:
        One row per leg, in the order of record time, with the columns of `lf.describe("token_transfers")`: amounts in
        units of the instrument. A pending instruction and its acceptance are two rows, whose `step` differs: sum only
        what is completed or reported.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     transfers = lf.token_transfers(lf.load_events(net))
        >>> set(transfers.step) <= {"completed", "pending", "failed"}
        True
    """


@of_model(unknown=MOVERS, edges="coin_edges", notes=_unexplained)
def mint_burn(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Compute what each update mints and burns, with a check: coin created less coin ended is minted less burned.

    The recipe is that of the network's own documentation. Traffic burns the amount paid, in which the fees of outputs
    are contained, and the other fees; a transfer its fees; preapprovals what was paid, and all fees; names the coin
    that is collected for them. A transfer inside a purchase is not counted again. Validators' rewards contain their
    faucets, which are counted once.

    An update with `unexplained` other than 0 follows a model that this version does not know. The amount of a coin that
    ended is that of its create, in the events or in `opening`; else, of a transfer's inputs, what its summary states;
    else `net_change`, `unexplained` and, of an expiry, `burned_expiry` are null, and never 0.

    Returns:
        One row per update that creates, ends, mints or burns coin, in the order of record time, with the columns of
        `lf.describe("mint_burn")`: amounts in coin, times in UTC. `attrs["unexplained"]` counts updates: `zero`,
        `other` and `unknown`; `attrs["edges"]` what began before the range and what is there at its end.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     flows = lf.mint_burn(lf.load_events(net))
        >>> flows.attrs["unexplained"]["other"]
        0
    """


def _of_party(inputs: Inputs, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The requested party's entries, and whether the earlier state is known."""
    party = arguments["party"]
    return begun(inputs, arguments) | ({} if party is None else {"parties": list(party_ids([party], "party"))})


@of_model(settings=_of_party, unknown=MOVERS, edges="coin_edges")
def movements(
    events: Any, *, party: str | None = None, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """List the entries in the parties' accounts of coin: each credit and debit, with kind, counterparty and balance.

    For a statement in accounting a payment's inputs and change are one entry, in addition to its fees and what it
    mints. The amounts of a party add up to its holdings, and those of all parties to `net_change` of `mint_burn`; of a
    kind such as `burned_fees`, to the column of that name.

    Args:
        party: a party id; all parties by default.

    Returns:
        One row per entry, in the order of the events, with the columns of `lf.describe("movements")`: amounts in coin
        and USD, times in UTC. `balance_after`, and the amount of coin that an assignment alone shows, are null unless
        the events begin at ledger begin or `opening` is given.
        If coin changed for no stated reason, the kind is `unknown`; an ended coin whose create is not known is an
        entry without party and amount.

    Raises:
        InputError: an argument is not valid, or columns are missing.
        PartialResultError: `opening` is given and the events have a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     history = lf.load_history(net, decimals="exact")
        >>> bool(lf.movements(history).amount.sum() == lf.mint_burn(history).net_change.sum())
        True
    """

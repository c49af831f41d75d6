"""Charts of holdings summaries: holdings and notional fees by party."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from ledgerframes.models.holdings import holdings_from_events
from ledgerframes.number_format import amount_text, plural
from ledgerframes.plot.bins import moment_text
from ledgerframes.plot.contents import Axis, Bars, Content, Nothing, Series
from ledgerframes.plot.drawing import chart
from ledgerframes.plot.ranking import ranked
from ledgerframes.plot.reading import ChartInput, floats, micros, texts

_GIVER: Final = "lf.load_holdings_summary(net, parties)"
_FEES: Final = ("accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked")
_HOLDINGS: Final = ("total_unlocked_coin", "total_locked_coin")
_PARTS: Final = ("unlocked", "locked")


@chart(holdings_from_events, giver=_GIVER, whole=True)
def holdings(x: ChartInput, *, top: int = 15) -> Content:
    """Draw the holdings of each party as one bar, unlocked and locked coin stacked, the largest first.

    For a frame with several snapshots the newest is drawn. Notional fees are not deducted: they are charged only when
    a contract expires. The bar of the others ends where the axis does.

    Args:
        x: from `load_holdings_summary` or `holdings_from_events`; or a History or Store that begins with the ledger.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot.holdings(lf.load_history(net), top=5).get_xlabel()
        'CC, notional fees not taken off'
    """
    return _bars(x, _HOLDINGS, "Holdings by party", "CC, notional fees not taken off", top)


@chart(holdings_from_events, giver=_GIVER, whole=True)
def holding_fees(x: ChartInput, *, top: int = 15) -> Content:
    """Draw the notional holding fees of each party as one bar, unlocked and locked stacked, the largest first.

    Of a frame with several snapshots the newest is drawn. Fees are notional: they are charged only when a contract
    expires, so they are never subtracted from holdings. Newer servers serve no fees: the chart says so, and
    `holdings` draws what parties hold.

    Args:
        x: from `load_holdings_summary` or `holdings_from_events`; or a History or Store that begins with the ledger.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plot.holding_fees(lf.load_history(net), top=5).get_xlabel()
        'notional fees in CC; charged only when a contract expires'
    """
    label = "notional fees in CC; charged only when a contract expires"
    return _bars(x, _FEES, "Notional holding fees by party", label, top)


def _bars(x: ChartInput, columns: tuple[str, str], title: str, label: str, top: int) -> Content:
    """The newest snapshot's unlocked and locked amounts by party; the later row where party, time and round repeat."""
    frame = x.frame(*dict.fromkeys(("record_time", "computed_as_of_round", "party_id", *_HOLDINGS, *columns)))
    moments, known = micros(frame, "record_time")
    rows = pd.DataFrame(
        {
            "party": texts(frame, "party_id").to_numpy(), "moment": moments,
            "round": floats(frame, "computed_as_of_round"), "unlocked": floats(frame, columns[0]),
            "locked": floats(frame, columns[1]),
        }
    )  # fmt: skip
    stated = known & rows[list(_PARTS)].notna().any(axis=1).to_numpy()
    holding = known & frame[list(_HOLDINGS)].notna().any(axis=1).to_numpy()
    unstated = rows[holding & ~stated]  # summaries of newer servers have no fees
    absent = len(set(rows["party"]) - set(rows["party"][stated | holding]))
    rows = rows[stated].fillna(dict.fromkeys(_PARTS, 0.0)).drop_duplicates(["party", "moment", "round"], keep="last")
    if rows.empty and unstated.empty:
        return Nothing(title, "no party has holdings in this snapshot")
    moment = int(pd.concat([rows["moment"], unstated["moment"]]).max())
    snapshots = len(rows[["moment", "round"]].drop_duplicates())
    snapshots += len(set(unstated["moment"]) - set(rows["moment"]))
    withheld = int(unstated.loc[unstated["moment"] == moment, "party"].nunique())
    rows = rows[rows["moment"] == moment]
    number = rows["round"].max()
    rows = rows if np.isnan(number) else rows[rows["round"] == number]
    when = f"at {moment_text(moment)} UTC" + ("" if np.isnan(number) else f", round {number:.0f}")
    when += f", the last of {snapshots} snapshots" if snapshots > 1 else ""
    if rows.empty:
        served = plural(withheld, "party", "parties")
        return Nothing(title, f"fees not served for {served} {when}; lf.plot.holdings draws what they hold")
    by_party = rows.set_index("party")[list(_PARTS)]
    ranking = ranked(by_party.sum(axis=1), top)
    table = by_party.groupby(ranking.folded(by_party.index.to_series()).to_numpy()).sum().reindex(list(ranking.names))
    left_out = f", {plural(absent, 'other')} without holdings" if absent else ""
    left_out += f", fees not served for {plural(withheld, 'other')}" if withheld else ""
    return Bars(
        title, f"{plural(len(rows), 'party', 'parties')}{left_out}, {when}", Axis(label, "amount", "CC"),
        ranking.names, ranking.lengths(),
        tuple(Series(name, name, table[name].to_numpy(np.float64), hue) for hue, name in enumerate(_PARTS)),
        tuple(amount_text(float(total)) for total in table.sum(axis=1)), rest=ranking.rest is not None,
    )  # fmt: skip

"""Holdings summaries prepared for charts: one row per party, record time and round; called by `holdings`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from ledgerframes.plot.reading import Given, floats, micros, texts
from ledgerframes.plot.time_bins import moment_text

GIVER: Final = "lf.load_holdings_summary(net, parties)"
FEES: Final = ("accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked")
HOLDINGS: Final = ("total_unlocked_coin", "total_locked_coin")


@dataclass(frozen=True)
class Amounts:
    """Unlocked and locked amounts of each party at each moment, as floats.

    Attributes:
        rows: party, moment (microseconds), round (NaN where unknown), unlocked, locked, held; only where one of the
            two amounts is stated.
        absent: how many parties hold nothing, as far as is known.
        unstated: party and moment of holdings without the amounts: summaries of newer servers have no fees.
    """

    rows: pd.DataFrame
    absent: int
    unstated: pd.DataFrame

    def latest(self) -> tuple[pd.DataFrame, str]:
        """The rows of the newest snapshot, its newest round, and in words which that is."""
        moment = self.newest()
        rows = self.rows[self.rows["moment"] == moment]
        number = rows["round"].max()
        if not np.isnan(number):
            rows = rows[rows["round"] == number]
        snapshots = len(self.rows[["moment", "round"]].drop_duplicates())
        snapshots += len(set(self.unstated["moment"]) - set(self.rows["moment"]))
        words = f"at {moment_text(int(moment))} UTC" + ("" if np.isnan(number) else f", round {number:.0f}")
        return rows, words + (f", the last of {snapshots} snapshots" if snapshots > 1 else "")

    def newest(self) -> int:
        """The moment of the newest snapshot."""
        return int(pd.concat([self.rows["moment"], self.unstated["moment"]]).max())

    def withheld(self) -> int:
        """How many parties hold something in the newest snapshot whose amounts it does not state."""
        return int(self.unstated.loc[self.unstated["moment"] == self.newest(), "party"].nunique())


def amounts(x: Given, columns: tuple[str, str]) -> Amounts:
    """Read two amount columns of holdings summaries, the later row where party, record time and round repeat.

    Raises:
        InputError: it is not such a frame, or a cell is not an amount or not a time.
    """
    needed = ("record_time", "computed_as_of_round", "party_id", *HOLDINGS, *columns)
    frame = x.frame(*dict.fromkeys(needed))
    moments, known = micros(frame, "record_time")
    held = np.nan_to_num(floats(frame, HOLDINGS[0])) + np.nan_to_num(floats(frame, HOLDINGS[1]))
    rows = pd.DataFrame(
        {
            "party": texts(frame, "party_id").to_numpy(),
            "moment": moments,
            "round": floats(frame, "computed_as_of_round"),
            "unlocked": floats(frame, columns[0]),
            "locked": floats(frame, columns[1]),
            "held": held,
        }
    )
    there = known & rows[["unlocked", "locked"]].notna().any(axis=1).to_numpy()
    holding = known & frame[list(HOLDINGS)].notna().any(axis=1).to_numpy()
    unstated = rows[holding & ~there]
    absent = len(set(rows["party"]) - set(rows["party"][there | holding]))
    rows = rows[there].fillna({"unlocked": 0.0, "locked": 0.0})
    return Amounts(rows.drop_duplicates(["party", "moment", "round"], keep="last"), absent, unstated)

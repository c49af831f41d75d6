"""`sv_rewards`: the rewards of super validators, by round and beneficiary."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.form import from_opening, given
from ledgerframes.economics.reading.amounts import narrow, wide
from ledgerframes.economics.reading.lifetimes import Lifetimes
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.source import source_of_events
from ledgerframes.economics.reading.tree import Tree
from ledgerframes.economics.reward_kinds import KINDS
from ledgerframes.economics.rewards import reward_rows
from ledgerframes.economics.rounds import ISSUANCE, rounds_of
from ledgerframes.frames import As, Decimals
from ledgerframes.tables.rounds_and_rewards import SV_REWARDS


@from_opening
def sv_rewards(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Sum the rewards of super validators by round, super validator and beneficiary.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        opening: contracts active before the events, rounds among them; see `rewards`.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row per round, super validator and beneficiary, in this order, with the columns of
        `lf.describe("sv_rewards")`: amounts in coin, null while the round is not known to issue.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     rewards = lf.sv_rewards(lf.load_events(net))
        >>> rewards.columns.to_list()
        ['round', 'sv', 'beneficiary', 'weight', 'amount', 'outcome']
    """
    source, notes = source_of_events(events), NotUnderstood()
    known = rounds_of(source, opening, notes, ISSUANCE)
    templates = [template for template, kind in KINDS.items() if kind.name == "sv"]
    lives = Lifetimes.of(source, templates, opening)
    rows = reward_rows(lives, Tree.of(source, lives.ends["update_id"]), known, notes)
    keys = ["round", "sv", "beneficiary"]
    rows = rows.rename_columns({"provider": "sv"}).select([*keys, "weight", "amount", "outcome"])
    for name in ("weight", "amount"):
        rows = rows.set_column(rows.column_names.index(name), name, wide(rows[name]))
    whole = pc.ScalarAggregateOptions(skip_nulls=False, min_count=0)
    every = pc.CountOptions(mode="all")
    sums = rows.group_by(keys).aggregate(
        [("weight", "sum", whole), ("amount", "sum", whole), ("outcome", "count_distinct", every), ("outcome", "max")]
    )
    # max skips nulls, so one null beside another outcome is a mixture too
    outcome = pc.if_else(pc.equal(sums["outcome_count_distinct"], 1), sums["outcome_max"], "mixed")
    by_round = pa.table(
        {name: sums[name] for name in keys}
        | {"weight": narrow(sums["weight_sum"]), "amount": narrow(sums["amount_sum"]), "outcome": outcome}
    ).sort_by([(name, "ascending") for name in keys])
    return given(
        by_round, SV_REWARDS, source, notes, as_=as_, decimals=decimals, without_create=lives.without_create()
    )  # fmt: skip

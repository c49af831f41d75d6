"""The sections of the report about the coin: balances, transfers, rewards, supply and burn; `sections` lists them."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import wraps
from typing import Any, Final

import pandas as pd

from ledgerframes import plot
from ledgerframes.apps.html_report.headlines import edges, known_part, known_total, total
from ledgerframes.apps.html_report.page import Section, listed, table, text
from ledgerframes.apps.html_report.report_data import ReportData
from ledgerframes.errors import InputError, PartialResultError
from ledgerframes.models.computing import not_understood
from ledgerframes.number_format import amount_text, plural
from ledgerframes.plot.coin import CAUSES, KINDS
from ledgerframes.plot.supply import largest_balances

_HOLDERS: Final = 12
_FEW: Final = 3  # holders, for which no concentration is stated
_OPENING: Final = re.compile(r"(?:,? or|;) (?:give )?opening=[^;]*")
Make = Callable[[ReportData], Section]


def reason(error: Exception) -> str:
    """Why a table cannot be computed, without the opening, which a report does not take."""
    return _OPENING.sub("", str(error))


def titled(title: str) -> Callable[[Callable[[ReportData], list[str] | str]], Make]:
    """A titled section, from a function that returns its parts, or a sentence that explains why there are none.

    If it cannot be built for a range, it says why.
    """

    def decorated(made: Callable[[ReportData], list[str] | str]) -> Make:
        @wraps(made)
        def section(report_data: ReportData) -> Section:
            try:
                # Sums of amounts have more digits than Python keeps by default.
                with localcontext(prec=60):
                    parts = made(report_data)
            except (PartialResultError, InputError) as error:
                parts = f"This cannot be shown for this range: {reason(error)}."
            return Section(title, [text(parts, quiet=True)] if isinstance(parts, str) else parts)

        return section

    return decorated


@titled("Balances")
def balances(report_data: ReportData) -> list[str] | str:
    """Balances of the largest holders over time."""
    events = report_data.events if len(report_data.events) else report_data.whole.events
    known = largest_balances(report_data.models, events["record_time"], _HOLDERS, opening=report_data.opening)
    if not known.attrs["holders"]:
        return "Nobody holds coin in this range."
    over_time = known if report_data.period.start is None else known[known["time"] >= report_data.period.start]
    return [
        text("Unlocked and locked coin; notional holding fees are not taken off.", quiet=True),
        report_data.chart(plot.balances, over_time, "What the largest holders hold over time"),
    ]


@titled("Transfers")
def transfers(report_data: ReportData) -> list[str] | str:
    """Payments between parties."""
    rows = report_data.of("transfers")
    others = rows[rows["sender"] != rows["receiver"]]
    if others.empty:
        return "No party paid coin to another in this range. Take a longer range: transfers are read from events."
    named = others.assign(
        sender=others["sender"].fillna("unknown"), receiver=others["receiver"].fillna("unknown"), transfers=1
    )
    pairs = named.groupby(["sender", "receiver"], as_index=False).agg({"transfers": "sum", "amount": known_part})
    return [
        report_data.chart(plot.transfers, rows, "Which parties paid which"),
        table(largest(pairs, "amount"), "The largest sums, in CC", most=15),
        *_not_understood(rows),
    ]


@titled("Rewards")
def rewards(report_data: ReportData) -> list[str] | str:
    """The rewards earned, and their outcome."""
    rows = report_data.of("reward_flows")
    if rows.empty:
        return "No reward was created or ended in this range. Take a longer range: rewards are read from events."
    worth = list(zip(rows["amount"], rows["amount_usd"], strict=True))
    of_each = (
        rows.assign(kind=rows["kind"].fillna("not known").replace(KINDS), worth=worth)
        .groupby(["event", "kind"], as_index=False)
        .agg(coupons=("coupons", "sum"), amount=("amount", known_part), amount_usd=("worth", _worth))
    )
    title = "Rewards created, claimed or expired in this range, in CC and USD; only claimed ones were paid"
    return [
        report_data.chart(plot.rewards, rows, "Rewards over time, by what became of them"),
        table(largest(of_each, "amount"), title),
        listed(edges(report_data, "rewards")),
        *_not_understood(rows),
    ]


@titled("Coin supply")
def coin_supply(report_data: ReportData) -> list[str] | str:
    """Minting and burning per round, and the supply after it."""
    whole = report_data.table("supply_per_round")
    rows = whole if report_data.period.start is None else report_data.period.of(whole, "opened_at")
    if rows.empty:
        return "No update of a known round mints or burns coin in this range. Take a longer range, with its rounds."
    parts = [report_data.chart(plot.coin_supply, rows, "Coin minted and burned per round, and the supply after it")]
    if rows is not whole:
        words = "The chart and the table have the rounds that opened in this range, whose updates come later"
        parts.append(text(f"{words}; the sums below are of the range itself.", quiet=True))
    if rows["total"].isna().all():
        words = "The supply after each round is not known without the history from ledger begin"
        parts.append(text(f'{words}: sync or load with start="begin".', quiet=True))
    columns = ["round", "opened_at", "minted", "burned", "net_change", "unexplained", "total"]
    flows = report_data.of("mint_burn")  # a round that opens in a period mints after it, too
    return [
        *parts, text(burned_of_minted(flows)), text(unexplained(flows["unexplained"])),
        listed(edges(report_data, "supply_per_round")),
        table(rows[columns].iloc[::-1], "The latest rounds, in CC", most=10), *_not_understood(rows),
    ]  # fmt: skip


@titled("Coin burned")
def burn(report_data: ReportData) -> list[str] | str:
    """The purposes of burned coin."""
    rows = report_data.of("mint_burn")
    causes = {f"burned_{cause}": words for cause, words in CAUSES.items()}
    # Of what is not known in part, a sum of 0 would say that nothing was burned.
    coin = [total(rows[name]) or (None if rows[name].isna().any() else Decimal(0)) for name in causes]
    sums = pd.DataFrame({"cause": causes.values(), "coin": coin}).astype({"coin": "object"})
    unknown = int(rows[list(causes)].isna().any(axis=1).sum())
    left_out = f"What {plural(unknown, 'update')} burned is not known, and is left out here." if unknown else ""
    if not any(coin):
        none = left_out and f"No coin is known to have been burned in this range. {left_out}"
        return none or (
            "No update burns coin in this range. Take a longer range: traffic, names, fees and expiries burn coin."
        )
    return [
        report_data.chart(plot.burn, rows, "Coin burned over time, by cause"),
        *([text(left_out)] if left_out else []),
        table(largest(sums, "coin"), "Coin burned by cause, in CC"),
        *_not_understood(rows),
    ]


def _worth(pairs: pd.Series) -> Decimal | None:
    return known_total(*zip(*pairs, strict=True))


def burned_of_minted(rows: pd.DataFrame) -> str:
    """The share of minted coin that was burned."""
    kinds = ("minted_", "burned_")
    minted, burned = (total(total(rows[name]) for name in rows if name.startswith(kind)) for kind in kinds)
    if unknown := int(rows[[name for name in rows if name.startswith(kinds)]].isna().any(axis=1).sum()):
        known = f"{amount_text(float(burned))} CC are known to have been burned, {amount_text(float(minted))} CC minted"
        return f"{known}; of {plural(unknown, 'update')} that is not known."
    share = f"{float(burned / minted):.1%} of the {amount_text(float(minted))} CC minted" if minted else "none minted"
    return f"{amount_text(float(burned))} CC were burned, {share}."


def concentration(amounts: pd.Series) -> str:
    """How much the largest holders have, and the Gini coefficient: 0 if all have the same, near 1 if one has all."""
    balances = sorted((float(amount) for amount in amounts.dropna() if amount > 0), reverse=True)
    if len(balances) < _FEW:
        return ""
    whole = sum(balances)
    gini = 1 - sum((2 * place + 1) * amount for place, amount in enumerate(balances)) / (len(balances) * whole)
    shares = [
        f"the {count} largest {sum(balances[:count]) / whole:.1%}" for count in (10, 100) if count < len(balances)
    ]
    largest = ", ".join([f"the largest has {balances[0] / whole:.1%}", *shares])
    return f"Of {len(balances):,} holders {largest} of all; Gini coefficient {gini:.2f}."


def largest(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows by the size of a column, the largest first."""
    return rows.sort_values(name, ascending=False, kind="stable")


def unexplained(changes: pd.Series) -> str:
    """The part of the change in supply that minting and burning do not explain."""
    unknown = int(changes.isna().sum())
    sentence = f"Minting and burning leave {amount_text(float(total(changes)))} CC of the change in supply unexplained"
    return sentence + (f"; in {plural(unknown, 'update')} that is not known." if unknown else ".")


def _not_understood(rows: Any) -> list[str]:
    """Contents that no model knows, by their most frequent names."""
    words = not_understood(rows)
    return [text(words, quiet=True)] if words else []

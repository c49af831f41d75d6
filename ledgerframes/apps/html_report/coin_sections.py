"""The sections of the report about the coin: balances, transfers, rewards, supply and burn; `sections` lists them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import partial, wraps
from typing import Any, Final

import pandas as pd

from ledgerframes import plot
from ledgerframes.apps.html_report.charts import chart
from ledgerframes.apps.html_report.headlines import edges, known_total
from ledgerframes.apps.html_report.material import Material
from ledgerframes.apps.html_report.page import Section, table, text
from ledgerframes.errors import InputError, PartialResultError
from ledgerframes.models.coin_stocks import balances_over_time, coin_history
from ledgerframes.number_format import amount_text, plural
from ledgerframes.plot.coin import words_of_kind

_FROM_BEGIN: Final = 'they need the history from ledger begin: sync or load with start="begin"'
_HOLDERS: Final = 12
_FEW: Final = 3  # holders, of which no concentration is said
#: Names that a sentence lists.
_NAMED: Final = 5
_TIMES: Final = 120
_STEPS: Final = ("1s", "10s", "1min", "10min", "1h", "6h", "1D", "7D", "28D", "91D", "364D", "3640D")
Make = Callable[[Material], Section]


def _titled(title: str) -> Callable[[Callable[[Material], list[str]]], Make]:
    """A section of a title, which has the reason where it cannot be made."""

    def decorated(parts: Callable[[Material], list[str]]) -> Make:
        @wraps(parts)
        def section(material: Material) -> Section:
            try:
                # Sums of amounts have more digits than Python keeps by default.
                with localcontext(prec=60):
                    return Section(title, parts(material))
            except (PartialResultError, InputError) as error:
                return Section(title, [text(f"This cannot be shown for this range: {error}", quiet=True)])

        return section

    return decorated


@_titled("Balances")
def balances(material: Material) -> list[str]:
    """What the largest holders held over time."""
    try:
        held = coin_history(material.models, decimals="exact")
    except PartialResultError as error:
        return [text(f"Balances cannot be computed from this range, since {_FROM_BEGIN}. {error}", quiet=True)]
    held = held[held["ended_at"].isna()]
    if held.empty:
        return [text("Nobody holds coin in this range.", quiet=True)]
    holders = _sums(held, "owner", "amount")["owner"].tolist()
    step = _step(material.events if len(material.events) else material.whole.events)
    known = balances_over_time(material.models, every=step, parties=holders[:_HOLDERS], decimals="exact")
    over_time = known[known["time"] >= material.period.start] if material.period.start is not None else known
    over_time.attrs["holders"] = len(holders)
    return [
        text("Unlocked and locked coin; notional holding fees are not taken off.", quiet=True),
        chart(
            partial(plot.balances, over_time), "What the largest holders hold over time",
            interactive=material.interactive,
        ),
    ]  # fmt: skip


@_titled("Transfers")
def transfers(material: Material) -> list[str]:
    """Who paid whom."""
    rows = material.period.of(material.transfers, "record_time")
    others = rows[rows["sender"] != rows["receiver"]]
    if others.empty:
        advice = "No party paid coin to another in this range. Take a longer range: transfers are read from events."
        return [text(advice, quiet=True)]
    named = others.assign(
        sender=others["sender"].fillna("unknown"), receiver=others["receiver"].fillna("unknown"), transfers=1
    )
    pairs = named.groupby(["sender", "receiver"], as_index=False).agg({"transfers": "sum", "amount": _total})
    return [
        chart(partial(plot.transfers, rows), "Which parties paid which", interactive=material.interactive),
        table(_largest(pairs, "amount"), "The largest sums, in CC", most=15),
        *_not_understood(rows),
    ]


@_titled("Rewards")
def rewards(material: Material) -> list[str]:
    """Which rewards were earned, and what became of them."""
    rows = material.period.of(material.reward_flows, "record_time")
    if rows.empty:
        advice = "No reward was created or ended in this range. Take a longer range: rewards are read from events."
        return [text(advice, quiet=True)]
    named = rows.assign(
        kind=rows["kind"].map(words_of_kind), worth=list(zip(rows["amount"], rows["amount_usd"], strict=True))
    )
    sums = named.groupby(["event", "kind"], as_index=False)
    of_each = sums.agg(coupons=("coupons", "sum"), amount=("amount", _total), amount_usd=("worth", _worth))
    title = "Rewards by the time at which they were created, claimed or expired; only claimed ones were paid"
    return [
        chart(
            partial(plot.rewards, rows), "Rewards over time, by what became of them", interactive=material.interactive
        ),
        table(_largest(of_each, "amount"), title),
        *edges(material.rewards, "coupons"),
        *_not_understood(rows),
    ]


@_titled("Coin supply")
def coin_supply(material: Material) -> list[str]:
    """What each round minted and burned, and the supply after it."""
    rows = material.supply_per_round
    rows = rows if material.period.start is None else material.period.of(rows, "opened_at")
    if rows.empty:
        advice = "No update of a known round mints or burns coin in this range. Take a longer range, with its rounds."
        return [text(advice, quiet=True)]
    words = "Coin minted and burned per round, and the supply after it"
    parts = [chart(partial(plot.coin_supply, rows), words, interactive=material.interactive)]
    if rows["total"].isna().all():
        parts.append(text(f"The supply after each round is not known: for that {_FROM_BEGIN[5:]}.", quiet=True))
    columns = ["round", "opened_at", "minted", "burned", "net_change", "unexplained", "total"]
    parts += [
        text(burned_of_minted(rows)),
        text(unexplained(rows["unexplained"])),
        *edges(material.supply_per_round, "coins"),
    ]
    return [*parts, table(rows[columns].iloc[::-1], "The latest rounds, in CC", most=10), *_not_understood(rows)]


@_titled("Coin burned")
def burn(material: Material) -> list[str]:
    """What coin was burned for."""
    rows = material.period.of(material.mint_burn, "record_time")
    causes = [name for name in rows.columns if name.startswith("burned_")]
    sums = pd.DataFrame({"cause": [name[7:] for name in causes], "coin": [_total(rows[name]) for name in causes]})
    if not any(sums["coin"]):
        advice = "No update burns coin in this range. Take a longer range: traffic, names, fees and expiries burn coin."
        return [text(advice, quiet=True)]
    return [
        chart(partial(plot.burn, rows), "Coin burned over time, by cause", interactive=material.interactive),
        table(_largest(sums, "coin"), "Coin burned by cause"),
        *_not_understood(rows),
    ]


def _sums(rows: pd.DataFrame, by: str, name: str) -> pd.DataFrame:
    return _largest(rows.groupby(by, as_index=False).agg({name: _total}), name)


def _total(amounts: pd.Series) -> Decimal:
    return sum(amounts.dropna(), Decimal(0))


def _worth(pairs: pd.Series) -> Decimal | None:
    return known_total(*zip(*pairs, strict=True))


def burned_of_minted(rows: pd.DataFrame) -> str:
    """How much was burned for what was minted."""
    minted, burned = _total(rows["minted"]), _total(rows["burned"])
    coin = f"{amount_text(float(burned))} CC were burned and {amount_text(float(minted))} CC minted"
    return f"{coin}: {float(burned / minted):.1%} of it." if minted else f"{coin}."


def concentration(amounts: pd.Series) -> str:
    """How much the largest holders have, and the Gini coefficient: 0 if all have the same, near 1 if one has all."""
    held = sorted((float(amount) for amount in amounts.dropna() if amount > 0), reverse=True)
    if len(held) < _FEW:
        return ""
    whole = sum(held)
    gini = 1 - sum((2 * place + 1) * amount for place, amount in enumerate(held)) / (len(held) * whole)
    shares = [f"the {count} largest {sum(held[:count]) / whole:.1%}" for count in (10, 100) if count < len(held)]
    said = ", ".join([f"the largest has {held[0] / whole:.1%}", *shares])
    return f"Of {len(held):,} holders {said} of all; Gini coefficient {gini:.2f}."


def _largest(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    return rows.sort_values(name, ascending=False, kind="stable")


def _step(events: pd.DataFrame) -> str:
    """How far times are apart, so that a picture has enough of them and not too many."""
    times = events["record_time"]
    span = times.max() - times.min()
    return next((step for step in _STEPS if span / pd.Timedelta(step) <= _TIMES), _STEPS[-1])


def unexplained(changes: pd.Series) -> str:
    """How much of the change of supply is not explained by what was minted and burned."""
    unknown = int(changes.isna().sum())
    said = f"Of the change of supply {amount_text(float(_total(changes)))} CC are not explained by minting and burning"
    return said + (f"; of {plural(unknown, 'other')} it is not known." if unknown else ".")


def _not_understood(rows: Any) -> list[str]:
    """What no model knows, by its most frequent names."""
    counts = rows.attrs["not_understood"]
    words = f"{sum(counts.values()):,} templates, choices or members are unknown to this version and are not in these"
    words += f" figures: {', '.join(list(counts)[:_NAMED])}{' and others' if len(counts) > _NAMED else ''}."
    return [text(words, quiet=True)] if counts else []

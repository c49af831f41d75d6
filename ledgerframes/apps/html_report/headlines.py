"""The report's first screen: what happened, in figures, each with its change against the period before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import partial
from typing import Any, Final

import pandas as pd

from ledgerframes.apps.html_report.page import Section, listed, text
from ledgerframes.apps.html_report.report_data import Period, ReportData
from ledgerframes.errors import LedgerframesError
from ledgerframes.number_format import amount_text, count_text, plural
from ledgerframes.showing import escape

Amount = int | Decimal | None
#: A figure, and its value in USD if that is meaningful and known.
Worth = tuple[Amount, Decimal | None]
Measure = Callable[[ReportData, Period], Worth]


@dataclass(frozen=True)
class Figure:
    """One headline.

    Attributes:
        name: the name of the figure.
        unit: in what.
        value: for the period; None if unknown.
        before: for the period before; None if unknown.
        usd: the value in USD, at the price of each round; None if a price is unknown.
    """

    name: str
    unit: str
    value: Amount
    before: Amount = None
    usd: Decimal | None = None

    def shown(self) -> str:
        """The value for people."""
        if self.value is None:
            return "not known"
        return count_text(self.value) if isinstance(self.value, int) else amount_text(float(self.value))

    def exact(self) -> str:
        """The value to the last digit."""
        return "" if self.value is None else f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:,f}"

    def change(self) -> str:
        """The change from the period before, in words; empty if either is unknown."""
        if self.value is None or self.before is None:
            return ""
        if not self.before:
            return "0 before" if self.value else "no change"
        value, before = Decimal(self.value), Decimal(self.before)
        share = float((value - before) / abs(before))
        if abs(share) < 0.0005:
            return "no change"
        arrow = "▲" if share > 0 else "▼"
        return f"{arrow} {abs(share):,.1%}" if abs(share) < 10 else f"{arrow} {float(value / before):,.0f}-fold"


def lacks(attrs: Mapping[str, Any]) -> list[str]:
    """Lines on what is missing of the range or before it, from the attributes of frames."""
    begins = attrs.get("begins_late")
    line = f"The history begins late, at {begins}: older updates were pruned, or never stored there."
    parts = [text(line, quiet=True)] if begins else []
    if attrs.get("complete") is False:
        parts.append(text("A part of this range is missing: all figures are of what there is of it."))
    return parts


def summary(report_data: ReportData) -> Section:
    """The key figures of the period."""
    if report_data.updates.empty:
        return Section("What happened", [text("There is no update in this range.", quiet=True)])
    times, period, before = report_data.updates["record_time"], report_data.period, report_data.before
    first, last = period.start or times.min(), period.end or times.max()
    words = f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC"
    if before is not None and before.start is not None:
        words += f", compared with the same length of time before, from {before.start:%Y-%m-%d %H:%M}"
    with localcontext(prec=60):
        cards = "".join(map(_card, figures(report_data)))
        across = _across(report_data)
    parts = [text(words, quiet=True), *lacks(report_data.updates.attrs), f"<div class='figures'>{cards}</div>"]
    return Section("What happened", [*parts, listed(across)])


def legs_across(flows: pd.DataFrame) -> dict[str, str]:
    """How many reassignments cross each end of the range, in words; the command line says so, too."""
    edges: Mapping[str, Any] = flows.attrs["edges"]
    under_way, begun = edges["open_at_end"]["in_flight"], edges["began_before"]["rows"]
    words = {}
    if under_way:
        number = plural(under_way, "reassignment is", "reassignments are")
        words["end"] = f"{number} under way at the end{_since(flows)}"
    if begun:
        words["start"] = f"{plural(begun, 'reassignment')} may have begun before what is known"
    return words


def _since(rows: pd.DataFrame) -> str:
    """Words on those that a count at the end of a range leaves out, if it begins after the ledger."""
    late = rows.attrs.get("from_beginning", False) is False
    return ", not counting those that began before what is known" if late else ""


def _across(report_data: ReportData) -> dict[str, bool]:
    """Reassignments, coupons and coins that cross the ends of the range, by whether each sentence is quiet."""
    lines = {f"{words}.": edge == "end" for edge, words in legs_across(report_data.flows).items()}
    for name in EDGED:
        with suppress(LedgerframesError):  # their sections have the reason
            lines |= edges(report_data, name)
    return lines


#: Tables with contracts that cross the ends of a range: the contracts' name, and what those open at its end are.
EDGED: Final = {"rewards": ("coupons", "open"), "supply_per_round": ("coins", "unspent")}


def edges(report_data: ReportData, name: str) -> dict[str, bool]:
    """Rows of a table that began before the known history and ended in it, if not all are known, and open ones."""
    rows, (things, state) = report_data.table(name), EDGED[name]
    if "edges" not in rows.attrs:  # rows that a lake keeps
        return {}
    before, still = rows.attrs["edges"]["began_before"], rows.attrs["edges"]["open_at_end"]
    words = f"At the end, {still['rows']:,} {things} worth {amount_text(float(still['coin']))} CC are {state}"
    words += _since(rows) if report_data.opening is None else ""
    words += f"; the worth of {still['not_known']:,} of them is not known yet." if still["not_known"] else "."
    lost = f"{report_data.edged_from}{plural(before['rows'], things[:-1])} began before what is known and ended in it"
    lost += f"; the worth of {before['not_known']:,} of them is not known" if before["not_known"] else ""
    if before["rows"] > before["not_known"]:
        others = "the others" if before["not_known"] else "they"
        lost += f"; {others} were worth {amount_text(float(before['coin']))} CC"
    lost += "."
    return {words: True} | ({lost: False} if before["without_create"] else {})


def figures(report_data: ReportData) -> list[Figure]:
    """The headline figures of a period."""
    made: list[Figure] = []
    for name, unit, measure in _MEASURES:
        value, usd = _known(measure, report_data, report_data.period)
        before = None if report_data.before is None else _known(measure, report_data, report_data.before)[0]
        made.append(Figure(name, unit, value, before, usd))
    return [*made, *_states(report_data)]


def _known(measure: Measure, report_data: ReportData, period: Period) -> Worth:
    try:
        return measure(report_data, period)
    except LedgerframesError:
        return None, None


def _updates(report_data: ReportData, period: Period) -> Worth:
    return len(period.of(report_data.whole.updates, "record_time")), None


def _reassigned(report_data: ReportData, period: Period) -> Worth:
    return len(period.of(report_data.flows, "moment")), None


def _acting(report_data: ReportData, period: Period) -> Worth:
    parties = period.of(report_data.whole.events, "record_time")["acting_parties"].dropna()
    return len(set().union(*parties)) if len(parties) else 0, None


def _paid(report_data: ReportData, period: Period) -> Worth:
    rows = period.of(report_data.table("transfers"), "record_time")
    others = rows[rows["sender"] != rows["receiver"]]
    if others["amount"].isna().any():
        return None, None
    return total(others["amount"]), known_total(others["amount"], others["amount_usd"])


def _changed(report_data: ReportData, period: Period, beginning: str) -> Worth:
    """The sum of the columns of `mint_burn` that begin so, in USD with each update at the price of its round.

    None if a part is unknown.
    """
    rows = period.of(report_data.table("mint_burn"), "record_time")
    names = [name for name in rows.columns if name.startswith(beginning)]
    if rows[names].isna().any(axis=None):
        return None, None
    coin = [total(row) for row in rows[names].itertuples(index=False)]
    prices = zip(coin, rows["amulet_price_usd"], strict=True)
    return total(coin), known_total(coin, [one * price if price is not None else None for one, price in prices])


def _unexplained(report_data: ReportData, period: Period) -> Worth:
    """The value that neither minting nor burning explains in this version; None if a part is unknown."""
    changes = period.of(report_data.table("mint_burn"), "record_time")["unexplained"]
    return None if changes.isna().any() else total(changes), None


_MEASURES: Final[tuple[tuple[str, str, Measure], ...]] = (
    ("Updates", "transactions and legs of reassignments", _updates),
    ("Reassignments", "of a contract, between synchronizers", _reassigned),
    ("Active parties", "that acted in a transaction", _acting),
    ("Paid between parties", "CC", _paid),
    ("Minted", "CC", partial(_changed, beginning="minted_")),
    ("Burned", "CC", partial(_changed, beginning="burned_")),
)


def _states(report_data: ReportData) -> list[Figure]:
    """The state at the end of the period, compared with its beginning."""
    explained = Figure(
        "Unexplained", "CC of the change of supply", _known(_unexplained, report_data, report_data.period)[0]
    )
    try:
        supply = _supply(report_data)
    except LedgerframesError:
        supply = Figure("Supply", "CC", None)
    return [supply, explained, _validators(report_data)]


def _supply(report_data: ReportData) -> Figure:
    """The supply at the end of the period and at its beginning: that of the known history less what changed since."""
    start, end = report_data.period.start, report_data.period.end
    whole, flows = report_data.table("supply")["total"].iloc[0], report_data.table("mint_burn")

    def at(time: pd.Timestamp | None) -> Decimal | None:
        later = [] if time is None else flows.loc[flows["record_time"] >= time, "net_change"]
        known = all(isinstance(value, Decimal) for value in [whole, *later])
        return whole - total(later) if known else None

    value = at(end)
    rounds = Period(None, end).of(report_data.table("supply_per_round"), "opened_at")
    price = rounds["amulet_price_usd"].iloc[-1] if len(rounds) else None
    usd = round(value * price, 10) if isinstance(value, Decimal) and isinstance(price, Decimal) else None
    return Figure("Supply", "CC", value, None if start is None else at(start), usd)


def _validators(report_data: ReportData) -> Figure:
    """The number of licensed validators, by the newest snapshot, or by the history if it begins with the ledger."""
    licenses = report_data.snapshot("licenses")
    if licenses is not None:
        newest = licenses[licenses["loaded_at"] == licenses["loaded_at"].max()]
        return Figure("Validators", f"with a license,\n{as_of(newest)}", int(newest["validator"].nunique()))
    growth = report_data.validators
    return Figure("Validators", "with a license", None if growth is None else int(growth["new"].sum()))


def as_of(snapshot: pd.DataFrame, column: str = "loaded_at") -> str:
    """When the newest rows of a snapshot table were loaded, or the time in a column."""
    return f"as of {snapshot[column].max():%Y-%m-%d %H:%M} UTC"


def total(amounts: Iterable[Any]) -> Decimal:
    """The sum of amounts without those that are not known."""
    return sum((amount for amount in amounts if isinstance(amount, Decimal)), Decimal(0))


def known_part(amounts: Iterable[Any]) -> Decimal | None:
    """The sum of the amounts that are known; None if there are others alone."""
    there = list(amounts)
    return total(there) if not there or any(isinstance(amount, Decimal) for amount in there) else None


def known_total(amounts: Iterable[Any], worth: Iterable[Any]) -> Decimal | None:
    """The total value of amounts; None if one of them, unless it is 0, has no known value."""
    sums = [usd for amount, usd in zip(amounts, worth, strict=True) if isinstance(amount, Decimal) and amount]
    return sum(sums, Decimal(0)) if all(isinstance(usd, Decimal) for usd in sums) else None


def _card(figure: Figure) -> str:
    value = f"<b title='{escape(figure.exact())}'>{escape(figure.shown())}</b>"
    lines = [] if figure.value is None else [f"<span class='unit'>{escape(figure.unit)}</span>"]
    if figure.usd is not None:
        lines.append(f"<span class='unit' title='{figure.usd:,f}'>{escape(amount_text(float(figure.usd)))} USD</span>")
    if figure.change():
        lines.append(f"<span class='change'>{escape(figure.change())}</span>")
    kind = "figure unknown" if figure.value is None else "figure"
    return f"<div class='{kind}'><span class='name'>{escape(figure.name)}</span>{value}{''.join(lines)}</div>"

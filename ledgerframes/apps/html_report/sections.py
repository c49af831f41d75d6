"""The sections of the report; a section that cannot be made has the reason and what to type instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pandas as pd

from ledgerframes import plot
from ledgerframes.apps.html_report.coin_sections import (
    balances,
    burn,
    coin_supply,
    concentration,
    largest,
    reason,
    rewards,
    titled,
    transfers,
)
from ledgerframes.apps.html_report.headlines import as_of, lacks, summary
from ledgerframes.apps.html_report.page import Section, table, text
from ledgerframes.apps.html_report.report_data import ReportData
from ledgerframes.errors import InputError, PartialResultError
from ledgerframes.frames import attrs_of
from ledgerframes.models.holdings import holdings_from_events
from ledgerframes.models.licenses import instrument_supply, license_versions
from ledgerframes.models.payloads.catalogue import template_catalogue
from ledgerframes.models.reassignments import flow_matrix, reassignment_anomalies
from ledgerframes.number_format import plural
from ledgerframes.plot.reading import TAG

_DAYS: Final = ["time", "updates", "active_parties", "new_parties", "apps", "paid", "minted", "burned", "burned_usd"]
_VOTES: Final = ["opened_at", "requester", "action", "party", "outcome", "accepting", "rejecting", "cips"]
_HEADS: Final = {"accepting": "for", "rejecting": "against", "cips": "CIPs"}
_OF_DAYS: Final = {"time": "day (UTC)", "burned_usd": "burned, in USD", "whole": "whole day"}
_CHANGES: Final = ["record_time", "rules", "member", "before", "after"]
_NONE_REASSIGNED: Final = "No contract was reassigned in this range."


@titled("Key figures")
def key_figures(report_data: ReportData) -> list[str] | str:
    """Days of the network, shares of applications, the scorecard of validators, and whether parties come back."""
    days = report_data.days("network_daily")
    if days.empty:
        return "No day begins in this range. Take a longer range: key figures are per day in UTC."
    apps = report_data.days("app_daily")
    latest = days[[*_DAYS, "whole"]].iloc[::-1].rename(columns=_OF_DAYS)
    parts = [table(latest, "The latest days: updates, parties, and coin in CC", most=10)]
    if (apps["rewards_claimed"] > 0).any():
        parts.append(report_data.chart(plot.app_shares, apps, "The share of each application in the rewards claimed"))
    for what, add in (("The scorecard of validators", _validators), ("Whether parties come back", _weeks)):
        try:
            parts += add(report_data)
        except PartialResultError as error:
            parts.append(text(f"{what} cannot be computed from this range: {reason(error)}.", quiet=True))
    return parts


def _validators(report_data: ReportData) -> list[str]:
    days = report_data.days("validator_daily")
    words = "What validators were paid, and what they paid for traffic"
    return [report_data.chart(plot.validator_scorecard, days, words)] if len(days) else []


def _weeks(report_data: ReportData) -> list[str]:
    weeks = report_data.table("retention")
    words = "How many parties of each week came back in later ones"
    return [report_data.chart(plot.retention, weeks, words)] if (weeks["weeks_after"] > 0).any() else []


@titled("Governance")
def governance(report_data: ReportData) -> list[str] | str:
    """Decisions of super validators: votes, their price votes, and changes of the configuration."""
    votes, prices = report_data.table("votes"), report_data.of("price_votes")
    opened, changes = report_data.period.of(votes, "opened_at"), report_data.of("config_changes")
    here = votes.index.isin([*opened.index, *report_data.period.of(votes, "completed_at").index])
    rows = votes[here | (votes["outcome"] == "open").to_numpy()]
    if rows.empty and prices.empty and changes.empty:
        return "Nothing was put to the vote in this range, and no price vote was cast. Take a longer range."
    parts = [text(_outcomes(rows))]
    if len(opened):
        parts.append(report_data.chart(plot.votes, opened, "Votes that were opened over time, by what became of them"))
    if len(rows):
        latest = rows[_VOTES].iloc[::-1].assign(action=rows["action"].str.replace(TAG, "", regex=True))
        parts.append(table(latest.rename(columns=_HEADS), "The latest votes", most=15))
    if prices["median_usd"].notna().any():
        parts.append(report_data.chart(plot.price_votes, prices, "The votes for the price of the coin over time"))
    if len(changes):
        parts.append(table(changes[_CHANGES].iloc[::-1], "What changed in the configuration", most=15))
    return parts


def _outcomes(votes: pd.DataFrame) -> str:
    """The number of votes, by outcome."""
    counts = votes["outcome"].fillna("of an outcome that is not known").str.replace("_", " ").value_counts()
    listed = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return f"{plural(len(votes), 'vote')} in this range{f': {listed}' if listed else ''}."


@titled("Where this comes from")
def provenance(report_data: ReportData) -> list[str]:
    """The origin of the data."""
    attrs = report_data.updates.attrs
    known = {name: attrs[name] for name in ("source", "range", "complete", "version") if name in attrs}
    counts = {name: f"{len(getattr(report_data, name)):,}" for name in ("updates", "events", "reassignments")}
    known["complete"] = "yes" if known.get("complete") else "no"
    rows = pd.DataFrame([*known.items(), *counts.items()], columns=["what", "value"]).astype("str")
    parts = [*lacks(attrs), table(rows, whole=True)]
    if report_data.store is not None:
        covered = report_data.store.coverage()
        covered["settled"] = covered["settled"].astype(object).where(~covered["to_end"], "all rows")
        runs = report_data.store.syncs()[["sync_id", "finished_at", "complete", "requests"]]
        parts.append(table(covered, "What the store covers, in record time (UTC)"))
        parts.append(table(runs.iloc[::-1], "The latest syncs", most=5))
    return parts


@titled("Updates")
def activity(report_data: ReportData) -> list[str] | str:
    """How busy the ledger was."""
    updates = report_data.updates
    if updates.empty:
        return "There is no update in this range."
    counts = pd.crosstab(updates["migration_id"], updates["kind"]).reset_index().rename_axis(columns=None)
    drawn = report_data.chart(plot.updates, updates, "Updates over time, by kind")
    return [drawn, table(counts, "Updates by migration and kind")]


@titled("Reassignments")
def flows(report_data: ReportData) -> list[str] | str:
    """How contracts moved between synchronizers."""
    joined = report_data.period.of(report_data.flows, "moment")
    if joined.empty:
        return _NONE_REASSIGNED
    return [
        report_data.chart(plot.reassignment_flows, joined, "Reassignments from each synchronizer to each other"),
        table(_counted(joined["status"], "status"), "Reassignments by status"),
        table(flow_matrix(joined).sort_values("count", ascending=False), "Reassignments by source and target"),
        report_data.chart(plot.in_flight, joined, "How long reassignments were on their way"),
    ]


@titled("Anomalies")
def anomalies(report_data: ReportData) -> list[str] | str:
    """Anomalies that a sound ledger does not have, or that repairs leave behind, from `reassignment_anomalies`."""
    if report_data.reassignments.empty:
        return _NONE_REASSIGNED
    odd = report_data.period.of(reassignment_anomalies(report_data.legs), "record_time").sort_values("record_time")
    if odd.empty:
        legs = len(report_data.period.of(report_data.reassignments, "record_time"))
        return f"No contradictions in {plural(legs, 'leg')} of reassignments."
    parts = [
        table(_counted(odd["anomaly"], "anomaly"), "Legs by anomaly"),
        table(odd[["anomaly", "contract_id", "record_time", "detail"]], "The earliest of them", most=10),
    ]
    if attrs_of(report_data.legs).get("from_beginning") is not True:
        words = "The history here begins later than the ledger, so an unassignment may lie before it."
        parts.append(text(words, quiet=True))
    return parts


@titled("Templates")
def templates(report_data: ReportData) -> list[str] | str:
    """The contracts by template."""
    if report_data.events.empty:
        return "There is no event in this range."
    columns = ["template_name", "package_names", "creates", "exercises", "consuming", "choices"]
    catalogue = template_catalogue(report_data.events, sample=1)[columns]  # no fields, so no payload has to be read
    return [table(largest(catalogue, "creates"), "Templates with the most creates", most=15)]


@titled("Holdings")
def holdings(report_data: ReportData) -> list[str] | str:
    """Holdings of coin by party, and the notional fees."""
    try:
        # A store's legs reach as far as its events; those of a history in memory are checked with it.
        data = report_data.source if report_data.store is None else report_data.models
        balances = holdings_from_events(data, opening=report_data.opening, decimals="exact")
        origin = "Computed exactly, from the history alone."
        spread = concentration(balances["total_coin_holdings"])
    except (PartialResultError, InputError) as error:
        snapshot = report_data.snapshot("holdings_summary")
        if snapshot is None:
            advice = "or sync snapshots: store.sync(net, tables=['holdings_summary'], parties=[...])"
            return f"Holdings cannot be derived from this range: {reason(error)}; {advice}."
        balances = snapshot[snapshot["loaded_at"] == snapshot["loaded_at"].max()]
        origin = f"From the servers' summary of the parties asked for, {as_of(balances, 'record_time')}."
        spread = ""  # others hold coin, too
    if balances.empty:
        return "Nobody holds coin in this range."
    by_size = balances.sort_values("total_coin_holdings", ascending=False, key=lambda column: column.astype(float))
    columns = ["party_id", "total_coin_holdings", "total_unlocked_coin", "total_locked_coin"]
    columns += ["accumulated_holding_fees_total"]
    words = f"{origin} Fees are notional: they are charged when a contract expires, not on transfers."
    return [
        text(words, quiet=True),
        report_data.chart(plot.holdings, balances, "Holdings by party"),
        *([text(spread)] if spread else []),
        table(by_size[columns], "The largest holders, in CC", most=15),
    ]


@titled("Validators")
def licenses(report_data: ReportData) -> list[str] | str:
    """Validators over time, or over the rounds of their first coupons, and their releases."""
    snapshot, growth = report_data.snapshot("licenses"), report_data.validators
    advice = "No snapshot of licenses is stored; add them: store.sync(net, tables=['licenses'])."
    if snapshot is None:
        if growth is None or growth.empty:
            return advice
        words = f"Validators that received a license, from the history. {advice[:-1]} for the releases that they run."
        return [report_data.chart(plot.validators, growth, "Validators over time"), text(words, quiet=True)]
    rows, words = (growth, "over time") if growth is not None else (snapshot, "by the round of their first coupon")
    drawn = (
        [report_data.chart(plot.validators, rows, f"Validators {words}")] if growth is None or len(growth) > 1 else []
    )
    caption = text(f"From the stored licenses, {as_of(snapshot)}.", quiet=True)
    return [caption, *drawn, table(_releases(snapshot), "Validators by the release that they run")]


def _releases(licenses: pd.DataFrame) -> pd.DataFrame:
    """Validators by release, the newest first; builds of a release count together."""
    versions = license_versions(licenses)
    release = versions["version"].str.extract(r"^v?(\d+(?:\.\d+)*)", expand=False).fillna(versions["version"])
    sums = versions.assign(release=release.fillna("not known")).groupby("release", as_index=False, sort=False)
    releases = sums[["validators", "share"]].sum()
    order = sorted(releases.index, key=lambda place: _release_key(releases.at[place, "release"]), reverse=True)
    return releases.loc[order]


def _release_key(release: object) -> tuple[int, ...]:
    """0.10 after 0.9; anything that is not a release comes last."""
    parts = str(release).split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else (-1,)


@titled("Instruments")
def supply(report_data: ReportData) -> list[str] | str:
    """Instruments and their supply."""
    snapshot = report_data.snapshot("instruments")
    if snapshot is None:
        return "No snapshot of instruments is stored; add them: store.sync(net, tables=['instruments'])."
    latest = instrument_supply(snapshot).drop_duplicates(["instrument_admin", "instrument_id"], keep="last")
    words = text(f"From the stored instruments, {as_of(snapshot)}.", quiet=True)
    return [words, table(latest, "Total supply, where the registry has it", most=15)]


def _counted(values: pd.Series, name: str) -> pd.DataFrame:
    return values.value_counts().rename_axis(name).reset_index(name="count")


#: The parts, in the order of the page.
SECTIONS: Final[dict[str, Callable[[ReportData], Section]]] = {
    section.__name__: section
    for section in (
        summary, activity, flows, holdings, balances, transfers, rewards, coin_supply, burn, key_figures, governance,
        licenses, supply, templates, anomalies, provenance,
    )
}  # fmt: skip

"""The sections of the report about the network: key figures and governance; `sections` lists them."""

from __future__ import annotations

from typing import Final

import pandas as pd

from ledgerframes import plot
from ledgerframes.apps.html_report.coin_sections import titled
from ledgerframes.apps.html_report.page import table, text
from ledgerframes.apps.html_report.report_data import ReportData
from ledgerframes.errors import PartialResultError
from ledgerframes.number_format import plural
from ledgerframes.plot.reading import TAG

_DAYS: Final = ["time", "updates", "active_parties", "new_parties", "apps", "paid", "minted", "burned", "burned_usd"]
_VOTES: Final = ["opened_at", "requester", "action", "party", "outcome", "accepting", "rejecting", "cips"]
_HEADS: Final = {"accepting": "for", "rejecting": "against", "cips": "CIPs"}
_CHANGES: Final = ["record_time", "rules", "member", "before", "after"]


@titled("Key figures")
def key_figures(report_data: ReportData) -> list[str] | str:
    """Days of the network, shares of applications, the scorecard of validators, and whether parties come back."""
    days = report_data.of("network_daily", "time")
    if days.empty:
        return "No day begins in this range. Take a longer range: key figures are per day in UTC."
    apps = report_data.of("app_daily", "time")
    parts = [table(days[[*_DAYS, "whole"]].iloc[::-1], "The latest days: updates, parties, and coin in CC", most=10)]
    if (apps["rewards_claimed"] > 0).any():
        parts.append(report_data.chart(plot.app_shares, apps, "The share of each application in the rewards claimed"))
    for add in (_validators, _weeks):
        try:
            parts += add(report_data)
        except PartialResultError as error:
            parts.append(text(f"{_OF[add]} cannot be computed from this range: {error}", quiet=True))
    return parts


def _validators(report_data: ReportData) -> list[str]:
    days = report_data.of("validator_daily", "time")
    words = "What validators were paid, and what they paid for traffic"
    return [report_data.chart(plot.validator_scorecard, days, words)] if len(days) else []


def _weeks(report_data: ReportData) -> list[str]:
    weeks = report_data.table("retention")
    words = "How many parties of each week came back in later ones"
    return [report_data.chart(plot.retention, weeks, words)] if (weeks["weeks_after"] > 0).any() else []


_OF: Final = {_validators: "The scorecard of validators", _weeks: "Whether parties come back"}


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

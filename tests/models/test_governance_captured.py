"""Governance, weights and preapprovals of real pages against a reading of their JSON that shares nothing with models.

The pages hold the network's first price vote, its rules at the first and at a late time, and preapprovals. None holds a
vote request, a featured app right or the set-up of an external party, so their tables are empty there.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from tests.economics.histories import WHOLE, captured_active, captured_events, captured_items, frame_of, opening_of
from tests.replay import read_capture

pytestmark = pytest.mark.usefixtures("captures")


@pytest.fixture(scope="module")
def begin(captures):  # noqa: ARG001 - skips where there are none
    """The first updates of a real network."""
    return read_capture("scan-updates-page").body["transactions"]


def creates(items, entity):
    """The creates of a template, with the items they are in."""
    for item in items:
        for event in item.get("events_by_id", {}).values():
            if event["event_type"] == "created_event" and event["template_id"].endswith(f":{entity}"):
                yield item, event, event["create_arguments"]


def time(text):
    return pd.Timestamp(text).as_unit("us")


def beneficiaries(items, sv):
    """Whom the coupons of a super validator name; one that names nobody is its own."""
    found = {payload["beneficiary"] for _, _, payload in creates(items, "Splice.Amulet:SvRewardCoupon")
             if payload["sv"] == sv}  # fmt: skip
    return tuple(sorted(found)) or None


def test_the_first_price_vote_of_a_network(begin):
    votes = [
        (event["contract_id"], payload["sv"], Decimal(payload["amuletPrice"]), time(payload["lastUpdatedAt"]),
         time(item["record_time"]))
        for item, event, payload in creates(begin, "Splice.DSO.AmuletPrice:AmuletPriceVote")
    ]  # fmt: skip
    (opened,) = {payload["amuletPrice"] for _, _, payload in creates(begin, "Splice.Round:OpenMiningRound")}

    rows = lf.price_votes(frame_of(begin, **WHOLE))

    assert [
        *rows[["contract_id", "sv", "price_usd", "voted_at", "record_time"]].itertuples(index=False, name=None)
    ] == votes
    (vote,) = rows.itertuples()
    assert vote.voters == len(votes) == 1
    assert vote.median_usd == vote.lowest_usd == vote.highest_usd == votes[0][2] == Decimal(opened)


def test_the_first_super_validators_of_a_network(begin):
    ((item, _, payload),) = creates(begin, "Splice.DsoRules:DsoRules")

    rows = lf.sv_weights(frame_of(begin, **WHOLE))

    columns = ["sv", "sv_name", "weight", "joined_round", "participant_id", "since", "beneficiaries"]
    assert [*rows[columns].itertuples(index=False, name=None)] == [
        (sv, info["name"], int(info["svRewardWeight"]), int(info["joinedAsOfRound"]["number"]), info["participantId"],
         time(item["record_time"]), beneficiaries(begin, sv))
        for sv, info in payload["svs"]
    ]  # fmt: skip
    assert rows.began.to_list() == ["onboarded"]
    assert rows[["request", "until", "ended"]].isna().all(axis=None)


def test_the_super_validators_of_a_network_late_with_whom_their_coupons_name():
    rules = read_capture("scan-dso").body["dso_rules"]["contract"]
    opening = opening_of([(rules["contract_id"], "Splice.DsoRules:DsoRules", rules["payload"])])

    rows = lf.sv_weights(captured_events(), opening=opening)

    found = {row.sv: (row.sv_name, row.weight, row.joined_round, row.beneficiaries) for row in rows.itertuples()}
    assert found == {
        sv: (
            info["name"],
            int(info["svRewardWeight"]),
            int(info["joinedAsOfRound"]["number"]),
            beneficiaries(captured_items(), sv),
        )
        for sv, info in rules["payload"]["svs"]
    }
    assert len(rows) == len(found) == 13
    assert max(len(named or ()) for *_, named in found.values()) > 1
    assert rows.since.isna().all()


def test_the_preapprovals_of_a_snapshot_that_stand():
    events = captured_events()
    last = events.record_time.max()
    stand = Counter(
        event["create_arguments"]["provider"]
        for event in read_capture("scan-acs-page").body["created_events"]
        if event["template_id"].endswith(":Splice.AmuletRules:TransferPreapproval")
        and time(event["create_arguments"]["expiresAt"]) > last
    )

    rows = lf.wallets_daily(events, opening=captured_active())

    assert dict(zip(rows.provider, rows.active, strict=True)) == stand
    assert sum(stand.values()) > 40
    assert (rows.drop(columns=["time", "provider", "active", "whole"]) == 0).all(axis=None)


@pytest.mark.parametrize("table", [lf.votes, lf.vote_casts, lf.featured_app_history, lf.config_changes])
def test_a_page_without_votes_has_none_and_nothing_in_it_is_not_understood(begin, table):
    rows = table(frame_of(begin, **WHOLE))

    assert len(rows) == 0
    assert rows.attrs["not_understood"] == {}

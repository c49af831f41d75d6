"""What real servers answered, through the whole client, as the right frames."""

import json
from decimal import Decimal
from fnmatch import fnmatchcase

import pandas as pd
import pytest

import ledgerframes as lf
from tests.replay import read_capture, replay

pytestmark = pytest.mark.usefixtures("captures")
MEMBER, OWNER = "PAR::alice::1220ab", "ledger-ledgerops-2::12207a48"
AT = (4, "2026-01-30T08:00Z")
DAY_US = 86_400_000_000


@pytest.fixture(scope="module")
def net(captures):
    assert captures
    with replay() as server, lf.connect(**server.urls, token="t0ken-of-the-test", decimals="exact") as network:
        yield network


def captured(name, member, of):
    """A member of each item in a captured list."""
    return [one[of] for one in read_capture(name).body[member]]


SNAPSHOT = {"record_time": "2026-01-30T06:00:00Z", "migration_id": 4}
#: Each loader of rows: the call, the number of rows, and some cells by the row's place; text may have asterisks.
TABLES = {
    "active_contracts": (
        lambda net: lf.load_active_contracts(net, at=AT, limit=50), 50,
        {0: {"template_name": "*:AmuletTransferInstruction", "package_name": "splice-amulet",
             "event_id": "122068a06296a0bb*:0", "created_at": pd.Timestamp("2025-10-24T14:28:37.208560Z")}},
    ),
    "coins": (
        lambda net: lf.load_coins(net, [OWNER], at=AT), 1,
        {0: {"owner": f"{OWNER}*", "amount": Decimal("1361296.3926166390"), "created_round": 81308,
             "rate_per_round": Decimal("0.0001098709"), "locked": False, "lock_holders": None}},
    ),
    "holdings_summary": (
        lambda net: lf.load_holdings_summary(
            net, captured("validator-holdings-summary", "summaries", "party_id"), **SNAPSHOT
        ), 1,
        {0: {"total_available_coin": Decimal("1361296.3909685755"), "computed_as_of_round": 81323, "migration_id": 4}},
    ),
    "instruments": (
        lf.load_instruments, 1,
        {0: {"instrument_id": "Amulet", "decimals": 10, "total_supply": None, "supported_apis": "*token-metadata-v1*"}},
    ),
    "licenses": (
        lambda net: lf.load_licenses(net, blobs=True, personal=True), 300,
        {0: {"validator": "ledger-ledgerops-2::1220*", "first_round": 67613, "coupons_missed": 14, "version": "0.5.5",
             "created_event_blob": "CgMyLjE=", "last_active_at": pd.Timestamp("2026-01-30T08:39:28.485596Z")},
         2: {"contact_point": "redacted"}},
    ),
    "name_entries": (
        lf.load_name_entries, 1,
        {0: {"expires_at": pd.Timestamp("2026-03-02T06:17:23.532Z"), "payment_interval_us": 90 * DAY_US,
             "amount": Decimal("1.0"), "unit": "USDUNIT"}},
    ),
    "name_rules": (
        lf.load_name_rules, 1,
        {0: {"entry_fee": Decimal("1.0"), "entry_lifetime_us": 90 * DAY_US, "synchronizer_id": "global-domain::*"}},
    ),
    "names": (
        lf.load_names, 50,
        {0: {"name": "02122025max.unverified.cns", "party": "654321::1220*", "description": "",
             "expires_at": pd.Timestamp("2026-03-02T06:17:23.532796Z")}},
    ),
    "rounds": (
        lf.load_rounds, 10,
        {0: {"round": 66481, "phase": "closed", "issuance_per_validator_faucet": Decimal("69.3919677077")},
         5: {"round": 81320, "phase": "issuing", "issuance_per_featured_app": Decimal("0.6142603449"),
             "issuance_per_validator": Decimal("0.2"), "issuance_per_sv": Decimal("0.0122866485")},
         7: {"round": 81323, "phase": "open", "amulet_price_usd": Decimal("0.176564"), "issuance_per_sv": None,
             "target_closes_at": pd.Timestamp("2026-01-30T08:48:31.347581Z")}},
    ),
    "scans": (lf.load_scans, 13, {0: {"sv_name": "Digital-Asset-2", "url": "https://scan.sv-2.global.canton*"}}),
    "super_validators": (
        lf.load_super_validators, 13,
        {0: {"name": "C7-Technology-Services-Limited", "reward_weight": 105_750, "joined_round": 28_175},
         3: {"name": "Digital-Asset-1", "scan_url": "https://scan.sv-1.global.canton.network.digitalasset.com",
             "mediator_id": "MED::Digital-Asset-1::1220*", "node": '*"scan":{"publicUrl":"https://scan.sv-1.*'}},
    ),
    "traffic": (
        lambda net: lf.load_traffic(net, [MEMBER]), 1,
        {0: {"member": MEMBER, "found": True, "total_consumed": 0, "total_limit": 1_200_000}},
    ),
    "transfer_offers": (
        lf.load_transfer_offers, 1,
        {0: {"amount": Decimal("42.0"), "unit": "AmuletUnit", "sender": "alice__wallet__user::*",
             "expires_at": pd.Timestamp("2026-03-02T06:17:23.532796Z")}},
    ),
    "transfer_preapprovals": (
        lambda net: lf.load_transfer_preapprovals(net, ["bob::preapproval"]), 1,
        {0: {"found": True, "provider": "bob::preapproval", "synchronizer_id": "global-domain::*",
             "expires_at": pd.Timestamp("2024-09-05T16:50:50.974657Z")}},
    ),
    "users": (lf.load_users, 2, {0: {"user_id": "CreatedUser", "primary_party": None, "is_deactivated": False}}),
    "validator_faucets": (
        lambda net: lf.load_validator_faucets(
            net, ["nobody::1220", *captured("scan-validator-faucets", "validatorsReceivedFaucets", "validator")]
        ), 11,
        {0: {"validator": "nobody::1220", "found": False, "rounds_collected": None},
         1: {"rounds_collected": 21115, "rounds_missed": 10, "first_round": 60199, "last_round": 81323}},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("load", "rows", "cells"), TABLES.values(), ids=TABLES)
def test_a_captured_answer_is_its_rows(net, load, rows, cells):
    frame = load(net)

    assert len(frame) == rows
    assert frame.extra.isna().all()
    for place, expected in cells.items():
        for name, value in expected.items():
            cell = frame[name].iloc[place]
            if value is None:
                assert pd.isna(cell), name
            elif isinstance(value, str):
                assert fnmatchcase(cell, value), name
            else:
                assert cell == value, name


def test_a_real_page_is_25_updates_with_all_their_events_in_preorder():
    want = json.loads(json.dumps(read_capture("scan-updates-page").body), parse_float=Decimal)["transactions"]
    with replay("scan-updates-page") as server, lf.connect(scan_url=server.scan_url) as net:
        history = lf.load_history(net, limit=1000, progress=False)
    assert len(history.updates) == 25
    assert len(history.events) == 86
    assert list(lf.rebuild_items(history)) == want
    numbers = history.events.event_id.str.rpartition(":")[2].astype(int)
    assert (numbers == history.events.node_index).all()
    assert history.events.payload.notna().all()
    first = history.events[history.events.update_id == history.updates.update_id[0]]
    assert list(first.depth[:4]) == [0, 0, 1, 1]
    assert history.events.extra.isna().all()


def test_a_real_assignment_is_a_reassignment_row():
    with replay("scan-updates-assignment") as server, lf.connect(scan_url=server.scan_url) as net:
        history = lf.load_history(net, limit=10, progress=False)
    (row,) = history.reassignments.to_dict("records")
    assert (row["kind"], row["migration_id"], row["reassignment_counter"]) == ("assignment", 4, 1)
    assert (row["source_synchronizer"], row["template_name"]) == ("sync-a::1220aa", "Splice.Ans:AnsRules")
    assert row["created_at"] == pd.Timestamp("2024-06-24T21:08:35.469232Z")
    assert history.updates.synchronizer_id[0] == row["target_synchronizer"]
    assert len(history.events) == 0


def test_a_real_page_comes_out_as_its_verdicts_and_views():
    items = read_capture("scan-events-page").body["events"]
    with (
        replay("scan-events-page") as server,
        lf.connect(scan_url=server.scan_url) as net,
        pytest.warns(lf.errors.BeginsLateWarning),
    ):
        verdicts, views, app_activity = lf.load_verdicts(net, limit=1000, progress=False)

    assert list(verdicts.update_id) == [item["verdict"]["update_id"] for item in items]
    assert verdicts.result.value_counts().to_dict() == {"VERDICT_RESULT_ACCEPTED": 18, "VERDICT_RESULT_REJECTED": 4}
    assert list(verdicts.has_update) == [item["update"] is not None for item in items]
    assert (~verdicts.has_update).sum() == 5
    assert verdicts.total_traffic_cost.isna().all()
    assert verdicts.extra.isna().all()
    took = (verdicts.finalization_time - verdicts.record_time).dt.total_seconds()
    assert took.between(0, 30).all()
    sent = [
        (item["verdict"]["update_id"], one) for item in items for one in item["verdict"]["transaction_views"]["views"]
    ]
    for name in ("confirming_parties", "sub_views"):
        assert [json.loads(text) for text in views[name]] == [one[name] for _, one in sent]
    found = list(zip(views.update_id, views.view_id, views.informees, strict=True))
    assert found == [(uid, one["view_id"], tuple(one["informees"])) for uid, one in sent]
    assert len(app_activity) == 0
    assert app_activity.columns[-1] == "extra"

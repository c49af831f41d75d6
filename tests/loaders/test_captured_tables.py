"""Every capture of a real server through the whole client, as the right frame."""

from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from tests.replay import read_capture, replay

pytestmark = pytest.mark.usefixtures("captures")


@pytest.fixture(scope="module")
def net(captures):
    assert captures
    with replay() as server, lf.connect(**server.urls, token="t0ken-of-the-test", decimals="exact") as network:
        yield network


def test_three_hundred_licenses_have_typed_columns(net):
    licenses = lf.load_licenses(net)
    assert len(licenses) == 300
    assert licenses.validator.is_unique
    assert set(licenses.template_name) == {"Splice.ValidatorLicense:ValidatorLicense"}
    first = licenses.iloc[0]
    assert first.validator.startswith("ledger-ledgerops-2::1220")
    assert (first.first_round, first.last_round, first.coupons_missed, first.version) == (67613, 81324, 14, "0.5.5")
    assert first.last_active_at == pd.Timestamp("2026-01-30T08:39:28.485596Z")
    assert str(licenses.first_round.dtype) == "Int64"
    assert str(licenses.created_at.dtype) == "datetime64[us, UTC]"
    assert licenses.extra.isna().all()


def test_personal_data_appears_only_when_asked_for(net, tmp_path):
    plain = lf.load_licenses(net)
    assert "contact_point" not in plain
    assert not plain.payload.str.contains("contactPoint").any()
    plain.to_parquet(tmp_path / "licenses.parquet")
    assert b"contactPoint" not in (tmp_path / "licenses.parquet").read_bytes()
    personal = lf.load_licenses(net, personal=True)
    assert (personal.contact_point == "redacted").any()
    assert personal.payload.str.contains("contactPoint").all()


def test_blobs_come_only_when_asked_for(net):
    assert "created_event_blob" not in lf.load_licenses(net)
    assert (lf.load_licenses(net, blobs=True, personal=True).created_event_blob == "CgMyLjE=").all()


def test_name_entries_have_real_times(net):
    (entry,) = lf.load_name_entries(net).to_dict("records")
    assert entry["expires_at"] == pd.Timestamp("2026-03-02T06:17:23.532Z")
    assert entry["payment_interval_us"] == 90 * 86_400_000_000
    assert entry["payment_duration_us"] == 30 * 86_400_000_000
    assert entry["amount"] == Decimal("1.0000000000")
    assert entry["unit"] == "USDUNIT"


def test_the_seven_amounts_of_a_holdings_summary_agree(net):
    party = read_capture("validator-holdings-summary").body["summaries"][0]["party_id"]
    frame = lf.load_holdings_summary(net, [party, "nobody::12"], record_time="2026-01-30T06:00:00Z", migration_id=4)
    row, missing = frame.to_dict("records")
    assert row["total_coin_holdings"] == row["total_unlocked_coin"] + row["total_locked_coin"]
    fees = row["accumulated_holding_fees_unlocked"] + row["accumulated_holding_fees_locked"]
    assert row["accumulated_holding_fees_total"] == fees
    assert row["total_available_coin"] == row["total_unlocked_coin"] - row["accumulated_holding_fees_unlocked"]
    assert row["total_available_coin"] == Decimal("1361296.3909685755")
    assert (row["computed_as_of_round"], row["migration_id"]) == (81323, 4)
    assert row["record_time"] == pd.Timestamp("2026-01-30T06:00:00Z")
    assert missing["party_id"] == "nobody::12"
    assert missing["total_coin_holdings"] is None


@pytest.mark.parametrize(("missing", "rows", "amount"), [("zero", 2, Decimal(0)), ("drop", 1, None)])
def test_parties_without_holdings_can_be_zero_or_left_out(net, missing, rows, amount):
    party = read_capture("validator-holdings-summary").body["summaries"][0]["party_id"]
    frame = lf.load_holdings_summary(
        net, ["nobody::12", party], record_time="2026-01-30T06:00:00Z", migration_id=4, missing=missing
    )
    assert len(frame) == rows
    assert frame.party_id.iloc[-1] == party
    if amount is not None:
        assert frame.accumulated_holding_fees_total[0] == amount


def test_an_old_registry_gives_an_instrument_with_what_it_has(net):
    (one,) = lf.load_instruments(net).to_dict("records")
    assert (one["instrument_id"], one["decimals"], one["paused"]) == ("Amulet", 10, False)
    assert one["total_supply"] is None
    assert "splice-api-token-metadata-v1" in one["supported_apis"]
    assert pd.isna(one["total_supply_as_of"])


def test_users_have_null_where_the_server_sends_empty_text(net):
    users = lf.load_users(net)
    assert list(users.user_id) == ["CreatedUser", "participant_admin"]
    assert users.primary_party.isna().all()
    assert users.identity_provider_id.isna().all()
    assert list(users.annotations) == ["{}", "{}"]
    assert list(users.is_deactivated) == [False, False]


def test_transfer_offers_are_flat(net):
    (offer,) = lf.load_transfer_offers(net).to_dict("records")
    assert offer["amount"] == Decimal("42.0")
    assert offer["unit"] == "AmuletUnit"
    assert offer["sender"].startswith("alice__wallet__user::")
    assert offer["expires_at"] == pd.Timestamp("2026-03-02T06:17:23.532796Z")
    assert offer["tracking_id"] == "4e1b6f2c-0d9e-4c36-9c0a-8d3d3a3f9d11"


def test_a_transfer_preapproval_is_found(net):
    (one,) = lf.load_transfer_preapprovals(net, ["bob::preapproval"]).to_dict("records")
    assert one["found"]
    assert one["party"] == one["provider"] == "bob::preapproval"
    assert one["expires_at"] == pd.Timestamp("2024-09-05T16:50:50.974657Z")
    assert one["synchronizer_id"].startswith("global-domain::")


def test_the_name_rules_are_one_row(net):
    (rules,) = lf.load_name_rules(net).to_dict("records")
    assert rules["entry_fee"] == Decimal("1.0")
    assert rules["renewal_duration_us"] == 30 * 86_400_000_000
    assert rules["entry_lifetime_us"] == 90 * 86_400_000_000
    assert rules["synchronizer_id"].startswith("global-domain::")
    assert rules["template_name"] == "Splice.Ans:AnsRules"


def test_the_captured_tree_becomes_two_tables():
    import json

    from ledgerframes.loaders.ledger import read_ledger_items

    tree = read_capture("ledger-transaction-tree").body["transactionTree"]
    transactions, events = read_ledger_items([json.dumps(tree).encode()], "POST /tree")
    (row,) = transactions.to_pylist()
    assert (row["offset"], row["event_count"], row["workflow_id"]) == (18, 1, None)
    assert row["record_time"].isoformat() == "2025-01-27T15:30:37.291866+00:00"
    (event,) = events.to_pylist()
    assert (event["kind"], event["node_id"], event["template_name"]) == ("CreatedTreeEvent", 0, "Iou:Iou")
    assert json.loads(event["payload"])["amount"] == "999.9900000000"


def test_an_assignment_is_read_alike_whether_its_creation_is_under_its_kind_or_not():
    import json

    from ledgerframes.loaders.ledger import read_ledger_items

    created = {"contractId": "00ab", "templateId": "p:M:T", "createArgument": {"a": "1.0"}, "nodeId": 0}
    rows = []
    for sent in (created, {"CreatedEvent": created}):
        event = {"JsAssignmentEvent": {"source": "a::1", "target": "b::1", "createdEvent": sent}}
        item = {"updateId": "u", "offset": 5, "recordTime": "2025-01-27T15:30:37Z", "events": [event]}
        rows.append(read_ledger_items([json.dumps(item).encode()], "POST /page")[1].to_pylist())
    assert rows[0] == rows[1]
    assert rows[0][0]["contract_id"] == "00ab"

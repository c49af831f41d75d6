"""What holds for every declared table."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.cli.load import LOADABLE
from ledgerframes.decoding.records import read_records
from ledgerframes.tables.catalogue import CATALOGUE, table_named
from ledgerframes.tables.derived import COMPUTED as ALL
from ledgerframes.tables.descriptions import dictionary_text

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ("contract_id", "template_id", "template_name", "created_at", "created_event_blob", "payload")

#: The columns as other people's programs know them, in order; `extra` ends each.
FIXED = {
    "updates": "migration_id record_time record_month update_id kind synchronizer_id effective_at workflow_id"
    " root_event_ids event_count external_transaction_hash offset",
    "events": "migration_id record_time record_month update_id event_id synchronizer_id node_index parent_event_id"
    " depth event_type contract_id template_id template_name package_name choice consuming interface_id acting_parties"
    " child_event_ids signatories observers created_at payload exercise_result",
    "reassignments": "migration_id record_time record_month update_id kind submitter source_synchronizer"
    " target_synchronizer unassign_id reassignment_counter contract_id event_id template_id template_name package_name"
    " created_at signatories observers payload",
    "verdicts": "migration_id record_time record_month update_id synchronizer_id finalization_time result"
    " submitting_parties submitting_participant_uid mediator_group has_update total_traffic_cost root_views",
    "views": "migration_id record_time record_month update_id view_id informees confirming_parties sub_views"
    " traffic_cost view_hash",
    "app_activity": "migration_id record_time record_month update_id round_number party weight",
    "holdings_summary": "record_time migration_id computed_as_of_round party_id found total_unlocked_coin"
    " total_locked_coin total_coin_holdings accumulated_holding_fees_unlocked accumulated_holding_fees_locked"
    " accumulated_holding_fees_total total_available_coin",
    "licenses": f"{' '.join(CONTRACT)} validator sponsor dso last_active_at first_round last_round coupons_missed"
    " version contact_point",
    "instruments": "instrument_id name symbol total_supply total_supply_as_of decimals paused pause_reason paused_until"
    " supported_apis show_account_input_fields account_input_fields instrument_admin source",
    "name_entries": "contract_id name amount unit expires_at payment_interval_us payment_duration_us",
    "name_rules": f"{' '.join(CONTRACT)} synchronizer_id renewal_duration_us entry_lifetime_us entry_fee",
    "transfer_offers": f"{' '.join(CONTRACT)} sender receiver amount unit description expires_at tracking_id",
    "transfer_preapprovals": f"party found {' '.join(CONTRACT)} provider valid_from last_renewed_at expires_at"
    " synchronizer_id",
    "active_contracts": "contract_id template_id template_name package_name created_at signatories observers payload"
    " synchronizer_id source_synchronizer target_synchronizer reassignment_counter in_flight migration_id record_time"
    " update_id event_id",
    "coins": "owner amount created_round rate_per_round locked lock_holders lock_expires_at contract_id template_name"
    " created_at lock_context dso template_id package_name signatories observers update_id event_id",
    "rounds": "round phase amulet_price_usd opens_at target_closes_at issuance_per_validator_faucet"
    " issuance_per_featured_app issuance_per_unfeatured_app issuance_per_validator issuance_per_sv synchronizer_id"
    f" {' '.join(CONTRACT)}",
    "names": "name party url description expires_at contract_id",
    "traffic": "member synchronizer_id found total_consumed total_limit total_purchased",
    "validator_faucets": "validator found rounds_collected rounds_missed first_round last_round",
    "featured_apps": f"{' '.join(CONTRACT)} provider dso activity_weight",
    "super_validators": "party name reward_weight joined_round participant_id scan_url sequencer_id sequencer_url"
    " mediator_id node",
    "scans": "synchronizer_id sv_name url",
    "ledger_contracts": "contract_id kind synchronizer_id reassignment_counter workflow_id offset node_id template_id"
    " template_name package_name created_at signatories observers witness_parties view_interfaces interface_views"
    " payload contract_key source_synchronizer target_synchronizer reassignment_id submitter",
    "users": "user_id primary_party is_deactivated identity_provider_id primary_party_authentication resource_version"
    " annotations",
}

#: The computed tables likewise; they have no `extra`.
COMPUTED = {
    "round_history": "round amulet_price_usd opens_at target_closes_at tick_us holding_fee_usd amulet_to_issue_per_year"
    " validator_percentage app_percentage development_fund_percentage validator_cap featured_app_cap unfeatured_app_cap"
    " validator_faucet_cap_usd total_weight_sv total_weight_validator total_weight_validator_faucet"
    " total_weight_featured_app total_weight_unfeatured_app issuance_per_sv issuance_per_validator"
    " issuance_per_validator_faucet issuance_per_featured_app issuance_per_unfeatured_app opened_at summarizing_at"
    " issuing_at closed_at whole",
    "issuance": "round opens_at amulet_price_usd amulet_to_issue_per_year allowed allowed_usd allowed_validator"
    " allowed_validator_usd allowed_app allowed_app_usd allowed_featured_app allowed_featured_app_usd"
    " allowed_unfeatured_app allowed_unfeatured_app_usd allowed_sv allowed_sv_usd allowed_development_fund"
    " allowed_development_fund_usd minted minted_usd expired expired_usd open open_usd burned burned_usd"
    " cumulative_allowed cumulative_allowed_usd cumulative_minted cumulative_minted_usd cumulative_expired"
    " cumulative_expired_usd cumulative_burned cumulative_burned_usd next_step_at next_step_round"
    " next_amulet_to_issue_per_year next_allowed next_allowed_validator next_allowed_app next_allowed_sv"
    " next_allowed_development_fund whole",
    "rewards": "contract_id kind round provider beneficiary weight featured created_at mint_after expires_at ended_at"
    " outcome issuance amount amount_usd",
    "transfers": "update_id event_id record_time output_index round sender provider receiver amount amount_usd"
    " receiver_fee_ratio lock sender_fees kind reason",
    "mint_burn": "update_id record_time round amulet_price_usd minted_app minted_app_or_validator minted_validator"
    " minted_validator_faucet minted_sv minted_unclaimed_activity minted_development_fund minted_tap minted_other"
    " burned_traffic burned_names"
    " burned_preapprovals burned_fees burned_expiry net_change unexplained inputs_from",
    "traffic_purchases": "update_id event_id record_time provider member_id synchronizer_id migration_id bytes"
    " amount amount_usd round",
    "coin_history": "contract_id owner amount created_round rate_per_round locked lock_holders lock_expires_at"
    " expires_at_round created_by ended_at ended_by",
    "supply": "at unlocked locked total",
    "supply_per_round": "round opened_at amulet_price_usd minted burned net_change unexplained total whole",
    "supply_by_purpose": "time round amulet_price_usd unlocked unlocked_usd locked_transfer locked_transfer_usd"
    " locked_allocation locked_allocation_usd locked_payment locked_payment_usd locked_governance"
    " locked_governance_usd locked_vesting locked_vesting_usd locked_other locked_other_usd total"
    " total_usd circulating circulating_usd unclaimed_rewards unclaimed_rewards_usd"
    " development_fund_unallocated development_fund_unallocated_usd development_fund_allocated"
    " development_fund_allocated_usd development_fund_spent development_fund_spent_usd",
    "balances_over_time": "time party_id total_unlocked_coin total_locked_coin total_coin_holdings"
    " accumulated_holding_fees_unlocked accumulated_holding_fees_locked accumulated_holding_fees_total"
    " total_available_coin",
    "active_parties": "time parties acting new by_template whole",
    "template_activity": "time template_name choice creates exercises archives parties whole",
    "validator_liveness": "validator sponsor first_round last_round collected missed silent_for version",
    "token_transfers": "update_id event_id record_time leg instrument_admin instrument_id sender receiver amount"
    " kind step reason",
    "reward_flows": "update_id migration_id record_time event kind party round coupons amount amount_usd",
    "movements": "update_id entry record_time party kind counterparty round amount amount_usd locked_change"
    " balance_after reason",
    "sv_rewards": "round sv beneficiary weight amount amount_usd outcome whole",
    "votes": "request requester action party right_id weight amount arguments reason_url reason_body cips opened_at"
    " vote_before target_effective_at outcome completed_at effective_at failure accepting rejecting abstaining",
    "vote_casts": "request sv_name number sv accept reason_url reason_body cast_at record_time changed",
    "price_votes": "contract_id record_time sv price_usd price_before_usd voted_at voters median_usd lowest_usd"
    " highest_usd",
    "config_changes": "record_time update_id contract_id rules member before after request",
    "sv_weights": "sv sv_name weight joined_round participant_id beneficiaries since began request until ended"
    " end_request",
    "featured_app_history": "contract_id provider activity_weight since began request until ended end_request"
    " active_days earned earned_usd share",
    "network_daily": "time updates transactions reassignments private_transactions rejected_requests"
    " median_traffic_cost active_parties new_parties returning_parties active_7d active_30d apps payments paid paid_usd"
    " minted minted_usd burned burned_usd fees net_change unexplained"
    " rewards_claimed rewards_expired traffic_bytes traffic_paid whole",
    "app_daily": "time provider activity_weight coupons_created coupons_claimed coupons_expired rewards_claimed"
    " rewards_claimed_usd rewards_expired share users burned burned_usd",
    "validator_daily": "time validator sponsor version last_round rounds_reported rounds_missed silent_for"
    " rewards_validator_faucet rewards_validator_faucet_usd rewards_validator rewards_validator_usd rewards_app"
    " rewards_app_usd rewards_other rewards_other_usd rewards_claimed rewards_claimed_usd traffic_bytes traffic_paid"
    " traffic_paid_usd net net_usd whole",
    "wallets_daily": "time provider created renewed cancelled expired active setups_proposed setups_accepted"
    " setups_rejected setups_withdrawn whole",
    "retention": "cohort weeks_after cohort_parties parties whole",
    "holdings_from_events": "record_time migration_id computed_as_of_round party_id found total_unlocked_coin"
    " total_locked_coin total_coin_holdings accumulated_holding_fees_unlocked accumulated_holding_fees_locked"
    " accumulated_holding_fees_total total_available_coin",
    "reassignment_flows": "unassign_id contract_id template_name source_synchronizer target_synchronizer"
    " reassignment_counter unassigned_at assigned_at in_flight status edge",
    "flow_matrix": "period source_synchronizer target_synchronizer count contracts in_flight",
    "contract_journeys": "contract_id template_name reassignments path began_at ended_at gaps",
    "reassignment_anomalies": "anomaly contract_id unassign_id reassignment_counter update_id record_time detail",
    "template_catalogue": "template_name package_names creates exercises consuming choices first_record_time"
    " last_record_time",
    "license_growth": "time new validators",
    "license_activity": "validator sponsor version last_active_at silent_for active coupons_missed",
    "license_versions": "version validators share",
    "instrument_supply": "instrument_admin instrument_id symbol time total_supply change",
    "holding_fees": "record_time migration_id computed_as_of_round party_id lock holdings notional_fees",
}

every_table = pytest.mark.parametrize("table", CATALOGUE.values(), ids=CATALOGUE.keys())


@pytest.mark.parametrize("name", FIXED)
def test_the_columns_keep_their_names_and_order(name):
    assert CATALOGUE[name].names == (*FIXED[name].split(), "extra")


@every_table
def test_a_table_and_its_columns_have_texts(table):
    assert table.meaning.endswith(".")
    assert table.endpoints
    for column in table.columns:
        assert column.meaning.endswith("."), f"tables: {table.name}.{column.name} has no sentence"
        assert column.source, f"tables: {table.name}.{column.name} does not say where it comes from"


@every_table
def test_the_key_is_made_of_columns_and_extra_is_the_last(table):
    assert set(table.key) <= set(table.names)
    assert table.names[-1] == "extra"
    assert len(set(table.names)) == len(table.names)


@every_table
def test_parquet_carries_every_text(table):
    assert table.schema.metadata[b"description"].decode() == table.meaning
    for column, field in zip(table.columns, table.schema, strict=True):
        assert field.metadata[b"description"].decode() == column.meaning
        assert field.nullable == column.nullable


@every_table
def test_no_items_are_an_empty_table_of_the_declared_types(table):
    batch = read_records(table, [], "GET /x")
    assert batch.schema.equals(table.schema, check_metadata=True)
    assert batch.num_rows == 0


@every_table
def test_every_table_can_be_described(table):
    described = lf.describe(table.name)
    assert list(described.column) == list(table.names)
    assert (described.meaning != "").all()


def test_every_table_is_listed():
    listed = lf.tables()
    assert isinstance(listed, pd.DataFrame)  # with a display of its own
    assert list(listed.table) == [*CATALOGUE, *ALL]


def test_the_written_dictionary_is_up_to_date():
    written = (ROOT / "data" / "dictionary.md").read_text(encoding="utf-8")
    assert written == dictionary_text(), "data/dictionary.md is stale; run: make docs"


def test_an_unknown_table_is_refused_with_the_nearest_name():
    with pytest.raises(lf.errors.InputError, match="did you mean 'licenses'"):
        table_named("license")


def test_columns_that_need_asking_are_there_only_then():
    licenses = CATALOGUE["licenses"]
    assert "contact_point" not in licenses.having().names
    assert "contact_point" in licenses.having("personal").names
    assert "created_event_blob" in licenses.having("blobs").names


def test_amounts_are_decimal128_everywhere():
    kinds = {
        column.kind.arrow for table in CATALOGUE.values() for column in table.columns if column.kind.name == "amount"
    }
    assert kinds == {pa.decimal128(38, 10)}


@pytest.mark.parametrize("name", LOADABLE)
def test_every_table_that_the_command_line_offers_has_a_loader(name):
    assert callable(getattr(lf, f"load_{name}", None)), f"ledgerframes/__init__.py exports no load_{name}"


def test_every_table_has_tests_of_its_columns():
    unfixed = set(CATALOGUE) - set(FIXED) - {"ledger_transactions", "ledger_events", "rejects"}
    assert not unfixed, f"tests/tables/test_catalogue.py does not fix the columns of {', '.join(unfixed)}"


@pytest.mark.parametrize("table", ALL.values(), ids=ALL.keys())
def test_a_computed_table_says_what_each_column_is_and_where_it_is_from(table):
    assert table.name not in CATALOGUE
    assert " ".join(table.names) == COMPUTED[table.name]
    assert set(table.key) <= set(table.names)
    assert table.meaning.endswith(".")
    for column in table.columns:
        assert column.meaning.endswith(".")
        assert column.source
        assert column.kind.name != "amount" or column.unit or "1 being all" in column.meaning
    (function,) = table.endpoints
    assert callable(getattr(lf, function.removeprefix("lf.").partition("(")[0]))
    assert list(lf.describe(table.name).column) == list(table.names)

"""What the four validator calls send, refuse and read."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from served_answers import UNKNOWN_ROUTE, body_of, far, nowhere, reply

from ledgerframes.errors import DecodeError, InputError, NotFoundError
from ledgerframes.interfaces.validator import Validator
from ledgerframes.transport import DeprecatedEndpointWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{DeprecatedEndpointWarning.__module__}.DeprecatedEndpointWarning")

ASK = {"record_time": "2026-01-30T06:00:00Z", "migration_id": 4, "owner_party_ids": ["a::1"]}
SENT = {"record_time": "2026-01-30T06:00:00.000000Z", "migration_id": 4, "owner_party_ids": ["a::1"]}


@pytest.mark.parametrize(
    "record_time",
    [
        pytest.param("2026-01-30T07:00:00+01:00", id="text with a zone"),
        pytest.param(datetime(2026, 1, 30, 6, tzinfo=UTC), id="datetime"),
        pytest.param(pd.Timestamp("2026-01-30 06:00", tz="UTC"), id="Timestamp"),
    ],
)
def test_times_are_sent_in_one_spelling(record_time):
    sent = body_of(Validator(nowhere()), "holdings_summary", **ASK | {"record_time": record_time})
    assert sent["record_time"] == SENT["record_time"]


def test_every_option_goes_out_under_the_contracts_name():
    asked = ASK | {"owner_party_ids": pd.Series(["a::1", "b::1"]), "migration_id": np.int64(4)}
    sent = body_of(
        Validator(nowhere()), "holdings_summary", **asked, record_time_match="at_or_before", as_of_round=81323
    )
    assert sent == SENT | {
        "owner_party_ids": ["a::1", "b::1"], "record_time_match": "at_or_before", "as_of_round": 81323,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        pytest.param({"owner_party_ids": []}, r"owner_party_ids=\[\]; give at least 1", id="no owner"),
        pytest.param({"owner_party_ids": ["a", "b/c"]}, r"owner_party_ids\[1\]='b/c'; give a party id", id="bad owner"),
        pytest.param({"record_time": "yesterday"}, "record_time='yesterday' is not a time", id="no time"),
        pytest.param({"record_time": pd.NaT}, "record_time=NaT is not a time", id="NaT"),
        pytest.param(
            {"record_time_match": "near"}, "record_time_match='near'; give 'exact' or 'at_or_before'", id="match"
        ),
        pytest.param({"migration_id": 2**63}, "migration_id=9223372036854775808", id="beyond int64"),
        pytest.param({"as_of_round": 1.5}, "as_of_round=1.5; give a whole number", id="half a round"),
    ],
)
def test_a_broken_rule_is_named_and_nothing_sent(changed, said):
    sender = nowhere()
    with pytest.raises(InputError, match=said):
        Validator(sender).holdings_summary(**ASK | changed)
    assert sender.transport.stats.requests == 0


def test_the_newer_route_is_asked_where_only_it_is_and_has_no_fees():
    coins = {"total_unlocked_coin": "2.0", "total_locked_coin": "1.0", "total_coin_holdings": "3.0"}
    summaries = [{"party_id": "a::1", **coins, "fees": None}]
    newer = reply({"record_time": "t", "migration_id": 4, "summaries": summaries})
    with far(summary=[UNKNOWN_ROUTE, newer]) as there:
        answer = there.validator.holdings_summary(**ASK, as_of_round=5)

    assert there.routes == [f"POST /{version}/scan-proxy/holdings/summary" for version in ("v0", "v1")]
    assert [asked.json for asked in there.asked] == [SENT | {"as_of_round": 5}, SENT]
    assert answer.computed_as_of_round is None
    (one,) = answer.summaries
    assert one.total_coin_holdings == "3.0"
    assert one.total_available_coin is one.accumulated_holding_fees_total is None


def test_an_unknown_path_is_not_taken_for_no_preapproval():
    with far(**{"bob%3A%3A1": UNKNOWN_ROUTE}) as there, pytest.raises(NotFoundError, match="does not know this path"):
        there.validator.transfer_preapproval("bob::1")


@pytest.mark.parametrize("party", ["", "bob/..", None])
def test_what_is_no_party_is_refused(party):
    with pytest.raises(InputError, match=r"party=.*give a party id"):
        Validator(nowhere()).transfer_preapproval(party)


def test_an_answer_without_a_required_member_says_where():
    with (
        far(all=reply({"entries": [{"contractId": "00"}]})) as there,
        pytest.raises(DecodeError, match=r"`name`.*\$\.entries\[0\]"),
    ):
        there.validator.name_entries()

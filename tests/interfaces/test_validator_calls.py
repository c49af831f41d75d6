"""What the four validator calls send, refuse and read."""

import pytest
from served_answers import UNKNOWN_ROUTE, far, reply

from ledgerframes.errors import NotFoundError
from ledgerframes.transport import DeprecatedEndpointWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{DeprecatedEndpointWarning.__module__}.DeprecatedEndpointWarning")

ASK = {"record_time": "2026-01-30T06:00:00Z", "migration_id": 4, "owner_party_ids": ["a::1"]}
SENT = {"record_time": "2026-01-30T06:00:00.000000Z", "migration_id": 4, "owner_party_ids": ["a::1"]}


def test_the_newer_route_is_asked_where_only_it_is_and_has_no_fees():
    coins = {"total_unlocked_coin": "2.0", "total_locked_coin": "1.0", "total_coin_holdings": "3.0"}
    summaries = [{"party_id": "a::1", **coins, "fees": None}]
    newer = reply({"record_time": "t", "migration_id": 4, "summaries": summaries})
    with far(summary=[UNKNOWN_ROUTE, newer]) as there:
        answer = there.net.validator.holdings_summary(**ASK, as_of_round=5)

    assert there.routes == [f"POST /{version}/scan-proxy/holdings/summary" for version in ("v0", "v1")]
    assert [asked.json for asked in there.asked] == [SENT | {"as_of_round": 5}, SENT]
    assert answer.computed_as_of_round is None
    (one,) = answer.summaries
    assert one.total_coin_holdings == "3.0"
    assert one.total_available_coin is one.accumulated_holding_fees_total is None


def test_an_unknown_path_is_not_taken_for_no_preapproval():
    with far(**{"bob%3A%3A1": UNKNOWN_ROUTE}) as there, pytest.raises(NotFoundError, match="does not know this path"):
        there.net.validator.transfer_preapproval("bob::1")

"""What the four validator calls send, refuse and read."""

from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from served_answers import TOKEN, UNKNOWN_ROUTE, body_of, connected, far, nowhere, reply
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from ledgerframes.errors import DecodeError, InputError, NotFoundError, StatusError
from ledgerframes.interfaces.validator import HoldingsSummary, Validator
from ledgerframes.sandbox.serving import serve
from ledgerframes.transport import DeprecatedEndpointWarning
from tests.replay import read_capture, replay

pytestmark = pytest.mark.filterwarnings(f"ignore::{DeprecatedEndpointWarning.__module__}.DeprecatedEndpointWarning")

ASK = {"record_time": "2026-01-30T06:00:00Z", "migration_id": 4, "owner_party_ids": ["a::1"]}
SENT = {"record_time": "2026-01-30T06:00:00.000000Z", "migration_id": 4, "owner_party_ids": ["a::1"]}
V0 = "POST /v0/scan-proxy/holdings/summary"


def test_defaults_are_left_to_the_server():
    assert body_of(Validator(nowhere()), "holdings_summary", **ASK) == SENT


@pytest.mark.parametrize(
    "record_time",
    [
        pytest.param("2026-01-30T07:00:00+01:00", id="text with a zone"),
        pytest.param("2026-01-30 06:00", id="text without one"),
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
        pytest.param({"owner_party_ids": "a::1"}, "owner_party_ids='a::1'; give a list", id="bare owner"),
        pytest.param({"owner_party_ids": ["a", "b/c"]}, r"owner_party_ids\[1\]='b/c'; give a party id", id="bad owner"),
        pytest.param({"record_time": "yesterday"}, "record_time='yesterday' is not a time", id="no time"),
        pytest.param({"record_time": 1769752800}, "record_time=1769752800 is not a time", id="number for a time"),
        pytest.param({"record_time": pd.NaT}, "record_time=NaT is not a time", id="NaT"),
        pytest.param(
            {"record_time_match": "near"}, "record_time_match='near'; give 'exact' or 'at_or_before'", id="match"
        ),
        pytest.param({"migration_id": -1}, "migration_id=-1; give a whole number from 0", id="negative migration"),
        pytest.param({"migration_id": True}, "migration_id=True", id="boolean migration"),
        pytest.param({"migration_id": 2**63}, "migration_id=9223372036854775808", id="beyond int64"),
        pytest.param({"as_of_round": 1.5}, "as_of_round=1.5; give a whole number", id="half a round"),
    ],
)
def test_a_broken_rule_is_named_and_nothing_sent(changed, said):
    sender = nowhere()
    with pytest.raises(InputError, match=said):
        Validator(sender).holdings_summary(**ASK | changed)
    assert sender.transport.stats.requests == 0


@pytest.mark.usefixtures("captures")
def test_the_captured_amounts_are_exact():
    asked = read_capture("validator-holdings-summary").asked
    with replay("validator-holdings-summary") as server, connected(server.validator_url) as sender:
        answer = Validator(sender).holdings_summary(**asked)
    (one,) = answer.summaries
    amount = {name: Decimal(getattr(one, name)) for name in HoldingsSummary.__struct_fields__[1:]}

    assert (answer.record_time, answer.migration_id, answer.computed_as_of_round) == (
        "2026-01-30T06:00:00Z", 4, 81323,
    )  # fmt: skip
    assert one.total_locked_coin == "0.0000000000"
    assert amount["total_unlocked_coin"] + amount["total_locked_coin"] == amount["total_coin_holdings"]
    assert (
        amount["accumulated_holding_fees_unlocked"] + amount["accumulated_holding_fees_locked"]
        == amount["accumulated_holding_fees_total"]
    )
    assert amount["total_unlocked_coin"] - amount["accumulated_holding_fees_unlocked"] == amount["total_available_coin"]


def test_the_newer_route_is_asked_where_only_it_is_and_has_no_fees():
    asked = []

    async def old(request):
        asked.append((request.url.path, await request.json()))
        return PlainTextResponse("no such path", 404)

    async def new(request):
        asked.append((request.url.path, await request.json()))
        coins = {"total_unlocked_coin": "2.0", "total_locked_coin": "1.0", "total_coin_holdings": "3.0"}
        return JSONResponse(
            {"record_time": "t", "migration_id": 4, "summaries": [{"party_id": "a::1", **coins, "fees": None}]}
        )

    paths = ("/v0/scan-proxy/holdings/summary", old), ("/v1/scan-proxy/holdings/summary", new)
    app = Starlette(routes=[Route(path, answer, methods=["POST"]) for path, answer in paths])
    with serve(app) as served, connected(served.url) as sender:
        answer = Validator(sender).holdings_summary(**ASK, as_of_round=5)

    assert [body for _path, body in asked] == [SENT | {"as_of_round": 5}, SENT]
    assert answer.computed_as_of_round is None
    (one,) = answer.summaries
    assert (one.total_coin_holdings, one.total_available_coin, one.accumulated_holding_fees_total) == (
        "3.0",
        None,
        None,
    )


def test_a_missing_snapshot_is_not_looked_for_on_other_routes():
    with far(summary=reply({"error": "no snapshot"}, 404)) as there, pytest.raises(NotFoundError, match="no snapshot"):
        there.validator.holdings_summary(**ASK)
    assert there.routes == [V0]


def test_too_many_holdings_are_told():
    said = {"error": "The number of holdings exceeded the limit 1000"}
    with far(summary=reply(said, 400)) as there, pytest.raises(StatusError, match="exceeded the limit"):
        there.validator.holdings_summary(**ASK)


def test_a_read_is_asked_again_after_a_bad_gateway():
    answer = reply({"record_time": "t", "migration_id": 4, "computed_as_of_round": 1, "summaries": []})
    with far(summary=[reply({"error": "scans disagree"}, 502), answer]) as there:
        assert there.validator.holdings_summary(**ASK).summaries == []
    assert there.routes == [V0, V0]


def test_the_deprecated_route_names_its_replacement():
    answer = reply({"record_time": "t", "migration_id": 4, "summaries": []})
    with far(summary=answer) as there, pytest.warns(DeprecatedEndpointWarning, match="/v1/scan-proxy/holdings/summary"):
        there.validator.holdings_summary(**ASK)


@pytest.mark.usefixtures("captures")
def test_captured_offers_are_read():
    with replay("validator-transfer-offers") as server, connected(server.validator_url) as sender:
        (offer,) = Validator(sender).transfer_offers()
    assert offer.arguments["amount"] == {"amount": "42.0", "unit": "AmuletUnit"}
    assert offer.created_event_blob == ""


@pytest.mark.usefixtures("captures")
def test_captured_name_entries_are_read_as_they_are():
    with replay("validator-name-entries") as server, connected(server.validator_url) as sender:
        (entry,) = Validator(sender).name_entries()
    assert (entry.name, entry.amount, entry.unit) == ("02122025max.unverified.cns", "1.0000000000", "USDUNIT")
    assert (entry.expires_at, entry.payment_interval, entry.payment_duration) == (
        "1772432243532", "7776000000000", "2592000000000",
    )  # fmt: skip


@pytest.mark.usefixtures("captures")
def test_the_captured_preapproval_is_read():
    with replay("validator-transfer-preapproval") as server, connected(server.validator_url) as sender:
        found = Validator(sender).transfer_preapproval("bob::preapproval")
    assert found.contract.arguments["receiver"] == "bob::preapproval"
    assert found.domain_id.startswith("global-domain::")
    assert server.seen[0].path.endswith("/by-party/bob%3A%3Apreapproval")


def test_no_preapproval_is_none():
    with far(**{"bob%3A%3A1": reply({"error": "No TransferPreapproval found for party"}, 404)}) as there:
        assert there.validator.transfer_preapproval("bob::1") is None


def test_an_unknown_path_is_not_taken_for_no_preapproval():
    with far(**{"bob%3A%3A1": UNKNOWN_ROUTE}) as there, pytest.raises(NotFoundError, match="does not know this path"):
        there.validator.transfer_preapproval("bob::1")


@pytest.mark.parametrize("party", ["", "bob/..", "bob%", "b" * 256, None])
def test_what_is_no_party_is_refused(party):
    with pytest.raises(InputError, match=r"party=.*give a party id"):
        Validator(nowhere()).transfer_preapproval(party)


@pytest.mark.parametrize(
    ("call", "arguments", "options"),
    [
        pytest.param("holdings_summary", (), ASK, id="holdings_summary"),
        pytest.param("transfer_offers", (), {}, id="transfer_offers"),
        pytest.param("name_entries", (), {}, id="name_entries"),
        pytest.param("transfer_preapproval", ("bob::1",), {}, id="transfer_preapproval"),
    ],
)
def test_every_call_takes_a_token(call, arguments, options):
    shown = Validator(nowhere()).preview(call, *arguments, **options)
    assert shown.headers["Authorization"] == "Bearer ***"
    assert TOKEN not in str(shown)


def test_an_answer_without_a_required_member_says_where():
    with (
        far(all=reply({"entries": [{"contractId": "00"}]})) as there,
        pytest.raises(DecodeError, match=r"`name`.*\$\.entries\[0\]"),
    ):
        there.validator.name_entries()

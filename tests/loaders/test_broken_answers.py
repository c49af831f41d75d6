"""Answers that no server should give end in errors of the package, wherever in the client they are read."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.loaders.history import History
from tests.asking import answering
from tests.decoding.items import decoded, page_of, transaction
from tests.replay import beyond
from tests.transport.hostile_server import HostileServer, Reply

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.errors.DeprecatedEndpointWarning")
WHEN = {"record_time": "2026-01-30", "migration_id": 1}


def test_text_beyond_ascii_is_read_whatever_piece_it_falls_into():
    name = "ü" * 300_000  # more than a piece, and the pieces end inside of letters
    entry = dict.fromkeys(("contractId", "amount", "unit", "expiresAt", "paymentInterval", "paymentDuration"), "1")
    body = json.dumps({"entries": [{**entry, "name": f"x{name}"}]}, ensure_ascii=False).encode()
    with answering(body) as net:
        assert lf.load_name_entries(net).name.tolist() == [f"x{name}"]


#: Each reads bytes that are no text, of which the error says so.
NO_TEXT = {
    "a typed call": (lambda net: net.validator.name_entries(), b'{"entries":[{"name":"%s"}]}'),
    "a page of the history": (lambda net: net.scan.updates(), page_of(transaction(update_id="%s"))),
    "a table": (lf.load_name_rules, b'{"ans_rules_update":{"x":"%s"}}'),
    "an update": (lambda net: lf.load_update(net, "u"), b'{"event":null,"update_id":"%s"}'),
    "a transaction": (lambda net: net.ledger.transaction_by_id("u"), b'{"transaction":{"updateId":"%s"}}'),
    "a holdings summary": (lambda net: lf.load_holdings_summary(net, ["p"], **WHEN), b'{"summaries":[{"x":"%s"}]}'),
}
COIN = {"id": "Coin", "name": "Coin", "symbol": "C", "decimals": 10, "supportedApis": {"metadata-v1": 1}}
#: A call, an answer of another sort, and what the error says.
INSTRUMENTS, UPDATE = (lambda net: net.registry.instruments()), (lambda net: net.ledger.update_by_id("u"))
TYPED = {
    **{name: (call, body % b"\xe9", r"not whole JSON.*utf-8") for name, (call, body) in NO_TEXT.items()},
    "an exponent beyond any number": (
        lambda net: net.ledger.transaction_by_id("u"), b'{"transaction":{"updateId":"u","x":1E+9999999999999999999}}',
    ),
    "a list as page token": (lf.load_instruments, {"instruments": [], "nextPageToken": []}),
    "no list of instruments": (lf.load_instruments, {"adminId": "issuer::1", "supportedApis": {}}),
    "a summary of no party": (
        lambda net: lf.load_holdings_summary(net, ["p"], **WHEN), {"summaries": [{"total_coin_holdings": "1"}]},
    ),
    "decimals below 0": (INSTRUMENTS, {"instruments": [COIN | {"decimals": -1}]}, r"\$\.instruments\[0\]\.decimals"),
    "a registry without its admin": (lambda net: net.registry.info(), {"supportedApis": {}}, "adminId"),
    "text for a version": (
        lambda net: net.registry.info(), {"adminId": "a::1", "supportedApis": {"x": "1"}}, r"\$\.supportedApis",
    ),
    "traffic without a limit": (
        lambda net: lf.load_traffic(net, ["PAR::alice::1220ab"], synchronizer="global::1220"),
        {"traffic_status": {"actual": {"total_consumed": 0}, "target": {"total_purchased": 5}}}, r"item 0: .*_limit",
    ),
    "no update": (UPDATE, {}, "the answer has no 'update'"),
    "null for an update": (UPDATE, {"update": None}, "the answer has no 'update'"),
    "an update of an unknown kind": (
        UPDATE, {"update": {"TopologyTransaction": {"value": {}}}}, "TopologyTransaction",
    ),
    "a number as summary": (lambda net: lf.load_holdings_summary(net, ["p"], **WHEN), {"summaries": [1.5]}),
    "a number as party": (lambda net: lf.load_holdings_summary(net, ["p"], **WHEN), {"summaries": [{"party_id": 1}]}),
    "a round of 65 bits": (
        lambda net: lf.load_holdings_summary(net, ["p"], **WHEN), {"summaries": [], "computed_as_of_round": 2**64},
    ),
    "an item that only its columns can judge": (
        lambda net: net.scan.updates().items, json.loads(page_of(transaction(events_by_id=None))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPED)
def test_a_value_of_another_sort_is_a_decode_error(name):
    call, body, *said = TYPED[name]
    with answering(body) as net, pytest.raises(lf.errors.DecodeError, match=said[0] if said else None):
        call(net)


@pytest.mark.parametrize(
    "page", [{}, {"users": None}, {"nextPageToken": ""}, {"users": [], "nextPageToken": None}], ids=str
)
def test_a_page_without_users_means_that_there_are_none(page):
    with answering(page) as net:
        users = lf.load_users(net)
        assert net.ledger.list_users().users == []
    assert len(users) == 0
    assert "user_id" in users.columns


@pytest.mark.parametrize("value", ["9" * 5_000, "1E+9999999999999999999"], ids=["digits", "exponent"])
def test_what_python_has_no_value_for_stays_as_text_and_is_said_when_items_are_rebuilt(value):
    body = page_of(transaction({"u:1": {"create_arguments": "HERE"}})).replace(b'"HERE"', value.encode())
    batches = decoded(body)
    history = History(**{name: pa.Table.from_batches([batch]) for name, batch in batches.items()})
    assert value in history.events["payload"].to_pylist()
    with pytest.raises(lf.errors.DecodeError, match="use its text instead"):
        list(lf.rebuild_items(history))


def test_a_server_that_shows_what_lies_before_is_not_searched_for_ever():
    with answering(page_of(transaction())) as net:
        with pytest.raises(lf.errors.PagingError, match="does not keep to the order"):
            lf.migrations(net)
        with pytest.raises(lf.errors.PagingError, match="does not keep to the order"):
            lf.load_holdings_summary(net, ["p"], record_time="2026-01-30")


@pytest.mark.parametrize(("ahead", "requests"), [(0, 10), (3600, 60)], ids=["in time", "behind its clock"])
def test_a_scan_that_records_more_than_one_update_per_request_has_a_newest_one(ahead, requests):
    times = [datetime.now(UTC) - timedelta(seconds=seconds) for seconds in range(300, 0, -1)]

    def page(heard):
        times.append(datetime.now(UTC))
        asked = json.loads(heard.body or "{}")
        items = [transaction(update_id=f"u{n}", record_time=f"{at:%FT%T.%fZ}") for n, at in enumerate(times)]
        body = page_of(*beyond(items, asked.get("after"))[: asked.get("page_size", 0)])
        date = format_datetime(times[-1] + timedelta(seconds=ahead), usegmt=True)
        return Reply(200 if len(times) < 400 else 500, body, (("Content-Type", "application/json"), ("Date", date)))

    with HostileServer(page) as server, lf.connect(scan_url=server.url, attempts=1) as net:
        (newest,) = lf.migrations(net).last_record_time
    assert times[299] <= newest <= times[-1]
    assert len(server.heard) < requests


@pytest.mark.parametrize(
    "search",
    [
        lf.migrations, lf.plan, lambda net: lf.load_updates(net, last="1h"),
        lambda net: lf.load_holdings_summary(net, ["p"], record_time="2026-01-30"),
    ],
    ids=["migrations", "a plan", "a load", "a summary's migration"],
)  # fmt: skip
def test_a_server_with_ever_more_migrations_is_not_searched_for_ever(search):
    pages = [page_of(transaction(migration_id=number)) for number in range(103)]
    with answering(*pages) as net:
        with pytest.raises(lf.errors.PagingError, match="the server shows one more"):
            search(net)
        assert net.stats.requests <= 100


def test_a_long_list_of_unknown_members_does_not_make_a_long_message():
    members = {f"member {number}": 1 for number in range(5_000)}
    with answering(members) as net, pytest.raises(lf.errors.DecodeError) as caught:
        net.ledger.transaction_by_id("u")
    assert len(str(caught.value)) < 1_000


def test_migrations_of_the_first_and_last_years_have_their_times():
    first = page_of(transaction(record_time="0001-01-01T00:00:00.000000Z"))
    with answering(first, b'{"transactions":[]}') as net:
        (row,) = lf.migrations(net).to_dict("records")
    assert str(row["first_record_time"]) == str(row["last_record_time"]) == "0001-01-01 00:00:00+00:00"

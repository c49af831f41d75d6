"""Scan's snapshots as frames: the active contracts, and parties' coins."""

import json
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.interfaces.scan_snapshots import template_names
from ledgerframes.sandbox.world.templates import COIN, LOCKED_COIN
from ledgerframes.tables.replayed import ACTIVE
from tests.asking import asking
from tests.economics.books import Books
from tests.loaders.snapshot_scan import created, scan
from tests.transport.hostile_server import HostileServer, answer

COIN_NAME = "splice-amulet:Splice.Amulet:Amulet"
#: What the answer does not tell, and the history does.
UNTOLD = ["synchronizer_id", "source_synchronizer", "target_synchronizer", "reassignment_counter", "in_flight"]
UNTOLD += ["migration_id", "record_time"]


@pytest.fixture(scope="module")
def places(net):
    return list(lf.snapshot_times(net).itertuples(index=False, name=None))


@pytest.mark.parametrize("position", [0, -1])
def test_a_snapshot_holds_what_the_history_leaves_active(net, exact_history, places, position):
    at = places[position]
    frame = lf.load_active_contracts(net, at=at, page_size=70)

    told = [name for name in ACTIVE.names if name not in UNTOLD]
    left = lf.active_contracts(exact_history, at=at)
    found, wanted = (one[told].sort_values("contract_id", ignore_index=True) for one in (frame, left))
    pd.testing.assert_frame_equal(found, wanted)
    assert frame.attrs["cursor"] == [at[0], at[1].strftime("%Y-%m-%dT%H:%M:%S.%fZ")]
    assert frame.attrs["complete"]
    assert frame.extra.isna().all()
    assert tuple(frame.columns[:15]) == ACTIVE.names
    assert frame[UNTOLD].isna().all(axis=None)


def test_a_moment_between_two_snapshots_gives_the_one_before(net, places):
    (first, early), (second, late) = places[-3:-1]
    assert first == second
    for at in (early, early + (late - early) / 2, (first, late - pd.Timedelta("1us"))):
        assert lf.load_active_contracts(net, at=at, limit=1).attrs["cursor"][1] == f"{early:%Y-%m-%dT%H:%M:%S.%fZ}"
    newest = lf.load_active_contracts(net, limit=1).attrs["cursor"]
    assert newest == [places[-1][0], f"{places[-1][1]:%Y-%m-%dT%H:%M:%S.%fZ}"]


def test_a_moment_before_every_snapshot_is_a_not_found_error(net):
    for at in ("2000-01-01", (0, "2000-01-01"), (99, "2026-01-01")):
        with pytest.raises(lf.errors.NotFoundError, match=r"no snapshot.*lf\.snapshot_times"):
            lf.load_active_contracts(net, at=at)


def test_templates_and_parties_narrow_it(net):
    whole = lf.load_active_contracts(net)
    coins = lf.load_active_contracts(net, templates=[COIN_NAME])
    party = coins.signatories.iloc[0][-1]
    hers = lf.load_active_contracts(net, parties=[party], page_size=9)

    assert list(coins.contract_id) == list(whole.contract_id[whole.template_name == COIN.entity])
    seen = [party in row.signatories or party in row.observers for row in whole.itertuples()]
    assert list(hers.contract_id) == list(whole.contract_id[seen])
    assert 0 < len(hers) < len(whole)


def test_more_than_a_hundred_pages_need_a_narrower_question(net):
    with pytest.raises(lf.errors.InputError, match=r"more than 200 contracts, 100 pages.*templates="):
        lf.load_active_contracts(net, page_size=2)
    assert len(lf.load_active_contracts(net, page_size=2, limit=204)) == 204


def test_an_older_scan_gives_the_same_contracts_with_their_event_ids(net, places):
    wanted = lf.load_active_contracts(net, at=places[-1])
    with net.sandbox.replica(release="0.5") as server, lf.connect(scan_url=server.scan_url) as older:
        found = lf.load_active_contracts(older, at=places[-1])
        coins = lf.load_coins(older, [found.signatories.iloc[-1][-1]])

    same = [name for name in wanted.columns if name not in {"update_id", "event_id"}]
    pd.testing.assert_frame_equal(found[same], wanted[same])
    assert wanted.event_id.isna().all()
    assert found.update_id.isna().all()
    assert not found.event_id.str.startswith("#").any()
    told = wanted.update_id.notna()
    assert told.any()
    assert list(found.event_id[told].str.partition(":")[0]) == list(wanted.update_id[told])
    assert coins.extra.isna().all()


def test_a_contract_of_a_snapshot_follows_its_reassignments(net, places):
    low = places[-12]
    opening = lf.load_active_contracts(net, at=low)
    history = lf.load_history(net, start=low, progress=False)
    whole = lf.load_history(net, start="begin", progress=False)

    found = lf.active_contracts(history.events, history.reassignments, opening=opening).set_index("contract_id")
    wanted = lf.active_contracts(whole.events, whole.reassignments).set_index("contract_id")

    moved = sorted(set(opening.contract_id) & set(found.index) & set(history.reassignments.contract_id))
    assert moved
    pd.testing.assert_frame_equal(found.loc[moved, UNTOLD[:5]], wanted.loc[moved, UNTOLD[:5]])


def test_coins_are_those_of_the_ledger(net, places):
    at = places[-1]
    world = net.sandbox.world
    whole = lf.load_active_contracts(net, at=at)
    rows = whole[whole.template_name.isin([COIN.entity, LOCKED_COIN.entity])]
    payloads = [json.loads(one) for one in rows.payload]
    owners = sorted({one.get("amulet", one)["owner"] for one in payloads})

    coins = lf.load_coins(net, owners, at=at, page_size=11, decimals="exact")

    assert list(coins.contract_id) == list(rows.contract_id)
    assert coins.locked.any()
    assert not coins.locked.all()
    for row, payload in zip(coins.to_dict("records"), payloads, strict=True):
        own = payload.get("amulet", payload)
        assert (row["owner"], row["amount"]) == (own["owner"], Decimal(own["amount"]["initialAmount"]))
        assert row["created_round"] == int(own["amount"]["createdAt"]["number"])
        assert row["rate_per_round"] == Decimal(own["amount"]["ratePerRound"]["rate"])
        assert row["locked"] == ("amulet" in payload)
        if row["locked"]:
            assert list(row["lock_holders"]) == payload["lock"]["holders"]
            assert row["lock_expires_at"] == pd.Timestamp(payload["lock"]["expiresAt"])
        else:
            assert row["lock_holders"] is None
            assert pd.isna(row["lock_expires_at"])
    cursor = (at[0], at[1].value // 1_000)
    known = zip(world.ledger_updates, world.items(private=True), strict=True)
    assert sum(coins.amount) == Books(item for update, item in known if update[:2] <= cursor).supply
    assert coins.extra.isna().all()


BROKEN = {
    "a repeated token": ({"created_events": [created(1)], "next_page_token": 7}, lf.errors.PagingError, "repeats"),
    "another snapshot": (
        {"record_time": "2026-01-30T03:00:00Z", "created_events": []}, lf.errors.DecodeError, "belongs to",
    ),
    "another migration": ({"migration_id": 3, "created_events": []}, lf.errors.DecodeError, "belongs to"),
    "no list": ({"created_events": {}}, lf.errors.DecodeError, "created_events"),
    "no time": ({"record_time": "x", "created_events": []}, lf.errors.DecodeError, "state"),
    "a contract without its id": (
        {"created_events": [{"template_id": "a:B:Amulet"}]}, lf.errors.DecodeError, "contract_id|owner",
    ),
    "no object": ({"created_events": [5]}, lf.errors.DecodeError, "item 0"),
    "no snapshot": (
        answer({"error": "No snapshot found"}, 404), lf.errors.NotFoundError,
        r"snapshot \(migration 4, 2026-01-30T06.*\): No snapshot found\. What to do: lf.snapshot_times",
    ),
    "a contract twice": ({"created_events": [*map(created, (1, 2, 1))]}, lf.errors.PagingError, "contract twice"),
}  # fmt: skip


@pytest.mark.parametrize(("page", "error", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_answer_is_an_error_of_the_package_and_no_reason_to_ask_an_older_route(page, error, reason):
    for load in (lf.load_active_contracts, lambda net: lf.load_coins(net, ["o"])):
        wrong = pytest.raises(error, match=reason)
        with HostileServer(scan(lambda _: page)) as server, asking(server, attempts=2) as net, wrong:
            load(net)
        assert not [heard for heard in server.heard if heard.target.endswith(("/v0/state/acs", "/v0/holdings/state"))]


def test_a_contract_that_is_no_coin_is_an_error_among_coins():
    page = {"created_events": [created(1), created(2, "Splice.Round:OpenMiningRound")]}
    wrong = pytest.raises(lf.errors.DecodeError, match="item 1: a contract of 'OpenMiningRound', not a coin")
    with HostileServer(scan(lambda _: page)) as server, asking(server) as net, wrong:
        lf.load_coins(net, ["o"])


@pytest.mark.parametrize("source", ["pages", "objects"])
def test_the_networks_own_templates_need_no_package(net, source):
    coins = lf.load_active_contracts(net, templates=[COIN_NAME], source=source)
    assert len(coins)
    pd.testing.assert_frame_equal(
        lf.load_active_contracts(net, templates=["Splice.Amulet:Amulet"], source=source), coins
    )


def test_every_template_of_a_scan_goes_by_its_module(switched_history):
    columns = ["package_name", "template_name", "event_type"]
    shown = switched_history.events.select(columns).to_pandas().query("event_type == 'created_event'")
    packages = {f"{row.package_name}:{row.template_name}" for row in shown.itertuples()}
    assert set(template_names({*shown.template_name})) == packages

"""What parties of a participant saw, none lost and none twice, and the active contracts that this leaves."""

import json

import pandas as pd
import pytest

import ledgerframes as lf
from tests.sandbox.asking import party_of


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(updates=150) as network:
        yield network


@pytest.fixture(scope="module")
def last(net):
    """The offset of the last update: the ledger has more of them than its scan shows."""
    return net.sandbox.world.last_offset


@pytest.fixture(scope="module")
def whole(net):
    return lf.load_ledger_history(net, None)


@pytest.fixture(scope="module")
def contracts(net):
    return lf.load_ledger_contracts(net, None)


def offsets(history):
    return list(history.transactions.offset)


@pytest.mark.long
def test_every_update_comes_once_in_the_order_of_offsets_whatever_the_size_of_a_page(net, last):
    ids = set(lf.load_updates(net, limit=200, progress=False).update_id)
    for size in (None, 1, 7, 1000):
        history = lf.load_ledger_history(net, None, page_size=size, limit=1000)
        assert offsets(history) == list(range(1, last + 1))
        assert set(history.transactions.update_id) > ids
        assert history.transactions.event_count.sum() == len(history.events)
        assert (history.transactions.attrs["after_offset"], history.transactions.attrs["offset"]) == (0, last)
        assert history.events.attrs["complete"] is True


def test_an_update_of_a_page_is_the_one_that_is_looked_up(net, whole):
    assert {"CreatedEvent", "ExercisedEvent", "JsAssignmentEvent", "JsUnassignedEvent"} <= set(whole.events.kind)
    for row in whole.transactions.to_dict("records")[::37]:
        single = lf.load_ledger_transaction(net, row["update_id"])
        for found, seen in zip(single, whole, strict=True):
            mine = seen[seen.update_id == row["update_id"]].reset_index(drop=True)
            pd.testing.assert_frame_equal(found, mine, check_dtype=False)


def test_computed_tables_of_a_participants_history_are_those_of_the_scans(net, whole, contracts):
    """Times and days too, and where a contract is: a participant says when an update was sequenced, and shows legs."""
    own, shown = whole, lf.load_history(net, progress=False)
    assert (lf.supply(own, opening="nothing") == lf.supply(shown)).all(axis=None)
    for table, key in ((lf.rewards, "contract_id"), (lf.movements, ["update_id", "entry"])):
        rows = table(own, opening="nothing"), table(shown)
        mine, theirs = (found.sort_values(key, ignore_index=True) for found in rows)
        assert len(mine)
        assert mine.equals(theirs)
    daily = [lf.active_parties(history) for history in (own.events, shown)]
    assert list(daily[0].time) == list(daily[1].time)
    assert (daily[0].parties >= daily[1].parties).all()
    active = lf.active_contracts(own.events, opening="nothing").set_index("contract_id")
    told = contracts.set_index("contract_id")
    assert contracts.attrs["offset"] == net.sandbox.world.last_offset
    assert set(active.index) == set(told.index)
    settled = told[(told.kind == "JsActiveContract") & ~told.index.duplicated(keep=False)]
    same = active.loc[settled.index]
    assert list(same.synchronizer_id) == list(settled.synchronizer_id)
    assert list(same.reassignment_counter) == list(settled.reassignment_counter)
    assert set(active.index[active.in_flight]) == set(told.index[told.kind == "JsIncompleteUnassigned"])


def test_a_party_gets_its_own_view_and_another_ones_is_denied(net, last, whole, contracts):
    token, alice = net.sandbox.token("alice"), party_of(net.sandbox, "alice")
    with lf.connect(ledger_url=net.sandbox.ledger_url, token=token) as alone:
        history, mine = lf.load_ledger_history(alone, [alice]), lf.load_ledger_contracts(alone, [alice])
        seen = whole.events[[alice in (parties or ()) for parties in whole.events.witness_parties]]
        assert 0 < len(history.transactions) < last
        assert set(history.transactions.update_id) == set(seen.update_id)
        assert len(history.events) == len(seen)
        with pytest.raises(lf.errors.NotAuthorizedError):
            lf.load_ledger_history(alone, [party_of(net.sandbox, "bob")])
    stake = [alice in {*row.signatories, *row.observers} for row in contracts.itertuples()]
    assert 0 < len(mine) < len(contracts)
    assert set(mine.contract_id) == set(contracts.contract_id[stake])


@pytest.mark.parametrize(
    ("start", "end", "limit", "wanted"),
    [
        (5, 9, None, [5, 6, 7, 8]), (-1, None, None, [-1, 0]), (None, 3, None, [1, 2]), (9, 9, None, []),
        (-10, 5000, None, list(range(-10, 1))),
        (None, None, 4, [1, 2, 3, 4]), (7, 5000, 1, [7]),
    ],
)  # fmt: skip
def test_start_is_inclusive_end_exclusive_and_the_rest_follows_the_offset(net, last, start, end, limit, wanted):
    # Up to 0 they are counted from the last one.
    start, wanted = start and start + last * (start <= 0), [place + last * (place <= 0) for place in wanted]
    history = lf.load_ledger_history(net, None, start=start, end=end, limit=limit, page_size=3)
    assert offsets(history) == wanted
    assert set(history.events.update_id) == set(history.transactions.update_id)
    following = history.transactions.attrs["offset"] + 1
    rest = lf.load_ledger_history(net, None, start=following, limit=2)
    assert offsets(rest) == [place for place in range(following, following + 2) if place <= last]


@pytest.mark.parametrize("part", [{"limit": 30}, {"end": 31}, {"end": 31, "limit": 30}], ids=str)
def test_a_state_after_the_end_of_a_part_is_refused(net, whole, part):
    """A part says where it ends, as one of a scan does; what the participant showed last is no end."""
    history = lf.load_ledger_history(net, None, **part)
    assert offsets(history) == list(range(1, 31))
    at = whole.transactions.record_time.max()
    assert len(lf.active_contracts(whole, at=at, opening="nothing")) > 0
    with pytest.raises(lf.errors.PartialResultError, match="events reach up to"):
        lf.active_contracts(history, at=at, opening="nothing")
    lf.active_contracts(history, at=history.transactions.record_time.max(), opening="nothing")


def test_offsets_that_the_participant_has_not_reached_are_said(net, last):
    ends = (last, last + 1, last + 2)
    shown = [lf.load_ledger_history(net, None, start=last, end=end).events.attrs for end in ends]
    assert [attrs["complete"] for attrs in shown] == [True, True, False]
    assert ["end" in attrs for attrs in shown] == [False, True, False]
    nothing = lf.load_ledger_history(net, None, start=last + 1).events
    assert (len(nothing), nothing.attrs["offset"], nothing.attrs["complete"]) == (0, last, True)
    with pytest.raises(lf.errors.InputError, match=f"start={last + 2} is after .* {last}: give {last + 1} or less"):
        lf.load_ledger_history(net, None, start=last + 2)
    with pytest.raises(lf.errors.InputError, match=f"at={last + 1} is after the participant's newest offset {last}"):
        lf.load_ledger_contracts(net, None, at=last + 1)


def test_updates_that_arrive_meanwhile_are_left_to_the_next_load():
    with lf.sandbox(updates=30) as net:
        first = lf.load_ledger_history(net, None, page_size=4)
        net.sandbox.advance(updates=10)
        second = lf.load_ledger_history(net, None, start=first.events.attrs["offset"] + 1)
        last = net.sandbox.world.last_offset
    assert offsets(first) + offsets(second) == list(range(1, last + 1))
    assert 0 < len(offsets(first)) < last


@pytest.mark.parametrize("at", [137, 0])
def test_the_active_contracts_are_those_that_the_history_leaves(net, at):
    contracts = lf.load_ledger_contracts(net, None, at=at, page_size=50)
    history = lf.load_ledger_history(net, None, end=at + 1)
    left = lf.active_contracts(history, opening="nothing")
    active = contracts[contracts.kind == "JsActiveContract"]
    assert set(active.contract_id) == set(left.contract_id[~left.in_flight])
    assert (contracts.attrs["offset"], contracts.attrs["complete"]) == (at, True)
    assert active.synchronizer_id.notna().all()


def test_a_contract_is_as_its_creation_or_assignment_has_it(whole, contracts):
    # A contract that has arrived before it was seen leaving has two entries.
    contracts = contracts[~contracts.contract_id.duplicated(keep=False)].set_index("contract_id")
    events = whole.events
    creations = events[events.kind.isin(["CreatedEvent", "JsAssignmentEvent"])].groupby("contract_id").last()
    both = contracts.join(creations.add_suffix("_event"), how="inner")
    assert len(both) == len(contracts)
    for name in ("offset", "node_id", "template_id", "package_name", "created_at", "signatories", "payload"):
        assert (both[name] == both[f"{name}_event"]).all(), name


@pytest.mark.long
def test_a_contract_in_flight_is_told_with_its_way():
    with lf.sandbox(updates=600) as net:
        whole = lf.load_ledger_contracts(net, None)
        states = {at: lf.load_ledger_contracts(net, None, at=at) for at in range(20, 600, 20)}
    moving = [frame[frame.kind != "JsActiveContract"] for frame in (whole, *states.values())]
    rows = [row for frame in moving for row in frame.itertuples()]
    assert {row.kind for row in rows} >= {"JsIncompleteUnassigned"}
    for row in rows:
        assert row.source_synchronizer
        assert row.target_synchronizer
        assert row.reassignment_counter >= 1
        assert row.reassignment_id
        if row.kind == "JsIncompleteUnassigned":
            assert json.loads(row.extra)["/unassignedEvent"]["offset"] > row.offset


def test_an_update_shows_the_views_of_the_interfaces_asked_for(net):
    holding = "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding"
    shown = lf.load_events(net, progress=False)
    wanted = shown[(shown.template_name == "Splice.Amulet:Amulet") & (shown.event_type == "created_event")].iloc[0]
    for interfaces in ([holding], []):
        events = lf.load_ledger_transaction(net, wanted.update_id, interfaces=interfaces).events
        # The same update may archive the coin, too.
        event, *others = events[events.contract_id == wanted.contract_id].itertuples()
        views = json.loads(event.interface_views)
        assert all(pd.isna(other.interface_views) for other in others)
        assert [one.partition(":")[2] for one in event.view_interfaces] == [holding.partition(":")[2]] * len(views)
        assert "interfaceViews" not in (event.extra or "")
        assert len(views) == len(interfaces)
        payload = json.loads(wanted.payload)
        for view in views:
            assert (view["viewStatus"]["code"], view["viewValue"]["owner"]) == (0, payload["owner"])
            assert view["viewValue"]["amount"] == payload["amount"]["initialAmount"]

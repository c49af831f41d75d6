"""What parties of a participant see as active: the same as their history leaves, from one participant."""

import copy
import json

import pytest

import ledgerframes as lf
from tests.loaders.participants import Participant, connected
from tests.sandbox.asking import party_of

PARTY = ["a::1220"]


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(updates=500) as network:
        yield network


@pytest.fixture(scope="module")
def last(net):
    """The offset of the last update: the ledger has more of them than its scan shows."""
    return net.sandbox.world.last_offset


def left_by(history, at):
    """The contracts that the history up to an offset leaves active."""
    order = history.transactions.update_id[history.transactions.offset <= at]
    by_update = dict(list(history.events.groupby("update_id", sort=False)))
    active, moving, early = set(), set(), {}
    for update_id in order:
        for event in by_update[update_id].itertuples():
            name, move = event.contract_id, event.reassignment_id
            if event.kind == "CreatedEvent" or (event.kind == "JsAssignmentEvent" and move in moving):
                active.add(name)
                moving.discard(move)
            elif event.kind == "JsAssignmentEvent":
                early[move] = name
            elif event.kind == "JsUnassignedEvent" and move in early:
                active.add(early.pop(move))
            elif event.kind == "JsUnassignedEvent" and name in active:
                active.discard(name)
                moving.add(move)
            elif event.kind == "ExercisedEvent" and event.consuming:
                active.discard(name)
                early = {move: arrived for move, arrived in early.items() if arrived != name}
    return active


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("at", [137, 0, None])
def test_the_active_contracts_are_those_that_the_history_leaves(net, last, at):
    contracts = lf.load_ledger_contracts(net, None, at=at, page_size=50)
    history = lf.load_ledger_history(net, None)
    active = contracts[contracts.kind == "JsActiveContract"]
    assert set(active.contract_id) == left_by(history, last if at is None else at)
    assert contracts.attrs["offset"] == (last if at is None else at)
    assert contracts.attrs["complete"] is True
    assert active.synchronizer_id.notna().all()


def test_a_contract_is_as_its_creation_or_assignment_has_it(net):
    contracts = lf.load_ledger_contracts(net, None)
    # A contract that has arrived before it was seen leaving has two entries.
    contracts = contracts[~contracts.contract_id.duplicated(keep=False)].set_index("contract_id")
    events = lf.load_ledger_history(net, None).events
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


def test_a_party_gets_its_own_contracts(net):
    alice = party_of(net.sandbox, "alice")
    mine = lf.load_ledger_contracts(net, [alice])
    everybody = lf.load_ledger_contracts(net, None)
    assert 0 < len(mine) < len(everybody)
    assert all(alice in {*row.signatories, *row.observers} for row in mine.itertuples())
    stake = [alice in {*row.signatories, *row.observers} for row in everybody.itertuples()]
    assert set(mine.contract_id) == set(everybody.contract_id[stake])


def test_an_offset_that_is_not_reached_is_named(net, last):
    with pytest.raises(lf.errors.InputError, match=f"at={last + 1} is after the participant's newest offset {last}"):
        lf.load_ledger_contracts(net, None, at=last + 1)


def later_snapshot(number, made):
    return made | {"activeAtOffset": made["activeAtOffset"] + 1} if number == 2 else made


def twice(number, made):
    made = copy.deepcopy(made)
    if number == 2:
        made["activeContracts"].append(made["activeContracts"][0])
    return made


@pytest.mark.parametrize(
    ("spoil", "said"), [(later_snapshot, "snapshot at offset 11, not 10"), (twice, "00one4 comes twice")]
)
def test_pages_that_contradict_each_other_are_refused(spoil, said):
    with connected(Participant(spoil=spoil)) as net, pytest.raises(lf.errors.PagingError, match=said):
        lf.load_ledger_contracts(net, PARTY)


def test_contracts_at_an_offset_that_was_pruned_are_refused_with_the_first_that_is_there():
    with connected(Participant(pruned=8)) as net:
        with pytest.raises(lf.errors.PartialResultError, match=r"offset 8, and at=5 .*: give at=8 or a later one"):
            lf.load_ledger_contracts(net, PARTY, at=5)
        assert len(lf.load_ledger_contracts(net, PARTY, at=8)) == 8
    refused = pytest.raises(lf.errors.PartialResultError, match="has pruned its updates while they were read")
    with connected(Participant(pruned=11, prunes_at=2, names_pruned=False)) as net, refused:
        lf.load_ledger_contracts(net, PARTY)


def test_an_entry_without_a_contract_is_no_row_and_its_page_no_end():
    def empty(number, made):
        return made | {"activeContracts": [{"contractEntry": {"JsEmpty": {}}}, {}]} if number == 1 else made

    with connected(Participant(spoil=empty)) as net:
        assert len(lf.load_ledger_contracts(net, PARTY)) == 7


@pytest.mark.parametrize(
    "entry",
    [{"JsActiveContract": {}}, {"JsActiveContract": {"createdEvent": {}}}, {"A": {}, "B": {}}, {"JsActiveContract": 5}],
    ids=str,
)
def test_an_entry_that_breaks_the_interface_is_a_decode_error(entry):
    def broken(_number, made):
        return made | {"activeContracts": [{"contractEntry": entry}]}

    with (
        connected(Participant(spoil=broken)) as net,
        pytest.raises(lf.errors.DecodeError, match="active-contracts-page"),
    ):
        lf.load_ledger_contracts(net, PARTY)


def test_many_contracts_want_a_limit_and_a_limit_stops_the_requests():
    participant = Participant(offsets=list(range(1, 103)), page=1)
    with connected(participant) as net:
        with pytest.raises(lf.errors.InputError, match=r"more than 100 rows, 100 pages: give limit="):
            lf.load_ledger_contracts(net, PARTY)
        asked = len(participant.asked)
        assert len(lf.load_ledger_contracts(net, PARTY, limit=2, page_size=1)) == 2
        assert len(participant.asked) == asked + 2
        assert [body.get("maxPageSize") for body in participant.asked[asked - 1 :]] == [None, 1, 1]

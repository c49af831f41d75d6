"""Active contracts and holdings by replay, held against items, the sandbox's own state and the server's summary."""

import json
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from tests.economics.books import Books
from tests.rigs.servers import simulated
from tests.sandbox.economy_books import EXACT


@pytest.mark.long(quick=1)
def test_active_contracts_agree_with_a_walk_over_the_items(served):
    found = lf.active_contracts(served.history.events, served.history.reassignments)
    wanted = served.books.active()
    assert set(found.contract_id) == set(wanted)
    assert found.contract_id.is_unique
    for row in found.itertuples():
        contract = wanted[row.contract_id]
        assert (row.synchronizer_id if isinstance(row.synchronizer_id, str) else None) == contract.place
        assert row.reassignment_counter == contract.counter
        assert row.in_flight == (contract.place is None)


def test_a_contract_id_that_is_created_twice_is_one_contract():
    with simulated(seed=1, updates=600, hostile=True) as net:
        history = lf.load_history(net, start=(-(2**63), "0001-01-01"))
    creates = history.events[history.events.event_type == "created_event"]
    twice = creates[creates.contract_id.duplicated(keep=False)].sort_values(["migration_id", "record_time"])
    found = lf.active_contracts(history.events, history.reassignments)
    assert set(twice.contract_id) & set(found.contract_id)
    assert found.contract_id.is_unique
    first = twice.drop_duplicates("contract_id").set_index("contract_id").template_id
    for row in found[found.contract_id.isin(first.index)].itertuples():
        assert row.template_id == first[row.contract_id]


def test_events_and_reassignments_of_different_ranges_are_refused(normal):
    events = lf.load_events(normal.net, limit=400)
    reassignments = lf.load_reassignments(normal.net)
    with pytest.raises(lf.errors.InputError, match=r"events reach to .* reassignments to .*load_history.* at=\(\d"):
        lf.active_contracts(events, reassignments)
    with pytest.raises(lf.errors.InputError, match="reach to"):
        lf.holdings_from_events(events, reassignments, as_of_round=1)
    until = lf.load_events(normal.net, end=(1, "9999-01-01"))
    with pytest.raises(lf.errors.InputError, match="differ in range"):
        lf.active_contracts(until, reassignments)


@pytest.mark.parametrize("bare", [False, True], ids=["a pair", "a time"])
def test_different_ranges_may_be_asked_for_what_both_cover(normal, bare):
    events = lf.load_events(normal.net, limit=400)
    at = (events.attrs["cursor"][0], events.attrs["cursor"][1])
    whole = lf.active_contracts(normal.history.events, normal.history.reassignments, at=at)
    short = lf.load_reassignments(normal.net, limit=420) if bare else normal.history.reassignments
    found = lf.active_contracts(events, short, at=at[1] if bare else at)
    assert set(found.contract_id) == set(whole.contract_id)
    after = (at[0], pd.Timestamp(at[1]) + pd.Timedelta("1us"))
    with pytest.raises(lf.errors.InputError, match="reach to"):
        lf.active_contracts(events, short, at=after[1] if bare else after)


def test_states_of_a_store_are_not_mixed(normal, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    report = store.sync(normal.net)
    with pytest.raises(lf.errors.InputError, match="differ in as_of"):
        lf.active_contracts(store.load("events"), store.load("reassignments", as_of=report.sync_id))


def test_a_moment_in_between_sees_what_was_there_then(normal):
    updates = normal.history.updates
    place = updates.iloc[int(0.7 * len(updates))]
    at = (int(place.migration_id), place.record_time)
    cursors = list(zip(updates.migration_id, updates.record_time, strict=True))
    items = [item for item, cursor in zip(normal.items, cursors, strict=True) if cursor <= at]
    found = lf.active_contracts(normal.history.events, normal.history.reassignments, at=at)
    assert set(found.contract_id) == set(Books(items).active())


def test_a_frame_that_does_not_say_where_it_begins_is_refused(normal):
    events = normal.history.events.copy()
    events.attrs.clear()
    with pytest.raises(lf.errors.PartialResultError, match="does not say"):
        lf.active_contracts(events, None)
    assert len(lf.active_contracts(events, None, opening="nothing"))
    events.attrs.update({"from_beginning": True, "complete": False})
    with pytest.raises(lf.errors.PartialResultError, match="gap"):
        lf.active_contracts(events, None)
    with pytest.raises(lf.errors.InputError, match="opening='all'"):
        lf.active_contracts(events, None, opening="all")


def test_a_store_says_that_it_begins_at_ledger_begin(normal, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(normal.net)
    found = lf.active_contracts(store.load("events"), store.load("reassignments"))
    whole = lf.active_contracts(normal.history.events, normal.history.reassignments)
    assert set(found.contract_id) == set(whole.contract_id)
    with pytest.raises(lf.errors.PartialResultError):
        lf.active_contracts(store.load("events", start=(1, "0001-01-01")), None)


def test_an_empty_history_has_no_contracts(normal):
    events = normal.history.events.head(0)
    legs = normal.history.reassignments.head(0)
    for frame in (events, legs):
        frame.attrs["rows"] = 0
    assert lf.active_contracts(events, legs).empty
    assert lf.holdings_from_events(events, as_of_round=1).empty


@pytest.mark.long(quick=2)
def test_holdings_agree_with_the_formula_contract_by_contract(served):
    try:
        served.books.holdings(0)
    except KeyError:  # the hostile world has coins without an owner
        with pytest.raises(lf.errors.InputError, match="cannot be computed"):
            lf.holdings_from_events(served.history.events, served.history.reassignments, as_of_round=0)
        return
    moment = served.books.earliest_round()
    moment = 5 if moment is None else moment
    computed = lf.holdings_from_events(served.history.events, served.history.reassignments, as_of_round=moment)
    wanted = served.books.holdings(moment)
    assert set(computed.party_id) == set(wanted)
    for row in computed.itertuples():
        unlocked, locked, fees, locked_fees = wanted[row.party_id]
        assert row.total_unlocked_coin == unlocked
        assert row.total_locked_coin == locked
        assert row.accumulated_holding_fees_unlocked == fees
        assert row.accumulated_holding_fees_locked == locked_fees
        assert row.total_available_coin == unlocked - fees


@pytest.mark.parametrize("moment", [None, 3], ids=str)
def test_holdings_reconcile_with_the_servers_summary_to_the_last_digit(normal, moment):
    migration_id = int(normal.history.updates.migration_id.max())
    history = (normal.history.events, normal.history.reassignments)
    for at in normal.net.sandbox.snapshots(migration_id)[-2:]:
        computed = lf.holdings_from_events(*history, at=(migration_id, at), as_of_round=moment)
        round_number = int(computed.computed_as_of_round.iloc[0])
        summary = lf.load_holdings_summary(
            normal.net, computed.party_id.tolist(), record_time=at, migration_id=migration_id, match="exact",
            as_of_round=round_number, decimals="exact",
        )  # fmt: skip
        assert set(summary.computed_as_of_round) == {round_number}
        found = lf.reconcile_holdings(computed, summary)
        assert found.empty
        assert found.attrs["not_served"] == []


def test_the_round_of_a_past_snapshot_is_the_historys_and_not_the_servers_default(normal):
    migration_id, times = 0, normal.net.sandbox.snapshots(0)[:3]
    history = (normal.history.events, normal.history.reassignments)
    computed = [lf.holdings_from_events(*history, at=(migration_id, at)) for at in times]
    parties = computed[0].party_id.tolist()[:4]
    rounds = [int(one.computed_as_of_round.iloc[0]) for one in computed]
    default = lf.load_holdings_summary(
        normal.net, parties, record_time=times[0], migration_id=migration_id, decimals="exact"
    )
    assert default.computed_as_of_round.iloc[0] > rounds[0]
    with pytest.raises(lf.errors.InputError, match="fees differ from round to round"):
        lf.reconcile_holdings(computed[0], default)
    found = lf.load_holdings_summary(
        normal.net, parties, record_time=times, migration_id=migration_id, as_of_round=rounds, decimals="exact"
    )
    for at, one in zip(times, computed, strict=True):
        served = found[found.record_time == pd.Timestamp(at)]
        assert lf.reconcile_holdings(one[one.party_id.isin(parties)], served).empty


def without_fees(summary):
    """The summary as newer servers give it."""
    gone = ["accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked", "accumulated_holding_fees_total",
            "total_available_coin"]  # fmt: skip
    return summary.assign(**dict.fromkeys(gone), computed_as_of_round=pd.array([pd.NA] * len(summary), dtype="Int64"))


def test_what_a_server_does_not_state_is_no_difference(normal):
    computed = lf.holdings_from_events(normal.history.events, normal.history.reassignments)
    served = without_fees(computed)
    found = lf.reconcile_holdings(computed, served)
    assert found.empty
    assert found.attrs["not_served"] == [
        "accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked", "accumulated_holding_fees_total",
        "total_available_coin",
    ]  # fmt: skip
    served.loc[1, "total_unlocked_coin"] += 1
    assert lf.reconcile_holdings(computed, served).amount.tolist() == ["total_unlocked_coin"]


@pytest.mark.parametrize("fees", [True, False], ids=["fees", "no fees"])
def test_a_party_that_the_server_does_not_know_holds_nothing_there(normal, fees):
    computed = lf.holdings_from_events(normal.history.events, normal.history.reassignments)
    served = computed if fees else without_fees(computed)
    amounts = [name for name in served if "coin" in name or "fees" in name]
    unknown = served.assign(found=served.index != 0)
    unknown.loc[0, amounts] = None
    for one in (unknown, unknown.drop(columns="found"), unknown.drop(index=0)):
        found = lf.reconcile_holdings(computed, one)
        assert set(found.party_id) == {computed.party_id[0]}
        assert "total_coin_holdings" in set(found.amount)
        assert ("total_available_coin" in set(found.amount)) == fees
    nobody = unknown.iloc[[0]]
    assert set(lf.reconcile_holdings(computed.iloc[[0]], nobody).party_id) == {computed.party_id[0]}


def test_a_difference_is_shown_to_the_last_digit(normal):
    computed = lf.holdings_from_events(normal.history.events, normal.history.reassignments)
    other = computed.copy()
    other.loc[2, "total_locked_coin"] += Decimal("1E-10")
    found = lf.reconcile_holdings(computed, other)
    assert found.amount.tolist() == ["total_locked_coin"]
    assert found.difference.tolist() == [Decimal("-1E-10")]
    gone = lf.reconcile_holdings(computed, computed.drop(index=0))
    assert set(gone.party_id) == {computed.party_id[0]}
    with pytest.raises(lf.errors.InputError, match="round"):
        lf.reconcile_holdings(computed, computed.assign(computed_as_of_round=99))


def test_holding_fees_in_long_form_add_up(normal):
    computed = lf.holdings_from_events(normal.history.events, normal.history.reassignments)
    fees = lf.holding_fees(computed)
    assert len(fees) == 2 * len(computed)
    assert fees.notional_fees.sum() == computed.accumulated_holding_fees_total.sum()
    assert fees.holdings.sum() == computed.total_coin_holdings.sum()
    with pytest.raises(lf.errors.InputError, match="load_holdings_summary"):
        lf.holding_fees(normal.history.events)


def test_parties_come_in_the_order_asked_with_zeros(normal):
    found = lf.holdings_from_events(normal.history.events, parties=["nobody::12", "alice::34"])
    assert found.party_id.tolist() == ["nobody::12", "alice::34"]
    assert [str(one) for one in found.total_coin_holdings] == ["0", "0"]
    assert found.found.tolist() == [False, False]


def test_a_zero_amount_is_a_plain_zero_everywhere(normal):
    amounts = lf.holdings_from_events(normal.history.events, normal.history.reassignments, as_of_round=0)
    summary = lf.load_holdings_summary(normal.net, amounts.party_id.tolist(), as_of_round=0, decimals="exact")
    coins = lf.expand(normal.history.events, template="Splice.Amulet:Amulet")
    for frame in (amounts, summary, coins, lf.holding_fees(amounts)):
        cells = [cell for column in frame for cell in frame[column] if isinstance(cell, Decimal)]
        assert cells
        assert {str(cell) for cell in cells if cell == 0} <= {"0"}
    assert (amounts.total_locked_coin == 0).any()
    text = lf.load_holdings_summary(normal.net, amounts.party_id.tolist(), decimals="string")
    assert not text.total_locked_coin.str.contains("E").any()
    assert "0.0000000000" in set(text.total_locked_coin)


NINES = "9" * 28 + "." + "9" * 10


def rich(events, **terms):
    """The events with one more coin, of the owner `rich`."""
    coin = events[(events.event_type == "created_event") & (events.template_name == "Splice.Amulet:Amulet")].iloc[[-1]]
    amount = {
        "initialAmount": terms.get("amount", NINES),
        "createdAt": {"number": str(terms.get("created", 0))},
        "ratePerRound": {"rate": terms.get("rate", "0.0")},
    }
    payload = json.dumps({"dso": "d", "owner": terms.get("owner", "rich"), "amount": amount})
    more = coin.assign(contract_id=terms.get("contract_id", "more"), update_id="more", payload=payload)
    found = pd.concat([events, more], ignore_index=True)
    found.attrs.update(events.attrs, rows=len(found))
    return found


def test_amounts_of_38_digits_lose_none(normal):
    half = "4" * 28 + "." + "4" * 10
    events = rich(normal.history.events, amount=half, rate="1" * 27 + ".0123456789", created=7)
    events = rich(events, amount=half, contract_id="another")
    found = lf.holdings_from_events(events, normal.history.reassignments, as_of_round=5, parties=["rich"]).iloc[0]
    assert found.total_unlocked_coin == Decimal("8" * 28 + "." + "8" * 10)
    assert found.accumulated_holding_fees_unlocked == Decimal("-" + "2" * 27 + ".0246913578")
    assert found.total_available_coin == EXACT.subtract(
        found.total_unlocked_coin, found.accumulated_holding_fees_unlocked
    )


def test_a_difference_of_38_digits_loses_none(normal):
    computed = lf.holdings_from_events(
        rich(normal.history.events), normal.history.reassignments, as_of_round=5, parties=["rich"]
    )
    served = computed.assign(
        total_locked_coin=[Decimal("-0.0000000001")], total_coin_holdings=[Decimal("0.0000000001")]
    )
    found = lf.reconcile_holdings(computed, served).set_index("amount").difference
    assert found.to_dict() == {
        "total_locked_coin": Decimal("1E-10"),
        "total_coin_holdings": Decimal("9" * 28 + "." + "9" * 9 + "8"),
    }


def test_a_coin_that_cannot_be_read_is_named(normal):
    with pytest.raises(lf.errors.InputError, match=r"no amount\.initialAmount that can be read"):
        lf.holdings_from_events(rich(normal.history.events, amount="NaN"), normal.history.reassignments)


@pytest.mark.parametrize(("which", "opening"), [("events", "nothing"), ("reassignments", None)])
def test_a_load_that_ended_early_is_refused_whichever_it_is(normal, which, opening):
    given = {name: getattr(normal.history, name).copy() for name in ("events", "reassignments")}
    given[which].attrs["complete"] = False
    with pytest.raises(lf.errors.PartialResultError, match=f"{which} has a gap"):
        lf.active_contracts(**given, opening=opening)

"""Active contracts and holdings by replay, held against items, the sandbox's own state and the server's summary."""

from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from tests.economics.histories import WHOLE, frame_of
from tests.economics.items import create, update
from tests.economics.payments import coin
from tests.loaders.test_holdings_summary import FEES
from tests.sandbox.economy_books import COIN, EXACT


@pytest.mark.long(quick=2)
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


def test_a_contract_id_that_is_created_twice_is_the_first_contract():
    items = [update(template, second, create(template, "twice", {})) for second, template in enumerate(("A:A", "B:B"))]
    for rows in (items, items[::-1]):
        assert lf.active_contracts(frame_of(rows, **WHOLE)).template_name.tolist() == ["A:A"]


@pytest.mark.parametrize("bare", [False, True], ids=["a pair", "a time"])
def test_events_and_reassignments_of_different_ranges_are_refused_but_for_what_both_cover(normal, bare):
    events, legs = lf.load_events(normal.net, limit=400), normal.history.reassignments
    for table, options in ((lf.active_contracts, {}), (lf.holdings_from_events, {"as_of_round": 1})):
        with pytest.raises(lf.errors.InputError, match=r"events reach to .* reassignments to .*load_history.* at=\(\d"):
            table(events, legs, **options)
    with pytest.raises(lf.errors.InputError, match="differ in range"):
        lf.active_contracts(lf.load_events(normal.net, end=(1, "9999-01-01")), legs)

    at = (events.attrs["cursor"][0], events.attrs["cursor"][1])
    whole = lf.active_contracts(normal.history.events, legs, at=at)
    short = lf.load_reassignments(normal.net, limit=420) if bare else legs
    found = lf.active_contracts(events, short, at=at[1] if bare else at)
    assert set(found.contract_id) == set(whole.contract_id)
    after = (at[0], pd.Timestamp(at[1]) + pd.Timedelta("1us"))
    with pytest.raises(lf.errors.InputError, match="reach to"):
        lf.active_contracts(events, short, at=after[1] if bare else after)


def test_a_frame_has_to_say_that_it_begins_where_the_ledger_does_and_has_no_gap(normal):
    events = normal.history.events.copy()
    events.attrs.clear()
    with pytest.raises(lf.errors.PartialResultError, match="does not say"):
        lf.active_contracts(events, None)
    assert len(lf.active_contracts(events, None, opening="nothing"))
    with pytest.raises(lf.errors.InputError, match="opening='all'"):
        lf.active_contracts(events, None, opening="all")
    for name, opening in (("events", "nothing"), ("reassignments", None)):
        given = {name: getattr(normal.history, name).copy() for name in ("events", "reassignments")}
        given[name].attrs["complete"] = False
        with pytest.raises(lf.errors.PartialResultError, match=f"{name} has a gap"):
            lf.active_contracts(**given, opening=opening)


def test_a_store_says_that_it_begins_at_ledger_begin_and_its_states_are_not_mixed(store):
    with lf.sandbox(updates=150) as net:
        report = store.sync(net)
        whole = lf.active_contracts(lf.load_history(net, start="begin"))
        found = lf.active_contracts(store.load("events"), lf.load_reassignments(net))
        net.sandbox.advance(updates=50)
        later = lf.load_reassignments(net)
    assert set(found.contract_id) == set(whole.contract_id)
    with pytest.raises(lf.errors.InputError, match=r"events reach to .*, reassignments to .*: load both from one"):
        lf.holdings_from_events(store.load("events"), later)
    with pytest.raises(lf.errors.PartialResultError):
        lf.active_contracts(store.load("events", start=(1, "0001-01-01")), None)
    with pytest.raises(lf.errors.InputError, match="differ in as_of"):
        lf.active_contracts(store.load("events"), store.load("reassignments", as_of=report.sync_id))


@pytest.mark.long(quick=2)
def test_holdings_agree_with_the_formula_contract_by_contract(served):
    history = (served.history.events, served.history.reassignments)
    try:
        served.books.holdings(0)
    except KeyError:  # the hostile world has coins without an owner
        with pytest.raises(lf.errors.InputError, match="cannot be computed"):
            lf.holdings_from_events(*history, as_of_round=0)
        return
    moment = served.books.earliest_round()
    moment = 5 if moment is None else moment
    computed = lf.holdings_from_events(*history, as_of_round=moment)
    wanted = served.books.holdings(moment)
    assert set(computed.party_id) == set(wanted)
    for row in computed.itertuples():
        unlocked, locked, fees, locked_fees = wanted[row.party_id]
        assert (row.total_unlocked_coin, row.total_locked_coin) == (unlocked, locked)
        assert (row.accumulated_holding_fees_unlocked, row.accumulated_holding_fees_locked) == (fees, locked_fees)
        assert row.total_available_coin == unlocked - fees


@pytest.fixture(scope="module")
def computed(normal):
    return lf.holdings_from_events(normal.history.events, normal.history.reassignments)


def test_holdings_reconcile_with_the_servers_summary_at_the_round_of_its_time(normal):
    history = (normal.history.events, normal.history.reassignments)
    migrations = sorted({0, int(normal.history.updates.migration_id.max())})
    for migration_id in migrations:
        times = normal.net.sandbox.snapshots(migration_id)[-2:] if migration_id else normal.net.sandbox.snapshots(0)[:3]
        tables = [lf.holdings_from_events(*history, at=(migration_id, at)) for at in times]
        rounds = [int(one.computed_as_of_round.iloc[0]) for one in tables]
        ask = {"record_time": times, "migration_id": migration_id, "decimals": "exact"}
        parties = tables[0].party_id.tolist()
        served = lf.load_holdings_summary(normal.net, parties, as_of_round=rounds, **ask)
        for at, one in zip(times, tables, strict=True):
            of_then = served[served.record_time == pd.Timestamp(at)]
            found = lf.reconcile_holdings(one[one.party_id.isin(parties)], of_then)
            assert found.empty
            assert found.attrs["not_served"] == []
        if migration_id == 0:
            default = lf.load_holdings_summary(normal.net, parties, **ask | {"record_time": times[0]})
            assert default.computed_as_of_round.iloc[0] > rounds[0]
            with pytest.raises(lf.errors.InputError, match="fees differ from round to round"):
                lf.reconcile_holdings(tables[0], default)


def without_fees(summary):
    """The summary as newer servers give it."""
    return summary.assign(**dict.fromkeys(FEES), computed_as_of_round=pd.array([pd.NA] * len(summary), dtype="Int64"))


def test_what_a_server_does_not_state_is_no_difference(computed):
    served = without_fees(computed)
    found = lf.reconcile_holdings(computed, served)
    assert found.empty
    assert found.attrs["not_served"] == FEES
    served.loc[1, "total_unlocked_coin"] += 1
    assert lf.reconcile_holdings(computed, served).amount.tolist() == ["total_unlocked_coin"]


@pytest.mark.parametrize("fees", [True, False], ids=["fees", "no fees"])
def test_a_party_that_the_server_does_not_know_holds_nothing_there(computed, fees):
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


def test_a_difference_is_shown_to_the_last_of_38_digits(computed):
    nines = "9" * 28 + "." + "9" * 10
    own = computed.assign(total_coin_holdings=Decimal(nines), total_locked_coin=Decimal(0))
    other = own.copy()
    other.loc[2, "total_locked_coin"] -= Decimal("1E-10")
    other.loc[2, "total_coin_holdings"] = Decimal("1E-10")
    found = lf.reconcile_holdings(own, other).set_index("amount").difference
    assert found.to_dict() == {"total_locked_coin": Decimal("1E-10"), "total_coin_holdings": Decimal(nines[:-1] + "8")}
    with pytest.raises(lf.errors.InputError, match="round"):
        lf.reconcile_holdings(computed, computed.assign(computed_as_of_round=99))


def test_holding_fees_in_long_form_add_up(normal, computed):
    fees = lf.holding_fees(computed)
    assert len(fees) == 2 * len(computed)
    assert fees.notional_fees.sum() == computed.accumulated_holding_fees_total.sum()
    assert fees.holdings.sum() == computed.total_coin_holdings.sum()
    with pytest.raises(lf.errors.InputError, match="load_holdings_summary"):
        lf.holding_fees(normal.history.events)


def test_parties_come_in_the_order_asked_with_zeros(normal):
    found = lf.holdings_from_events(normal.history.events, parties=["nobody::12", "alice::34"])
    assert found.party_id.tolist() == ["nobody::12", "alice::34"]
    with pytest.raises(lf.errors.InputError, match="give a whole party id"):
        lf.holdings_from_events(normal.history.events, parties=["nobody"])
    assert [str(one) for one in found.total_coin_holdings] == ["0", "0"]
    assert found.found.tolist() == [False, False]


def test_amounts_of_38_digits_lose_none_and_one_that_cannot_be_read_is_named():
    def holdings(*amounts, rate):
        coins = [create(COIN, str(place), coin("rich", one, number=7, rate=rate)) for place, one in enumerate(amounts)]
        return lf.holdings_from_events(frame_of([update("u", 0, *coins)], **WHOLE), as_of_round=5)

    half = "4" * 28 + "." + "4" * 10
    found = holdings(half, half, rate="1" * 27 + ".0123456789").iloc[0]
    assert found.total_unlocked_coin == Decimal("8" * 28 + "." + "8" * 10)
    assert found.accumulated_holding_fees_unlocked == Decimal("-" + "4" * 27 + ".0493827156")
    assert found.total_available_coin == EXACT.subtract(
        found.total_unlocked_coin, found.accumulated_holding_fees_unlocked
    )
    with pytest.raises(lf.errors.InputError, match=r"no amount\.initialAmount that can be read"):
        holdings("1.0", "NaN", rate="0.0")

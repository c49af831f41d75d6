"""`movements` add up: a party's to what it holds, those of all to what is minted and burned, and nothing is unknown.

They are also read apart: from the raw JSON of coins and payments, by nothing that the models share.
"""

from collections import defaultdict
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from tests.economics.books import Books
from tests.economics.histories import WHOLE, captured_items, frame_of
from tests.economics.items import archive, create, exercise, update
from tests.economics.payments import coin, output, paid, result
from tests.sandbox.economy_books import COIN


@pytest.fixture(scope="module")
def history(switched_history):
    return switched_history


def test_a_partys_entries_are_what_it_holds_at_every_time(tables):
    entries = lf.movements(tables)
    held = lf.balances_over_time(tables, every="1h")

    for party, own in held.groupby("party_id"):
        mine = entries[entries.party == party]
        assert list(mine.balance_after) == list(mine.amount.cumsum())
        # A later migration can begin before the one before it ends.
        by_time = mine.sort_values("record_time", kind="stable")
        total, locked = ([0, *sums.cumsum()] for sums in (by_time.amount, by_time.locked_change))
        by_then = by_time.record_time.searchsorted(own.time, side="right")
        assert [total[number] for number in by_then] == list(own.total_coin_holdings)
        assert [locked[number] for number in by_then] == list(own.total_locked_coin)
    assert {*entries.party} <= {*held.party_id}


def test_all_entries_are_what_is_minted_and_burned_and_each_has_its_reason(tables):
    entries, flows = lf.movements(tables), lf.mint_burn(tables).set_index("update_id")

    party = entries.party.mode()[0]
    alone = lf.movements(tables, party=party)
    assert alone.equals(entries[entries.party == party].reset_index(drop=True))
    assert "unknown" not in set(entries.kind)
    assert {"lock", "unlock", "merge"} < set(entries.kind)
    found = entries.groupby("update_id").amount.sum().reindex(flows.index)
    assert (found == flows.net_change).all()
    sums = entries.groupby("kind").amount.sum()
    for kind in [name for name in flows if name.startswith(("minted_", "burned_"))]:
        sign = 1 if kind.startswith("minted") else -1
        assert sums.get(kind, 0) == sign * flows[kind].sum(), kind


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
def test_a_range_adds_up_and_credits_nobody_with_coin_that_may_have_been_theirs_before_its_assignment(switched):
    start, end = lf.load_updates(switched, start="begin", progress=False).record_time[[400, 1_900]]
    part = lf.load_history(switched, start=start, end=end, decimals="exact", progress=False)
    with together(part) as alone, together(part, opening=lf.load_opening(switched, at=start)) as opened:
        (entries, flows), (known, whole) = (
            (lf.movements(inputs), lf.mint_burn(inputs).set_index("update_id")) for inputs in (alone, opened)
        )

    assigned = entries[entries.kind == "assigned"]
    for update_id, own in entries.drop(assigned.index).groupby("update_id"):
        net = flows.net_change[update_id]
        assert own.amount.isna().any() if pd.isna(net) else own.amount.sum() == net
    assert entries.balance_after.isna().all()
    assert len(assigned)
    assert assigned.amount.isna().all()
    assert "assigned" not in set(known.kind)
    assert known.amount.sum() == whole.net_change.sum()


def entries_by_key(rows, update):
    """The amounts of an update's rows, but for those that change only what is locked, or nothing."""
    sums = defaultdict(Decimal)
    for row in rows.get(update, ()):
        if row["kind"] not in {"lock", "unlock", "merge", "unknown"}:
            sums[row["kind"], row["party"], row["counterparty"]] += row["amount"]
    return dict(sums)


def by_update(events):
    rows = defaultdict(list)
    for row in lf.movements(events, as_="arrow").to_pylist():
        rows[row["update_id"]].append(row)
    return rows


def test_movements_are_those_of_the_raw_payments_and_coins(books, tables):
    seen, rows, every_change = set(), by_update(tables), books.changes()

    for update_id, entries in books.entries().items():
        assert entries_by_key(rows, update_id) == entries
        sums, changes = defaultdict(Decimal), every_change[update_id]
        for (_, party, _), amount in entries.items():
            sums[party] += amount
        # What is stated of payments is what became of the coins.
        assert {party: amount for party, amount in sums.items() if amount} == {
            party: amount for party, (amount, _) in changes.items() if amount
        }
        own_rows = rows.get(update_id, ())
        alone = {(row["kind"], row["party"], row["locked_change"]) for row in own_rows if not row["amount"]}
        paying = {party for _, party, _ in entries}
        assert alone == {
            ("lock" if own > 0 else "unlock" if own < 0 else "merge", party, own)
            for party, (amount, own) in changes.items()
            if own or (not amount and party not in paying)
        }
        seen |= {kind for kind, _, _ in entries} | {kind for kind, _, _ in alone}
    assert seen == {row["kind"] for own in rows.values() for row in own}
    assert len(seen) > 12


@pytest.mark.usefixtures("captures")
@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
def test_real_movements_are_those_of_the_raw_payments():
    books = Books(captured_items())
    rows, stated = by_update(frame_of(books.items)), books.entries()

    assert {update_id: entries_by_key(rows, update_id) for update_id in stated} == stated
    assert {kind for own in stated.values() for kind, _, _ in own} >= {"minted_sv"}


def test_a_receiver_pays_its_share_of_the_fees():
    sent = [output("bob", "10.0", "0.25"), output("carol", "2.0")]
    made = [
        create(COIN, name, coin(name, text)) for name, text in {"bob": "9.75", "carol": "2", "alice": "6.5"}.items()
    ]
    fees = {"inputAmuletAmount": "20.0", "outputFees": ["1.0", "0.5"], "senderChangeFee": "0.25"}
    item = update("m2", 2, paid(archive(COIN, "c"), *made, inputs=[("InputAmulet", "c")], outputs=sent, **fees))
    before = update("m1", 1, create(COIN, "c", coin("alice", "20.0")))

    found = entries_by_key(by_update(frame_of([before, item], **WHOLE)), "m2")

    assert found == Books([item]).entries()["m2"]
    burned = {party: amount for (kind, party, _), amount in found.items() if kind == "burned_fees"}
    assert burned == {"bob": Decimal("-0.25"), "alice": Decimal("-1.5")}


def test_a_renewal_is_paid_by_its_provider_from_its_own_coupons_and_coins():
    coupon = "Splice.Amulet:AppRewardCoupon"
    terms = {"provider": "host", "beneficiary": None, "featured": True, "amount": "9.0", "round": {"number": "7"}}
    inputs = [{"tag": "InputAppRewardCoupon", "value": "earned"}, {"tag": "InputAmulet", "value": "c"}]
    done = result(inputAppRewardAmount="5.0", inputAmuletAmount="2.0", senderChangeAmount="6.0")
    renewed = {"transferPreapprovalCid": "new", "provider": "host", "receiver": "bob", "amuletPaid": "1.0",
               "transferResult": done}  # fmt: skip
    change = create(COIN, "change", coin("host", "6.0"))
    renewal = exercise(
        "Splice.AmuletRules:TransferPreapproval", "of bob", "TransferPreapproval_Renew", {"inputs": inputs}, renewed,
        archive(coupon, "earned"), archive(COIN, "c"), change, consuming=True,
    )  # fmt: skip
    before = update("m1", 1, create(coupon, "earned", terms), create(COIN, "c", coin("host", "2.0")))

    with together(frame_of([before, update("m2", 2, renewal)], **WHOLE)) as events:
        (claimed,) = (row for row in lf.reward_flows(events).itertuples() if row.event == "claimed")
        found = {(row["kind"], row["party"]): row["amount"] for row in by_update(events)["m2"]}

        assert (claimed.party, claimed.kind, claimed.amount) == ("host", "app", 5)
        assert found == {("minted_app", "host"): 5, ("burned_preapprovals", "host"): -1}
        assert lf.mint_burn(events).unexplained.iloc[-1] == 0

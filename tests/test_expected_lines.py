"""What newcomers type and look for before they have read anything: it works, or the answer is what to type."""

from decimal import Decimal

import pandas as pd
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf


def test_tables_are_had_by_their_names(world):
    _, history, store = world

    assert history["events"] is history.events is history[1]
    assert len(store["events"]) == len(history.events)
    with pytest.raises(lf.errors.InputError, match=r"history\['event'\].*did you mean 'events'"):
        history["event"]
    with pytest.raises(lf.errors.InputError, match=r"lf\.NAME\(history\) computes other tables"):
        history["rewards"]


def test_events_are_chosen_on_the_way(world):
    net, history, _ = world
    coin, tap = COIN, "AmuletRules_DevNet_Tap"
    party = history.events.signatories.dropna().iloc[-1][0]
    sides = ["acting_parties", "signatories", "observers"]
    of_party = history.events[sides].map(lambda cell: isinstance(cell, tuple) and party in cell).any(axis=1)
    wanted = {
        "template": (coin, history.events.template_name == coin),
        "choice": ([tap, "Archive"], history.events.choice.isin([tap, "Archive"])),
        "party": (party, of_party),
    }

    for name, (value, mask) in wanted.items():
        found = lf.load_events(net, progress=False, **{name: value})
        assert found.event_id.tolist() == history.events.event_id[mask].tolist() != []
    both = lf.load_events(net, template=coin, party=party, columns=["event_id"], progress=False)
    assert both.event_id.tolist() == history.events.event_id[of_party & (history.events.template_name == coin)].tolist()
    assert both.attrs["only"] == {"template": [coin], "party": [party]}
    with pytest.raises(lf.errors.InputError, match="party='alice' is not valid: give a whole party id"):
        lf.load_events(net, party="alice")


def test_a_misspelt_name_that_finds_nothing_is_a_warning_with_the_one_that_is_there(world):
    net, _, store = world
    for slip, key, name in [
        (COIN.lower(), "template_name", COIN), ("AmuletRules_Trasfer", "choice", "AmuletRules_Transfer"),
    ]:  # fmt: skip
        with pytest.warns(UserWarning, match=rf"where\['{key}'\]='{slip}': .*did you mean '{name}'"):
            assert len(store.load("events", where={key: [slip]}, columns=["event_id"])) == 0
        with pytest.warns(UserWarning, match=rf"='{slip}': .*did you mean '{name}'"):
            lf.load_events(net, progress=False, **{key.removesuffix("_name"): [slip, "Some:Thing"]})
    with pytest.warns(UserWarning, match="did you mean 'transaction'"):
        store.load("updates", where={"kind": "Transaction"})
    # What has no namesake may well be rare, or is only like others; what another condition takes away is there.
    for name in ("Some:Thing", "Splice.Amulet:RewardCouponV2", "Splice.AmuletAllocation:AmuletAllocation"):
        assert len(store.load("events", where={"template_name": name})) == 0
    assert len(store.load("events", where={"template_name": COIN, "update_id": "x"})) == 0


COIN = "Splice.Amulet:Amulet"
SELECTED = {
    "pandas": (lambda _, history, __: history.events[history.events.template_name == COIN], "no longer has the"),
    "arrow": (lambda net, *_: lf.load_events(net, as_="arrow", progress=False).slice(0, 9), "no longer has the"),
    "joined twice": (lambda _, history, __: pd.concat([history.events, history.events[:1]]), "no longer has the"),
    "chosen": (lambda net, *_: lf.load_events(net, template=COIN, progress=False), "only"),
    "where": (lambda *world: world[2].load("events", where={"template_name": COIN}), r"only those of where=.*Amulet"),
}


@pytest.mark.parametrize(("select", "said"), SELECTED.values(), ids=SELECTED)
def test_tables_that_need_all_rows_refuse_a_selection(world, select, said):
    rows = select(*world)
    for compute in (lf.supply, lambda events: lf.active_contracts(events, None)):
        with pytest.raises(lf.errors.PartialResultError, match=said):
            compute(rows)


def test_a_selection_is_expanded_and_counted_and_one_of_every_row_is_none(world):
    _, history, store = world
    events = history.events
    coins = events[events.template_name == COIN]
    counted = lf.template_activity(coins).attrs
    assert (counted["selected_of"], "range" in counted) == (len(events), False)
    assert len(lf.expand(coins, template=COIN)) > 0
    assert lf.supply(events[events.record_time.notna()]).attrs["from_beginning"] is True
    assert lf.supply(store.load("events")).equals(lf.supply(store))
    with pytest.raises(lf.errors.PartialResultError, match="only"):
        lf.mint_burn(lf.load_events(world[0], template=COIN, progress=False))


@pytest.mark.parametrize("cut", ["saved", "file"])
def test_saved_rows_that_were_selected_before_or_afterwards_are_refused(world, tmp_path, cut):
    history, place = world[1], tmp_path / "saved"
    saved = history if cut == "file" else history._replace(events=history.events[1:])
    saved.save(place)
    if cut == "file":
        place /= "events.parquet"
        pq.write_table(pq.read_table(place).slice(1), place)
    with pytest.raises(lf.errors.PartialResultError, match=f"no longer has the {len(history.events):,} rows"):
        lf.supply(place)


def test_payloads_of_a_history_a_store_and_files_are_expanded_like_those_of_its_events(world, tmp_path):
    _, history, store = world
    history.save(tmp_path / "saved")
    with pytest.raises(lf.errors.InputError, match="already exists; pass overwrite=True"):
        history.save(tmp_path / "saved")
    assert lf.supply(tmp_path / "saved").attrs["range"] == history.events.attrs["range"]
    want = lf.expand(history.events, template=COIN)

    for events in (history, store, tmp_path / "saved", tmp_path / "saved" / "events.parquet"):
        pd.testing.assert_frame_equal(lf.expand(events, template=COIN), want)
    for events in (store, tmp_path / "saved"):
        with pytest.raises(lf.errors.InputError, match="template='Amulet' is not valid: give Module:Entity"):
            lf.expand(events, template="Amulet")


def test_a_history_and_a_store_are_exported_exactly(world, tmp_path):
    _, history, store = world
    exact = lf.rewards(history, decimals="exact").amount.dropna().tolist()

    for name, data in (("history", history), ("store", store)):
        assert lf.export(data, tmp_path / name).rows >= sum(map(len, history))
        lf.export(data, tmp_path / f"{name}.parquet", tables=["rewards"])
        amounts = pq.read_table(tmp_path / f"{name}.parquet")["amount"].drop_null().to_pylist()
        assert isinstance(amounts[0], Decimal)
        assert amounts == exact
    with pytest.raises(lf.errors.InputError, match="tables='reward' is not valid: did you mean 'rewards'"):
        lf.export(history, tmp_path / "x", tables=["reward"])
    with pytest.raises(
        lf.errors.InputError, match=r'frames by the names of their tables, such as \{"rewards": frame\}'
    ):
        lf.export(pd.DataFrame({"a": [1]}), tmp_path / "x")


@pytest.mark.parametrize(("word", "ours"), [("since", "start"), ("until", "end"), ("days", "last")])
def test_words_of_other_libraries_are_answered_by_ours(world, word, ours):
    with pytest.raises(TypeError, match=f"'{word}'; did you mean '{ours}'"):
        world[2].load("events", **{word: "7d"})
    with pytest.raises(TypeError, match="'zzz'; it takes table, "):
        world[2].load("events", zzz="7d")


def test_prices_are_those_of_the_time_and_young_enough(world):
    paid = lf.mint_burn(world[1], decimals="exact")
    first, last = paid.record_time.iloc[[0, -1]]
    middle = first + (last - first) / 2
    prices = pd.DataFrame({"time": [middle, first], "price": ["0.3", "0.1"]})

    found = lf.join_prices(paid, prices)

    late = paid.record_time >= middle
    assert found.market_price.tolist() == [0.3 if one else 0.1 for one in late]
    assert found.minted_app_at_market.dropna().tolist() == [
        (amount * Decimal("0.3" if is_late else "0.1")).quantize(Decimal("1e-10"))
        for amount, is_late in zip(paid.minted_app, late, strict=True)
    ]
    old = lf.join_prices(lf.mint_burn(world[1]), prices[1:], within="1us")
    assert old.market_price.notna().tolist() == (paid.record_time <= first + pd.Timedelta("1us")).tolist()
    assert old.minted_app_at_market.dtype == "float64"
    for wrong in ([0], [None], ["much"]):
        with pytest.raises(lf.errors.InputError, match="prices: "):
            lf.join_prices(paid, pd.Series(wrong, index=[first]))
    seconds = pd.Series([0.1], index=[int(first.timestamp())])
    with pytest.raises(lf.errors.InputError, match="the times are numbers, and nothing says of which unit"):
        lf.join_prices(paid, seconds)
    with pytest.raises(lf.errors.InputError, match="are both at "):
        lf.join_prices(paid, pd.Series([0.1, 0.3], index=[first, first]))


#: What is wanted, and words that somebody says who does not know its name.
WANTED = {
    "votes": ("votes", "governance", "proposals", "who voted"),
    "vote_casts": ("who voted", "voted how", "votes cast"),
    "config_changes": ("configuration", "parameters", "what changed"),
    "price_votes": ("price vote", "median price", "coin price"),
    "featured_app_history": ("featured apps", "app rights", "granted", "withdrawn"),
    "sv_weights": ("super validator weights", "weights", "offboarding", "beneficiaries"),
    "movements": ("statement", "account", "accounting", "credit", "debit", "counterparty"),
    "supply_by_purpose": ("circulating supply", "locked supply", "supply", "unclaimed", "vesting"),
    "issuance": ("issuance curve", "inflation", "emission", "halving", "schedule", "minted"),
    "network_daily": ("active users", "transactions per day", "key figures", "KPI", "fees", "dashboard"),
    "validator_daily": ("validator scorecard", "validator rewards", "missed rounds", "liveness", "profit"),
    "app_daily": ("applications", "app share", "users", "app rewards", "app activity"),
    "retention": ("retention", "cohorts", "returning", "churn", "came back"),
    "wallets_daily": ("wallets", "new wallets", "preapprovals", "external party"),
    "labels": ("label", "names of parties", "own labels", "names and roles"),
    "join_prices": ("market price", "join prices"),
    "events_from_pqs": ("PQS", "participant query store", "postgres"),
    "plot.votes": ("votes", "governance timeline", "votes chart"),
    "plot.price_votes": ("price votes", "median price"),
    "plot.supply_by_purpose": ("circulating supply", "locked supply"),
    "plot.issuance": ("issuance", "inflation", "emission chart"),
    "plot.app_shares": ("app shares", "application share", "concentration"),
    "plot.validator_scorecard": ("validator scorecard", "scorecard"),
    "plot.retention": ("retention", "cohort", "heat map"),
    "load_verdicts": ("rejected", "how long confirmations take"),
    "holdings_from_events": ("top holders", "gini"),
    "load_traffic": ("traffic balance", "traffic left"),
    "expand": ("activity markers", "featured app markers"),
    "rewards": ("app rewards after CIP-0104",),
    "transfers": ("who paid whom",),
    "reward_flows": ("who earns most",),
    "Store": ("Power BI", "Tableau", "is the lake complete"),
}  # fmt: skip


@pytest.mark.parametrize("name", WANTED)
def test_a_newcomer_finds_it_among_the_first_three(name):
    for words in WANTED[name]:
        found = [one if one.startswith("plot.") else one.partition(".")[0] for one in lf.find(words).name]
        assert name in [*dict.fromkeys(found)][:3], words

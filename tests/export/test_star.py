"""A store as a star: facts and dimensions whose keys meet, with the sums of the lake's own tables."""

import json
import re
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.store.derive.tables import DERIVABLE
from ledgerframes.store.star.semantic_model import write_semantic_model
from ledgerframes.tables.star import RELATIONS, STAR
from tests.export.stars import Exported, key_of, repeated, without_row
from tests.rigs.servers import simulated

WORLDS = {
    "a day": {"seed": 7, "updates": 1_000},
    "weeks": {"days": 15},
    "hostile": {"updates": 100, "hostile": True},
}
AMOUNTS = {
    "fact_transfers": ("transfers", ["amount", "sender_fees", "receiver_fee_ratio"]),
    "fact_rewards": ("rewards", ["weight", "issuance", "amount"]),
    "fact_traffic": ("traffic_purchases", ["bytes", "amount", "amount_usd"]),
    "fact_mint_burn": (
        "mint_burn",
        [name for name in STAR["fact_mint_burn"].names if name.startswith(("minted", "burned", "net", "unexplained"))],
    ),
}


def filled(folder, world, *, derive=None):
    store = lf.open_store(folder / "lake")
    with simulated(**world) as net:
        store.sync(net, progress=False, derive=derive)
        # Nothing of the hostile world but its history is served.
        store.sync(net, progress=False, tables=["verdicts"] if "hostile" in world else ["verdicts", "licenses"])
    return store


def exported(store, folder, **options):
    store.export(folder, model="star", profile="exact", **options)
    return Exported(folder)


#: The hostile world has choices on coin that nothing knows; syncs warn of them.
WARNED = pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
MADE = [pytest.param(name, marks=WARNED if name == "hostile" else ()) for name in WORLDS]


@pytest.fixture(scope="module")
def stars(tmp_path_factory):
    """The store and the star of each world, made when they are asked for."""

    @cache
    def of(name, *, derive=None):
        folder = tmp_path_factory.mktemp(name.replace(" ", "-"))
        store = filled(folder, WORLDS[name], derive=derive)
        return store, exported(store, folder / "out")

    return of


@pytest.fixture(params=MADE, ids=WORLDS)
def made(request, stars):
    return stars(request.param)


@pytest.fixture
def weeks(stars):
    return stars("weeks", derive=tuple(DERIVABLE))


@pytest.mark.long(quick=1)
def test_every_key_of_a_fact_has_its_row(made):
    _, star = made
    assert without_row(star) == {}
    assert len(star.model["relations"]) == len(RELATIONS)
    assert repeated(star) == {}


@pytest.mark.long(quick=1)
def test_facts_have_the_rows_of_the_lake(made):
    store, star = made
    for fact, table in (("fact_updates", "updates"), ("fact_events", "events"), ("fact_verdicts", "verdicts")):
        ids = "event_id" if table == "events" else "update_id"
        own = sorted(row[0] for row in star.ask(f"select {ids} from {fact}"))
        assert own == sorted(store.load(table, columns=[ids])[ids])


@pytest.mark.long(quick=1)
def test_facts_sum_to_the_tables_computed_from_the_whole_history(made):
    store, star = made
    for fact, (name, columns) in AMOUNTS.items():
        assert_sums(star, fact, getattr(lf, name)(store, as_="arrow"), columns)


def assert_sums(star, fact, rows, columns):
    assert star.one(f"select count(*) from {fact}") == rows.num_rows
    for column in columns:
        cells = [cell for cell in rows[column].to_pylist() if cell is not None]
        own = [row[0] for row in star.ask(f"select {column} from {fact} where {column} is not null")]
        assert (len(own), sum(own)) == (len(cells), sum(cells)), f"{fact}.{column}"
        assert sorted(own) == sorted(cells), f"{fact}.{column}"


@pytest.mark.long(quick=1)
def test_parties_of_an_event_are_its_actors_signatories_and_observers(made):
    store, star = made
    columns = {"acting": "acting_parties", "signatory": "signatories", "observer": "observers"}
    events = store.load("events", columns=["event_id", "update_id", *columns.values()])
    wanted = {
        (key_of(json.dumps([row.update_id, row.event_id], separators=(",", ":"), ensure_ascii=False)), role, party)
        for row in events.itertuples()
        for role, name in columns.items()
        for party in (getattr(row, name) if isinstance(getattr(row, name), tuple) else ())
    }
    found = star.ask("select event_key, role, party_id from bridge_event_party join dim_party using (party_key)")
    assert len(found) == len(wanted)
    assert set(found) == wanted


@pytest.mark.long
def test_what_facts_name_is_what_the_lake_names(weeks):
    store, star = weeks
    transfers = store.load("transfers", as_="arrow").to_pylist()
    times = store.load("updates", columns=["update_id", "record_time"]).set_index("update_id").record_time
    found = star.ask(
        "select update_id, output_index, sender.party_id, receiver.party_id, round, dim_date.date::varchar"
        " from fact_transfers join fact_updates using (update_key)"
        " left join dim_party as sender on sender.party_key = sender_party_key"
        " left join dim_party as receiver on receiver.party_key = receiver_party_key"
        " left join dim_round using (round_key) join dim_date on dim_date.date_key = fact_transfers.date_key"
    )
    wanted = [
        (
            *(row[name] for name in ("update_id", "output_index", "sender", "receiver", "round")),
            str(times[row["update_id"]].date()),
        )
        for row in transfers
    ]
    assert sorted(map(str, found)) == sorted(map(str, wanted))


@pytest.mark.long
def test_balances_are_those_of_the_coins_at_the_end_of_each_day(weeks):
    store, star = weeks
    days = [row[0] for row in star.ask("select date from fact_supply_daily order by 1")]
    assert len(days) >= 15
    for day in (days[0], days[7], days[-1]):
        end = None if day == days[-1] else f"{day}T23:59:59.999999Z"  # the last day is known in part
        coins = lf.coin_history(store, at=end, decimals="exact")
        coins = coins[coins.ended_at.isna()]
        found = {
            party: (unlocked, locked, total)
            for party, unlocked, locked, total in star.ask(
                "select party_id, unlocked, locked, total from fact_balances_daily"
                f" join dim_party using (party_key) where date = '{day}'"
            )
        }
        wanted = {}
        for owner, own in coins.groupby("owner"):
            locked = sum(own.amount[own.locked])
            wanted[owner] = (sum(own.amount) - locked, locked, sum(own.amount))
        assert {party: sums for party, sums in found.items() if sums[2]} == wanted
        supply = lf.supply(store, at=end, decimals="exact").loc[0, ["unlocked", "locked", "total"]].tolist()
        assert [*star.ask(
            f"select unlocked, locked, total from fact_supply_daily where date = '{day}'"
        )[0]] == supply  # fmt: skip


@pytest.mark.long
def test_licenses_of_a_day_are_the_latest_by_then(weeks):
    store, star = weeks
    events = store.load("events", where={"template_name": "Splice.ValidatorLicense:ValidatorLicense"})
    days = sorted(row[0] for row in star.ask("select distinct date from fact_licenses_daily"))
    for day in (days[0], days[len(days) // 2], days[-1]):
        until = events[events.record_time.dt.date <= day].sort_values(["migration_id", "record_time", "node_index"])
        latest = {}
        for payload in until[until.event_type == "created_event"].payload:
            own = json.loads(payload)
            latest[own["validator"]] = own
        found = dict(star.ask(
            "select validator, fact.last_round from fact_licenses_daily as fact"
            f" join dim_validator using (validator_key) where date = '{day}'"
        ))  # fmt: skip
        assert set(found) == set(latest)
        for validator, own in latest.items():
            state = own.get("faucetState")
            assert found[validator] == (None if state is None else int(state["lastReceivedFor"]["number"]))


@pytest.mark.long
def test_dates_have_no_gap_and_parties_are_described(weeks):
    store, star = weeks
    assert star.ask("select min(date)::varchar, max(date)::varchar, count(*) from dim_date") == [
        ("2025-01-01", "2025-12-31", 365)
    ]
    assert star.one("select count(*) from dim_date where date_key <> strftime(date, '%Y%m%d')::bigint") == 0
    assert star.one("select count(*) from fact_rewards where date_key <> strftime(date, '%Y%m%d')::bigint") == 0
    assert star.ask("select distinct weekday_name from dim_date where is_weekend order by 1") == [
        ("Saturday",),
        ("Sunday",),
    ]
    licensed = set(store.load("licenses").validator)
    assert {row[0] for row in star.ask("select party_id from dim_party where is_validator")} >= licensed
    rules = store.load("events", where={"template_name": "Splice.DsoRules:DsoRules", "event_type": "created_event"})
    svs = {party for payload in rules.payload for party, _ in json.loads(payload)["svs"]}
    assert svs
    assert {row[0] for row in star.ask("select party_id from dim_party where is_super_validator")} >= svs
    entries = store.load("events", where={"template_name": "Splice.Ans:AnsEntry", "event_type": "created_event"})
    names = {}
    for payload in entries.payload:
        own = json.loads(payload)
        names.setdefault(own["user"], []).append(own["name"])
    found = dict(star.ask("select party_id, name from dim_party"))
    assert names
    assert {party: found[party] for party in names} == {party: min(own) for party, own in names.items()}
    party, hint, fingerprint = star.ask("select party_id, hint, fingerprint from dim_party limit 1")[0]
    assert party == f"{hint}::{fingerprint}"


@pytest.mark.long(quick=1)
def test_a_party_is_first_seen_when_an_event_first_names_it(made):
    store, star = made
    first = {}
    for row in store.load("events", columns=["record_time", "acting_parties", "signatories", "observers"]).itertuples():
        for own in (row.acting_parties, row.signatories, row.observers):
            for party in own if isinstance(own, tuple) else ():
                first[party] = min(first.get(party, row.record_time), row.record_time)
    # Of a private transaction a scan shows a verdict, which names who sent it.
    for row in store.load("verdicts", columns=["record_time", "submitting_parties"]).itertuples():
        for party in row.submitting_parties:
            first[party] = min(first.get(party, row.record_time), row.record_time)
    found = dict(star.ask("select party_id, epoch_us(first_seen_at) from dim_party where first_seen_at is not null"))
    micros = {party: time.as_unit("us").asm8.view("i8") for party, time in first.items()}
    assert {party: found.get(party) for party in first} == micros


@pytest.mark.long
def test_keys_are_the_documented_hash_and_stay_the_same_as_the_lake_grows(tmp_path):
    with lf.sandbox(updates=300, migrations=1) as net:
        every = list(net.sandbox.world.updates)
        store = lf.open_store(tmp_path / "lake")
        stars = []
        for count in (150, 150, 300):
            net.sandbox.world.updates[:] = every[:count]
            store.sync(net, progress=False)
            stars.append(exported(store, tmp_path / f"out-{len(stars)}"))
    natural = {
        "dim_party": ("party_key", "party_id"),
        "dim_synchronizer": ("synchronizer_key", "synchronizer_id"),
        "dim_round": ("round_key", "round::varchar"),
        "fact_updates": ("update_key", "update_id"),
        "fact_rewards": ("reward_key", "contract_id"),
    }
    for table, (key, text) in natural.items():
        first, again, grown = (set(star.ask(f"select {key}, {text} from {table}")) for star in stars)
        assert first
        assert first == again
        assert first <= grown
        assert all(own == key_of(words) for own, words in grown)
    templates = stars[2].ask("select template_key, package_name, template_name from dim_template")
    assert all(key == key_of(json.dumps(natural, separators=(",", ":"))) for key, *natural in templates)
    assert len(stars[2].ask("select update_key from fact_updates")) == 300


@pytest.mark.long(quick=1)
def test_the_model_describes_the_files(made):
    _, star = made
    files = {path.stem for path in star.folder.glob("*.parquet")}
    assert files == set(star.names)
    assert star.model["left_out"] == {}
    for table in star.model["tables"]:
        file = pq.ParquetFile(star.folder / table["file"])
        assert file.metadata.num_rows == table["rows"]
        assert [(one["name"], one["type"]) for one in table["columns"]] == [
            (field.name, str(field.type)) for field in file.schema_arrow
        ]
        assert all(one["meaning"] for one in table["columns"])
        assert table["reaches"]
    tables = {table["name"]: {one["name"] for one in table["columns"]} for table in star.model["tables"]}
    for one in star.model["relations"]:
        assert one["column"] in tables[one["table"]]
        assert one["to_column"] in tables[one["to"]]
    paths = [(one["table"], one["to"]) for one in star.model["relations"] if one["active"]]
    assert len(paths) == len(set(paths))


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("options", [{"format": "csv", "times": "ms"}, {"format": "xlsx"}], ids=str)
def test_a_star_is_written_in_every_form(tmp_path, options):
    pytest.importorskip("xlsxwriter")
    store = filled(tmp_path, {"updates": 60})
    report = store.export(tmp_path / "out", model="star", **options)

    model = json.loads((tmp_path / "out" / "model.json").read_text())
    assert {table.name for table in report.tables} == set(STAR) == {table["name"] for table in model["tables"]}
    columns = [
        one["name"] for table in model["tables"] if table["name"] == "fact_transfers" for one in table["columns"]
    ]
    assert "amount_exact" in columns  # the form for reporting programs, unless profile="exact" is asked for
    if options["format"] == "csv":
        written = (tmp_path / "out" / "fact_transfers.csv").read_text()
        assert re.search(r":\d\d\.\d{3}\b", written)
        assert not re.search(r":\d\d\.\d{4}", written)


@pytest.mark.long(quick=1)
def test_votes_and_movements_are_those_of_the_tables(made):
    store, star = made
    votes, entries = lf.votes(store), lf.movements(store, decimals="exact")

    query = "select request, outcome, party_id from fact_votes left join dim_party using (party_key) order by opened_at"
    wanted = votes.sort_values("opened_at", kind="stable")[["request", "outcome", "party"]]
    assert star.ask(query) == [tuple(row) for row in wanted.astype(object).where(wanted.notna(), None).to_numpy()]
    assert star.one("select count(*) from fact_movements") == len(entries)
    sums = dict(
        star.ask("select party_id, sum(amount) from fact_movements join dim_party using (party_key) group by all")
    )
    assert sums == entries.groupby("party").amount.sum().to_dict()
    paid = "select sum(amount) from fact_movements where kind = 'transfer_out' and counterparty_party_key is null"
    assert star.one(paid) is None


@pytest.mark.long
def test_a_mart_has_a_row_per_day_with_the_sums_of_the_facts(weeks):
    _, star = weeks
    days = star.ask("select date from mart_network_daily order by date")
    assert len(days) == len(set(days)) == 16
    sums = {
        "updates": "count(*) from fact_updates",
        "paid": "sum(amount) from fact_transfers where sender_party_key is distinct from receiver_party_key",
        "net_change": "sum(net_change) from fact_mint_burn",
        "burned": f"sum({' + '.join(name for name in STAR['fact_mint_burn'].names if name.startswith('burned_'))})"
        " from fact_mint_burn",
        "traffic_bytes": "sum(bytes) from fact_traffic",
        "rewards_claimed": "sum(amount) from fact_rewards where outcome = 'claimed'",
    }
    for column, facts in sums.items():
        assert star.one(f"select sum({column}) from mart_network_daily") == star.one(f"select {facts}"), column
    claimed = "select sum(rewards_claimed) from mart_app_daily"
    assert star.one(claimed) == star.one(
        "select sum(amount) from fact_rewards where outcome = 'claimed' and kind = 'app'"
    )
    assert star.one("select sum(payments) from mart_party_daily") == star.one(
        "select sum(payments) from mart_network_daily"
    )
    assert star.one("select count(*) from mart_validator_daily") == star.one("select count(*) from fact_licenses_daily")
    for mart in ("mart_network_daily", "mart_party_daily", "mart_validator_daily", "mart_app_daily"):
        cut = "date = (select max(date) from mart_network_daily)"
        assert star.one(f"select count(*) from {mart} where whole is not distinct from ({cut})") == 0, mart


@pytest.mark.parametrize("late", [pytest.param(False, marks=pytest.mark.long), True], ids=["from begin", "late"])
def test_kept_rows_that_lag_behind_leave_nothing_out_of_facts_and_marts(late, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=300, migrations=1) as net:
        times = lf.load_updates(net).record_time
        store.sync(net, start=times[100] if late else None, end=times[200], progress=False)
        store.derive(["mint_burn", "transfers", "rewards"])
        store.sync(net, progress=False, derive=[])
    behind = exported(store, tmp_path / "behind")
    store.derive()  # the last minute is not final, so it is in no kept row
    derived = exported(store, tmp_path / "derived")

    whole = len(lf.mint_burn(store))
    for star in (behind, derived):
        assert star.one("select count(*) from fact_mint_burn") == whole
        for table in ("mart_network_daily", "fact_transfers", "fact_rewards"):
            rows = f"select to_json({table})::text from {table} order by all"
            assert star.ask(rows) == derived.ask(rows)
        reaches = {table["name"]: table["reaches"] for table in star.model["tables"]}
        assert reaches["fact_mint_burn"] == reaches["fact_updates"]
    assert derived.one("select sum(net_change) from mart_network_daily") == sum(
        lf.mint_burn(store, decimals="exact").net_change.dropna()
    )


@pytest.mark.long(quick=1)
def test_the_semantic_model_has_every_table_and_relation(made):
    _, star = made
    folder = star.folder / "tmdl"
    assert {path.stem for path in (folder / "tables").iterdir()} == set(star.names)
    relations = (folder / "relationships.tmdl").read_text()
    for one in star.model["relations"]:
        own = relations.split(f"relationship {one['table']}_{one['column']}\n")[1].split("relationship ")[0]
        assert f"fromColumn: {one['table']}.{one['column']}\n" in own
        assert f"toColumn: {one['to']}.{one['to_column']}\n" in own
        assert ("isActive: false" in own) != one["active"]
    table = (folder / "tables" / "fact_updates.tmdl").read_text()
    assert 'Folder & "fact_updates.parquet"' in table
    assert table.count("\tcolumn ") == len(STAR["fact_updates"].names)


def test_the_semantic_model_names_a_folder_as_power_query_writes_a_text(tmp_path):
    write_semantic_model(tmp_path / "tmdl", {"tables": [], "relations": []}, Path('/bi/a "b" #(c)'))

    named = (tmp_path / "tmdl" / "expressions.tmdl").read_text()
    assert 'expression Folder = "/bi/a ""b"" #(#)(c)/" meta' in named


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("profile", ["bi", "exact"])
def test_the_semantic_model_sums_what_adds_up_and_no_price_weight_share_or_stock(tmp_path, profile):
    filled(tmp_path, {"updates": 200}).export(tmp_path / "out", model="star", profile=profile)

    summed = {}
    for path in (tmp_path / "out" / "tmdl" / "tables").iterdir():
        columns = path.read_text().split("\tcolumn ")[1:]
        summed[path.stem] = {text.partition("\n")[0] for text in columns if "summarizeBy: sum" in text}

    assert {STAR[table].schema.field(name).metadata.get(b"unit") for table in summed for name in summed[table]} == {
        *(b"coin", b"USD", b"bytes", b"updates", b"events", b"outputs", b"coupons")
    }
    assert summed["fact_transfers"] == {"amount", "amount_usd", "sender_fees"}  # and no receiver_fee_ratio
    assert summed["fact_rewards"] == {"amount"}  # and no weight or issuance
    assert summed["fact_token_transfers"] == set()  # of several instruments
    assert "amulet_price_usd" in {*STAR["fact_mint_burn"].names} - summed["fact_mint_burn"]
    assert {"share", "activity_weight"} <= {*STAR["mart_app_daily"].names} - summed["mart_app_daily"]
    assert summed["mart_app_daily"] == {
        *("coupons_created", "coupons_claimed", "coupons_expired"),
        *("rewards_claimed", "rewards_claimed_usd", "rewards_expired", "burned", "burned_usd"),
    }
    assert "active_parties" in {*STAR["mart_network_daily"].names} - summed["mart_network_daily"]
    assert {"updates", "payments", "traffic_bytes"} <= summed["mart_network_daily"]
    stocks = ("dim_", "fact_balances", "fact_supply", "fact_licenses")
    assert [table for table in summed if table.startswith(stocks) and summed[table]] == []


@pytest.mark.long
def test_validators_of_a_lake_that_begins_late_are_left_out(tmp_path):
    with lf.sandbox(days=2) as net:
        middle = lf.load_updates(net)["record_time"].quantile(0.5)
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(days=2, prune_before=middle) as net, pytest.warns(lf.errors.BeginsLateWarning):
        store.sync(net, progress=False)
    done = store.export(tmp_path / "out", model="star")
    tables = {path.stem for path in (tmp_path / "out").glob("*.parquet")}
    assert "mart_app_daily" in tables, done
    assert not tables & {"mart_validator_daily", "fact_balances_daily"}

    # It begins within a day, and ends within one.
    network = pq.read_table(tmp_path / "out" / "mart_network_daily.parquet").to_pandas()
    assert network.whole.to_list() == [False, *[True] * (len(network) - 2), False]

    # Coin that an assignment alone shows may have been its owner's before.
    entries = pq.read_table(tmp_path / "out" / "fact_movements.parquet").to_pandas()
    assigned = entries[entries.kind == "assigned"]
    assert len(assigned)
    assert assigned.amount.isna().all()

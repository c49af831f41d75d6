"""A store as a star: facts and dimensions whose keys meet, with the sums of the lake's own tables."""

import json
import re
from functools import cache
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.store.derive.tables import DERIVABLE
from ledgerframes.store.star import star
from ledgerframes.store.star.semantic_model import write_semantic_model
from ledgerframes.tables.star import RELATIONS, STAR
from tests.export.stars import exported
from tests.rigs.servers import simulated

WORLDS = {"a day": {"seed": 7, "updates": 300}, "weeks": {"days": 15}, "hostile": {"updates": 100, "hostile": True}}
#: Of facts that are a table of the lake or of its history: which one, and the columns that are compared.
FACTS = {
    "fact_updates": ("updates", ["update_id"]),
    "fact_events": ("events", ["event_id"]),
    "fact_verdicts": ("verdicts", ["update_id"]),
    "fact_movements": ("movements", ["amount"]),
    "fact_transfers": ("transfers", ["amount", "sender_fees", "receiver_fee_ratio"]),
    "fact_rewards": ("rewards", ["weight", "issuance", "amount"]),
    "fact_traffic": ("traffic_purchases", ["bytes", "amount", "amount_usd"]),
    "fact_mint_burn": (
        "mint_burn",
        [name for name in STAR["fact_mint_burn"].names if name.startswith(("minted", "burned", "net", "unexplained"))],
    ),
}
#: The hostile world has choices on coin that nothing knows; syncs warn of them.
WARNED = pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
MADE = [pytest.param(name, marks=WARNED if name == "hostile" else ()) for name in WORLDS]


@pytest.fixture(scope="module")
def stars(tmp_path_factory):
    """The store and the star of each world, made when they are asked for; kept rows of the day begin late."""

    @cache
    def of(name, *, derive=None):
        folder = tmp_path_factory.mktemp(name.replace(" ", "-"))
        store = lf.open_store(folder / "lake")
        with simulated(**WORLDS[name]) as net:
            if name == "a day":
                store.sync(net, start=lf.load_updates(net).record_time[150], progress=False)
                store.derive(["mint_burn", "rewards"])
                derive = []
            store.sync(net, progress=False, derive=derive)
            # Nothing of the hostile world but its history is served.
            store.sync(net, progress=False, tables=["verdicts"] if name == "hostile" else ["verdicts", "licenses"])
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(star, "_AT_ONCE", 500)
            return store, exported(store, folder / "out")

    return of


@pytest.fixture(params=MADE, ids=WORLDS)
def made(request, stars):
    return stars(request.param)


@pytest.fixture
def weeks(stars):
    return stars("weeks", derive=tuple(DERIVABLE))


@pytest.mark.long(quick=1)
def test_every_key_of_a_fact_has_its_row_and_stands_in_its_own_table_once(made):
    _, star = made
    assert star.without_row() == {}
    assert len(star.model["relations"]) == len(RELATIONS)
    for table in star.model["tables"]:
        keys = ", ".join(table["key"])
        assert star.ask(f"select {keys} from {table['name']} group by all having count(*) > 1") == [], table["name"]


def assert_facts(star, store):
    """Facts have the rows that the lake has, or that are computed from it, and marts their sums."""
    for fact in FACTS.keys() & star.names:
        name, columns = FACTS[fact]
        rows = getattr(lf, name)(store, as_="arrow") if hasattr(lf, name) else store.load(name, as_="arrow")
        for column in columns:
            own = [row[0] for row in star.ask(f"select {column} from {fact} order by 1 nulls last")]
            cells = rows[column].to_pylist()
            assert own == sorted(cells, key=lambda cell: (cell is None, cell or 0)), f"{fact}.{column}"
    reaches = {table["name"]: table["reaches"] for table in star.model["tables"]}
    assert reaches["fact_mint_burn"] == reaches["fact_updates"]
    change = sum(lf.mint_burn(store, decimals="exact").net_change.dropna())
    assert star.one("select sum(net_change) from mart_network_daily") == change


@pytest.mark.long(quick=1)
def test_facts_have_the_rows_of_the_lake_and_of_the_tables_computed_from_the_whole_history(made):
    store, star = made
    assert_facts(star, store)


@pytest.mark.long(quick=1)
def test_parties_of_an_event_are_its_actors_signatories_and_observers_first_seen_when_it_names_them(made):
    store, star = made
    roles = {"acting": "acting_parties", "signatory": "signatories", "observer": "observers"}
    named, first = set(), {}

    def seen(party, row):
        first[party] = min(first.get(party, row.record_time), row.record_time)

    for row in store.load("events", columns=["event_id", "update_id", "record_time", *roles.values()]).itertuples():
        key = key_of([row.update_id, row.event_id])
        for role, name in roles.items():
            for party in getattr(row, name) if isinstance(getattr(row, name), tuple) else ():
                named.add((key, role, party))
                seen(party, row)
    # Of a private transaction a scan shows a verdict, which names who sent it.
    for row in store.load("verdicts", columns=["record_time", "submitting_parties"]).itertuples():
        for party in row.submitting_parties:
            seen(party, row)

    found = star.ask("select event_key, role, party_id from bridge_event_party join dim_party using (party_key)")
    assert len(found) == len(named)
    assert set(found) == named
    times = dict(star.ask("select party_id, epoch_us(first_seen_at) from dim_party where first_seen_at is not null"))
    micros = {party: time.as_unit("us").asm8.view("i8") for party, time in first.items()}
    assert {party: times.get(party) for party in first} == micros


@pytest.mark.long(quick=1)
def test_votes_and_movements_are_those_of_their_parties(made):
    store, star = made
    votes, entries = lf.votes(store), lf.movements(store, decimals="exact")

    query = "select request, outcome, party_id from fact_votes left join dim_party using (party_key) order by opened_at"
    wanted = votes.sort_values("opened_at", kind="stable")[["request", "outcome", "party"]]
    assert star.ask(query) == [tuple(row) for row in wanted.astype(object).where(wanted.notna(), None).to_numpy()]
    sums = star.ask("select party_id, sum(amount) from fact_movements join dim_party using (party_key) group by all")
    assert dict(sums) == entries.groupby("party").amount.sum().to_dict()
    paid = "select sum(amount) from fact_movements where kind = 'transfer_out' and counterparty_party_key is null"
    assert star.one(paid) is None


@pytest.mark.long
def test_what_facts_name_is_what_the_lake_names(weeks):
    store, star = weeks
    columns = ["update_id", "output_index", "sender", "receiver", "round"]
    transfers = store.load("transfers", as_="arrow").select(columns).to_pylist()
    times = store.load("updates", columns=["update_id", "record_time"]).set_index("update_id").record_time
    found = star.ask(
        "select update_id, output_index, sender.party_id, receiver.party_id, round, dim_date.date::varchar"
        " from fact_transfers join fact_updates using (update_key)"
        " left join dim_party as sender on sender.party_key = sender_party_key"
        " left join dim_party as receiver on receiver.party_key = receiver_party_key"
        " left join dim_round using (round_key) join dim_date on dim_date.date_key = fact_transfers.date_key"
    )
    wanted = [(*row.values(), str(times[row["update_id"]].date())) for row in transfers]
    assert sorted(map(str, found)) == sorted(map(str, wanted))


@pytest.mark.long
def test_balances_are_those_of_the_coins_at_the_end_of_each_day(weeks):
    store, star = weeks
    days = [row[0] for row in star.ask("select date from fact_supply_daily order by 1")]
    assert len(days) >= 15
    for day in (days[0], days[7], days[-1]):
        end = None if day == days[-1] else f"{day}T23:59:59.999999Z"  # the last day is known in part
        coins = lf.coin_history(store, at=end, decimals="exact")
        wanted = {}
        for owner, own in coins[coins.ended_at.isna()].groupby("owner"):
            locked = sum(own.amount[own.locked])
            wanted[owner] = (sum(own.amount) - locked, locked, sum(own.amount))
        held = f"from fact_balances_daily join dim_party using (party_key) where date = '{day}' and total <> 0"
        assert {row[0]: row[1:] for row in star.ask(f"select party_id, unlocked, locked, total {held}")} == wanted
        supply = lf.supply(store, at=end, decimals="exact").loc[0, ["unlocked", "locked", "total"]].tolist()
        assert star.one(f"select [unlocked, locked, total] from fact_supply_daily where date = '{day}'") == supply


@pytest.mark.long
def test_licenses_of_a_day_are_the_latest_by_then(weeks):
    store, star = weeks
    template = "Splice.ValidatorLicense:ValidatorLicense"
    events = store.load("events", where={"template_name": template, "event_type": "created_event"})
    events = events.sort_values(["migration_id", "record_time", "node_index"])
    days = sorted(row[0] for row in star.ask("select distinct date from fact_licenses_daily"))
    for day in (days[0], days[len(days) // 2], days[-1]):
        payloads = map(json.loads, events.payload[events.record_time.dt.date <= day])
        states = {own["validator"]: own.get("faucetState") for own in payloads}
        wanted = {name: state and int(state["lastReceivedFor"]["number"]) for name, state in states.items()}
        found = star.ask(
            "select validator, fact.last_round from fact_licenses_daily as fact"
            f" join dim_validator using (validator_key) where date = '{day}'"
        )
        assert dict(found) == wanted


@pytest.mark.long
def test_dates_have_no_gap_and_parties_are_described(weeks):
    store, star = weeks
    year = star.ask("select min(date)::varchar, max(date)::varchar, count(*) from dim_date")
    assert year == [("2025-01-01", "2025-12-31", 365)]
    for table in ("dim_date", "fact_rewards"):
        assert star.one(f"select count(*) from {table} where date_key <> strftime(date, '%Y%m%d')::bigint") == 0
    weekend = star.ask("select distinct weekday_name from dim_date where is_weekend order by 1")
    assert weekend == [("Saturday",), ("Sunday",)]

    def created(template):
        rows = store.load("events", where={"template_name": template, "event_type": "created_event"})
        return map(json.loads, rows.payload)

    svs = {party for rules in created("Splice.DsoRules:DsoRules") for party, _ in rules["svs"]}
    for flag, known in (("is_validator", set(store.load("licenses").validator)), ("is_super_validator", svs)):
        assert known
        assert {row[0] for row in star.ask(f"select party_id from dim_party where {flag}")} >= known
    names = {}
    for own in created("Splice.Ans:AnsEntry"):
        names[own["user"]] = min(own["name"], names.get(own["user"], own["name"]))
    found = dict(star.ask("select party_id, name from dim_party"))
    assert names
    assert {party: found[party] for party in names} == names
    assert star.one("select count(*) from dim_party where party_id <> hint || '::' || fingerprint") == 0


@pytest.mark.long
def test_a_mart_has_a_row_per_day_with_the_sums_of_the_facts(weeks):
    _, star = weeks
    assert star.ask("select count(*), count(distinct date) from mart_network_daily") == [(16, 16)]
    burned = " + ".join(name for name in STAR["fact_mint_burn"].names if name.startswith("burned_"))
    claimed = "sum(amount) from fact_rewards where outcome = 'claimed'"
    for mart, facts in {
        "sum(updates) from mart_network_daily": "count(*) from fact_updates",
        "sum(paid) from mart_network_daily":
            "sum(amount) from fact_movements where kind = 'transfer_in'",
        "sum(net_change) from mart_network_daily": "sum(net_change) from fact_mint_burn",
        "sum(burned) from mart_network_daily": f"sum({burned}) from fact_mint_burn",
        "sum(traffic_bytes) from mart_network_daily": "sum(bytes) from fact_traffic",
        "sum(rewards_claimed) from mart_network_daily": claimed,
        "sum(rewards_claimed) from mart_app_daily": f"{claimed} and kind = 'app'",
        "sum(actions) from mart_party_daily": "count(*) from bridge_event_party where role = 'acting'",
        "sum(payments) from mart_party_daily": "sum(payments) from mart_network_daily",
        "count(*) from mart_validator_daily": "count(*) from fact_licenses_daily",
    }.items():  # fmt: skip
        assert star.one(f"select {mart}") == star.one(f"select {facts}"), mart
    for mart in ("mart_network_daily", "mart_party_daily", "mart_validator_daily", "mart_app_daily"):
        cut = "date = (select max(date) from mart_network_daily)"
        assert star.one(f"select count(*) from {mart} where whole is not distinct from ({cut})") == 0, mart


def key_of(natural):
    """The key of a natural key, as the documentation defines it; one of several columns is written as JSON."""
    text = natural if isinstance(natural, str) else json.dumps(natural, separators=(",", ":"), ensure_ascii=False)
    return int.from_bytes(sha256(text.encode()).digest()[:8]) >> 1


@pytest.mark.long
@pytest.mark.parametrize(("late", "again"), [(False, False), (True, True), (False, True)], ids=str)
def test_kept_rows_that_lag_behind_leave_nothing_out_of_facts_and_marts(late, again, store, tmp_path):
    with lf.sandbox(updates=200, migrations=1) as net:
        times = lf.load_updates(net).record_time
        store.sync(net, start=times[60] if late else None, end=times[130], progress=False)
        store.derive(["mint_burn", "transfers", "rewards"])
        store.sync(net, progress=False, derive=[])
    if again:
        store.derive()  # the last minute is not final, so it is in no kept row
    assert_facts(exported(store, tmp_path / "out"), store)


@pytest.mark.long
def test_keys_are_the_documented_hash_and_an_older_state_is_exported_with_the_keys_that_it_had(tmp_path):
    stars, store = {}, lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=300, migrations=1) as net:
        every = list(net.sandbox.world.updates)
        for count in (150, 300):
            net.sandbox.world.updates[:] = every[:count]
            store.sync(net, progress=False, derive=["rewards", "transfers"])
            stars[count] = exported(store, tmp_path / f"out-{count}")
    first = store.syncs().sync_id.iloc[0]
    again, grown = exported(store, tmp_path / "again", as_of=first), stars[300]

    assert again.model["as_of"] == first
    assert again.without_row() == {}
    then = lf.types.History(*(store.load(name, as_of=first) for name in ("updates", "events", "reassignments")))
    assert again.one("select count(*) from fact_rewards") == len(lf.rewards(then)) > 0
    natural = {
        "dim_party": ("party_key", "party_id"),
        "dim_synchronizer": ("synchronizer_key", "synchronizer_id"),
        "dim_round": ("round_key", "round::varchar"),
        "fact_updates": ("update_key", "update_id"),
        "fact_rewards": ("reward_key", "contract_id"),
    }
    for table, (key, text) in natural.items():
        early, same, late = (set(star.ask(f"select {key}, {text} from {table}")) for star in (stars[150], again, grown))
        assert early
        assert early == same
        assert early <= late
        assert all(own == key_of(words) for own, words in late)
    templates = grown.ask("select template_key, package_name, template_name from dim_template")
    assert all(key == key_of(natural) for key, *natural in templates)
    assert [star.one("select count(*) from fact_updates") for star in (again, grown)] == [150, 300]


@pytest.mark.long(quick=1)
def test_both_models_describe_the_files_and_their_relations(made):
    _, star = made
    folder = star.folder / "tmdl"
    files = ({path.stem for path in star.folder.glob("*.parquet")}, {path.stem for path in folder.glob("tables/*")})
    assert files == (set(star.names), set(star.names))
    assert star.model["left_out"] == {}
    columns = {}
    for table in star.model["tables"]:
        file = pq.ParquetFile(star.folder / table["file"])
        columns[table["name"]] = {one["name"]: one["type"] for one in table["columns"]}
        assert file.metadata.num_rows == table["rows"]
        assert [*columns[table["name"]].items()] == [(field.name, str(field.type)) for field in file.schema_arrow]
        assert all(one["meaning"] for one in table["columns"])
        assert table["reaches"]
    paths = [(one["table"], one["to"]) for one in star.model["relations"] if one["active"]]
    paths += [(table, further) for table, to in paths for through, further in paths if through == to]
    assert len(paths) == len(set(paths))
    relations = (folder / "relationships.tmdl").read_text()
    for one in star.model["relations"]:
        assert one["to_column"] in columns[one["to"]]
        own = relations.split(f"relationship {one['table']}_{one['column']}\n")[1].split("relationship ")[0]
        assert f"fromColumn: {one['table']}.{one['column']}\n" in own
        assert f"toColumn: {one['to']}.{one['to_column']}\n" in own
        assert ("isActive: false" in own) != one["active"]
    text = (folder / "tables" / "fact_updates.tmdl").read_text()
    assert 'Folder & "fact_updates.parquet"' in text
    assert text.count("\tcolumn ") == len(STAR["fact_updates"].names)


def summed_in(folder):
    """The columns of each table that a reporting program sums."""
    texts = {path.stem: path.read_text().split("\tcolumn ")[1:] for path in (folder / "tmdl" / "tables").iterdir()}
    return {
        name: {text.partition("\n")[0] for text in columns if "summarizeBy: sum" in text}
        for name, columns in texts.items()
    }


def test_the_semantic_model_sums_what_adds_up_and_no_price_weight_share_or_stock(stars):
    summed = summed_in(stars("a day")[1].folder)

    assert {STAR[table].schema.field(name).metadata.get(b"unit") for table in summed for name in summed[table]} == {
        *(b"coin", b"USD", b"bytes", b"updates", b"events", b"outputs", b"coupons")
    }
    assert summed["fact_transfers"] == {"amount", "amount_usd", "sender_fees"}  # and no receiver_fee_ratio
    assert summed["fact_rewards"] == {"amount"}  # and no weight or issuance
    assert summed["fact_token_transfers"] == set()  # of several instruments
    assert "amulet_price_usd" in {*STAR["fact_mint_burn"].names} - summed["fact_mint_burn"]
    assert summed["mart_app_daily"] == {
        *("coupons_created", "coupons_claimed", "coupons_expired"),
        *("rewards_claimed", "rewards_claimed_usd", "rewards_expired", "burned", "burned_usd"),
    }
    assert {"updates", "payments", "traffic_bytes"} <= summed["mart_network_daily"]
    stocks = ("dim_", "fact_balances", "fact_supply", "fact_licenses")
    assert [table for table in summed if table.startswith(stocks) and summed[table]] == []


def test_the_semantic_model_names_a_folder_as_power_query_writes_a_text(tmp_path):
    write_semantic_model(tmp_path / "tmdl", {"tables": [], "relations": []}, Path('/bi/a "b" #(c)'))

    named = (tmp_path / "tmdl" / "expressions.tmdl").read_text()
    assert 'expression Folder = "/bi/a ""b"" #(#)(c)/" meta' in named


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("options", [{"format": "csv", "times": "ms"}, {"format": "xlsx"}], ids=str)
def test_a_star_is_written_in_every_form_without_contact_points_and_changes_nothing_in_the_lake(
    stars, tmp_path, options
):
    pytest.importorskip("xlsxwriter")
    (store, star), out = stars("a day"), tmp_path / "out"
    licenses = store.load("events", where={"template_name": "Splice.ValidatorLicense:ValidatorLicense"}).payload
    points = {(json.loads(own).get("metadata") or {}).get("contactPoint") for own in licenses.dropna()} - {None}
    assert points
    before = {path: path.stat().st_mtime_ns for path in store._lake.folder.rglob("*")}

    report = store.export(out, model="star", personal=True, **options)

    assert {path: path.stat().st_mtime_ns for path in store._lake.folder.rglob("*")} == before
    model = json.loads((out / "model.json").read_text())
    write_semantic_model(tmp_path / "tmdl", model, out)
    assert summed_in(tmp_path) == summed_in(star.folder)
    columns = {table["name"]: [one["name"] for one in table["columns"]] for table in model["tables"]}
    assert {table.name for table in report.tables} == set(STAR) == set(columns)
    assert "amount_exact" in columns["fact_transfers"]  # for reporting programs, unless profile="exact" is asked for
    if options["format"] == "csv":
        files = {path.name: path.read_text() for path in out.iterdir()}
        assert not [point for point in points if point in "".join(files.values())]
        assert re.search(r":\d\d\.\d{3}\b", files["fact_transfers.csv"])
        assert not re.search(r":\d\d\.\d{4}", files["fact_transfers.csv"])

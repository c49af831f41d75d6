"""What holds for every table that is computed from events."""

import inspect
import json
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from ledgerframes.tables.derived import DERIVED
from tests.economics.histories import WHOLE, captured_events, frame_of
from tests.rigs.servers import simulated

TABLES = {table.endpoints[0].removeprefix("lf.").removesuffix("(events)"): table for table in DERIVED.values()}
#: Tables that between them read every column of a history that any table reads.
OF_ALL_COLUMNS = ("network_daily", "votes", "token_transfers", "coin_history", "rewards")
every_table = pytest.mark.parametrize("name", TABLES)


def run(name, events, **options):
    return getattr(lf, name)(events, **options)


def arguments(name):
    return inspect.signature(getattr(lf, name)).parameters.keys()


@pytest.fixture(scope="module")
def history(net):
    return lf.load_history(net, start="begin", progress=False)


def rows_of_all(events, names=TABLES, **options):
    """The rows of every table, of one history or of events in whatever form, with what tables take of the options."""
    with together(events, opening=options.get("opening")) as inputs:
        return {
            name: run(name, inputs, as_="arrow", **{key: options[key] for key in options.keys() & arguments(name)})
            for name in names
        }


@pytest.fixture(scope="module")
def folder(exact_history, tmp_path_factory):
    """An export in folders by migration and month."""
    folder = tmp_path_factory.mktemp("hive")
    lf.export(dict(exact_history._asdict()), folder, layout="hive", personal=True)
    return folder


@pytest.fixture(scope="module")
def rows(folder):
    """Those of the export; some of them need reassignments, too, which have a folder of their own."""
    return rows_of_all(folder)


def test_files_a_store_and_polars_give_the_same_rows(net, exact_history, folder, rows, store):
    """`test_a_table_comes_in_every_form` has them of pandas, and `test_texts.py` of Arrow."""
    assert exact_history.reassignments.num_rows > 0
    found = lf.supply(str(folder / "events"))
    assert found.attrs["range"].startswith("ledger begin to ")
    assert found.equals(lf.supply(folder))
    store.sync(net, progress=False)
    found = rows_of_all(store)
    assert [name for name in TABLES if not found[name].equals(rows[name])] == []

    # polars holds no provenance, which would prove that nothing was before the events
    history, ranges = lf.types.History(*map(pl.from_arrow, exact_history)), ("active_parties", "template_activity")
    for name, found in rows_of_all(history, [*ranges, *OF_ALL_COLUMNS], opening="nothing", seen=[]).items():
        unknown = ["whole"] if name in ranges else []
        assert all(found[column].null_count == len(found) for column in unknown)
        assert found.drop_columns(unknown).equals(rows[name].drop_columns(unknown)), name


def test_a_path_of_a_lake_or_of_another_file_is_an_error_that_says_what_to_give(tmp_path):
    (tmp_path / "lake" / "events" / "_delta_log").mkdir(parents=True)
    (tmp_path / "lake" / "lake.json").write_text("{}")
    (tmp_path / "events.csv").write_text("update_id\n")
    for path in ("lake", "lake/events"):
        with pytest.raises(lf.errors.InputError, match=r"lake.* is a lake: give lf\.open_store\(.*lake'\)$"):
            lf.mint_burn(tmp_path / path)
    pd.DataFrame({"update_id": ["u"]}).to_parquet(tmp_path / "a.parquet")
    for path in ("events.csv", ""):
        with pytest.raises(lf.errors.InputError, match=f"{path}' is not Parquet: give the events of .*events.csv"):
            lf.mint_burn(tmp_path / path)
    (tmp_path / "none").mkdir()
    with pytest.raises(lf.errors.InputError, match=r"none' has no Parquet in it: give the events of"):
        lf.mint_burn(tmp_path / "none")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda events: events.assign(payload=events.payload.map(json.loads, "ignore")), "'payload' does not"),
        (lambda events: events.assign(acting_parties=events.acting_parties.astype(str)), "'acting_parties' does not"),
        (lambda events: events.assign(record_time=events.record_time.dt.tz_localize(None).astype(object)), "a zone"),
        (lambda events: events.assign(record_time=events.record_time.astype(str).astype(object)), "a zone"),
        (lambda events: pd.concat([events, events[["payload"]]], axis=1), r"column\(s\) payload twice"),
        (lambda events: pl.from_pandas(events).lazy(), "is not valid: give the events"),
        (lambda events: pa.RecordBatch.from_pandas(events[["update_id"]]), "is not valid: give the events"),
    ],
    ids=["parsed", "text", "local", "written", "twice", "lazy", "batch"],
)
def test_a_frame_that_is_not_as_loaded_is_refused_by_the_name_of_its_column(history, changed, said):
    with pytest.raises(lf.errors.InputError, match=said):
        lf.network_daily(changed(history.events.head(50).copy()))


@pytest.fixture(scope="module")
def inputs(history):
    with together(history) as inputs:
        yield inputs


@every_table
def test_a_table_comes_in_every_form_as_declared_with_the_provenance_of_its_events(name, history, inputs, rows):
    declared = TABLES[name]
    frame, table, polars = (run(name, inputs, as_=form) for form in ("pandas", "arrow", "polars"))

    assert table.equals(rows[name])
    assert [(field.name, field.type) for field in table.schema] == [(one.name, one.type) for one in declared.schema]
    assert [one.name for one in declared.columns if not one.nullable and table[one.name].null_count] == []
    assert not table.select(list(declared.key)).to_pandas().duplicated().any()
    assert (type(frame), type(table), type(polars)) == (pd.DataFrame, pa.Table, pl.DataFrame)
    assert len(frame) == table.num_rows == len(polars)
    amounts = [column.name for column in declared.columns if column.kind.name == "amount"]
    assert all(str(frame[column].dtype) == "float64" for column in amounts)
    exact = run(name, inputs, decimals="exact")
    assert all([*exact[column].dropna()] == [*table[column].drop_null().to_pylist()] for column in amounts)
    said = {key: history.events.attrs[key] for key in ("source", "range")} | {"table": declared.name}
    assert said.items() <= frame.attrs.items()
    assert frame.attrs["range"].startswith("ledger begin to ")
    assert isinstance(frame.attrs["not_understood"], dict)


def test_no_events_are_no_rows():
    for name, found in rows_of_all(frame_of([], **WHOLE)).items():
        assert found.num_rows <= 1, name
        assert [field.type for field in found.schema] == [field.type for field in TABLES[name].schema]


@pytest.fixture(scope="module")
def hostile():
    with simulated(updates=600, seed=9, hostile=True) as net:
        history = lf.load_history(net, start="begin", progress=False)
    with together(history) as inputs:
        yield inputs


@pytest.fixture(scope="module")
def captured(captures):  # noqa: ARG001 - skips where there are none
    with together(captured_events(), opening="nothing") as inputs:
        yield inputs


@pytest.mark.parametrize("world", ["hostile", "captured"])
@pytest.mark.parametrize(
    "name",
    # A row per week of ten thousand years is a minute's work.
    [pytest.param(name, marks=[pytest.mark.long] if name == "retention" else []) for name in TABLES],
)
@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")  # only some of these lack anything
def test_nothing_fails_on_a_hostile_history_or_a_real_page_and_what_the_page_has_is_understood(name, world, request):
    inputs, begun = request.getfixturevalue(world), {"opening": "nothing"} if "opening" in arguments(name) else {}
    # Hostile record times span ten thousand years.
    wide = {"every": "3650D"} if name in {"balances_over_time", "supply_by_purpose"} else {}

    found = run(name, inputs, **wide, **(begun if world == "captured" else {}))

    assert list(found.columns) == list(TABLES[name].names)
    assert len(found.attrs["not_understood"]) <= (101 if world == "hostile" else 0)


@every_table
def test_what_is_no_events_or_no_opening_is_refused(name, history):
    for events in (None, 5, "events", {}, [1], object()):
        with pytest.raises(lf.errors.InputError, match="events"):
            run(name, events)
    with pytest.raises(lf.errors.InputError, match="does not exist"):
        run(name, Path("nothing"))
    with pytest.raises(lf.errors.InputError, match=r"events has no column\(s\)"):
        run(name, history.updates[["update_id", "kind"]])
    if "opening" in arguments(name):
        for opening in (5, "everything", [1], {}, pd.DataFrame({"x": [1]})):
            with pytest.raises(lf.errors.InputError, match="opening"):
                run(name, history, opening=opening)


def test_what_is_above_an_event_is_read_from_its_place_in_the_tree(history, inputs):
    """Here two exercises state that each is below the other; columns may be of pyarrow, too."""
    events = history.events.copy()
    child = events.index[events.choice.notna() & events.parent_event_id.notna()][0]
    parent = events.index[events.event_id == events.parent_event_id[child]][0]
    events.loc[parent, "parent_event_id"] = events.event_id[child]

    with together(events.convert_dtypes(dtype_backend="pyarrow")) as circle:
        for table in (lf.transfers, lf.mint_burn, lf.rewards):
            assert table(circle).equals(table(inputs))


#: What a part cannot know, even with its opening.
UNKNOWN = {
    "issuance": {column.name for column in TABLES["issuance"].columns if column.name.startswith("cumulative_")},
    "rewards": {"amount_usd"}, "reward_flows": {"amount_usd"}, "coin_history": {"created_by"},
    "active_parties": {"new"},
    "supply_by_purpose": {"development_fund_spent", "development_fund_spent_usd"},
    "price_votes": {"record_time", "price_before_usd", "voters", "median_usd", "lowest_usd", "highest_usd"},
    "featured_app_history": {"request", "began", "earned", "earned_usd", "share"},
    "network_daily": {"new_parties", "returning_parties", "active_7d", "active_30d"},
}  # fmt: skip
#: They are about what there is, not about what happened.
STATES = {
    "coin_history", "supply", "supply_by_purpose", "balances_over_time", "sv_weights", "featured_app_history",
    "validator_liveness", "validator_daily", "wallets_daily",
}  # fmt: skip


@pytest.fixture(scope="module")
def cut(switched, switched_history):
    """Twelve days, and those from the fourth on, with their opening and start, and by themselves."""
    start = pd.Timestamp(switched_history.updates["record_time"][0].as_py()).floor("D") + pd.Timedelta("3D")
    part = lf.load_history(switched, start=start, progress=False, decimals="exact")
    opening = lf.load_opening(switched, at=start)
    with together(switched_history) as whole, together(part, opening=opening) as inputs:
        yield whole, inputs, opening, start, part


def by_key(name, inputs, **options):
    """The rows of a table by their keys, but for those that the ends of the range cut."""
    rows = run(name, inputs, as_="arrow", **options).to_pylist()
    return {tuple(row[column] for column in TABLES[name].key): row for row in rows if row.get("whole") is not False}


@pytest.mark.parametrize("name", [name for name in TABLES if name != "retention"])  # which needs the whole
def test_a_part_with_its_opening_says_what_the_whole_says_or_nothing(name, cut):
    whole, inputs, opening, start, alone = cut
    options = {"opening": opening} if "opening" in arguments(name) else {}

    rows, wanted = by_key(name, inputs, **options), by_key(name, whole)

    both = [(row, wanted[key]) for key, row in rows.items() if key in wanted]
    pairs = [(column, value, of_whole[column]) for row, of_whole in both for column, value in row.items()]
    assert [pair for pair in pairs if pair[1] is not None and pair[1] != pair[2]] == []
    assert {column for column, value, known in pairs if value is None and known is not None} <= UNKNOWN.get(name, set())
    # Of a weight that a super validator had before the part, the beginning is part of the key.
    assert all(row.get("since", start) is None for key, row in rows.items() if key not in wanted)
    times = ("time", "record_time", "created_at", "opened_at")
    late = {key for key, row in wanted.items() if max(row.get(time) or start for time in times) > start}
    assert len(both) > 0
    assert name == "balances_over_time" or late <= rows.keys()  # whoever holds nothing any more is not in the opening
    if name in STATES:
        with pytest.raises(lf.errors.PartialResultError, match="opening="):
            run(name, alone)


@pytest.fixture(params=["twelve days", "hostile"])
def world(request):
    """A kind of ledger, and its history for several tables; a hostile one has coins that end without a create."""
    twelve_days = request.param == "twelve days"
    return request.param, request.getfixturevalue("cut")[0] if twelve_days else request.getfixturevalue("hostile")


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")  # only a hostile one lacks anything
def test_coin_rounds_and_coupons_add_up(world):
    """What a hostile ledger's coins change is null where they cannot be read, and never 0."""
    name, history = world
    flows, coins, rounds, supply, opened, rewards = (
        run(table, history, decimals="exact")
        for table in ("mint_burn", "coin_history", "supply_per_round", "supply", "round_history", "rewards")
    )

    unexplained, there = flows.attrs["unexplained"], coins[coins.ended_at.isna()].amount.sum()
    assert unexplained["other"] == 0 < unexplained["zero"]
    assert flows.net_change.sum() == there
    known = rounds[rounds.net_change.notna()]
    assert (known.net_change == known.minted - known.burned).all()
    assert (known.unexplained == 0).all()
    checks = [opened.attrs["checks"]["issuance_per_sv"], *rewards.attrs["checks"].values()]
    assert [one["different"] for one in checks] == [0, 0, 0]
    if name == "hostile":
        assert supply.total[0] is None
        return
    assert min(one["equal"] for one in checks) > 0
    assert unexplained["unknown"] == rounds.net_change.isna().sum() == 0
    assert supply.total[0] == supply.unlocked[0] + supply.locked[0] == there
    assert set(rewards.outcome) >= {"claimed", "expired", "open", "shared"}
    fund = rewards[rewards.kind == "development_fund"]
    assert set(fund.outcome) >= {"claimed", "expired", "withdrawn"}
    assert (fund.amount == fund.weight).all()
    assert rewards.attrs["not_understood"] == flows.attrs["not_understood"] == {}

"""What holds for every table that is computed from events."""

import inspect

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.tables.derived import DERIVED
from tests.economics.histories import WHOLE, frame_of
from tests.rigs.servers import simulated

TABLES = {table.endpoints[0].removeprefix("lf.").removesuffix("(events)"): table for table in DERIVED.values()}
every_table = pytest.mark.parametrize("name", TABLES)


def run(name, events, **options):
    return getattr(lf, name)(events, **options)


@pytest.fixture(scope="module")
def history(net):
    return lf.load_history(net, start="begin", progress=False)


@pytest.fixture(scope="module")
def arrow(net):
    return lf.load_history(net, start="begin", progress=False, as_="arrow")


@every_table
def test_every_form_of_the_events_gives_the_declared_rows_and_their_provenance(name, history, arrow):
    table = TABLES[name]
    found = run(name, arrow, as_="arrow")
    assert [(field.name, field.type) for field in found.schema] == [(one.name, one.type) for one in table.schema]
    assert [one.name for one in table.columns if not one.nullable and found[one.name].null_count] == []
    assert not found.select(list(table.key)).to_pandas().duplicated().any()

    assert run(name, history, as_="arrow").equals(found)
    # polars holds no provenance, which would prove that nothing was before the events
    taken = inspect.signature(getattr(lf, name)).parameters
    begun = {key: value for key, value in (("opening", "nothing"), ("seen", [])) if key in taken}
    of_polars = run(name, lf.types.History(*(pl.from_arrow(one) for one in arrow)), as_="arrow", **begun)
    if name in {"active_parties", "template_activity"}:
        assert of_polars["whole"].null_count == len(of_polars)
        of_polars, found = of_polars.drop_columns("whole"), found.drop_columns("whole")
    assert of_polars.equals(found)

    alone = run(name, history.events)
    assert type(alone) is pd.DataFrame
    assert {key: alone.attrs[key] for key in ("source", "range")} == {
        key: history.events.attrs[key] for key in ("source", "range")
    }
    assert alone.attrs["range"].startswith("ledger begin to ")
    assert alone.attrs["table"] == table.name
    assert isinstance(alone.attrs["not_understood"], dict)


@pytest.mark.long(quick=3)
@every_table
def test_a_parquet_file_gives_the_same_rows(name, arrow, tmp_path):
    pq.write_table(arrow.events, tmp_path / "events.parquet")

    found = run(name, tmp_path, as_="arrow")

    assert found.equals(run(name, arrow.events, as_="arrow"))
    assert run(name, str(tmp_path / "events.parquet")).attrs["range"].startswith("ledger begin to ")
    with pytest.raises(lf.errors.InputError, match="does not exist"):
        run(name, tmp_path / "nothing")


@pytest.mark.long(quick=5)
@every_table
def test_a_table_comes_in_every_form(name, history):
    frame, table, polars = (run(name, history, as_=form) for form in ("pandas", "arrow", "polars"))

    assert (type(frame), type(table), type(polars)) == (pd.DataFrame, pa.Table, pl.DataFrame)
    assert len(frame) == table.num_rows == len(polars)
    amounts = [column.name for column in TABLES[name].columns if column.kind.name == "amount"]
    assert all(str(frame[column].dtype) == "float64" for column in amounts)
    exact = run(name, history, decimals="exact")
    assert all([*exact[column].dropna()] == [*table[column].drop_null().to_pylist()] for column in amounts)


@every_table
def test_no_events_are_no_rows(name):
    found = run(name, frame_of([], **WHOLE), as_="arrow")

    assert found.num_rows <= 1
    assert [field.type for field in found.schema] == [field.type for field in TABLES[name].schema]


@pytest.mark.long(quick=2)
@every_table
def test_a_store_gives_the_same_rows(name, lake, arrow):
    assert run(name, lake, as_="arrow").equals(run(name, arrow, as_="arrow"))


@pytest.fixture(scope="module")
def lake(net, tmp_path_factory):
    store = lf.open_store(tmp_path_factory.mktemp("economics") / "lake")
    store.sync(net, progress=False)
    return store


@pytest.fixture(scope="module")
def hostile():
    with simulated(updates=600, seed=9, hostile=True) as net:
        yield lf.load_history(net, start="begin", progress=False)


@pytest.mark.parametrize(
    "name",
    # A row per week of ten thousand years is a minute's work.
    [pytest.param(name, marks=[pytest.mark.long] if name == "retention" else []) for name in TABLES],
)
@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")  # only some of these lack anything
def test_nothing_fails_on_a_hostile_history(name, hostile):
    # Hostile record times span ten thousand years.
    found = run(name, hostile, **({"every": "3650D"} if name in {"balances_over_time", "supply_by_purpose"} else {}))

    assert list(found.columns) == list(TABLES[name].names)
    assert len(found.attrs["not_understood"]) <= 101


@every_table
def test_what_is_no_events_or_no_opening_is_refused(name, history):
    for events in (None, 5, "events", {}, [1], object()):
        with pytest.raises(lf.errors.InputError, match="events"):
            run(name, events)
    with pytest.raises(lf.errors.InputError, match=r"events has no column\(s\)"):
        run(name, history.updates[["update_id", "kind"]])
    if "opening" in inspect.signature(getattr(lf, name)).parameters:
        for opening in (5, "everything", [1], {}, pd.DataFrame({"x": [1]})):
            with pytest.raises(lf.errors.InputError, match="opening"):
                run(name, history, opening=opening)


def in_a_circle(events):
    events = events.copy()
    exercises = events.index[events.choice.notna() & events.parent_event_id.notna()]
    child = exercises[0]
    parent = events.index[events.event_id == events.parent_event_id[child]][0]
    events.loc[parent, "parent_event_id"] = events.event_id[child]
    return events


@pytest.mark.parametrize("table", [lf.transfers, lf.mint_burn, lf.rewards], ids=lambda table: table.__name__)
def test_what_is_above_an_event_is_read_from_its_place_in_the_tree(table, history):
    assert table(in_a_circle(history.events)).equals(table(history.events))

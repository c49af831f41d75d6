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
def test_a_table_has_the_declared_columns_and_types(name, arrow):
    found = run(name, arrow, as_="arrow")

    declared = TABLES[name].schema
    assert found.schema.names == declared.names
    assert [field.type for field in found.schema] == [field.type for field in declared]
    for column in TABLES[name].columns:
        assert column.nullable or found[column.name].null_count == 0, column.name


@every_table
def test_the_key_is_unique(name, history):
    found, key = run(name, history), list(TABLES[name].key)

    assert not found.duplicated(key).any()


@every_table
def test_every_form_of_the_events_gives_the_same_rows(name, history, arrow):
    want = run(name, arrow, as_="arrow")

    assert run(name, history, as_="arrow").equals(want)
    as_polars = lf.types.History(*(pl.from_arrow(one) for one in arrow))
    # polars holds no provenance, which would prove that nothing was before the events
    taken = inspect.signature(getattr(lf, name)).parameters
    begun = {key: value for key, value in (("opening", "nothing"), ("seen", [])) if key in taken}
    found = run(name, as_polars, as_="arrow", **begun)
    if name in {"active_parties", "template_activity"}:
        assert found["whole"].null_count == len(found)
        found, want = found.drop_columns("whole"), want.drop_columns("whole")
    assert found.equals(want)


@pytest.mark.long(quick=3)
@every_table
def test_a_parquet_file_gives_the_same_rows(name, arrow, tmp_path):
    pq.write_table(arrow.events, tmp_path / "events.parquet")

    found = run(name, tmp_path, as_="arrow")

    assert found.equals(run(name, arrow.events, as_="arrow"))
    assert run(name, str(tmp_path / "events.parquet")).attrs["range"].startswith("ledger begin to ")
    with pytest.raises(lf.errors.InputError, match="does not exist"):
        run(name, tmp_path / "nothing")


@every_table
def test_events_alone_are_enough(name, history):
    found = run(name, history.events)

    assert type(found) is pd.DataFrame


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
def test_provenance_goes_on(name, history):
    attrs = run(name, history).attrs

    assert attrs["source"] == history.events.attrs["source"]
    assert attrs["range"] == history.events.attrs["range"]
    assert attrs["range"].startswith("ledger begin to ")
    assert attrs["table"] == TABLES[name].name
    assert isinstance(attrs["not_understood"], dict)


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


@every_table
@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")  # only some of these lack anything
def test_nothing_fails_on_a_hostile_history(name, hostile):
    # Hostile record times span ten thousand years.
    found = run(name, hostile, **({"every": "3650D"} if name in {"balances_over_time", "supply_by_purpose"} else {}))

    assert list(found.columns) == list(TABLES[name].names)
    assert len(found.attrs["not_understood"]) <= 101


@every_table
@pytest.mark.parametrize("events", [None, 5, "events", {}, [1], object()], ids=lambda one: type(one).__name__)
def test_what_is_no_events_is_refused(name, events):
    with pytest.raises(lf.errors.InputError, match="events"):
        run(name, events)


@every_table
def test_another_frame_is_refused(name, history):
    with pytest.raises(lf.errors.InputError, match=r"events has no column\(s\)"):
        run(name, history.updates[["update_id", "kind"]])


@every_table
@pytest.mark.parametrize(
    "opening", [5, "everything", [1], {}, pd.DataFrame({"x": [1]})], ids=lambda one: type(one).__name__
)
def test_a_wrong_opening_is_refused(name, opening, history):
    if "opening" not in inspect.signature(getattr(lf, name)).parameters:
        pytest.skip(f"{name} takes none")
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

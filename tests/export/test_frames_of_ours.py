"""Every frame that the package gives can be exported: paths of members as names, records as JSON."""

import cProfile
import json
import pstats

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.export.shape import safe_columns
from ledgerframes.frames import attrs_of
from ledgerframes.tables.history import REASSIGNMENTS


@pytest.fixture(scope="module")
def history(hour):
    return lf.load_history(hour, progress=False, decimals="exact")


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("form", ["parquet", "csv", "xlsx"])
def test_expanded_payloads_of_every_template_are_exported(history, tmp_path, form):
    templates = history.events.template_name.dropna().unique()[:12]
    frames = {f"payloads_{place}": lf.expand(history.events, template=name) for place, name in enumerate(templates)}

    report = lf.export(frames, tmp_path / "out", format=form)

    assert report.rows == sum(map(len, frames.values()))


def test_a_path_is_a_name_with_underscores_and_its_meaning_says_which(history, tmp_path):
    coins = lf.expand(history.events, template="Splice.Amulet:Amulet")

    lf.export({"coins": coins}, tmp_path)

    written = pq.read_table(tmp_path / "coins.parquet")
    assert written["amount_initialAmount"].to_pylist() == coins["amount.initialAmount"].to_list()
    assert written.schema.field("amount_initialAmount").metadata[b"description"] == b"member amount.initialAmount"


def test_computed_tables_are_exported_over_one_reading_of_the_history(history, tmp_path):
    with cProfile.Profile() as profile:
        lf.export(history, tmp_path, tables=["rewards", "mint_burn", "supply_per_round", "sv_rewards"])

    calls = pstats.Stats(profile).stats.items()
    assert [count for (file, _, name), (count, *_) in calls if (file[-9:], name) == ("engine.py", "__init__")] == [1]


def test_computed_tables_of_a_range_take_its_opening(hour, tmp_path):
    part = lf.load_history(hour, start="2025-03-03T09:20")
    opening = lf.load_opening(hour, at="2025-03-03T09:20")
    with pytest.raises(lf.errors.PartialResultError, match="opening="):
        lf.export(part, tmp_path, tables=["coin_history"])

    lf.export(part, tmp_path, tables=["coin_history"], opening=opening)

    written = pq.read_table(tmp_path / "coin_history.parquet")
    assert written["contract_id"].to_pylist() == lf.coin_history(part, opening=opening).contract_id.to_list()


def test_names_of_paths_stay_distinct_and_short():
    long = ".".join(f"member{number}" for number in range(20))

    names = safe_columns(["a_b", "a.b", "A.b", long, f"x.{long}", "0.y", r"a\\.b.c"])

    assert names["a.b"] == "a_b_2"
    assert names["A.b"] == "A_b_3"
    assert all(len(name) <= 63 and not name[0].isdigit() for name in names.values())
    assert len({name.lower() for name in names.values()}) == 7


def test_a_list_of_records_is_json_with_exact_amounts(tmp_path):
    cells = pa.array([[{"amount": "1.50", "round": 7}, {"amount": None, "round": 8}], None])

    lf.export({"t": pa.table({"members": cells})}, tmp_path)

    written = pq.read_table(tmp_path / "t.parquet")["members"].to_pylist()
    assert written == ['[{"amount": "1.50", "round": 7}, {"round": 8}]', None]


def test_types_of_exact_frames_do_not_depend_on_their_rows(history, tmp_path):
    whole, declared = lf.rewards(history, decimals="exact"), lf.rewards(history, as_="arrow").schema
    legs = history.reassignments.assign(observers=[()] * len(history.reassignments))
    for rows in (0, 1, 7, None):
        frame = whole.iloc[:rows].assign(amount_usd=None)

        lf.export({"rewards": frame, "mine": frame, "reassignments": legs.iloc[:rows]}, tmp_path, overwrite=True)
        assert pq.read_schema(tmp_path / "reassignments.parquet").types == REASSIGNMENTS.schema.types
        written = pq.read_table(tmp_path / "rewards.parquet")
        assert written.schema.types == declared.types
        assert written.schema.field("amount").metadata == declared.field("amount").metadata
        assert written["amount"].to_pylist() == frame["amount"].to_list()
        if len(frame):  # a table of no declaration, and without rows, has nothing to tell an amount by
            assert pq.read_schema(tmp_path / "mine.parquet").field("amount").type == declared.field("amount").type


def test_an_exported_history_or_lake_says_where_it_begins_and_that_it_is_whole(hour, filled, tmp_path):
    for as_ in ("pandas", "arrow"):
        lf.export(lf.load_history(hour, start="begin", as_=as_), tmp_path / as_)
    filled.export(tmp_path / "out")
    filled.export(tmp_path / "part", last="10min")

    wanted = lf.supply(filled, decimals="exact")
    assert all(lf.supply(tmp_path / name, decimals="exact").equals(wanted) for name in ("out", "pandas", "arrow"))
    said = filled.load("events", as_="arrow").schema.metadata[b"ledgerframes"]
    assert attrs_of(pq.read_table(tmp_path / "out/events.parquet")).items() >= json.loads(said).items()
    start = filled.load("events", last="10min").attrs["start"]
    with pytest.raises(lf.errors.PartialResultError, match=f"does not begin at ledger begin.*{start}"):
        lf.supply(tmp_path / "part")


def test_exported_events_are_said_to_lack_what_shows_where_they_begin(history, tmp_path):
    unknown = history.events.copy()
    unknown.attrs = {}
    lf.export({"events": history.events[5:]}, tmp_path / "part")
    lf.export({"events": unknown}, tmp_path / "out")

    with pytest.raises(lf.errors.PartialResultError, match="no longer has the"):
        lf.supply(tmp_path / "part")
    with pytest.raises(lf.errors.PartialResultError, match="does not say where it begins"):
        lf.supply(tmp_path / "out")
    assert lf.supply(tmp_path / "out", opening="nothing").equals(lf.supply(history, decimals="float"))

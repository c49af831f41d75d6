"""What cannot become a star, and what is left out of one: a clear error, and nothing half."""

import json

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.export.exporting import export_tables
from ledgerframes.store.star.exporting import star_export
from ledgerframes.store.star.star import Star
from tests.export.stars import exported

WRONG = {
    "unknown model": ({"model": "snowflake"}, "model='snowflake' is not valid: give 'star'"),
    "tables": ({"tables": ["updates"]}, "leave tables= out, or leave model= out"),
    "no tables": ({"tables": []}, "leave tables= out"),
    "start": ({"start": "2025-03-03"}, "leave start= out"),
    "end": ({"end": "2025-03-03"}, "leave end= out"),
    "last": ({"last": "1h"}, "leave last= out"),
    "hive": ({"layout": "hive"}, "leave layout= out"),
    "format": ({"format": "xls"}, "format='xls' is not valid"),
    "profile": ({"profile": "BI"}, "profile='BI' is not valid"),
    "overwrite": ({"overwrite": "yes"}, "overwrite='yes' is not valid"),
    "allow_partial": ({"allow_partial": 1}, "allow_partial=1 is not valid"),
    "a place that is taken": ({}, r"model\.json.*overwrite=True"),
}


@pytest.mark.parametrize(("options", "said"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_a_star_is_refused_and_nothing_is_replaced(filled, tmp_path, options, said):
    (tmp_path / "model.json").write_text("somebody's")

    with pytest.raises(lf.errors.InputError, match=said):
        filled.export(tmp_path, **{"model": "star"} | options)

    assert [path.read_text() for path in tmp_path.iterdir()] == ["somebody's"]


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_a_star_takes_the_place_of_an_older_one_and_leaves_what_is_not_of_that(filled, tmp_path):
    mine = {"updates.parquet", "thesis.csv", "model.json"}
    lf.export({"updates": pa.table({"a": [1]})}, tmp_path)
    filled.export(tmp_path, model="star")
    model = json.loads((tmp_path / "model.json").read_text())
    for name in ("fact_verdicts.parquet", "thesis.csv"):  # as if the lake had had one more table
        (tmp_path / name).touch()
        model["tables"].append({"file": name})
    before = names(tmp_path)
    for others in ("not a model", json.dumps({"tables": [5]}), json.dumps(model | {"model": "mine"})):
        (tmp_path / "model.json").write_text(others)
        filled.export(tmp_path, model="star", overwrite=True)
        assert names(tmp_path) == before
    for form in ("csv", "parquet"):
        (tmp_path / "model.json").write_text(json.dumps(model))
        now = filled.export(tmp_path, model="star", overwrite=True, format=form)
        model = json.loads((tmp_path / "model.json").read_text())
        assert names(tmp_path) - mine == {f"{table.name}.{form}" for table in now.tables} | (
            {"tmdl"} if form == "parquet" else set()
        )


def test_a_store_without_a_history_is_refused(small, tmp_path):
    with pytest.raises(lf.errors.StoreError, match="there is no store here"):
        lf.open_store(tmp_path / "nothing").export(tmp_path / "out", model="star")
    snapshots = lf.open_store(tmp_path / "snapshots")
    snapshots.sync(small, progress=False, tables=["licenses"])
    with pytest.raises(lf.errors.StoreError, match="no history to make a star of; sync it first"):
        snapshots.export(tmp_path / "out", model="star")
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_what_a_lake_that_begins_late_and_has_no_verdicts_cannot_know_is_left_out(tmp_path, caplog):
    with lf.sandbox(days=2) as net:
        middle = lf.load_updates(net)["record_time"].quantile(0.5)
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(days=2, prune_before=middle) as net, pytest.warns(lf.errors.BeginsLateWarning):
        store.sync(net, progress=False)
    star = exported(store, tmp_path / "out")

    daily, verdicts = {"fact_balances_daily", "fact_supply_daily"}, {"fact_verdicts", "bridge_verdict_party"}
    unknown = daily | verdicts | {"mart_validator_daily"}
    assert unknown <= set(star.model["left_out"])
    assert not unknown & {path.stem for path in star.folder.glob("*.parquet")}
    assert not unknown & {name for one in star.model["relations"] for name in (one["table"], one["to"])}
    assert all("from ledger begin" in star.model["left_out"][name] for name in daily)
    assert "left out: fact_verdicts, bridge_verdict_party (the store has no verdicts" in caplog.text
    assert star.without_row() == {}
    assert star.one("select count(*) from fact_transfers") == len(lf.transfers(store))
    assert "mart_app_daily" in star.names

    # It begins within a day, and ends within one.
    whole = [row[0] for row in star.ask("select whole from mart_network_daily order by date")]
    assert whole == [False, *[True] * (len(whole) - 2), False]

    # Coin that an assignment alone shows may have been its owner's before.
    assert star.ask("select count(*) > 0, count(amount) from fact_movements where kind = 'assigned'") == [(True, 0)]


def test_two_natural_keys_with_one_key_fail_the_export(filled, tmp_path):
    star = Star(filled._lake.existing(), "a lake", allow_partial=False, key_bits=14)
    with (
        pytest.raises(lf.errors.StoreError, match=r"(same key|occurs twice).*nothing was exported"),
        star_export(star, tmp_path / "out", format="parquet", as_of=None) as contents,
    ):
        export_tables(target=tmp_path / "out", format="parquet", **contents)
    assert list((tmp_path / "out").iterdir()) == []

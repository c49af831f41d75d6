"""What cannot become a star, and exports that end early: a clear error, and nothing half."""

import json

import pytest

import ledgerframes as lf
from ledgerframes.export.exporting import export_tables
from ledgerframes.store.star.exporting import star_export
from ledgerframes.store.star.star import Star
from tests.export.stars import Exported, without_row


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    filled = lf.open_store(tmp_path_factory.mktemp("refused") / "lake")
    with lf.sandbox(updates=100) as net:
        filled.sync(net, progress=False)
    return filled


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
}


@pytest.mark.parametrize(("options", "said"), WRONG.values(), ids=WRONG.keys())
def test_arguments_that_do_not_fit_a_star_are_refused(store, tmp_path, options, said):
    with pytest.raises(lf.errors.InputError, match=said):
        store.export(tmp_path / "out", **{"model": "star"} | options)
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []


def test_a_store_without_a_history_is_refused(tmp_path):
    with pytest.raises(lf.errors.StoreError, match="there is no store here"):
        lf.open_store(tmp_path / "nothing").export(tmp_path / "out", model="star")
    snapshots = lf.open_store(tmp_path / "snapshots")
    with lf.sandbox(updates=30) as net:
        snapshots.sync(net, progress=False, tables=["licenses"])
    with pytest.raises(lf.errors.StoreError, match="no history to make a star of; sync it first"):
        snapshots.export(tmp_path / "out", model="star")
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_place_that_is_taken_is_refused_unless_it_may_be_overwritten(store, tmp_path):
    (tmp_path / "model.json").write_text("somebody's")
    with pytest.raises(lf.errors.InputError, match=r"model\.json.*overwrite=True"):
        store.export(tmp_path, model="star")
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]

    store.export(tmp_path, model="star", overwrite=True)
    assert json.loads((tmp_path / "model.json").read_text())["model"] == "star"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.long
def test_verdicts_are_left_out_where_there_are_none(store, tmp_path, caplog):
    store.export(tmp_path / "out", model="star")
    star = Exported(tmp_path / "out")
    assert set(star.model["left_out"]) == {"fact_verdicts", "bridge_verdict_party"}
    said = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert len(said) == 1
    assert said[0].startswith("left out: fact_verdicts, bridge_verdict_party (the store has no verdicts")
    assert not {"fact_verdicts", "bridge_verdict_party"} & {
        name for one in star.model["relations"] for name in (one["table"], one["to"])
    }


@pytest.mark.long
def test_balances_are_left_out_where_the_history_does_not_begin_at_ledger_begin(tmp_path):
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=200) as net:
        start = lf.load_updates(net, limit=200).record_time.sort_values().iloc[100]
        store.sync(net, progress=False, start=start)
    store.export(tmp_path / "out", model="star")
    star = Exported(tmp_path / "out")
    assert "from ledger begin" in star.model["left_out"]["fact_balances_daily"]
    assert "from ledger begin" in star.model["left_out"]["fact_supply_daily"]
    assert not (tmp_path / "out" / "fact_balances_daily.parquet").exists()
    assert without_row(star) == {}
    assert star.one("select count(*) from fact_transfers") == len(lf.transfers(store))


@pytest.mark.long
def test_an_older_state_is_exported_with_as_of(tmp_path):
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=120, migrations=1) as net:
        every = list(net.sandbox.world.updates)
        for count in (60, 120):
            net.sandbox.world.updates[:] = every[:count]
            store.sync(net, progress=False, derive=["rewards", "transfers"])
    first = store.syncs().sync_id.iloc[0]
    store.export(tmp_path / "out", model="star", as_of=first)
    star = Exported(tmp_path / "out")
    assert star.model["as_of"] == first
    assert star.one("select count(*) from fact_updates") == 60
    then = lf.types.History(*(store.load(name, as_of=first) for name in ("updates", "events", "reassignments")))
    assert star.one("select count(*) from fact_rewards") == len(lf.rewards(then)) > 0
    assert without_row(star) == {}


def test_two_natural_keys_with_one_key_fail_the_export(store, tmp_path):
    star = Star(store._lake.existing(), "a lake", allow_partial=False, key_bits=14)
    with (
        pytest.raises(lf.errors.StoreError, match=r"same key|occurs twice") as raised,
        star_export(star, tmp_path / "out", format="parquet", as_of=None) as contents,
    ):
        export_tables(target=tmp_path / "out", format="parquet", **contents)
    assert "nothing was exported" in str(raised.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_contact_points_do_not_reach_a_star_and_an_export_changes_nothing_in_the_lake(tmp_path):
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=100) as net:
        store.sync(net, progress=False)
        store.sync(net, progress=False, tables=["licenses"])
    points = {
        point
        for payload in store.load("events", where={"template_name": "Splice.ValidatorLicense:ValidatorLicense"}).payload
        if (point := ((json.loads(payload).get("metadata") if payload else None) or {}).get("contactPoint"))
    }
    assert points
    before = {path: path.stat().st_mtime_ns for path in store._lake.folder.rglob("*")}
    store.export(tmp_path / "out", model="star", format="csv", personal=True)
    assert {path: path.stat().st_mtime_ns for path in store._lake.folder.rglob("*")} == before
    text = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert not [point for point in points if point in text]

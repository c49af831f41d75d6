"""A lake of models: `sql` sees each as a view, and what reads the lake more than once reads one state of it."""

import re
import shutil
from functools import partial

import pytest

import ledgerframes as lf
from tests.moving_window import place


@pytest.mark.parametrize("name", ["mint_burn", "mart_network_daily", "creates"])
def test_sql_sees_each_model_as_a_view(filled, name):
    found = filled.sql(f"select count(*) as n from {name}").n[0]
    if hasattr(lf, name):
        assert found == len(getattr(lf, name)(filled))
    assert filled.sql(f"with {name} as (select 1 as one) select * from {name}").one[0] == 1
    if name == "mint_burn":
        assert filled.sql("select count(*) as n from mint_burn join updates using (update_id)").n[0] == found


def _report(store, folder):
    path = store.report(folder / "report.html", last="10min", overwrite=True, sections=_SECTIONS)
    return re.sub("made [^<]*", "", path.read_text())


_SECTIONS = ["summary", "transfers", "templates", "provenance"]
#: Ways to read a lake more than once.
_READINGS = {
    "report": _report,
    "function": lambda store, _: lf.transfers(store).update_id.tolist(),
    "legs": lambda store, _: lf.reassignment_flows(store).contract_id.tolist(),
    "sql": lambda store, _: store.sql("select update_id from mint_burn anti join updates using (update_id)").values,
}


@pytest.fixture(scope="module")
def begun(small, tmp_path_factory):
    """A lake of most of that network; to be copied."""
    store = lf.open_store(tmp_path_factory.mktemp("begun") / "lake")
    store.sync(small, end=place(small, 220), progress=False)
    return store


@pytest.mark.parametrize("reading", _READINGS.values(), ids=_READINGS)
def test_what_reads_a_lake_more_than_once_reads_one_state_of_it(reading, begun, small, tmp_path):
    class Busy(lf.types.Store):
        def load(self, *of, **options):
            rows = super().load(*of, **options)
            if syncs:
                syncs.pop()()  # another process, between two reads
            return rows

    store, syncs = lf.open_store(shutil.copytree(begun._lake.folder, tmp_path / "lake")), []
    before, rows = reading(store, tmp_path), len(store.load("updates"))
    syncs.append(partial(store.sync, small, progress=False))

    found = reading(Busy(store._lake), tmp_path)

    assert len(store.load("updates")) > rows
    assert list(found) == list(before)

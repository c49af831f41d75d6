"""A sync that a signal's handler breaks off anywhere: the next one has every row once, and the store is sound."""

import shutil
import time
from importlib import import_module
from pkgutil import walk_packages

import pytest

import ledgerframes as lf
from ledgerframes import store, waiting
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.sync import committing
from tests.interrupted import everywhere

MODULES = [import_module(module.name) for module in walk_packages(store.__path__, f"{store.__name__}.")]


@pytest.mark.parametrize("source", ["pages", "objects"])
@pytest.mark.parametrize("most", [pytest.param(15, marks=pytest.mark.long), pytest.param(None, marks=pytest.mark.soak)])
def test_a_sync_that_is_broken_off_anywhere_loses_nothing(tmp_path, source, most):
    how = {"source": source, "page_size": 20, "commit_bytes": 6000, "workers": 2}
    with lf.sandbox(seed=7, updates=60) as net:
        every = sorted(lf.load_updates(net)["update_id"])

        def use(trace):
            lake = lf.open_store(tmp_path / "lake")
            with trace:
                lake.sync(net, **how)
            lake.sync(net, **how)
            assert sorted(lake.load("updates")["update_id"]) == every
            checked = lake.check(full=True)
            assert checked, checked
            shutil.rmtree(tmp_path / "lake")

        assert everywhere(use, waiting, *MODULES, most=most) >= 10


@pytest.mark.long
def test_no_commit_outlives_a_sync_that_is_broken_off(tmp_path, monkeypatch):
    def slowly(tables, pages):
        under_way.append(pages)
        time.sleep(0.1)
        try:
            return commit(tables, pages)
        finally:
            under_way.pop()

    def use(trace):
        lake = lf.open_store(tmp_path / "lake")
        with trace:
            lake.sync(net, page_size=20, commit_bytes=1, workers=1)
        assert under_way == []
        shutil.rmtree(tmp_path / "lake", ignore_errors=True)

    under_way, commit = [], HistoryTables.commit
    monkeypatch.setattr(HistoryTables, "commit", slowly)  # a slow disk
    with lf.sandbox(seed=7, updates=30) as net:
        assert everywhere(use, committing) >= 5

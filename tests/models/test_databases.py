"""That one database is kept from table to table, and when another one is made instead."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from ledgerframes.models.engine import Engine, settings_of
from ledgerframes.models.inputs import inputs_of


def used_by(given, *, error=False):
    """The database that a history was computed in."""
    with Engine(inputs_of(given).gives) as engine:
        engine.set({"every_us": 7})
        engine.rows("template_activity")
        if error:
            raise ValueError("once")
        return engine._database


def test_the_next_history_gets_the_same_database_and_nothing_of_what_was_in_it(history):
    before = used_by(history)

    with Engine(inputs_of(history).gives) as engine:
        assert engine._database is before
        connection = engine._connection
        assert connection.sql("select * from duckdb_tables()").fetchall() == []
        assert connection.sql("select * from duckdb_views() where not internal").fetchall() == []
        assert connection.sql("select getvariable('every_us')").fetchall() == [(None,)]
        assert used_by(history) is not before  # it is in use


def test_tables_of_one_history_do_not_share_what_other_settings_made(history):
    coins, names = "Splice.Amulet:Amulet", "Splice.Ans:AnsEntry"
    with together(history) as inputs:
        for template in (coins, names):
            found = lf.active_contracts(inputs, template=template, as_="arrow")
            assert found.equals(lf.active_contracts(history, template=template, as_="arrow"))
    assert settings_of("reassignment_flows") == {"begun"}
    assert settings_of("flow_matrix") >= {"begun", "calendar", "every_us"}


def test_after_an_error_it_is_made_again_and_a_folder_that_was_cleaned_away_costs_no_result(history):
    before = used_by(history)
    with pytest.raises(ValueError, match="once"):
        used_by(history, error=True)
    assert used_by(history) is not before

    with Engine(inputs_of(history).gives) as engine:
        found = engine.rows("template_activity")
        engine._database._spill.rmdir()
    assert found.num_rows
    assert used_by(history) is not engine._database


def test_threads_compute_at_the_same_time(history):
    expected = lf.transfers(history, as_="arrow")
    with ThreadPoolExecutor(4) as pool:
        assert all(rows.equals(expected) for rows in pool.map(lambda _: lf.transfers(history, as_="arrow"), range(8)))


def _in_a_fork(events, results):
    results.put(lf.rewards(events, as_="arrow").num_rows)


def test_a_fork_computes_too_and_ends(history):
    rows = lf.rewards(history, as_="arrow").num_rows
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_in_a_fork, args=(history.events, results))
    child.start()

    assert results.get(timeout=30) == rows
    child.join(30)
    assert child.exitcode == 0


def test_where_python_is_interactive_nothing_goes_to_standard_output():
    code = (
        "from ledgerframes.models.databases import Database; one = Database([], []);"
        "setting = \"select current_setting('enable_progress_bar')\";"
        "print([side.execute(setting).fetchall() for side in (one._root, one.connection())]); one.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[[(False,)], [(False,)]]"

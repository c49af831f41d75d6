"""One database is kept from table to table: when another is made instead, and that tables are the same in either."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from ledgerframes.models.engine import Engine, settings_of
from ledgerframes.models.inputs import inputs_of
from ledgerframes.tables.kinds import AMOUNT, TIME


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


def test_tables_together_are_those_computed_alone_and_each_shared_step_is_made_once(history):
    """`test_texts.py` shows it of the rows of every table; these also differ in their settings and provenance."""
    every = {
        lf.active_parties: [{"every": "1h"}, {"every": "1D"}], lf.supply: [{}, {"at": "2025-03-03"}],
        lf.active_contracts: [{"template": f"Splice.{name}"} for name in ("Amulet:Amulet", "Ans:AnsEntry")],
        lf.rewards: [{}],
    }  # fmt: skip
    with together(history) as inputs:
        for function, asked in every.items():
            for options in asked:
                alone = function(history, **options, as_="arrow")
                assert function(inputs, **options, as_="arrow").equals(alone, check_metadata=True)
        made = tables_in(inputs.engine)

        lf.rewards(inputs)
        assert tables_in(inputs.engine) == made
    assert settings_of("reassignment_flows") == {"begun"}
    assert settings_of("flow_matrix") >= {"begun", "calendar", "every_us"}


def tables_in(engine):
    """The number that DuckDB gives each table that it makes."""
    return engine._connection.sql("select table_oid, table_name from duckdb_tables() order by all").fetchall()


def test_a_long_table_that_others_have_read_is_in_its_order():
    """More rows than a thread of DuckDB takes at once, from the last to the first."""
    count = 300_000
    texts = ("update_id", "event_id", "sender", "provider", "receiver", "lock", "reason", "said_kind")
    given = dict.fromkeys(texts, pa.nulls(count, pa.string()))
    given |= dict.fromkeys(("amount", "price", "receiver_fee_ratio", "sender_fees"), pa.nulls(count, AMOUNT.arrow))
    given |= dict.fromkeys(("round", "migration_id", "node_index"), pa.array([0] * count, pa.int64()))
    given |= {"burned": pa.array([False] * count), "output_index": pa.array(range(count, 0, -1), pa.int64())}
    outputs = pa.table(given | {"record_time": pa.nulls(count, TIME.arrow)})
    with Engine({"coin_outputs": lambda *_: outputs}) as engine:
        engine._connection.execute("set threads = 8")
        engine._build("transfers")
        assert engine.rows("transfers")["output_index"].to_pylist() == list(range(1, count + 1))


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
    expected = lf.template_activity(history, as_="arrow")
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: lf.template_activity(history, as_="arrow"), range(8))
        assert all(rows.equals(expected) for rows in found)


def test_where_python_is_interactive_nothing_goes_to_standard_output():
    code = (
        "from ledgerframes.models.databases import Database; one = Database([], []);"
        "setting = \"select current_setting('enable_progress_bar')\";"
        "print([side.execute(setting).fetchall() for side in (one._root, one.connection())]); one.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[[(False,)], [(False,)]]"

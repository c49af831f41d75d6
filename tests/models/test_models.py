"""The models in SQL have the same rows in whatever order their input comes, and count what they cannot read."""

from __future__ import annotations

import inspect
import random
import sys

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import inputs_of
from ledgerframes.tables.derived import COMPUTED, DERIVED
from ledgerframes.tables.kinds import AMOUNT, TIME
from ledgerframes.tables.replayed import ACTIVE

TABLES = {**COMPUTED, ACTIVE.name: ACTIVE}


def rows_of(engine, name):
    """A model's rows in the table's columns, types and names."""
    rows = engine.rows(name)
    schema = TABLES[name].schema
    return pa.table({column: rows[column].cast(schema.field(column).type) for column in schema.names})


@pytest.fixture(scope="module")
def another(history):
    """An engine with eight threads over the rows in another order and in small batches, in another time zone."""
    shuffle = random.Random(7).sample
    events, legs = (rows.take(shuffle(range(len(rows)), len(rows))) for rows in (history.events, history.reassignments))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["ledgerframes.models.inputs"], "_BATCH", 100)
        with Engine(inputs_of(lf.types.History(history.updates, events, legs)).gives) as opened:
            opened._connection.execute("set threads = 8")
            opened._connection.execute("set timezone = 'America/New_York'")
            yield opened


@pytest.mark.parametrize("name", TABLES)
def test_the_order_of_the_input_the_threads_and_the_time_zone_change_nothing(engine, another, name):
    assert rows_of(another, name).equals(rows_of(engine, name))


def test_a_member_that_does_not_fit_is_null_and_counted(history):
    events = history.events.to_pandas()
    coins = events.index[(events.event_type == "created_event") & (events.template_name == "Splice.Amulet:Amulet")]
    events.loc[coins[0], "payload"] = events.payload[coins[0]].replace('"initialAmount":"', '"initialAmount":"1_')
    events.loc[coins[1], "payload"] = "{broken"

    with Engine(inputs_of(pa.Table.from_pandas(events, schema=history.events.schema)).gives) as broken:
        rows = broken.rows("coin_history")

        assert rows.num_rows == lf.coin_history(history, as_="arrow").num_rows - 2
        assert broken.not_understood("coin_history")["Splice.Amulet:Amulet: amount.initialAmount"] == 2


def test_tables_together_are_those_computed_alone_and_each_shared_step_is_made_once(history):
    every = {"active_parties": [{"every": "1h"}, {"every": "1D"}], "supply": [{}, {"at": "2025-03-03"}]}
    with together(history, opening="nothing") as inputs:
        for name in DERIVED:
            function = getattr(lf, name)
            opening = {"opening": "nothing"} if "opening" in inspect.signature(function).parameters else {}
            for options in every.get(name, [{}]):
                alone = function(history, **opening, **options, as_="arrow")

                assert function(inputs, **opening, **options, as_="arrow").equals(alone, check_metadata=True)
        made = tables_in(inputs.engine)

        lf.rewards(inputs, opening="nothing")
        assert tables_in(inputs.engine) == made


def tables_in(engine):
    """The number that DuckDB gives each table that it makes."""
    return engine._connection.sql("select table_oid, table_name from duckdb_tables() order by all").fetchall()


def test_a_long_table_that_others_have_read_is_in_its_order():
    """More rows than a thread of DuckDB takes at once, from the last to the first."""
    count = 1_000_000
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

"""Tables are the same together and alone, and in their order however many rows they have."""

from __future__ import annotations

import pyarrow as pa

import ledgerframes as lf
from ledgerframes.models.computing import together
from ledgerframes.models.engine import Engine
from ledgerframes.tables.kinds import AMOUNT, TIME


def test_tables_together_are_those_computed_alone_and_each_shared_step_is_made_once(history):
    """`test_texts.py` shows it of the rows of every table; these also differ in their settings and provenance."""
    every = {
        lf.active_parties: [{"every": "1h"}, {"every": "1D"}], lf.supply: [{}, {"at": "2025-03-03"}],
        lf.network_daily: [{}], lf.rewards: [{}],
    }  # fmt: skip
    with together(history) as inputs:
        for function, asked in every.items():
            for options in asked:
                alone = function(history, **options, as_="arrow")
                assert function(inputs, **options, as_="arrow").equals(alone, check_metadata=True)
        made = tables_in(inputs.engine)

        lf.rewards(inputs)
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

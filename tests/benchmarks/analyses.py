"""Analyses of a million events against the same question asked of DuckDB, on the same Arrow data."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

import ledgerframes as lf
from tests.benchmarks.measuring import Row, side_by_side

EVENTS = 1_000_000
COPIED = ("update_id", "event_id", "contract_id", "unassign_id")
BASELINE = "DuckDB"
AIM = 1 / 3

FLOWS = """
    select coalesce(a.unassign_id, b.unassign_id), coalesce(a.contract_id, b.contract_id), b.template_name,
        coalesce(a.source_synchronizer, b.source_synchronizer), coalesce(a.target_synchronizer, b.target_synchronizer),
        coalesce(a.reassignment_counter, b.reassignment_counter), a.record_time as unassigned_at, b.record_time
    from (select * from reassignments where kind = 'unassignment') a
    full outer join (select * from reassignments where kind = 'assignment') b
    on a.source_synchronizer = b.source_synchronizer and a.unassign_id = b.unassign_id
        and a.contract_id = b.contract_id and a.reassignment_counter = b.reassignment_counter
    order by unassigned_at
"""
ACTIVE = """
    with halves as (
        select contract_id, arg_max(kind, reassignment_counter * 2 + (kind = 'assignment')::int) as half,
            arg_max(target_synchronizer, reassignment_counter * 2 + (kind = 'assignment')::int) as target,
            max(reassignment_counter) as counter
        from reassignments group by contract_id
    )
    select e.contract_id, e.template_id, e.template_name, e.package_name, e.created_at, e.signatories, e.observers,
        e.payload, case when h.half = 'assignment' then h.target when h.half is null then e.synchronizer_id end,
        coalesce(h.counter, 0), e.migration_id, e.record_time
    from events e left join halves h using (contract_id)
    where e.event_type = 'created_event'
        and not exists (select 1 from events x where x.consuming and x.contract_id = e.contract_id)
    order by e.migration_id, e.record_time, e.contract_id
"""
EXPAND = """
    select migration_id, record_time, update_id, event_id, contract_id, payload->>'issuer', payload->>'owner',
        payload->>'currency', (payload->>'amount')::decimal(38, 10)
    from events where template_name = 'Iou:Iou' and event_type = 'created_event'
"""


def rows() -> list[Row]:
    """Flows, active contracts and one template's payloads."""
    events, reassignments = tiled()
    connection = duckdb.connect()
    connection.register("events", events)
    connection.register("reassignments", reassignments)
    fields = ["issuer", "owner", "currency", "amount"]
    ours: dict[str, tuple[Any, str]] = {
        "reassignment_flows": (lambda: lf.reassignment_flows(reassignments), FLOWS),
        "active_contracts": (lambda: lf.active_contracts(events, reassignments, opening="nothing"), ACTIVE),
        "expand": (lambda: lf.expand(events, template="Iou:Iou", fields=fields), EXPAND),
    }
    found = []
    for name, (call, query) in ours.items():
        assert call().num_rows == connection.sql(query).to_arrow_table().num_rows, name
        times = side_by_side({"ours": call, BASELINE: lambda q=query: connection.sql(q).to_arrow_table()}, rounds=3)
        what = f"{name}, {events.num_rows:,} events, {reassignments.num_rows:,} halves"
        found.append(Row(what=what, baseline=BASELINE, ours=times["ours"], theirs=times[BASELINE], aim=AIM))
        pool = pa.default_memory_pool()
        before = pool.bytes_allocated()
        peak = pool.max_memory() - before
        size = events.nbytes + reassignments.nbytes
        found.append(
            Row(
                what=f"memory of {name}, Arrow's peak over its input",
                baseline="3 times the input",
                ours=peak / 1e6,
                theirs=3 * size / 1e6,
                unit="MB",
                aim=1.0,
            )
        )
    return found


def tiled() -> tuple[pa.Table, pa.Table]:
    """A sandbox's history, many times over under new ids."""
    with lf.sandbox(updates=6_000) as net:
        history = lf.load_history(net, limit=6_000, as_="arrow", progress=False)
    times = -(-EVENTS // history.events.num_rows)
    return tuple(  # type: ignore[return-value]
        pa.concat_tables([_copy(table, number) for number in range(times)])
        for table in (history.events, history.reassignments)
    )


def _copy(table: pa.Table, number: int) -> pa.Table:
    columns = [
        pc.binary_join_element_wise(table[name], pa.scalar(str(number)), "#") if name in COPIED else table[name]
        for name in table.column_names
    ]
    return pa.Table.from_arrays(columns, schema=table.schema.remove_metadata())

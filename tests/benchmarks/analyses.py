"""Analyses of a million events against the same question asked of DuckDB, on the same Arrow data."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

import ledgerframes as lf
from tests.benchmarks.economics import repeated
from tests.benchmarks.measuring import Row, side_by_side

EVENTS, UPDATES = 1_000_000, 6_000
BASELINE = "DuckDB"
AIM = 1.0
ROUND = 1_000

FLOWS = """
    select coalesce(a.unassign_id, b.unassign_id) as unassign_id, coalesce(a.contract_id, b.contract_id) as contract_id,
        b.template_name, coalesce(a.source_synchronizer, b.source_synchronizer) as source_synchronizer,
        coalesce(a.target_synchronizer, b.target_synchronizer) as target_synchronizer,
        coalesce(a.reassignment_counter, b.reassignment_counter) as reassignment_counter,
        a.record_time as unassigned_at, b.record_time as assigned_at
    from (select * from reassignments where kind = 'unassignment') a
    full outer join (select * from reassignments where kind = 'assignment') b
    on a.source_synchronizer = b.source_synchronizer and a.unassign_id = b.unassign_id
        and a.contract_id = b.contract_id and a.reassignment_counter = b.reassignment_counter
    order by unassigned_at
"""
# The same contracts as `lf.active_contracts` gives, with every column and in its order.
ACTIVE = """
    with created as (
        select contract_id, template_id, template_name, package_name, created_at, signatories, observers, payload,
            synchronizer_id, 0 as counter, migration_id, record_time
        from events e
        where event_type = 'created_event'
            and not exists (select 1 from events x where x.consuming and x.contract_id = e.contract_id)
    ), assigned as (
        select distinct on (contract_id) contract_id, template_id, template_name, package_name, created_at,
            signatories, observers, payload, target_synchronizer, reassignment_counter, migration_id, record_time
        from reassignments r
        where kind = 'assignment'
            and not exists (select 1 from events x where x.contract_id = r.contract_id
                and (x.consuming or x.event_type = 'created_event'))
        order by contract_id, migration_id, record_time
    ), latest as (
        select contract_id, max(reassignment_counter) as counter,
            arg_max({'kind': kind, 'source': source_synchronizer, 'target': target_synchronizer},
                reassignment_counter * 2 + (kind = 'assignment')::int) as leg
        from reassignments group by contract_id
    )
    select a.contract_id, template_id, template_name, package_name, created_at, signatories, observers, payload,
        case when l.contract_id is null then synchronizer_id when l.leg.kind = 'assignment' then l.leg.target end
            as synchronizer_id,
        case when l.leg.kind = 'unassignment' then l.leg.source end as source_synchronizer,
        case when l.leg.kind = 'unassignment' then l.leg.target end as target_synchronizer,
        coalesce(l.counter, a.counter) as reassignment_counter,
        coalesce(l.leg.kind = 'unassignment', false) as in_flight, migration_id, record_time
    from (from created union all from assigned) a left join latest l using (contract_id)
    order by migration_id, record_time, a.contract_id
"""
# Of decimals with 38 digits, because DuckDB has no more; every sum fits here.
HOLDINGS = f"""
    with coins as (
        select template_name = 'Splice.Amulet:LockedAmulet' as locked,
            case when locked then payload->'amulet' else payload end as coin
        from ({ACTIVE}) where template_name in ('Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet')
    ), amounts as (
        select locked, coin->>'owner' as owner, (coin->>'$.amount.initialAmount')::decimal(38, 10) as amount,
            least(amount, round((coin->>'$.amount.ratePerRound.rate')::decimal(20, 15)
                * ({ROUND} - (coin->>'$.amount.createdAt.number')::bigint)::decimal(10, 0), 10)) as fee
        from coins
    )
    select owner as party_id, coalesce(sum(amount) filter (not locked), 0) as total_unlocked_coin,
        coalesce(sum(amount) filter (locked), 0) as total_locked_coin, sum(amount) as total_coin_holdings,
        coalesce(sum(fee) filter (not locked), 0) as accumulated_holding_fees_unlocked,
        coalesce(sum(fee) filter (locked), 0) as accumulated_holding_fees_locked, sum(fee) as
        accumulated_holding_fees_total, total_unlocked_coin - accumulated_holding_fees_unlocked as total_available_coin
    from amounts group by owner order by owner
"""
EXPAND = """
    select migration_id, record_time, update_id, event_id, contract_id, payload->>'dso', payload->>'owner',
        payload->>'$.amount.createdAt.number', (payload->>'$.amount.initialAmount')::decimal(38, 10)
    from events where template_name = 'Splice.Amulet:Amulet' and event_type = 'created_event'
"""


def rows() -> list[Row]:
    """Flows, active contracts and one template's payloads."""
    events, reassignments = repeated(UPDATES, EVENTS)
    connection = duckdb.connect()
    connection.register("events", events)
    connection.register("reassignments", reassignments)
    fields = ["dso", "owner", "amount.createdAt.number", "amount.initialAmount"]
    calls: dict[str, tuple[Any, str]] = {
        "reassignment_flows": (lambda: lf.reassignment_flows(reassignments, as_="arrow"), FLOWS),
        "active_contracts": (
            lambda: lf.active_contracts(events, reassignments, opening="nothing", as_="arrow"), ACTIVE,
        ),
        "holdings_from_events": (
            lambda: lf.holdings_from_events(
                events, reassignments, opening="nothing", as_of_round=ROUND, decimals="exact"
            ), HOLDINGS,
        ),
        "expand": (lambda: lf.expand(events, template="Splice.Amulet:Amulet", fields=fields, decimals="exact"), EXPAND),
    }  # fmt: skip
    found = []
    for name, (call, query) in calls.items():
        check_same(call(), connection.sql(query).to_arrow_table(), name)
        times = side_by_side({"ours": call, BASELINE: lambda q=query: connection.sql(q).to_arrow_table()})
        what = f"{name}, {events.num_rows:,} events, {reassignments.num_rows:,} halves"
        found.append(Row(what=what, baseline=BASELINE, ours=times["ours"], theirs=times[BASELINE], aim=AIM))
    return found


def check_same(ours: Any, theirs: pa.Table, name: str) -> None:
    """Both answer the same, or their times would say nothing: every cell where the columns have the same names."""
    if isinstance(ours, pd.DataFrame):
        ours = pa.table(
            {column: pa.array(ours[column], theirs.schema.field(column).type) for column in theirs.schema.names}
        )
    assert ours.num_rows == theirs.num_rows, name
    # The query for flows leaves the order of equal times open.
    for column in set(ours.column_names) & set(theirs.column_names) if name != "reassignment_flows" else ():
        assert ours[column].equals(theirs[column].cast(ours[column].type)), f"{name}: {column}"

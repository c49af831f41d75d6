"""The rows of facts and bridges from the rows of a lake's tables, a batch at a time; `star` calls them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import StoreError
from ledgerframes.store.star.dimensions import Dimensions
from ledgerframes.store.star.key_index import KeyIndex
from ledgerframes.tables.kinds import TIME
from ledgerframes.tables.star import STAR

#: The columns of a party's role in an event.
_ROLES: Final = {"acting": "acting_parties", "signatory": "signatories", "observer": "observers"}
Rows: TypeAlias = "pa.RecordBatch"


def update_rows(rows: Rows, dimensions: Dimensions) -> Rows:
    """Rows of fact_updates."""
    times = rows["record_time"]
    return _batch(
        "fact_updates",
        rows,
        update_key=dimensions.keys.of(rows["update_id"]),
        date_key=dimensions.date(times),
        synchronizer_key=dimensions.synchronizer(rows["synchronizer_id"], times),
    )


def event_rows(rows: Rows, dimensions: Dimensions) -> Rows:
    """Rows of fact_events."""
    times = rows["record_time"]
    return _batch(
        "fact_events",
        rows,
        event_key=event_keys(rows, dimensions),
        update_key=dimensions.keys.of(rows["update_id"]),
        date_key=dimensions.date(times),
        synchronizer_key=dimensions.synchronizer(rows["synchronizer_id"], times),
        template_key=dimensions.template(rows["package_name"], rows["template_name"], times),
    )


def event_keys(rows: Rows, dimensions: Dimensions) -> pa.Array:
    """The keys of events."""
    return dimensions.keys.of_several([rows["update_id"], rows["event_id"]])


def event_parties(rows: Rows, dimensions: Dimensions) -> Rows:
    """Rows of bridge_event_party; a party that a list names twice has one row."""
    keys = event_keys(rows, dimensions)
    parts = []
    for role, name in _ROLES.items():
        places, parties = pc.list_parent_indices(rows[name]), pc.list_flatten(rows[name])
        times = rows["record_time"].take(places)
        party = dimensions.party(parties, times)
        named = pa.repeat(pa.scalar(role), len(parties))
        parts.append(pa.table({"event_key": keys.take(places), "party_key": party, "role": named}))
    return _distinct("bridge_event_party", pa.concat_tables(parts))


def transfer_rows(rows: Rows, dimensions: Dimensions, updates: KeyIndex) -> Rows:
    """Rows of fact_transfers."""
    update, times = _when(rows, dimensions, updates)
    return _batch(
        "fact_transfers",
        rows,
        transfer_key=dimensions.keys.of_several([rows[name] for name in ("update_id", "event_id", "output_index")]),
        update_key=update,
        event_key=event_keys(rows, dimensions),
        date_key=dimensions.date(times),
        round_key=dimensions.round(rows["round"]),
        **_parties(rows, dimensions, "sender", "receiver", "provider"),
        record_time=times,
        is_locked=pc.is_valid(rows["lock"]),
    )


def reward_rows(rows: Rows, dimensions: Dimensions) -> Rows:
    """Rows of fact_rewards."""
    return _batch(
        "fact_rewards",
        rows,
        reward_key=dimensions.keys.of(rows["contract_id"]),
        date_key=dimensions.date(rows["created_at"]),
        ended_date_key=dimensions.date(rows["ended_at"]),
        round_key=dimensions.round(rows["round"]),
        **_parties(rows, dimensions, "provider", "beneficiary"),
    )


def traffic_rows(rows: Rows, dimensions: Dimensions, updates: KeyIndex) -> Rows:
    """Rows of fact_traffic."""
    update, times = _when(rows, dimensions, updates)
    return _batch(
        "fact_traffic",
        rows,
        event_key=event_keys(rows, dimensions),
        update_key=update,
        date_key=dimensions.date(times),
        round_key=dimensions.round(rows["round"]),
        **_parties(rows, dimensions, "provider"),
        synchronizer_key=dimensions.synchronizer(rows["synchronizer_id"]),
        record_time=times,
    )


def mint_burn_rows(rows: Rows, dimensions: Dimensions) -> Rows:
    """Rows of fact_mint_burn."""
    return _batch(
        "fact_mint_burn",
        rows,
        update_key=dimensions.keys.of(rows["update_id"]),
        date_key=dimensions.date(rows["record_time"]),
        round_key=dimensions.round(rows["round"]),
    )


def verdict_rows(rows: Rows, dimensions: Dimensions, updates: KeyIndex) -> Rows:
    """Rows of fact_verdicts."""
    key, times = dimensions.keys.of(rows["update_id"]), rows["record_time"]
    there = pc.is_valid(updates.look_up(key))
    return _batch(
        "fact_verdicts",
        rows,
        verdict_key=key,
        update_key=pc.if_else(there, key, pa.scalar(None, pa.int64())),
        date_key=dimensions.date(times),
        synchronizer_key=dimensions.synchronizer(rows["synchronizer_id"], times),
    )


def verdict_parties(rows: Rows, dimensions: Dimensions) -> Rows:
    """Rows of bridge_verdict_party."""
    keys = dimensions.keys.of(rows["update_id"])
    places, parties = pc.list_parent_indices(rows["submitting_parties"]), pc.list_flatten(rows["submitting_parties"])
    party = dimensions.party(parties, rows["record_time"].take(places))
    return _distinct("bridge_verdict_party", pa.table({"verdict_key": keys.take(places), "party_key": party}))


def _when(rows: Rows, dimensions: Dimensions, updates: KeyIndex) -> tuple[pa.Array, pa.Array]:
    """The keys of the updates that rows belong to, and their record times.

    Raises:
        StoreError: an update is not among those exported.
    """
    keys = dimensions.keys.of(rows["update_id"])
    times = updates.look_up(keys)
    if times.null_count:
        lost = rows["update_id"].filter(times.is_null())[0].as_py()
        raise StoreError(
            f"a computed table names update {lost}, which is not in the history that is exported; bring the computed"
            " tables up to date with store.derive(), and export again"
        )
    return keys, times.cast(TIME.arrow)


def _parties(rows: Rows, dimensions: Dimensions, *roles: str) -> dict[str, pa.Array]:
    return {f"{role}_party_key": dimensions.party(rows[role]) for role in roles}


def _batch(table: str, rows: Rows, **made: Any) -> Rows:
    """Rows of a declared table: the columns that were made, and the others as they are."""
    schema = STAR[table].schema
    columns: Mapping[str, Any] = {name: made[name] if name in made else rows[name] for name in schema.names}
    return pa.record_batch([columns[field.name].cast(field.type) for field in schema], schema=schema)


def _distinct(table: str, rows: pa.Table) -> Rows:
    schema = STAR[table].schema
    once = rows.group_by(schema.names, use_threads=False).aggregate([])
    return pa.record_batch([once[name].combine_chunks() for name in schema.names], schema=schema)


#: What each fact that is made row by row reads of which table.
READS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "fact_updates": (
        "updates",
        ("update_id", "migration_id", "record_time", "synchronizer_id", "effective_at", "kind", "workflow_id",
         "event_count"),
    ),
    "fact_events": (
        "events",
        ("update_id", "event_id", "migration_id", "record_time", "synchronizer_id", "node_index", "depth", "event_type",
         "contract_id", "template_name", "package_name", "choice", "consuming"),
    ),
    "bridge_event_party": ("events", ("update_id", "event_id", "record_time", *_ROLES.values())),
    "fact_verdicts": (
        "verdicts",
        ("update_id", "migration_id", "record_time", "synchronizer_id", "finalization_time", "result",
         "mediator_group", "submitting_participant_uid", "has_update", "total_traffic_cost"),
    ),
    "bridge_verdict_party": ("verdicts", ("update_id", "record_time", "submitting_parties")),
}  # fmt: skip

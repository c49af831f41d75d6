"""The rows of the dimensions, once all facts were read; `star` calls them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any, Final

import pyarrow as pa

from ledgerframes.store.star.dimensions import Dimensions
from ledgerframes.store.star.members import Members
from ledgerframes.tables.star import STAR
from ledgerframes.timestamps import EPOCH, MICROSECOND

_ROWS: Final = 50_000
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FRIDAY: Final = 5
_UNIX: Final = date(1970, 1, 1).toordinal()
Cells = dict[str, Any]


def date_rows(dimensions: Dimensions) -> Iterator[pa.RecordBatch]:
    """Rows of dim_date."""
    days = dimensions.all_days()
    for start in range(0, len(days), _ROWS):
        own = days[start : start + _ROWS]
        keys = dimensions.date_keys(own).to_pylist()
        yield from _batches("dim_date", (_day(key, day) for key, day in zip(keys, own.tolist(), strict=True)))


def party_rows(dimensions: Dimensions, facts: Mapping[str, Cells]) -> Iterator[pa.RecordBatch]:
    """Rows of dim_party.

    Args:
        dimensions: what facts named.
        facts: what contracts say of a party.
    """
    unknown = {"name": None, "is_super_validator": False, "is_featured": False}
    validators = {member.natural for member in dimensions.validators.by_key.values()}

    def cells() -> Iterator[Cells]:
        for row in _members(dimensions.parties, "party_key", "party_id"):
            party = row["party_id"]
            yield _split(row, party) | {"is_validator": party in validators} | facts.get(party, unknown)

    return _batches("dim_party", cells())


def template_rows(dimensions: Dimensions) -> Iterator[pa.RecordBatch]:
    """Rows of dim_template."""

    def cells() -> Iterator[Cells]:
        for row in _members(dimensions.templates, "template_key", "natural"):
            package, name = json.loads(row["natural"])
            module, _, entity = name.partition(":")
            parts = {"package_name": package, "template_name": name, "module": module, "entity": entity or None}
            yield row | parts

    return _batches("dim_template", cells())


def synchronizer_rows(dimensions: Dimensions) -> Iterator[pa.RecordBatch]:
    """Rows of dim_synchronizer."""
    rows = _members(dimensions.synchronizers, "synchronizer_key", "synchronizer_id")
    return _batches("dim_synchronizer", (_split(row, row["synchronizer_id"]) for row in rows))


def round_rows(dimensions: Dimensions, history: pa.Table) -> Iterator[pa.RecordBatch]:
    """Rows of dim_round: the rounds of the history, and those that only facts name."""
    schema = STAR["dim_round"].schema
    keys = dimensions.round(history["round"])
    columns = [keys if name == "round_key" else history[name].combine_chunks() for name in schema.names]
    if history.num_rows:
        yield pa.record_batch(columns, schema=schema)
    known = set(history["round"].to_pylist())
    others = ((key, int(member.natural)) for key, member in dimensions.rounds.by_key.items())
    rows = ({"round_key": key, "round": own, "whole": False} for key, own in others if own not in known)
    yield from _batches("dim_round", rows)


def validator_rows(dimensions: Dimensions, latest: pa.Table, listed: pa.Table) -> Iterator[pa.RecordBatch]:
    """Rows of dim_validator.

    Args:
        dimensions: the validators' parties are members of it.
        latest: the latest licenses of the events.
        listed: the licenses of the table `licenses`, in the same columns.
    """
    rows = pa.concat_tables([listed, latest]).sort_by("created_at")
    # The last of those with one time is that of the events, which tell of its end.
    places = pa.table({"validator": rows["validator"], "place": pa.array(range(rows.num_rows), pa.int64())})
    rows = rows.take(places.group_by("validator").aggregate([("place", "max")])["place_max"])
    made = {
        "validator_key": dimensions.validator(rows["validator"]),
        "party_key": dimensions.party(rows["validator"]),
        "sponsor_party_key": dimensions.party(rows["sponsor"]),
        "license_created_at": rows["created_at"].combine_chunks(),
    }
    schema = STAR["dim_validator"].schema
    columns = [made[name] if name in made else rows[name].combine_chunks() for name in schema.names]
    yield pa.record_batch(columns, schema=schema)


def _day(key: int, number: int) -> Cells:
    day = date.fromordinal(_UNIX + number)
    iso = day.isocalendar()
    return {
        "date_key": key, "date": day, "year": day.year, "quarter": (day.month + 2) // 3, "month": day.month,
        "month_name": _MONTHS[day.month - 1], "day": day.day, "iso_year": iso.year, "iso_week": iso.week,
        "weekday": iso.weekday, "weekday_name": _WEEKDAYS[iso.weekday - 1], "is_weekend": iso.weekday > _FRIDAY,
    }  # fmt: skip


def _members(members: Members, key: str, natural: str) -> Iterator[Cells]:
    for number, member in members.by_key.items():
        yield {key: number, natural: member.natural, "first_seen_at": _time(member.first_seen)}


def _time(micros: int | None) -> datetime | None:
    return None if micros is None else (EPOCH + micros * MICROSECOND).astimezone(UTC)


def _split(row: Cells, text: str) -> Cells:
    hint, _, fingerprint = text.partition("::")
    return row | {"hint": hint, "fingerprint": fingerprint or None}


def _batches(table: str, rows: Iterable[Cells]) -> Iterator[pa.RecordBatch]:
    schema = STAR[table].schema
    rest = iter(rows)
    while some := list(islice(rest, _ROWS)):
        yield pa.RecordBatch.from_pylist(some, schema)

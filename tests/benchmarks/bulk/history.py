"""A history of any length in which item i is computed from i and a seed alone; the bulk server pages through it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from ledgerframes.sandbox.world import timestamps
from tests.benchmarks.bulk.bodies import BLOCK, CYCLE, MARKS, Body, bodies

# The record times of neighbouring migrations overlap: each begins before the one before it ends.
MIGRATIONS = (0, 1, 3)
FIRST_ITEMS = (0, 1_200, 4_800)
BEGINS = (0, 2_000_000_000, 8_000_000_000)

# Record times fall into slots. Of the 20 items of a block three pairs share a slot, which leaves 17.
STEP = 2_500_000
JITTER = 2_000_003
SLOT_OF_STEP = (0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 13, 14, 15, 16)
FIRST_STEP_OF_SLOT = tuple(SLOT_OF_STEP.index(slot) for slot in range(17))
SLOTS = len(FIRST_STEP_OF_SLOT)

ZERO = timestamps.parse("2024-07-01T00:00:00Z")
_CORE, _RECORD, _EFFECTIVE, _CREATED, _MIGRATION, _ANCHOR, _PREVIOUS = MARKS.values()


@dataclass(frozen=True, slots=True)
class Position:
    """Where an item stands: its migration id and its record time in microseconds since `ZERO`."""

    migration_id: int
    record_time: int


def items(start: int, end: int, *, seed: int) -> Iterator[bytes]:
    """The JSON of the items from start (inclusive) to end (exclusive)."""
    cycle, key = bodies(seed), seed.to_bytes(8, "little", signed=True)
    previous = _core(start - 1, key)
    for index in range(start, end):
        core = _core(index, key)
        yield _filled(cycle[index % CYCLE], index=index, core=core, previous=previous, key=key)
        previous = core


def position(index: int) -> Position:
    """The cursor of one item."""
    part = _part(index)
    slot = _slot(index)
    begin = BEGINS[part] + (slot - _slot(FIRST_ITEMS[part])) * STEP
    return Position(MIGRATIONS[part], begin + _jitter(slot))


def first_after(migration_id: int, record_time: int) -> int:
    """The first item after a cursor: a higher migration id, or the same one and a later record time."""
    part = bisect_left(MIGRATIONS, migration_id)
    if part == len(MIGRATIONS):
        return _end_of(part - 1)
    if MIGRATIONS[part] != migration_id or record_time < BEGINS[part]:
        return FIRST_ITEMS[part]
    slot = _slot(FIRST_ITEMS[part]) + (record_time - BEGINS[part]) // STEP
    slot += (record_time - BEGINS[part]) % STEP >= _jitter(slot)
    block, rest = divmod(slot, SLOTS)
    return min(block * BLOCK + FIRST_STEP_OF_SLOT[rest], _end_of(part))


def events_in(updates: int, *, seed: int) -> int:
    """The events in the first `updates` items, counted without building them."""
    cycles, rest = divmod(updates, CYCLE)
    return sum(body.events * (cycles + (place < rest)) for place, body in enumerate(bodies(seed)))


def _filled(body: Body, *, index: int, core: bytes, previous: bytes, key: bytes) -> bytes:
    """One item from its body."""
    at = position(index)
    created = index - body.anchor
    effective = _text(position(created).record_time + _lead(created))
    text = body.text.replace(_RECORD, _text(at.record_time)).replace(_MIGRATION, b"%d" % at.migration_id)
    text = text.replace(_EFFECTIVE, effective).replace(_CREATED, _shortest(effective))
    if body.anchor:
        text = text.replace(_ANCHOR, _core(created, key))
    return text.replace(_PREVIOUS, previous).replace(_CORE, core)


def _part(index: int) -> int:
    return 0 if index < FIRST_ITEMS[1] else 1 if index < FIRST_ITEMS[2] else 2


def _end_of(part: int) -> int:
    """One past the last item of a migration; the last migration has no end."""
    return FIRST_ITEMS[part + 1] if part + 1 < len(FIRST_ITEMS) else 1 << 62


def _slot(index: int) -> int:
    block, step = divmod(index, BLOCK)
    return block * SLOTS + SLOT_OF_STEP[step]


def _jitter(slot: int) -> int:
    # A multiplicative hash: times look irregular and can be computed from the slot alone.
    return slot * 2_654_435_761 % JITTER


def _lead(index: int) -> int:
    """How far the effective time is from the record time: mostly before, now and then after."""
    return index * 40_503 % 1_500_007 - 1_200_000


def _core(index: int, key: bytes) -> bytes:
    """The 64 digits that make an item's ids its own; they rise with the index where record times are equal."""
    digits = blake2b(_slot(index).to_bytes(8, "little", signed=True), digest_size=26, key=key).hexdigest()
    return b"%s%012x%s" % (digits[:20].encode(), index + 1, digits[20:].encode())


def _text(record_time: int) -> bytes:
    return timestamps.exact(ZERO + record_time).encode()


def _shortest(time: bytes) -> bytes:
    return time[:-1].rstrip(b"0").rstrip(b".") + b"Z" if time[-2:] == b"0Z" else time

"""Holds the compiled decoder and the Python path equal on broken pages: `python -m tests.fuzz.decoders --pages N`.

Pages are made of items of the corpus, then changed: at the members that decoders know, at any member, or at any byte.
Case n of a seed is always the same: `--seed S --case N` runs it alone. It ends with 1 if the two differ.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ledgerframes.decoding.history import Batches
from ledgerframes.decoding.page_index import peek
from ledgerframes.decoding.pages import read_compiled
from ledgerframes.decoding.splitting import UNREADABLE
from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY, HistoryPage
from tests.decoding.items import decoded
from tests.fuzz import members
from tests.fuzz.corpus import Corpus, gather
from tests.fuzz.far_side import page_of
from tests.fuzz.mutations import MEMBERS, Members, Text, change_members, mutate, put

TABLES = ("updates", "events", "reassignments")
# Of the cases: those that also split a column of payloads, decode some rows alone, decode three pages at once.
PAYLOADS, SOME, AT_ONCE = 0.1, 0.3, 0.2
LONGEST = 6_000  # of an item, so that most of the time goes into variety
LONG = 25_000  # of a page; of those beyond, such as those nested 50,000 deep, few are tried
TIMES = (
    *("2026-01-30T08:39:28Z", "2026-01-30T08:39:28.0Z", "2026-01-30T08:39:28.4855Z", "2026-01-30T08:39:28.485590Z"),
    *("2026-01-30T08:39:28.4855961Z", "2026-01-30T08:39:28.485596123Z", "2026-01-30T08:39:28.4855961234Z"),
    *("2024-02-29T23:59:59.999999Z", "2023-02-29T00:00:00.000000Z", "1900-02-29T00:00:00Z", "2000-02-29T00:00:00Z"),
    *("0001-01-01T00:00:00.000000Z", "0000-12-31T00:00:00.000000Z", "9999-12-31T23:59:59.999999999Z"),
    *("1969-12-31T23:59:59Z", "2026-01-30t08:39:28z", "2026-01-30 08:39:28Z", "2026-01-30T08:39:28,5Z"),
    *("2026-01-30T08:39Z", "2026-01-30T08:39:28"),
    *("2026-01-30T08:39:28.485596+02:00", "2026-01-30T24:00:00.000000Z", "2026-01-30T08:39:60Z", "2026-1-30T08:39:28Z"),
    *("2026-01-30T08:39:28.Z", "2026-01-30T08:39:2८Z", "", "Z"),
)  # fmt: skip
KNOWN = (
    *("update_id", "migration_id", "workflow_id", "record_time", "synchronizer_id", "effective_at", "root_event_ids"),
    *("events_by_id", "external_transaction_hash", "offset", "event", "event_type", "event_id", "contract_id"),
    *("template_id", "package_name", "create_arguments", "created_at", "signatories", "observers", "choice"),
    *("choice_argument", "child_event_ids", "exercise_result", "consuming", "acting_parties", "interface_id"),
    *("submitter", "source_synchronizer", "target_synchronizer", "reassignment_counter", "unassign_id"),
    "created_event",
)


class UnequalError(Exception):
    """The two decoders differ."""


def case(corpus: Corpus, rng: random.Random) -> str:
    """One page through both; gives what became of it in a word."""
    items = [item for item in rng.choice(corpus.histories) if len(item) < LONGEST]
    body = page_of([rng.choice(items) for _ in range(rng.choice((1, 1, 2, 3, 6)))])
    if rng.random() < 0.6:
        body = change_known(body, rng)
    if rng.random() < 0.5:
        body = mutate(body, rng, items)
    if len(body) > LONG and rng.random() < 0.98:
        return "too long"
    tables = rng.choice((TABLES, TABLES, TABLES, ("updates",), ("events",), ("reassignments", "updates"), ()))
    compare(body, tables, rng, sparing=True)
    if rng.random() < PAYLOADS:
        return members.case(items, rng)
    return "left" if read_compiled(body) is None else "compiled"


def compare(
    body: bytes, tables: tuple[str, ...] = TABLES, rng: random.Random | None = None, *, sparing: bool = False
) -> None:
    """Both decoders say the same of a page, of all its rows and of some; `sparing` leaves most repetitions out.

    Raises:
        UnequalError: they do not.
    """
    count = len(parsed.page_index.cursors) if (parsed := read_compiled(body)) is not None else 0
    choices: list[list[int] | None] = [None]
    if rng is not None and count and not (sparing and rng.random() >= SOME):
        choices.append(sorted(rng.sample(range(count), rng.randrange(count + 1))))
    for rows in choices:
        ours, theirs = (outcome(decode, body, tables, rows) for decode in (decoded, UPDATE_HISTORY.decode_body))
        check_same(ours, theirs, f"rows {rows} of {tables}")
        if sparing and rng is not None and rng.random() >= AT_ONCE:
            continue
        ours, theirs = (outcome(decode, body, tables, rows) for decode in (at_once, one_by_one))
        check_same(ours, theirs, f"rows {rows} of {tables}, of three pages at once")
    ours, theirs = page_index(body, compiled=True), page_index(body, compiled=False)
    if ours != theirs:
        raise UnequalError(f"cursors and ids: {ours}\nnot {theirs}"[:4000])


def at_once(body: bytes, *, tables: tuple[str, ...], rows: list[int] | None) -> Batches:
    """A page with itself before and after, decoded together."""
    try:
        page = HistoryPage.read(body)
    except (DecodeError, *UNREADABLE):
        return one_by_one(body, tables=tables, rows=rows)
    whole = range(len(page))
    chosen = [(page, whole), (page, whole if rows is None else rows), (page, whole)]
    return UPDATE_HISTORY.decode_pages(chosen, tables=tables)


def one_by_one(body: bytes, *, tables: tuple[str, ...], rows: list[int] | None) -> Batches:
    """The same by the Python path, page by page."""
    parts = [UPDATE_HISTORY.decode_body(body, tables=tables, rows=chosen) for chosen in (None, rows, None)]
    return {name: pa.concat_batches([part[name] for part in parts]) for name in parts[0]}


def outcome(decode: Any, body: bytes, tables: tuple[str, ...], rows: list[int] | None) -> Any:
    """The batches, or the error."""
    try:
        return decode(body, tables=tables, rows=rows)
    except DecodeError as error:
        return str(error), error.endpoint, error.table, error.column, error.item


def check_same(ours: Any, theirs: Any, of: str) -> None:
    """Equal batches or equal errors."""
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        if ours != theirs:
            raise UnequalError(f"{of}: {ours}\nnot {theirs}"[:4000])
        return
    if set(ours) != set(theirs):
        raise UnequalError(f"{of}: tables {sorted(ours)}, not {sorted(theirs)}")
    for name, batch in ours.items():
        batch.validate(full=True)
        if not batch.equals(theirs[name], check_metadata=True):
            raise UnequalError(f"{of}: {name}: {difference(batch, theirs[name])}")


def difference(ours: pa.RecordBatch, theirs: pa.RecordBatch) -> str:
    """The first column that differs."""
    for name in theirs.schema.names:
        if ours.num_rows != theirs.num_rows or not ours[name].equals(theirs[name]):
            return f"{name}: {ours[name].to_pylist()}\nnot {theirs[name].to_pylist()}"[:4000]
    return "schema"


def page_index(body: bytes, *, compiled: bool) -> Any:
    """The cursors and ids, or the error."""
    try:
        parsed = read_compiled(body) if compiled else None
        return peek(body) if parsed is None else parsed.page_index
    except DecodeError as error:
        return type(error), str(error)
    except UNREADABLE:
        # Which one it is of a page that is nested as deeply as Python's stack allows depends on the frames below.
        return "unreadable"


def change_known(body: bytes, rng: random.Random) -> bytes:
    """The page with one to three changes at the members that decoders know, or with blanks."""
    body = change_members(body, rng, places=known_places, changes=(*MEMBERS, *[add_known, other_time] * 2))
    if rng.random() < 0.2:
        before, after = rng.choice((b",", b":", b"{", b"]")), rng.choice((b" , ", b",\n", b" :\t", b"{\r\n", b" ]"))
        body = body.replace(before, after, 3)
    return body


def known_places(tree: Any) -> Iterator[list[Any]]:
    """Every object of a page that decoders take apart, most often its items and events."""
    for item in tree[0][1]:
        inner = [value for name, value in item if name == "event"]
        inner += [
            one for value in inner if isinstance(value, Members) for name, one in value if name == "created_event"
        ]
        events = [value for name, value in item if name == "events_by_id" and isinstance(value, Members)]
        inner += [*events, *(event for found in events for _, event in found)]
        yield from (place for place in (item, *inner) if isinstance(place, Members) and place)


def add_known(place: list[Any], rng: random.Random, _tree: Any) -> None:
    """A name that decoders know once more, with a value that is there or none."""
    _, value = rng.choice(place)
    place.insert(rng.randrange(len(place) + 1), (rng.choice(KNOWN), rng.choice((value, Text("null")))))


def other_time(place: list[Any], rng: random.Random, _tree: Any) -> None:
    """Another time in the place of one."""
    times = [at for at, (name, _) in enumerate(place) if name.endswith(("_at", "_time"))]
    if times:
        put(place, rng.choice(times), rng.choice(TIMES))


def main() -> int:
    """Run the wanted number of cases, or one."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.decoders", description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--case", type=int, help="run this one alone, and let its error show")
    arguments = parser.parse_args()
    corpus = gather()
    if arguments.case is not None:
        print(case(corpus, random.Random(f"{arguments.seed}/{arguments.case}")))
        return 0
    return run(corpus, arguments)


def run(corpus: Corpus, arguments: argparse.Namespace) -> int:
    """Case after case."""
    began = time.monotonic()
    kinds: Counter[str] = Counter()
    for number in range(arguments.pages):
        try:
            kinds[case(corpus, random.Random(f"{arguments.seed}/{number}"))] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            kinds["unequal"] += 1
            print(f"seed {arguments.seed} case {number}: {type(error).__name__}: {error}", flush=True)
            if kinds["unequal"] >= 10:
                break
        if number % 10_000 == 9_999:
            print(f"{number + 1} pages, {dict(kinds)}", flush=True)
        if time.monotonic() - began > 60 * arguments.minutes:
            break
    seconds = time.monotonic() - began
    print(f"{kinds.total()} pages in {seconds:.0f} s, {kinds.total() / seconds:.0f}/s: {json.dumps(dict(kinds))}")
    return 1 if kinds["unequal"] else 0


if __name__ == "__main__":
    sys.exit(main())

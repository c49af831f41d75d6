"""`load_active_contracts` by objects gives the rows of pages, and refuses what is not a whole snapshot."""

import base64
import hashlib
import json
from itertools import pairwise

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.timestamps import format_trimmed, parse_timestamp
from tests.asking import asking
from tests.loaders.snapshot_scan import SNAPSHOT, created, scan
from tests.objects.conftest import object_of, values_of
from tests.rigs.servers import simulated
from tests.transport.hostile_server import HostileServer, Reply, answer

COIN = "splice-amulet:Splice.Amulet:Amulet"


@pytest.fixture(scope="module", params=[{}, {"hostile": True}, {"synchronizers": 3, "migrations": 5}], ids=str)
def ledger(request):
    with simulated(seed=11, updates=900, **request.param) as net:
        yield net


def by_objects(net, **options):
    return lf.load_active_contracts(net, source="objects", **options)


def both(net, at, **options):
    """A snapshot by pages and by objects, as Arrow tables."""
    return (lf.load_active_contracts(net, at=at, as_="arrow", source=one, **options) for one in ("pages", "objects"))


def in_bulk(net):
    """The times of the snapshots that have objects, from the newest backwards."""
    found, at = [], "9999-01-01"
    while True:
        try:
            time = net.scan.snapshot_objects(at=at).record_time
        except lf.errors.NotFoundError:
            return found
        found.append(pd.Timestamp(time))
        at = (found[-1] - pd.Timedelta("1us")).to_pydatetime()


def at_one_time(net, time):
    """The snapshots of a time by pages: record times of migrations overlap, so several may have one."""
    bounds = {"start": time.to_pydatetime(), "end": (time + pd.Timedelta("1us")).to_pydatetime()}
    found = lf.snapshot_times(net, **bounds).itertuples(index=False, name=None)
    return {place: lf.load_active_contracts(net, at=place, as_="arrow") for place in found}


@pytest.mark.long(quick=1)
def test_both_sources_give_equal_rows_in_the_same_order(ledger):
    times = in_bulk(ledger)
    assert len(times) >= (1 if min(lf.migrations(ledger).migration_id) < 0 else 3)
    for newer, older in pairwise(times[:3]):
        for at in (older, newer - pd.Timedelta("1us"), older + (newer - older) / 2):
            assert f"{older:%Y-%m-%dT%H:%M:%S.%fZ}" in by_objects(ledger, at=at, limit=1).attrs["at"]
    for time in {times[0], times[len(times) // 2], times[-1]}:
        objects = by_objects(ledger, at=time, as_="arrow")
        attrs = by_objects(ledger, at=time, limit=1).attrs
        pages = at_one_time(ledger, time)
        equal = [place for place, one in pages.items() if values_of(one) == values_of(objects)]
        assert equal
        assert objects.num_rows > 0
        known = [[migration_id, f"{time:%Y-%m-%dT%H:%M:%S.%fZ}"] for migration_id, _ in pages]
        assert attrs["cursor"] == (known[0] if len(known) == 1 else None)


def test_objects_follow_one_another_and_are_narrowed_and_limited_as_pages_are(net):
    whole = by_objects(net)
    assert len(net.scan.snapshot_objects(at="9999-01-01").object_refs) > 1
    assert whole.attrs["source"] == f"{net.sandbox.scan_url}"
    at = tuple(whole.attrs["cursor"])
    assert list(whole.contract_id) == list(lf.load_active_contracts(net, at=at).contract_id)
    party = lf.load_active_contracts(net, at=at, templates=[COIN]).signatories.iloc[0][-1]
    for options in (
        {"templates": [COIN]},
        {"parties": [party, "nobody::1220"]},
        {"templates": [COIN], "parties": [party]},
        {"page_size": 7, "limit": 10},
        {"page_size": 1000, "limit": 201},
    ):
        pages, objects = both(net, at[1], **options)
        assert 0 < objects.num_rows < len(whole)
        assert values_of(objects) == values_of(pages)
    assert len(by_objects(net, parties=["nobody::1220"])) == 0
    with pytest.raises(lf.errors.InputError, match=r"more than 200 contracts: give templates="):
        by_objects(net, page_size=2)
    assert len(by_objects(net, page_size=2, limit=250)) == 250


def test_the_snapshot_of_a_time_that_two_migrations_have_names_none(net):
    """Record times of migrations overlap, and objects of both would have one name."""
    for migration_id, at in [(0, "2025-03-03T09:15:00Z"), (2, "9999-01-01")]:
        attrs = by_objects(net, at=at, limit=1).attrs
        assert attrs["cursor"][0] == migration_id
        assert attrs["at"] == f"({migration_id}, {attrs['cursor'][1]})"
    last = lf.snapshot_times(net, start=(0, "2025-03-03"), end=(1, "0001-01-01")).record_time.iloc[-1]
    frame = by_objects(net, at=last)
    assert (frame.attrs["cursor"], frame.attrs["at"]) == (None, f"{last:%Y-%m-%dT%H:%M:%S.%fZ}")
    assert len(frame) > 0
    for at, error, said in (
        ((0, last), lf.errors.InputError, "objects do not name the migration of a snapshot; give a time"),
        ("2000-01-01", lf.errors.NotFoundError, r"no snapshot.*What to do"),
    ):
        with pytest.raises(error, match=said):
            by_objects(net, at=at)


def snapshot_scan(parts, *, time=SNAPSHOT["record_time"], names=None, listed=None, place=SNAPSHOT):
    """A scan of one snapshot that consists of objects of a test's making."""
    micros = parse_timestamp(time)[0]
    folder = f"{format_trimmed(micros)}~{format_trimmed(micros + 86_400_000_000)}"
    names = names or [f"{folder}/ACS_compact_json_{number}.zstd" for number in range(len(parts))]
    bodies, pages = dict(zip(names, parts, strict=True)), scan(lambda _: {}, place=place)

    def reply(heard):
        if "/bulk/acs" in heard.target:
            base = f"http://{heard.headers['host']}/api/scan/v0/history/bulk/download/"
            refs = [
                {"url": base + name, "digest": base64.b64encode(hashlib.sha256(part).digest()).decode()}
                for name, part in bodies.items()
            ]
            return answer({"record_time": time, "object_refs": refs} if listed is None else listed)
        part = next((part for name, part in bodies.items() if heard.target.endswith(name)), None)
        octets = (("Content-Type", "application/octet-stream"),)
        return pages(heard) if part is None else Reply(body=part, headers=octets)

    return reply


def lines(*items):
    return object_of(b"".join(json.dumps(item).encode() + b"\n" for item in items))


BROKEN = {
    "no list": ({"listed": {"record_time": "x", "object_refs": 1}}, "GET /v0/history/bulk/acs: "),
    "no time": ({"listed": {"record_time": "x", "object_refs": []}}, "GET /v0/history/bulk/acs: .*x"),
    "a later snapshot": ({"time": "2026-01-31T06:00:00Z"}, "asked for a snapshot at or before"),
    "objects of another snapshot": (
        {"names": ["2026-01-29T06:00:00Z~2026-01-30T06:00:00Z/ACS_compact_json_0.zstd"]},
        "is listed for the snapshot of",
    ),
    "a list that lacks an object": (
        {"names": ["2026-01-30T06:00:00Z~2026-01-31T06:00:00Z/ACS_compact_json_1.zstd"]},
        "object 0 of the snapshot of 2026-01-30T06:00:00Z is not listed",
    ),
    "a line that is not JSON": ({"parts": [object_of(b"{}\n{\n")]}, "line 1"),
    "a line that is no contract": ({"parts": [lines(created(1), 5)]}, "ACS_compact_json_0.zstd.*line 2"),
    "a contract without its id": ({"parts": [lines({**created(1), "contract_id": None})]}, "contract_id"),
    "text that is not UTF-8": (
        {"parts": [object_of(json.dumps(created(1)).encode().replace(b'"1.5"', b'"\xff"') + b"\n")]},
        "not UTF-8",
    ),
    "a last line without its end": ({"parts": [object_of(b"{}")]}, "its last line has no end"),
    "no stakeholders to filter by": (
        {"parts": [lines(created(1), {**created(2), "signatories": None})]},
        "ACS_compact_json_0.zstd: line 2: .*signatories",
    ),
}


@pytest.mark.parametrize(("options", "reason"), BROKEN.values(), ids=BROKEN)
def test_what_breaks_the_contract_is_an_error_of_the_package(options, reason):
    options = {"parts": [lines(created(1))], **options}
    wrong = pytest.raises(lf.errors.DecodeError, match=reason)
    with HostileServer(snapshot_scan(**options)) as server, asking(server, attempts=2) as net, wrong:
        by_objects(net, at="2026-01-30T08:00:00Z", parties=["d"])


def test_parts_are_read_in_the_order_of_their_numbers():
    folder = "2026-01-30T06:00:00Z~2026-01-31T06:00:00Z"
    parts = [lines(created(number)) for number in range(12)]
    order = sorted(range(12), key=str)  # as object storage lists them
    names = [f"{folder}/ACS_compact_json_{number}.zstd" for number in order]
    reply = snapshot_scan([parts[number] for number in order], names=names)
    with HostileServer(reply) as server, asking(server) as net:
        assert list(by_objects(net).contract_id) == [f"00{number}" for number in range(12)]


@pytest.mark.parametrize("found", [True, False], ids=["a snapshot at that time", "none"])
def test_members_that_no_column_holds_are_kept_and_only_a_known_snapshot_names_its_migration(found):
    place = SNAPSHOT if found else {"record_time": "2026-01-30T03:00:00Z", "migration_id": 4}
    reply = snapshot_scan([lines(created(1, new="x"))], place=place)
    with HostileServer(reply) as server, asking(server) as net:
        frame = by_objects(net)
    assert json.loads(frame.extra[0]) == {"/new": "x"}
    assert frame.attrs["cursor"] == ([4, "2026-01-30T06:00:00.000000Z"] if found else None)
    assert found or frame.attrs["at"] == "2026-01-30T06:00:00.000000Z"

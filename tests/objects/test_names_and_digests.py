"""What an object's name says, whose digest counts among several scans, and its lines, read in bounded memory."""

import base64
import hashlib
import io
from contextlib import ExitStack

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.interfaces.scan_objects import ObjectRef
from ledgerframes.objects.lines import Line, batches, read_lines
from ledgerframes.objects.names import read_name
from ledgerframes.objects.sources import readable
from tests.objects.conftest import object_of
from tests.rigs.object_faults import ObjectFaults
from tests.rigs.servers import replica
from tests.store.conftest import BEGIN

SAME, OTHER, NONE, LATER = ObjectFaults(), ObjectFaults(cut=True), ObjectFaults(served=False), "later"


@pytest.fixture(scope="module")
def whole(hour):
    return lf.load_history(hour, start=BEGIN, source="objects").updates


@pytest.fixture(scope="module")
def connected(hour):
    """Connects to scans of one ledger, each with faults of its objects; the first one is asked for the lists."""
    with ExitStack() as stack:
        scans = {lag: [stack.enter_context(replica(hour.sandbox, lag=lag)) for _ in range(4)] for lag in (0, 200)}

        def connect(*faults):
            asked = [scans[200 if fault == LATER else 0][number] for number, fault in enumerate(faults)]
            for scan, fault in zip(asked, faults, strict=True):
                scan.object_faults = SAME if fault == LATER else fault
            return stack.enter_context(lf.connect(scan_url=[scan.scan_url for scan in asked]))

        yield connect


@pytest.mark.parametrize(
    "faults",
    [
        [SAME, SAME],
        [SAME, NONE, NONE, NONE],
        [SAME, OTHER, SAME, NONE],
        [SAME, LATER],
        [SAME, SAME, LATER, LATER],
    ],
)
def test_objects_that_enough_scans_have_are_read(connected, whole, faults):
    part = lf.load_history(connected(*faults), start=BEGIN, source="objects").updates
    assert part.update_id.tolist() == whole.update_id.tolist()


@pytest.mark.parametrize("faults", [[SAME, OTHER], [SAME, OTHER, OTHER], [SAME, OTHER, NONE], [OTHER, SAME, SAME]])
def test_another_digest_is_refused_unless_more_scans_have_the_listed_one(connected, tmp_path, caplog, faults):
    scans = connected(*faults)
    with pytest.raises(lf.errors.DecodeError, match=r"with another digest than http.*lf\.cross_check.*source='pages'"):
        lf.load_history(scans, start=BEGIN, source="objects")
    with pytest.raises(lf.errors.DecodeError, match="with another digest than"):
        lf.load_active_contracts(scans, source="objects")

    lf.open_store(tmp_path / "lake").sync(scans, progress=False, source="auto")
    assert "Pages are read instead of objects." in caplog.text


def test_what_too_few_scans_have_is_read_later(connected, hour, whole, caplog):
    scans = connected(SAME, LATER, LATER, LATER)
    part = lf.load_history(scans, start=BEGIN, source="objects").updates
    assert 0 < len(part) < len(whole)
    assert part.update_id.tolist() == whole.update_id.tolist()[: len(part)]
    end = tuple(whole.attrs["cursor"])
    assert lf.load_history(hour, start=BEGIN, end=end, source="objects").updates.attrs["complete"]
    assert not lf.load_history(scans, start=BEGIN, end=end, source="objects").updates.attrs["complete"]
    assert "other scans have not written them yet" in caplog.text

    with pytest.raises(lf.errors.NotFoundError, match="too few of the other scans have written it yet"):
        lf.load_active_contracts(scans, source="objects")


BASE = "https://scan.example.com/api/scan/v0/history/bulk/download/"
DAY = "2026-01-02T00%3A00%3A00Z%7E2026-01-03T00%3A00%3A00Z%2F"
DIGEST = base64.b64encode(hashlib.sha256(b"").digest()).decode()
NAMES = {
    f"{BASE}{DAY}updates_compact_json_12.zstd?X-Amz-Signature=secret": 12,
    f"http://[bad/{DAY}updates_compact_json_12.zstd": None,
    "/data/2026-01-02T00:00:00Z~2026-01-03T00:00:00Z/updates_compact_json_0.zstd": 0,
    f"{BASE}{DAY}updates_3.zstd": 3,  # the first writers named no encoding
    f"{BASE}{DAY}updates_protobuf_json_3.zstd": None,
    f"{BASE}{DAY}ACS_compact_json_0.zstd": None,
    f"{BASE}{DAY}updates_compact_json_1.gz": None,
    f"{BASE}{DAY}events_compact_json_1.zstd": None,
    f"{BASE}yesterday%2Fupdates_compact_json_1.zstd": None,
    f"{BASE}2026-01-03T00%3A00%3A00Z~2026-01-02T00%3A00%3A00Z%2Fupdates_compact_json_1.zstd": None,
    "updates_compact_json_1.zstd": None,
    "": None,
}


@pytest.mark.parametrize(("location", "read"), NAMES.items())
def test_a_name_is_read_from_the_url_of_a_download_or_a_path(location, read):
    name = read_name(location)
    assert readable([ObjectRef(location, DIGEST)] if "://" in location and not read else []) == []
    assert read == (name and name.number)
    assert name is None or str(name) == f"2026-01-02T00:00:00Z~2026-01-03T00:00:00Z/updates_compact_json_{read}.zstd"


def test_one_name_with_two_digests_is_refused():
    other = hashlib.sha256(b"another").hexdigest()
    refs = [ObjectRef(f"{BASE}{DAY}updates_compact_json_0.zstd", digest) for digest in (DIGEST, other)]
    with pytest.raises(lf.errors.DecodeError, match="two digests"):
        readable(refs)


def read(data):
    return list(read_lines(pa.PythonFile(io.BytesIO(data), "r"), "an object", longest=10_000))


def test_lines_go_on_across_frames():
    assert read(object_of(b"one\ntw", b"o\nthree\n", b"four\n")) == [b"one", b"two", b"three", b"four"]


def test_a_batch_ends_before_it_has_too_many_bytes_and_has_one_line_at_least():
    lines = [Line(b"a" * size, place, None, 1) for size, place in [(600, 0), (300, 0), (5_000, 0), (9, 0), (9, 1)]]
    found = [[len(line.raw) for line in batch] for batch in batches(lines, 9, 1_000)]
    assert found == [[600, 300], [5_000], [9], [9]]
    assert [len(batch) for batch in batches(lines, 1)] == [1] * 5


def test_empty_lines_and_an_empty_object_have_no_items():
    assert read(object_of(b"\n\none\n\n")) == [b"one"]
    assert read(object_of(b"")) == []


WHOLE = object_of(bytes(range(32, 127)) * 40 + b"\n", bytes(range(32, 127)) * 20 + b"\n")
REFUSED = {
    **{f"cut at {at}": (WHOLE[:at], "an object cannot be read") for at in (0, 1, 10, 100, -3, -1)},
    "other bytes": (b"no zstd at all", "an object cannot be read"),
    "a tail": (object_of(b"one\n") + b"more", "an object cannot be read"),
    "a last line without its end": (object_of(b"one\ntwo"), "its last line has no end"),
    "a long line": (object_of(b"x" * 50_000), "a line of more than 10,000 bytes"),
    "empty lines": (object_of(b"\n" * 2**21), "more than 1,000,000 empty lines"),
}


@pytest.mark.parametrize(("data", "said"), REFUSED.values(), ids=REFUSED)
def test_an_object_that_is_not_whole_or_would_fill_the_memory_is_refused(data, said):
    with pytest.raises(lf.errors.DecodeError, match=said):
        read(data)

"""What the name of an object says, and which objects of a list are read."""

import base64
import hashlib

import pytest

import ledgerframes as lf
from ledgerframes.interfaces.scan_objects import ObjectRef
from ledgerframes.objects.sources import read_name, readable

BASE = "https://scan.example.com/api/scan/v0/history/bulk/download/"
DAY = "2026-01-02T00%3A00%3A00Z%7E2026-01-03T00%3A00%3A00Z%2F"
DIGEST = base64.b64encode(hashlib.sha256(b"").digest()).decode()
NAMES = {
    f"{BASE}{DAY}updates_compact_json_12.zstd?X-Amz-Signature=secret": ("updates", "compact_json", 12),
    "/data/2026-01-02T00:00:00Z~2026-01-03T00:00:00Z/ACS_compact_json_0.zstd": ("ACS", "compact_json", 0),
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
    assert read == (name and (name.kind, name.encoding, name.number))
    if name and name.kind == "updates":
        assert str(name) == "2026-01-02T00:00:00Z~2026-01-03T00:00:00Z/updates_compact_json_12.zstd"


def test_objects_are_sorted_by_their_numbers_and_other_encodings_are_skipped():
    names = ["updates_compact_json_10", "updates_protobuf_json_0", "updates_compact_json_2", "updates_cbor_0"]
    names += ["ACS_compact_json_0", "updates_3"]  # the first writers named no encoding
    refs = [ObjectRef(f"{BASE}{DAY}{name}.zstd", DIGEST) for name in [*names, names[0]]]
    assert [stored.name.number for stored in readable(refs)] == [2, 3, 10]


def test_one_name_with_two_digests_is_refused():
    other = hashlib.sha256(b"another").hexdigest()
    refs = [ObjectRef(f"{BASE}{DAY}updates_compact_json_0.zstd", digest) for digest in (DIGEST, other)]
    with pytest.raises(lf.errors.DecodeError, match="two digests"):
        readable(refs)

"""Objects are downloaded in bounded memory: whole or not at all, tokens for the scan alone, from public hosts alone."""

import base64
import gzip
import hashlib
import random
import shutil
from types import SimpleNamespace

import pytest
from hostile_server import Reply, text

import ledgerframes as lf
from ledgerframes.interfaces.scan import Scan
from ledgerframes.interfaces.scan_objects import ObjectRef
from ledgerframes.transport.public_addresses import why_refused

DATA = random.Random(7).randbytes(300_000)
BINARY = (("Content-Type", "application/octet-stream"),)
WHOLE = Reply(body=DATA, headers=BINARY)
KEY = (
    "/api/scan/v0/history/bulk/download/2026-01-02T00%3A00%3A00Z~2026-01-03T00%3A00%3A00Z%2Fupdates_compact_json_0.zstd"
)


def digest(data=DATA):
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


@pytest.fixture
def fetch(transport, tmp_path):
    """Download from a server as the scan of a connection with few attempts; gives the bytes."""

    def run(server, *, own=None, data=DATA, query="", to="object.zstd", attempts=3, **settings):
        scan = Scan(transport(scan_url=(server.url + "/api/scan",), attempts=attempts, **settings))
        return scan.download_object(
            ObjectRef((own or server).url + KEY + query, digest(data)), tmp_path / to
        ).read_bytes()

    return run


def test_a_file_is_whole_larger_than_the_limit_on_answers_and_unpacked_before_its_digest(serve, fetch):
    assert fetch(serve(WHOLE), max_answer_bytes=1_000) == DATA
    assert fetch(serve(Reply(body=gzip.compress(DATA), headers=(("Content-Encoding", "gzip"),)))) == DATA


def test_a_slow_file_may_take_longer_than_the_deadline_as_long_as_it_arrives(serve, fetch, monkeypatch):
    data = DATA[:100]
    server = serve(Reply(body=data, headers=BINARY, drip=0.003))
    with pytest.raises(lf.errors.NoAnswerError, match=r"no whole answer within 0\.1 s"):
        fetch(server, data=data, attempts=1, deadline=0.1)
    monkeypatch.setattr("ledgerframes.transport.http.SLOWEST", 20)
    assert fetch(server, data=data, attempts=1, deadline=0.1) == data


@pytest.mark.parametrize(
    "spoiled",
    [
        Reply(hang_up="before"),
        Reply(body=DATA, hang_up="body"),
        Reply(body=DATA, cut=100_000),
        Reply(body=DATA[:-1] + b"?"),
        Reply(body=DATA + DATA),
        text("slow down", 429),
    ],
    ids=["no answer", "reset", "short", "another byte", "more", "429"],
)
def test_what_goes_wrong_once_is_tried_again(serve, fetch, spoiled):
    assert fetch(serve(spoiled, WHOLE)) == DATA


@pytest.mark.parametrize(
    ("reply", "error", "requests"),
    [
        (Reply(body=b"another object", headers=BINARY), lf.errors.DecodeError, 3),
        (text("", 503), lf.errors.ServerError, 3),
        (text("no", 404), lf.errors.NotFoundError, 1),
        (Reply(206, DATA), lf.errors.StatusError, 1),
        (Reply(hang_up="before"), lf.errors.NoAnswerError, 3),
    ],
    ids=["digest", "503", "404", "206", "no answer"],
)
def test_what_goes_wrong_each_time_ends_after_a_few_requests_and_leaves_no_file(
    serve, fetch, tmp_path, reply, error, requests
):
    server = serve(reply)
    with pytest.raises(error):
        fetch(server)
    assert len(server.heard) == requests
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named_and_leaves_the_file_of_before(serve, fetch, tmp_path):
    """A limit on the size of files stands for the full disk."""
    resource = pytest.importorskip("resource", reason="this system has no such limits")
    server, target = serve(Reply(raw=b"HTTP/1.1 200 X\r\nConnection: close\r\n\r\n" + DATA)), tmp_path / "object.zstd"
    target.write_bytes(b"before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(lf.errors.StoreError) as caught:
            fetch(server)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(caught.value) == f"'{target}' cannot be written: File too large; free space or name another folder"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"object.zstd": b"before"}
    assert len(server.heard) == 1


def test_room_is_asked_for_before_anything_is_written_and_on_the_way(serve, fetch, tmp_path, monkeypatch):
    rooms = iter([10**12, 10**12])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=next(rooms, 1_000)))
    with pytest.raises(lf.errors.StoreError, match="0 MB free"):
        fetch(serve(Reply(raw=b"HTTP/1.1 200 X\r\n\r\n", endless=DATA)))
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=50_000_000))
    with pytest.raises(lf.errors.StoreError, match=r"50 MB free, and .*updates_compact_json_0.zstd needs 67 MB"):
        fetch(serve(WHOLE))


def test_a_place_that_cannot_be_written_is_named(serve, fetch, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(lf.errors.StoreError, match="cannot be written"):
        fetch(serve(WHOLE), to="file/object")


def test_the_token_goes_to_the_scan_and_to_no_other_host(serve, fetch):
    scan, other = serve(WHOLE), serve(WHOLE)
    secret = "of-the-scan-alone"
    fetch(scan, scan_token=secret)
    fetch(scan, own=other, scan_token=secret)
    assert scan.heard[0].headers["authorization"] == f"Bearer {secret}"
    assert "authorization" not in other.heard[0].headers


def test_a_signature_in_the_url_is_sent_and_shown_nowhere(serve, fetch, caplog):
    caplog.set_level("DEBUG")
    server = serve(text("<Error><Code>No</Code><SignatureProvided>s3cret</SignatureProvided></Error>", 503))
    with pytest.raises(lf.errors.ServerError, match="No") as raised:
        fetch(server, query="?X-Signature=s3cret", attempts=2)
    assert server.heard[0].target.endswith("?X-Signature=s3cret")
    assert "s3cret" not in str(raised.value) + caplog.text


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://1.1.1.1/object", None),
        ("https://scan.example.com:8443/object", None),
        ("http://1.1.1.1/object", "it is not https"),
        ("https://10.0.0.1/object", "is not public"),
        ("ftp://1.1.1.1/object", "not an http or https URL"),
        ("https://user:pass@1.1.1.1/object", "a user name"),
        ("https://1.1.1.1/a b", "not valid in a URL"),
        ("https://[::1", "not a URL"),
    ],
)
def test_files_lie_on_the_scan_or_on_public_https_hosts(url, reason):
    told = why_refused(url, ("https://scan.example.com:8443/api/scan",))
    assert told is None if reason is None else reason in told


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/object", "https://user:s3cret@1.1.1.1/object", "http://1.1.1.1/object?sig=s3cret",
        "http://1.1.1.1/o?a@b=s3cret", "http://[1.1.1.1/o?sig=s3cret",
    ],
)  # fmt: skip
def test_a_file_that_may_not_be_fetched_is_named_without_the_secret_in_its_address(url, transport, tmp_path):
    scan = Scan(transport(scan_url=("https://scan.example.com/api/scan",)))
    with pytest.raises(lf.errors.InputError, match="is not fetched") as refused:
        scan.download_object(ObjectRef(url, digest()), tmp_path / "object")
    assert ".1/o" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_a_digest_is_base64_or_hexadecimal_and_any_other_is_refused_unsent(serve, transport, tmp_path):
    server = serve(WHOLE)
    scan = Scan(transport(scan_url=(server.url + "/api/scan",)))
    for written in ("abc", "sha256:" + "0" * 64, base64.b64encode(b"too short").decode()):
        with pytest.raises(lf.errors.DecodeError, match="is not a SHA-256"):
            scan.download_object(ObjectRef(server.url + KEY, written), tmp_path / "object")
    assert server.heard == []
    for written in (digest(), hashlib.sha256(DATA).hexdigest().upper()):
        file = scan.download_object(ObjectRef(server.url + KEY, written), tmp_path / "object")
    (tmp_path / "made").touch()
    assert file.stat().st_mode == (tmp_path / "made").stat().st_mode

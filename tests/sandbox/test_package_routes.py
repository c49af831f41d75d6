"""DARs: what is read of one, who may upload it, what is stored, what is refused and how."""

import zipfile
from hashlib import sha256

import pytest

from ledgerframes.sandbox.world import archives
from ledgerframes.sandbox.world.archives import ArchiveError, read_dar
from tests.sandbox.asking import call
from tests.sandbox.dars import FILES, MAIN, PRIM, dar, manifest

UPLOAD = "/v2/packages"
VALIDATE = "/v2/dars/validate"
BINARY = "application/octet-stream"
either = pytest.mark.parametrize("path", [UPLOAD, VALIDATE])


@pytest.fixture
def sandbox(desk):
    """Without any package."""
    desk.sandbox.world.packages.clear()
    return desk.sandbox


def send(sandbox, path, body, *, query="", user="participant_admin", kind=BINARY):
    return call(sandbox, "ledger", path + query, body, user=user, headers={"Content-Type": kind})


def version(number, content):
    """An archive with one package of that version."""
    name = f"app-{number}.dalf"
    return dar({name: content}, f"Main-Dalf: {name}\nDalfs: {name}\n".encode())


def test_an_upload_is_stored_by_the_hash_of_each_package_and_may_come_again_and_validating_changes_nothing(sandbox):
    validated = send(sandbox, VALIDATE, dar())
    assert (validated.status, validated.body, sandbox.packages) == (200, b"", {})

    answers = [send(sandbox, UPLOAD, dar()) for _ in range(2)]

    assert [(one.status, one.json) for one in answers] == [(200, {})] * 2
    assert {one.path: one.package_id for one in sandbox.packages.values()} == {
        path: sha256(content).hexdigest() for path, content in FILES.items()
    }
    assert all(one.vetted == set(sandbox.world.synchronizers) for one in sandbox.packages.values())


@either
def test_garbage_is_refused_and_the_user_and_the_content_type_count(sandbox, path):
    garbage = send(sandbox, path, b"garbage")
    assert (garbage.status, garbage.content_type) == (400, "text/plain; charset=utf-8")
    assert b"zip" in garbage.body
    unknown = send(sandbox, path, dar(), query="?synchronizerId=sync-z::1220ff")
    assert (unknown.status, unknown.json["code"]) == (404, "SYNCHRONIZER_NOT_FOUND")
    assert sandbox.packages == {}
    for user, status in (("alice", 403), ("mallory", 403), ("validator_operator", 200)):
        assert send(sandbox, path, dar(), user=user).status == status
    for kind in ("application/octet-stream; x=y", "Application/Octet-Stream"):
        assert send(sandbox, path, dar(), kind=kind).status == 200
    other = send(sandbox, path, dar(), kind="application/json")
    assert (other.status, other.json["cause"].endswith("not application/json")) == (415, True)


@either
def test_a_vetted_version_is_not_replaced_by_other_bytes(sandbox, path):
    main, other = sandbox.world.synchronizers[:2]
    assert send(sandbox, UPLOAD, version("1.0", b"one"), query=f"?synchronizerId={main}").status == 200

    refused = send(sandbox, path, version("1.0", b"two"))

    assert (refused.status, refused.json["code"]) == (400, "KNOWN_PACKAGE_VERSION")
    assert sha256(b"one").hexdigest() in refused.json["cause"]
    assert send(sandbox, path, version("1.0", b"two"), query=f"?synchronizerId={other}").status == 200
    assert send(sandbox, path, version("1.1", b"two")).status == 200


@pytest.mark.parametrize("end", [b"\r\n", b"\n", b"\r"], ids=repr)
def test_header_lines_are_joined_wherever_they_were_cut_and_sections_behind_the_first_mean_nothing(end):
    path = "ä" * 120 + ".dalf"
    said = manifest(main=path, dalfs=path) + b"\r\nName: other\r\nMain-Dalf: elsewhere\r\n"
    assert [one.version for one in read_dar(dar())] == [("iou", "1.0.0"), None]

    assert max(map(len, said.split(b"\r\n"))) == 72
    assert [one.path for one in read_dar(dar({path: b"x"}, said.replace(b"\r\n", end)))] == [path]


SPOILT = {
    "no zip": (lambda: b"nonsense" * 100, "not a zip"),
    "changed inside": (lambda: dar(method=zipfile.ZIP_STORED).replace(b"main package", b"Main package"), "CRC"),
    "no manifest": (lambda: dar(said=b""), "no item named 'META-INF"),
    "no main package": (lambda: dar(said=manifest(main=None)), "Main-Dalf"),
    "no packages": (lambda: dar(said=manifest(dalfs=" , ")), "Dalfs"),
    "main not listed": (lambda: dar(said=manifest(dalfs=PRIM)), "one of them"),
    "listed, not there": (lambda: dar(said=manifest(dalfs=f"{MAIN}, gone.dalf")), "no item named 'gone.dalf'"),
    "no text": (lambda: dar(said=manifest() + b"Name: \xff\r\n"), "cannot be read"),
    # Refused by what it says of itself, before it is unpacked.
    "huge": (lambda: dar({"bomb.dalf": bytes(10_001)}), r"larger than .* unpacked"),
}


@pytest.mark.parametrize(("make", "why"), SPOILT.values(), ids=SPOILT)
def test_what_is_no_dar_is_refused_with_the_reason(monkeypatch, make, why):
    monkeypatch.setattr(archives, "UNPACKED", 10_000)
    with pytest.raises(ArchiveError, match=why):
        read_dar(make())

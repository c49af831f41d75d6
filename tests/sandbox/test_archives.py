"""A DAR is read for what it is, and nothing else gets through."""

from __future__ import annotations

import io
import zipfile
from hashlib import sha256

import pytest

from ledgerframes.sandbox.world import archives
from ledgerframes.sandbox.world.archives import ArchiveError, read_dar
from tests.sandbox.dars import FILES, MAIN, PRIM, dar, manifest


def test_the_packages_of_an_archive_have_the_hash_of_their_bytes_as_id():
    main, prim = read_dar(dar())

    assert {one.path: one.package_id for one in (main, prim)} == {
        path: sha256(content).hexdigest() for path, content in FILES.items()
    }
    assert (main.version, prim.version) == (("iou", "1.0.0"), None)


def test_header_lines_are_joined_wherever_they_were_cut():
    path = "ä" * 120 + ".dalf"
    said = manifest(main=path, dalfs=path)

    assert max(map(len, said.split(b"\r\n"))) == 72
    assert [one.path for one in read_dar(dar({path: b"x"}, said))] == [path]


@pytest.mark.parametrize("end", [b"\r\n", b"\n", b"\r"], ids=repr)
def test_lines_may_end_in_any_of_the_three_ways_and_sections_behind_the_first_mean_nothing(end):
    said = (manifest() + b"\r\nName: other\r\nMain-Dalf: elsewhere\r\n").replace(b"\r\n", end)

    assert [one.path for one in read_dar(dar(said=said))] == [*FILES]


SPOILT = {
    "no zip": (lambda: b"nonsense" * 100, "not a zip"),
    "changed inside": (lambda: dar(method=zipfile.ZIP_STORED).replace(b"main package", b"Main package"), "CRC"),
    "no manifest": (lambda: dar(said=b""), "no item named 'META-INF"),
    "no main package": (lambda: dar(said=manifest(main=None)), "Main-Dalf"),
    "no packages": (lambda: dar(said=manifest(dalfs=" , ")), "Dalfs"),
    "main not listed": (lambda: dar(said=manifest(dalfs=PRIM)), "one of them"),
    "listed, not there": (lambda: dar(said=manifest(dalfs=f"{MAIN}, gone.dalf")), "no item named 'gone.dalf'"),
    "no text": (lambda: dar(said=manifest() + b"Name: \xff\r\n"), "cannot be read"),
}


@pytest.mark.parametrize(("make", "why"), SPOILT.values(), ids=SPOILT)
def test_what_is_no_dar_is_refused_with_the_reason(make, why):
    with pytest.raises(ArchiveError, match=why):
        read_dar(make())


def test_an_archive_that_says_it_is_huge_is_refused_before_it_is_unpacked():
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("bomb.dalf", "w") as file,
    ):
        for _ in range(archives.UNPACKED // 2**20 + 1):
            file.write(bytes(2**20))

    with pytest.raises(ArchiveError, match=r"larger than .* unpacked"):
        read_dar(packed.getvalue())

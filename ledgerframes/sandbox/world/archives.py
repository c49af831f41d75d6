"""Reads DAR archives the way a participant must before it trusts one; the package routes call it.

A DAR is a zip whose manifest names one main package and every other package in it. Nothing is unpacked to disk, and an
archive that says, or turns out, to be far larger unpacked than packed is refused.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from typing import Final

MANIFEST: Final = "META-INF/MANIFEST.MF"
ENTRIES: Final = 2_000
# A zip of a few megabytes can unpack to gigabytes.
UNPACKED: Final = 256 * 1024 * 1024
MANIFEST_SIZE: Final = 1024 * 1024

_PIECE: Final = 1024 * 1024
_ENCRYPTED: Final = 0x1
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADER: Final = re.compile(rb"([A-Za-z0-9][A-Za-z0-9_-]*): ?(.*)", re.DOTALL)
_VERSIONED: Final = re.compile(r"(?:.*/)?([^/]+?)-(\d+(?:\.\d+)*)(?:-[0-9a-f]{64})?\.dalf")
# Errors of zipfile for a damaged zip; RuntimeError and its NotImplementedError are about a zip's features.
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError)


class ArchiveError(Exception):
    """Bytes that are not a DAR; the message explains why."""


@dataclass(frozen=True, slots=True)
class Package:
    """One package of a DAR.

    Attributes:
        package_id: the SHA-256 of its bytes, in hex.
        path: its path in the archive.
        content: its bytes.
    """

    package_id: str
    path: str
    content: bytes

    @property
    def version(self) -> tuple[str, str] | None:
        """Name and version, if the file's name has them (`NAME-1.2.3.dalf`, or with the hash behind)."""
        match = _VERSIONED.fullmatch(self.path)
        return None if match is None else (match[1], match[2])


@dataclass(frozen=True, slots=True)
class Dar:
    """A checked archive: its main package, and all of its packages in the order of the manifest."""

    main: Package
    packages: tuple[Package, ...]


def read_dar(content: bytes) -> Dar:
    """Check an archive and read its packages.

    Raises:
        ArchiveError: it is not a zip file, its manifest is missing or wrong, a package it names is missing, or it is
            too large unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = _entries(archive)
            headers = _headers(_read(archive, entries, MANIFEST, limit=MANIFEST_SIZE))
            main, paths = _named(headers)
            packages = {package.path: package for package in _packages(archive, entries, paths)}
    except _DAMAGED as error:
        raise ArchiveError(f"the archive cannot be read: {error}") from error
    return Dar(packages[main], tuple(packages.values()))


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The archive's files by name, after checking their declared sizes."""
    listed = archive.infolist()
    if len(listed) > ENTRIES:
        raise ArchiveError(f"the archive has {len(listed)} entries; at most {ENTRIES} are allowed")
    if sum(entry.file_size for entry in listed) > UNPACKED:
        raise ArchiveError(f"the archive says it is larger than {UNPACKED} bytes unpacked")
    entries = {entry.filename: entry for entry in listed}
    # Programs differ in which of two entries of one name they read.
    if len(entries) < len(listed):
        raise ArchiveError("the archive has two entries of the same name")
    return entries


def _read(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], name: str, *, limit: int) -> bytes:
    """An entry's bytes, counted as they come: an entry's declared size need not be true."""
    entry = entries.get(name)
    if entry is None:
        raise ArchiveError(f"the archive has no {name}")
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
        raise ArchiveError(f"{name} is encrypted, or compressed by another method than deflate")
    pieces, size = [], 0
    with archive.open(entry) as file:
        # Counted while unpacking: the sizes in a zip's directory are only what its maker claims.
        while piece := file.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise ArchiveError(f"{name} is larger than {limit} bytes")
    return b"".join(pieces)


def _packages(
    archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], paths: tuple[str, ...]
) -> Iterator[Package]:
    room = UNPACKED
    for path in paths:
        content = _read(archive, entries, path, limit=room)
        if not content:
            raise ArchiveError(f"{path} is empty")
        room -= len(content)
        yield Package(sha256(content).hexdigest(), path, content)


def _headers(manifest: bytes) -> dict[str, str]:
    """The manifest's headers; a line that begins with a space continues the previous one.

    Lines are cut after 72 bytes wherever that falls, so they are joined before they are read as text.
    """
    headers: dict[str, str] = {}
    # A manifest's lines end at 72 bytes; a blank at the start of a line continues the one before.
    unfolded = re.sub(rb"(?:\r\n|\r|\n) ", b"", manifest)
    # An empty line ends the main section of a manifest.
    main_section = takewhile(len, re.split(rb"\r\n|\r|\n", unfolded))
    for line in main_section:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise ArchiveError(f"{MANIFEST} has the line {line[:80]!r}, which is not a header")
        name = match[1].decode().lower()
        if name in headers:
            raise ArchiveError(f"{MANIFEST} has the header {match[1].decode()} twice")
        headers[name] = match[2].decode()
    return headers


def _named(headers: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    """The path of the main package, and of all packages."""
    for name, expected in (("format", "daml-lf"), ("encryption", "non-encrypted")):
        if headers.get(name, expected) != expected:
            raise ArchiveError(f"{MANIFEST} says {name} {headers[name]!r}, not {expected!r}")
    main = headers.get("main-dalf", "").strip()
    paths = tuple(filter(None, (path.strip() for path in headers.get("dalfs", "").split(","))))
    if not main or not paths:
        raise ArchiveError(f"{MANIFEST} must name Main-Dalf and Dalfs")
    if main not in paths:
        raise ArchiveError(f"{MANIFEST} names the main package {main!r}, which is not among its Dalfs")
    if len(set(paths)) < len(paths):
        raise ArchiveError(f"{MANIFEST} names a package twice")
    return main, paths

"""Reads the packages of DAR archives; the package routes call it, and the world keeps the packages."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

MANIFEST: Final = "META-INF/MANIFEST.MF"
# A zip of a few megabytes can unpack to gigabytes; zipfile unpacks no more of an entry than it says that it has.
UNPACKED: Final = 256 * 1024 * 1024

_VERSIONED: Final = re.compile(r"(?:.*/)?([^/]+?)-(\d+(?:\.\d+)*)(?:-[0-9a-f]{64})?\.dalf")
# Errors of zipfile for a damaged zip; RuntimeError and its NotImplementedError are about a zip's features.
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, KeyError)


class ArchiveError(Exception):
    """Bytes that are not a DAR; the message explains why."""


@dataclass(slots=True)
class Package:
    """A package of an archive.

    Attributes:
        package_id: the SHA-256 of its bytes, in hex.
        path: its path in the archive.
        version: name and version, if the file's name has them (`NAME-1.2.3.dalf`, or with the hash behind).
        vetted: the synchronizers on which it may be used.
    """

    package_id: str
    path: str
    version: tuple[str, str] | None
    vetted: set[str] = field(default_factory=set)


def read_dar(content: bytes) -> list[Package]:
    """The packages of an archive, in the order of its manifest.

    Raises:
        ArchiveError: it is not a zip file, its manifest is missing or wrong, a package it names is missing, or it is
            too large unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > UNPACKED:
                raise ArchiveError(f"the archive says it is larger than {UNPACKED} bytes unpacked")
            return [_package(path, archive.read(path)) for path in _named(archive.read(MANIFEST))]
    except _DAMAGED as error:
        raise ArchiveError(f"the archive cannot be read: {error}") from error


def _named(manifest: bytes) -> list[str]:
    """The paths of the packages that a manifest names; a line that begins with a blank continues the one before.

    Lines are cut after 72 bytes wherever that falls, so they are joined before they are read as text.
    """
    lines = re.split(r"\r\n|\r|\n", re.sub(rb"(?:\r\n|\r|\n) ", b"", manifest).decode())
    # An empty line ends the main section of a manifest; of two headers of one name the first counts.
    headers = dict(line.split(": ", 1) for line in reversed(lines[: [*lines, ""].index("")]) if ": " in line)
    paths = [path for one in headers.get("Dalfs", "").split(",") if (path := one.strip())]
    if headers.get("Main-Dalf", "").strip() not in paths:
        raise ArchiveError(f"{MANIFEST} must name Dalfs, and one of them as Main-Dalf")
    return paths


def _package(path: str, content: bytes) -> Package:
    match = _VERSIONED.fullmatch(path)
    return Package(sha256(content).hexdigest(), path, (match[1], match[2]) if match else None)

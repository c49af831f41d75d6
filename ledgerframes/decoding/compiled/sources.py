"""Hashes the C++ sources, so that a build from other sources is noticed; the build and `choice` call it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path


def sources(folder: Path) -> list[Path]:
    """The source files in a folder, by name; an installed package has none."""
    return sorted([*folder.glob("*.cpp"), *folder.glob("*.hpp")])


def digest(folder: Path) -> str:
    """The digest of the sources in a folder."""
    hashed = sha256()
    for path in sources(folder):
        # A checkout on Windows may have other line endings.
        hashed.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return hashed.hexdigest()[:16]

"""The packages uploaded to the simulated participant and where they are vetted; package routes change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledgerframes.sandbox.world.archives import Dar, Package


@dataclass(slots=True)
class Stored:
    """A package that was uploaded.

    Attributes:
        size: its length in bytes.
        vetted: the synchronizers on which it may be used.
    """

    package_id: str
    path: str
    size: int
    version: tuple[str, str] | None
    vetted: set[str] = field(default_factory=set)


@dataclass(slots=True)
class PackageStore:
    """The uploaded packages, by package id.

    Attributes:
        stored: all of them, oldest first.
    """

    stored: dict[str, Stored] = field(default_factory=dict)

    def conflict(self, dar: Dar, synchronizers: Iterable[str]) -> tuple[Package, str] | None:
        """The package of an archive whose name and version another one has that is vetted there, and that one's id."""
        known = dict(self._vetted(set(synchronizers)))
        for package in dar.packages:
            # Two packages of one name and version could not be distinguished by a reference to the package's name.
            other = None if package.version is None else known.get(package.version, package.package_id)
            if other not in (None, package.package_id):
                return package, str(other)
        return None

    def store(self, dar: Dar, synchronizers: Iterable[str]) -> None:
        """Store an archive's packages and vet them on these synchronizers, too."""
        vetted = set(synchronizers)
        for package in dar.packages:
            kept = self.stored.setdefault(
                package.package_id, Stored(package.package_id, package.path, len(package.content), package.version)
            )
            kept.vetted |= vetted

    def _vetted(self, synchronizers: set[str]) -> Iterator[tuple[tuple[str, str], str]]:
        for package in self.stored.values():
            if package.version is not None and package.vetted & synchronizers:
                yield package.version, package.package_id

"""`ExportedObjects`: what `Store.export_objects` wrote."""

from __future__ import annotations

from dataclasses import dataclass

from ledgerframes.errors import visible
from ledgerframes.results import Result


@dataclass(frozen=True)
class ExportedObjects(Result):
    """What an export of objects wrote.

    Attributes:
        target: the folder.
        segments: how many segments were written, without those that were there before.
        objects: how many objects.
        updates: how many updates they hold.
        bytes: their length.
        up_to: migration id and record time up to which the folder holds the history; None while it holds nothing.
        seconds: wall time.
    """

    target: str
    segments: int
    objects: int
    updates: int
    bytes: int
    up_to: tuple[int, str] | None
    seconds: float

    def __str__(self) -> str:
        reached = "nothing is settled yet"
        if self.up_to is not None:
            reached = f"up to {self.up_to[1]} (migration {self.up_to[0]})"
        return (
            f"{self.updates:,} updates in {self.objects:,} objects of {self.segments:,} segments,"
            f" {self.bytes / 1e6:,.2f} MB, in {visible(self.target)}, {reached}, {self.seconds:.1f} s"
        )

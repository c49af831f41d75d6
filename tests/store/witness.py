"""A reader that opens a store while it is written, and between two syncs, and holds what it sees against the truth."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

import pandas as pd

import ledgerframes as lf
from ledgerframes.sandbox.world.world import Update
from tests.store.killed_tables import UPDATES, KilledTables

_EVERY: Final = 2.0


class Witness:
    """Reads a store again and again, in a thread of its own while it is entered.

    Args:
        folder: the store.
        truth: the ledger's whole history.
        of: which tables the store is filled with.

    Attributes:
        looks: how often it has read the store.
    """

    def __init__(self, folder: Path, truth: Sequence[Update], of: KilledTables = UPDATES) -> None:
        self._store = lf.open_store(folder)
        self._of = of
        self._truth = truth
        self._log = folder / of.index / "_delta_log"
        self._times = of.places(truth)
        self._seen: set[str] = set()
        self._end = threading.Event()
        self._one = threading.Lock()
        self._thread = threading.Thread(target=self._look_on, name="witness")
        self._failed: Exception | None = None
        self.looks = 0

    def look(self) -> None:
        """Read the store once.

        Raises:
            AssertionError: something is there in part, twice, or untrue, or something is gone or lost.
        """
        with self._one:
            if any(self._log.glob("*.json")) and self._begun():
                self._look()

    def _begun(self) -> bool:
        """Whether a commit has named the table: one that is made and not named yet is not there for readers."""
        return self.looks > 0 or self._of.index in {*self._store.tables().dropna(subset=["version"])["table"]}

    def _look(self) -> None:
        before = self._settled()
        torn = self._of.torn(self._store, self._truth)
        assert torn.empty, f"in part or twice:\n{torn.head(9).to_string()}"
        found = {*self._store.load(self._of.index, columns=["update_id"], allow_partial=True).update_id}
        assert found <= self._times.keys(), f"untrue: {found - self._times.keys()}"
        assert self._seen <= found, f"gone: {self._seen - found}"
        lost = {one for one, place in self._times.items() if one not in found and lies_in(before, *place)}
        assert not lost, f"lost: {[(one, self._times[one]) for one in lost]}, final is {before}"
        self._seen = found
        self.looks += 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def assert_well(self) -> None:
        """Raise what a look in the thread has found."""
        if self._failed is not None:
            raise self._failed

    def _look_on(self) -> None:
        while not self._end.wait(_EVERY):
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - raised again where the test runs
                self._failed = error
                return

    def _settled(self) -> list[tuple[int, int, int]]:
        """Where rows are final, as migration, after and up to."""
        frame = self._store.coverage(table=self._of.index).dropna(subset=["settled"])
        return parts_of(frame, "settled")


def parts_of(coverage: pd.DataFrame, up_to: str) -> list[tuple[int, int, int]]:
    """The intervals of a coverage, as migration, after and up to; an end that is unset is that of the migration."""
    after, end = (
        coverage[name].astype("int64").where(coverage[name].notna(), unset)
        for name, unset in (("after", -(2**62)), (up_to, 2**62))
    )
    return list(zip(coverage["migration_id"], after, end, strict=True))


def lies_in(parts: Sequence[tuple[int, int, int]], migration_id: int, micros: int) -> bool:
    return any(one == migration_id and lo < micros <= at for one, lo, at in parts)

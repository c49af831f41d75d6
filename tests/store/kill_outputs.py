"""Kills derives, stars and reports over a lake that grows, with late updates and repairs between: all or nothing.

In the end the kept tables, the star and the report are those of a lake that was filled and computed in one go.
`kills --outputs` calls it.
"""

from __future__ import annotations

import json
import multiprocessing
import re
import signal
import time
from pathlib import Path
from random import Random
from typing import Final

import pandas as pd

import ledgerframes as lf
from ledgerframes.store.derive.tables import DERIVABLE, DERIVED_TABLES
from tests.store.appearing import Appearing
from tests.store.conftest import data_files
from tests.store.killed_outputs import make
from tests.store.test_derived import assert_equal_to_one_go

#: Where a page comes from and when it was made are all that may differ.
_SECTIONS: Final = (
    *("summary", "activity", "flows", "holdings", "balances", "transfers", "rewards", "coin_supply", "burn"),
    *("licenses", "supply", "templates", "anomalies"),
)
_MADE: Final = re.compile(r"made \d{4}-\d\d-\d\d \d\d:\d\d UTC")
_AT_MOST: Final = 120.0
_REPAIRED: Final = 0.2
_BESIDE: Final = 0.5


class Outputs:
    """Kills what is made of one lake.

    Args:
        folder: an empty one.
        rng: draws the instants.

    Attributes:
        kills: how many were killed.
        ended: how many ended before.
        repairs: how often the lake was damaged and repaired.
    """

    def __init__(self, folder: Path, rng: Random) -> None:
        self.lake = folder / "lake"
        self._folder = folder
        self._rng = rng
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload(["tests.store.killed_outputs"])
        self._longest = {"derive": 1.0, "star": 1.0, "report": 1.0}
        self.kills = self.ended = self.repairs = 0

    def __str__(self) -> str:
        return f"{self.kills} killed, {self.ended} ended, {self.repairs} repairs"

    def make_and_kill(self) -> None:
        """Start one, and maybe kill it: a derive beside one of its commits, or any of them at any instant."""
        rng = self._rng
        what = rng.choice(["derive", "derive", "star", "report"])
        beside = rng.randrange(30) if what == "derive" and rng.random() < _BESIDE else None
        seconds = _AT_MOST if beside is not None else rng.uniform(0.0, 1.3 * self._longest[what])
        target, failed = self._folder / f"{what}-{self.kills}-{self.ended}", self._folder / "failed"
        options = {"sections": rng.sample(_SECTIONS, 3), "last": "1h"} if what == "report" else {"allow_partial": True}
        process = self._processes.Process(target=make, args=(self.lake, what, target, options, failed, beside))
        began = time.monotonic()
        process.start()
        process.join(seconds)
        process.kill()
        process.join()
        killed = process.exitcode == -signal.SIGKILL
        self.kills, self.ended = self.kills + killed, self.ended + (not killed)
        if not killed:
            self._longest[what] = (self._longest[what] + time.monotonic() - began) / 2
        assert not failed.exists(), failed.read_text(encoding="utf-8")
        if what != "derive":
            assert killed or target.exists()
            _assert_whole(target)

    def damage(self) -> None:
        """Take a bit of one file, and repair the lake."""
        store = lf.open_store(self.lake)
        files = data_files(store, "updates", "events", "reassignments", *DERIVED_TABLES)
        if files:
            file = self._rng.choice(files)
            raw = bytearray(file.read_bytes())
            raw[len(raw) // 2] ^= 16
            file.write_bytes(raw)
            store.repair()
            self.repairs += 1


def _assert_whole(target: Path) -> None:
    """A star or a page is there as a whole, or not at all."""
    if target.is_dir():
        model = json.loads((target / "model.json").read_text(encoding="utf-8"))
        for table in model["tables"]:
            assert len(pd.read_parquet(target / table["file"])) == table["rows"], table["name"]
    elif target.exists():
        assert target.read_text(encoding="utf-8").rstrip().endswith("</html>")


def kill_outputs(folder: Path, *, kills: int, updates: int, seed: int) -> Outputs:
    """Fill a lake bit by bit, kill what is made of it, and hold the end against one go.

    Raises:
        AssertionError: something is there in part, or differs from what one go makes.
    """
    rng = Random(seed)
    with Appearing(seed=seed, updates=updates, servers=2) as ledger:
        outputs = Outputs(folder, rng)
        store = lf.open_store(outputs.lake)
        ledger.until(updates // 4)
        while outputs.kills < kills and outputs.ended < 3 * kills:
            ledger.fall_behind()
            _sync(store, ledger, derive=rng.choice([None, []]))
            outputs.make_and_kill()
            if rng.random() < _REPAIRED:
                outputs.damage()
            left = max(kills - outputs.kills, 1)
            ledger.until(ledger.shown + round(rng.uniform(0.0, 2.0) * (updates - ledger.shown) / left))
        assert outputs.kills == kills, f"{outputs.ended} ended before they could be killed"
        ledger.show_everything()
        fresh = lf.open_store(folder / "fresh")
        for one in (store, fresh):
            _sync(one, ledger)
            one.derive(DERIVABLE)
    assert_equal_to_one_go(store)
    check = store.check(full=True)
    assert check, check
    _assert_same_star(store, fresh, folder)
    pages = [
        one.report(folder / f"page-{number}.html", sections=_SECTIONS) for number, one in enumerate((store, fresh))
    ]
    texts = [_MADE.sub("", page.read_text(encoding="utf-8")) for page in pages]
    assert texts[0] == texts[1], "the report differs"
    return outputs


def _sync(store: lf.types.Store, ledger: Appearing, derive: list[str] | None = None) -> None:
    now = pd.Timestamp(ledger.now, unit="us", tz="UTC")
    store.sync(lf.connect(scan_url=ledger.urls()), now=now, derive=derive, progress=False)


def _assert_same_star(store: lf.types.Store, fresh: lf.types.Store, folder: Path) -> None:
    places = [folder / "star", folder / "star-in-one-go"]
    for one, place in zip((store, fresh), places, strict=True):
        one.export(place, model="star")
    files = [{file.name for file in place.glob("*.parquet")} for place in places]
    assert files[0] == files[1]
    for name in files[0]:
        found, wanted = (pd.read_parquet(place / name) for place in places)
        pd.testing.assert_frame_equal(found, wanted, obj=name)

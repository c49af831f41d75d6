"""Kills syncs at random instants over overlapping migrations, lagging servers and late updates.

`python -m tests.store.kills --kills 1000` runs so many, in stores of 40 kills each, and ends with 1 if a
row was lost, there twice, there in part, or untrue. `--verdicts` syncs verdicts in place of the update history;
`--pruning` lets every server keep the newest part of its history only, while syncs run and between them; `--outputs`
kills derives, stars and reports in place of syncs.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import signal
import sys
import tempfile
import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import pandas as pd

import ledgerframes as lf
from ledgerframes.errors import BeginsLateWarning
from tests.simulation.mutants import MUTANTS
from tests.store.appearing import Appearing
from tests.store.kill_outputs import kill_outputs
from tests.store.killed_sync import sync
from tests.store.killed_tables import FROM_OBJECTS, VERDICTS, KilledTables
from tests.store.killed_tables import UPDATES as HISTORY
from tests.store.witness import Witness, lies_in, parts_of

FAULTS: Final = "429:0.01,503:0.02,reset-in-body:0.02,truncated:0.02,502:0.01"
A_STORE: Final = 40
#: Few enough that most syncs would come to the end of what there is, and that the next ones meet what they left.
UPDATES: Final = 160
_AT_MOST: Final = 60.0
#: Updates that servers keep at least where they prune, and the share of a long history.
_KEPT: Final = 10
_SYNCS_PER_KILL: Final = 1.6
_LOOKED_AT: Final = 0.4


@dataclass
class Killed:
    """What became of a store.

    Attributes:
        kills: how many syncs were killed.
        ended: how many ended before.
        looks: how often a reader read the store.
        rows: how many updates there are in the end.
        missed: how many of the ledger's were pruned before a sync had stored them.
    """

    kills: int
    ended: int
    looks: int
    rows: int
    missed: int = 0


class Killing:
    """Kills syncs of one store.

    Args:
        folder: an empty one.
        ledger: what the store is filled from.
        rng: draws the instants.
        mutant: the rule that is taken back, by its name among the simulation's.
        of: which tables are synced.
    """

    def __init__(
        self, folder: Path, ledger: Appearing, rng: Random, mutant: str | None = None, of: KilledTables = HISTORY
    ) -> None:
        self._of = of
        self._folder = folder / "lake"
        self._failed = folder / "failed"
        self._ledger = ledger
        self._rng = rng
        self._mutant = mutant
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload(["tests.store.killed_sync"])
        self._longest = 1.0
        self.kills = self.ended = 0

    def sync_and_kill(self, more: int) -> None:
        """Start a sync, let the ledger live on by some updates, and maybe kill it.

        A sync dies beside one of its commits to a table, whose fellows have not got it yet, or at any instant; some
        come to their end, so that there is something final between the kills.
        """
        end = self._rng.choices(["beside a commit", "at any instant", "none"], [45, 30, 25])[0]
        if not more and end == "beside a commit":
            end = "at any instant"  # nothing is new, so nothing is committed
        instant = self._rng.randrange(9) if end == "beside a commit" else None
        seconds = self._rng.uniform(0.0, self._longest) if end == "at any instant" else _AT_MOST
        arguments = (self._folder, *self._arguments(), self._failed, instant, self._mutant)
        process = self._processes.Process(target=sync, args=arguments)
        began = time.monotonic()
        process.start()
        self._wait(process, more, seconds)
        process.kill()
        process.join()
        killed = process.exitcode == -signal.SIGKILL
        self.kills, self.ended = self.kills + killed, self.ended + (not killed)
        if not killed:
            self._longest = (self._longest + time.monotonic() - began) / 2
        assert not self._failed.exists(), self._failed.read_text(encoding="utf-8")

    def _arguments(self) -> tuple[list[str], dict[str, Any]]:
        rng = self._rng
        now = pd.Timestamp(self._ledger.now, unit="us", tz="UTC") + pd.Timedelta(hours=rng.choice([-1, 0, 0, 30]))
        options = {
            "tables": self._of.tables,
            "workers": rng.choice([1, 2, 4, 8]), "page_size": rng.choice([5, 15, 50, 1_000]), "now": now,
            "commit_bytes": rng.choice([3_000, 10_000, 200_000]), "settle": rng.choice(["60s", "60s", "2min"]),
        }  # fmt: skip
        if self._of is FROM_OBJECTS:
            options["source"] = rng.choice(["auto", "objects", "auto", "pages"])
        return self._ledger.urls(), options

    def _wait(self, process: Any, more: int, seconds: float) -> None:
        """Let the ledger live on until the process ends, or so many seconds; at the end it has all of it."""
        began, before = time.monotonic(), self._ledger.shown
        while process.is_alive() and (passed := time.monotonic() - began) < seconds:
            self._ledger.until(before + int(more * min(1.0, passed / self._longest)))
            process.join(0.01)
        self._ledger.until(before + more)


def kill_syncs(
    folder: Path,
    *,
    kills: int,
    updates: int,
    seed: int,
    mutant: str | None = None,
    of: KilledTables = HISTORY,
    pruning: bool = False,
) -> Killed:
    """Fill a store by syncs that are killed, and hold it against the truth, on the way and at the end.

    Where servers prune, the truth is what the store says is final: it holds all of that, nothing outside of what it
    covers, never loses a row, and has whatever some server still has. Once servers have everything again, it has, too.

    Raises:
        AssertionError: a row was lost, is there twice, in part, or is untrue, or the store is not sound.
    """
    rng = Random(seed)
    keeps = max(_KEPT, updates // _KEPT) if pruning else None
    with Appearing(seed=seed, updates=updates, servers=rng.choice([2, 3]), keeps=keeps) as ledger:
        witness = Witness(folder / "lake", ledger.truth, of)
        killing = Killing(folder, ledger, rng, mutant, of)
        with witness:
            while killing.kills < kills and killing.ended < 3 * kills:
                ledger.fall_behind()
                ledger.fail(FAULTS if rng.random() < 0.5 else "")
                left = max(1, round((kills - killing.kills) * _SYNCS_PER_KILL))
                killing.sync_and_kill(math.ceil((updates - ledger.shown) / left * rng.uniform(0.0, 2.0)))
                witness.assert_well()
                if rng.random() < _LOOKED_AT:
                    witness.look()
        ledger.show_everything()
        if of is FROM_OBJECTS:
            # Pages then have to agree with what objects gave, up to the closing of every migration.
            lf.open_store(folder / "lake").sync(lf.connect(scan_url=ledger.urls()), source="auto", progress=False)
        missed = _missed(folder / "lake", ledger, of) if pruning else 0
        witness.look()
        ledger.bring_back()
        _assert_true(folder / "lake", ledger, of)
        witness.look()
    if of is FROM_OBJECTS:
        assert ledger.downloads, "no sync has read an object"
    assert killing.kills == kills, f"{killing.ended} syncs ended before they could be killed"
    return Killed(killing.kills, killing.ended, witness.looks, len(ledger.truth) - missed, missed)


def _missed(folder: Path, ledger: Appearing, of: KilledTables) -> int:
    """One sync stores what servers still have, and coverage names what they have not; gives how much that is."""
    store, net = lf.open_store(folder), lf.connect(scan_url=ledger.urls())
    store.sync(net, tables=of.tables, progress=False)
    check = store.check(full=True)
    assert check, check
    coverage, places = store.coverage(table=of.index), of.places(ledger.truth)
    held = {*store.load(of.index, columns=["update_id"], allow_partial=True).update_id}
    final = parts_of(coverage.dropna(subset=["settled"]), "settled")
    inside = {one for one, place in places.items() if lies_in(parts_of(coverage, "up_to"), *place)}
    # Above what is settled, updates that were late may have been pruned before they were seen.
    wanted = {one for one, place in places.items() if lies_in(final, *place)} | (ledger.left & places.keys())
    assert held <= inside, f"not covered: {held - inside}"
    assert wanted <= held, f"lost: {wanted - held}, final is {final}"
    first = min(places, key=lambda one: places[one])
    assert bool(coverage.from_beginning.iloc[0]) == (first in held), coverage.to_string()
    again = store.sync(net, tables=of.tables, progress=False)
    assert (again.commits, sum(again.rows.values())) == (0, 0)
    assert any(server.begin[0] >= 0 for server in ledger.servers), "no server has pruned anything"
    return len(places) - len(held)


def _assert_true(folder: Path, ledger: Appearing, of: KilledTables) -> None:
    """One sync makes the rows equal to the truth; another changes nothing."""
    store, net = lf.open_store(folder), lf.connect(scan_url=ledger.urls())
    now = pd.Timestamp(ledger.now, unit="us", tz="UTC")
    store.sync(net, tables=of.tables, now=now, progress=False)
    check = store.check(full=True)
    assert check, check
    of.assert_whole(store, net, ledger)
    before = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    again = store.sync(net, tables=of.tables, now=now, progress=False)
    assert (again.commits, sum(again.rows.values())) == (0, 0)
    assert before == {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}


def main() -> int:
    """Run the kills and say what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.store.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=1_000, help="how many in all")
    parser.add_argument("--updates", type=int, default=UPDATES, help="how many updates each ledger has")
    parser.add_argument("--seed", type=int, default=1, help="of the first store; the next has the next one")
    parser.add_argument("--mutant", choices=MUTANTS, help="take a rule back, to see that it is found")
    parser.add_argument("--verdicts", action="store_true", help="sync verdicts in place of the update history")
    parser.add_argument("--objects", action="store_true", help="read most syncs from objects")
    parser.add_argument("--pruning", action="store_true", help="servers keep the newest part of their history")
    parser.add_argument("--outputs", action="store_true", help="kill derives, stars and reports in place of syncs")
    given = parser.parse_args()
    warnings.simplefilter("ignore", BeginsLateWarning)
    began, done, wrong = time.monotonic(), 0, 0
    for number in range(-(-given.kills // A_STORE)):
        seed, kills = given.seed + number, min(A_STORE, given.kills - number * A_STORE)
        mutant = MUTANTS[given.mutant].applied() if given.mutant else nullcontext()
        with tempfile.TemporaryDirectory(prefix="kills-") as folder, mutant:
            size: dict[str, Any] = {"kills": kills, "updates": given.updates, "seed": seed}
            try:
                found: object
                if given.outputs:
                    found = kill_outputs(Path(folder), **size)
                else:
                    of = VERDICTS if given.verdicts else FROM_OBJECTS if given.objects else HISTORY
                    found = kill_syncs(Path(folder), mutant=given.mutant, of=of, pruning=given.pruning, **size)
            except (AssertionError, lf.LedgerframesError) as error:
                wrong, found = wrong + 1, f"WRONG: {type(error).__name__}: {error}"
        done += kills
        print(f"seed {seed}: {found}; {done} kills, {time.monotonic() - began:.0f} s", flush=True)
    print(f"{done} kills in all, {wrong} stores wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

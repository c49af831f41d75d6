"""Syncs killed at random instants: at the end every row is there exactly once, and no reader ever saw a part.

The simulation kills syncs between any two writes of a lake in memory, over servers that lag, prune and show updates
late. Here processes die over files, while a reader looks on.
"""

import contextlib
import json
import multiprocessing
import re
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.world import timestamps
from ledgerframes.store.derive import tables
from tests.rigs.servers import replica, simulated
from tests.store import killed
from tests.store.conftest import BEGIN, assert_whole, by_value, data_files, flip
from tests.store.test_derived import NAMES, assert_equal_to_one_go

FAULTS = "429:0.01,503:0.02,reset-in-body:0.02,truncated:0.02"
#: Of one state of a lake: the updates, or requests, that are there in part or twice.
TORN = {
    "updates": """
        with held as (select update_id, count(*) as rows, count(distinct event_id) as apart from events group by all),
        moved as (select update_id, count(*) as rows from reassignments group by all)
        select coalesce(updates.update_id, held.update_id, moved.update_id) as update_id
        from updates full join held using (update_id)
            full join moved on moved.update_id = coalesce(updates.update_id, held.update_id)
        where updates.update_id is null or held.rows <> held.apart
            or coalesce(held.rows, 0) <> if(updates.kind = 'transaction', updates.event_count, 0)
            or coalesce(moved.rows, 0) <> (updates.kind <> 'transaction')::int
        union all select update_id from updates group by all having count(*) > 1""",
    "verdicts": """
        select update_id from verdicts group by all having count(*) > 1
        union all select update_id from views anti join verdicts using (update_id)
        union all select update_id from app_activity anti join verdicts using (update_id)
        union all select update_id from verdicts anti join views using (update_id)""",
}
TORN["objects"] = TORN["computed"] = TORN["updates"]
#: Where a page comes from and when it was made are all that may differ.
MADE = re.compile(r"made \d{4}-\d\d-\d\d \d\d:\d\d UTC")
OPTIONS = {
    "updates": {},
    "objects": {"source": "auto"},
    "verdicts": {"tables": ["verdicts"]},
    "computed": {"derive": NAMES},
}


@dataclass
class Killing:
    """Syncs a lake in processes of their own, and kills some."""

    folder: Path
    rng: Random
    kills: int = 0
    longest: float = 1.0
    seen: set = field(default_factory=set)

    def __post_init__(self):
        self.processes = multiprocessing.get_context("forkserver")
        self.processes.set_forkserver_preload(["tests.store.killed"])

    def run(self, urls, options, instant=None, seconds=60.0, look=lambda: None, **more):
        """Start a sync that dies beside a commit, or is killed after so many seconds; whether it was killed."""
        given = (self.folder / "lake", urls, options, self.folder / "failed", instant)
        return self.start(self.processes.Process(target=killed.sync, args=given, kwargs=more), seconds, look)

    def make(self, what, target, options):
        """Start a derive, a star or a report that dies at any instant or beside a commit; whether it did.

        Those that end show how much processor time there is for it.
        """
        took = self.folder / "took"
        longest = float(took.read_text(encoding="utf-8")) if took.exists() else 0.0
        seconds = self.rng.uniform(0.001, 1.1) * longest if options["instant"] is None else 0.0
        given = (what, self.folder / "lake", target, self.folder / "failed", options, seconds)
        return self.start(self.processes.Process(target=killed.make, args=given), 600.0, lambda: None)

    def start(self, process, seconds, look):
        failed = self.folder / "failed"
        began = time.monotonic()
        process.start()
        while process.is_alive() and time.monotonic() - began < seconds:
            process.join(min(0.5, seconds))
            look()
        process.kill()
        process.join()
        assert not failed.exists(), failed.read_text(encoding="utf-8")
        ended = process.exitcode not in {-signal.SIGKILL, -signal.SIGPROF}
        self.kills += not ended
        self.longest = (self.longest + time.monotonic() - began) / 2 if ended else self.longest
        return not ended

    def look(self, kind):
        """Read one state: nothing is there in part or twice, and nothing that was seen is gone."""
        store, index = lf.open_store(self.folder / "lake"), "verdicts" if kind == "verdicts" else "updates"
        if index not in {*store.tables().dropna(subset="version").table}:
            return  # one that is made and not named yet is not there for readers
        torn = store.sql(TORN[kind], allow_partial=True)
        assert torn.empty, torn
        found = {*store.load(index, columns=["update_id"], allow_partial=True).update_id}
        assert self.seen <= found, self.seen - found
        self.seen = found


@pytest.mark.parametrize(
    ("kind", "kills"),
    [("updates", 3), *(pytest.param(kind, 8, marks=pytest.mark.long) for kind in OPTIONS),
     *(pytest.param(kind, 60, marks=pytest.mark.soak) for kind in OPTIONS)],
)  # fmt: skip
def test_killed_syncs_leave_every_row_once(tmp_path, kind, kills):
    rng = Random(kills)
    killing, store = Killing(tmp_path, rng), lf.open_store(tmp_path / "lake")
    with simulated(seed=5, updates=60, migrations=3) as net, replica(net.sandbox, lag=25) as behind:
        urls = [net.sandbox.scan_url, behind.scan_url]
        for attempt in range(3 * kills):
            if killing.kills == kills:
                break
            net.sandbox.advance(updates=rng.randrange(10, 40))
            net.sandbox.faults = Faults.parse(FAULTS, seed=attempt) if rng.random() < 0.5 else None
            options = OPTIONS[kind] | {
                "workers": rng.choice([1, 2, 4]), "page_size": rng.choice([5, 15, 1_000]),
                "commit_bytes": rng.choice([3_000, 10_000, 200_000]),
            }  # fmt: skip
            if attempt % 3 == 2:
                killing.run(rng.sample(urls, 2), options, seconds=rng.uniform(0, killing.longest))
            else:
                instant = rng.randrange(40 if kind == "computed" else 9)
                killing.run(rng.sample(urls, 2), options, instant, look=lambda: killing.look(kind))
            killing.look(kind)
        net.sandbox.faults = None
        store.sync(net, **OPTIONS[kind], progress=False)
        again = store.sync(net, **OPTIONS[kind], progress=False)
        if kind == "verdicts":
            for name, frame in lf.load_verdicts(net, start=BEGIN, progress=False)._asdict().items():
                keys = [key for key in ("update_id", "view_id", "party") if key in frame]
                assert store.load(name).sort_values(keys).reset_index(drop=True).equals(
                    frame.sort_values(keys).reset_index(drop=True)
                )  # fmt: skip
        else:
            assert_whole(store, net, form=by_value if kind == "objects" else lambda frame: frame)
    if kind == "computed":
        assert_equal_to_one_go(store)
    assert killing.kills == kills
    assert (again.commits, sum(again.rows.values())) == (0, 0)
    assert store.check(full=True)


@pytest.mark.parametrize(
    ("what", "kills"),
    [pytest.param(what, kills, marks=mark) for what in ("derive", "star", "report") for kills, mark in
     ((6, pytest.mark.long), (70, pytest.mark.soak))],
)  # fmt: skip
def test_killed_outputs_are_there_whole_or_not_at_all(tmp_path, what, kills):
    """Of a lake that grows, also by late updates, is damaged, repaired and compacted; at last they are those of one go.

    Derives end between any two commits, all of them at any instant.
    """
    rng = Random(kills)
    killing, store, fresh = Killing(tmp_path, rng), *(lf.open_store(tmp_path / name) for name in ("lake", "fresh"))
    with simulated(seed=5, updates=60, migrations=2) as net:
        late = []
        for attempt in range(4 * kills):
            if killing.kills == kills:
                break
            net.sandbox.advance(updates=rng.randrange(1, 10))
            late = held_back(net.sandbox.world, late, rng)
            store.sync(net, derive=[] if what == "derive" else NAMES, progress=False)
            target = NAMES if what == "derive" else tmp_path / f"{what}-{attempt}"
            instant = rng.choice([None, rng.randrange(60)]) if what == "derive" else None
            was_killed = killing.make(what, target, {"size": rng.choice([30, 300]), "instant": instant})
            if what == "derive":
                assert_each_once(store)
            else:
                assert was_killed or target.exists()
                assert_made_whole(target)
            if attempt % 5 == 4:
                flip(rng.choice(data_files(store, "updates", "events", *NAMES)))
                store.repair()
            if attempt % 5 == 2:
                store.compact()
        net.sandbox.world.updates[:] = sorted([*net.sandbox.world.updates, *late])
        store.sync(net, derive=NAMES, progress=False)
        fresh.sync(net, derive=NAMES, progress=False)
    assert killing.kills == kills
    assert_equal_to_one_go(store)
    if what == "derive":
        assert store.check(full=True)
        for name in NAMES:
            key = tables.DERIVED_TABLES[name].key[0]
            found, wanted = (one.load(name).sort_values(key, ignore_index=True) for one in (store, fresh))
            pd.testing.assert_frame_equal(found, wanted, obj=name)
        return
    places = [tmp_path / "once", tmp_path / "in-one-go"]
    for one, place in zip((store, fresh), places, strict=True):
        one.export(place, model="star") if what == "star" else killed.MADE[what](one, place)
    if what == "report":
        found, wanted = (MADE.sub("", place.read_text(encoding="utf-8")) for place in places)
        assert found == wanted
    else:
        for name in sorted(file.name for file in places[1].glob("*.parquet")):
            found, wanted = (pd.read_parquet(place / name) for place in places)
            pd.testing.assert_frame_equal(found, wanted, obj=name)


def held_back(world, late, rng):
    """Show the updates that were late; returns those of the last minute that are now, of other synchronizers."""
    shown = sorted([*world.updates, *late])
    young = max(one.record_time for one in shown) - 60 * timestamps.SECOND
    others = [one for one in shown if one.record_time > young and one.synchronizer_id != world.synchronizers[0]]
    late = [one for one in others if rng.random() < 0.8]
    world.updates[:] = [one for one in shown if one not in late]
    return late


def assert_each_once(store):
    """Each key of a kept table is there once, and its rows are of the history that readers see."""
    for name in {*NAMES} & {*store.tables().table}:
        key = ", ".join(tables.DERIVED_TABLES[name].key)
        with contextlib.suppress(lf.errors.StoreError):  # after a repair it is not computed yet
            assert store.sql(f"select {key} from {name} group by all having count(*) > 1", allow_partial=True).empty


def assert_made_whole(target):
    if target.is_dir():
        if not any(target.glob("*.parquet")):
            return  # all of it is in a hidden folder yet
        model = json.loads((target / "model.json").read_text(encoding="utf-8"))
        for table in model["tables"]:
            assert len(pd.read_parquet(target / table["file"])) == table["rows"], table["name"]
    elif target.exists():
        assert target.read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_a_table_that_was_made_and_has_no_commit_yet_is_not_there_for_a_reader_and_filled_by_a_sync(
    store, tmp_path, small
):
    with store._lake.writing():
        store._lake.root().table.create()

    Killing(tmp_path, Random(1)).look("updates")

    assert list((tmp_path / "lake" / "updates" / "_delta_log").glob("*.json"))
    with pytest.raises(lf.errors.StoreError, match="the store has no updates; sync it"):
        store.sql("select 1 from updates")
    store.sync(small)
    assert_whole(store, small)


def days_later(update, days):
    """The same update, recorded so many days later."""
    micros = update.record_time + days * 86_400_000_000
    stated = b'"record_time":"%s"' % timestamps.exact(micros).encode()
    return update._replace(record_time=micros, rendered=re.sub(rb'"record_time":"[^"]+"', stated, update.rendered))


def test_a_sync_that_ended_with_a_closed_migration_goes_on_with_the_next(store):
    """Killed after the commit that closes a migration, before the first one of the next."""
    with lf.sandbox(seed=5, updates=90) as net:
        updates = net.sandbox.world.updates
        updates[:] = [days_later(update, 3 * update.migration_id) for update in updates]
        store.sync(net, end=(1, "0001-01-01"))
        assert store.coverage().to_end.tolist() == [True]
        store.sync(net)
        assert_whole(store, net)

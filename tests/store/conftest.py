"""Stores over the sandbox: an empty one, and the truth to hold it against."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.store.root import Root
from tests.rigs.object_faults import ObjectFaults
from tests.rigs.servers import simulated

KEYS = {"updates": ["update_id"], "events": ["update_id", "event_id"], "reassignments": ["update_id"]}
BEGIN = (-(2**63), "0001-01-01")
#: A time after everything that the hostile world has.
LATE = "9999-12-31T23:59:59.999999Z"


def pytest_collection_modifyitems(items):
    """Lakes here hold parts and hostile histories, of which a sync warns; tests of the economics look at that."""
    allowed = pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            # First, so that what a test itself asks for counts more.
            item.add_marker(allowed, append=False)


@pytest.fixture(scope="session")
def parted(small, tmp_path_factory):
    """A sound lake of that network, of several files per table; to be copied."""
    store = lf.open_store(tmp_path_factory.mktemp("parted") / "lake")
    store.sync(small, page_size=40, commit_bytes=60_000, workers=1, tables=["updates", "instruments"], progress=False)
    return store


@pytest.fixture
def copied(parted, tmp_path):
    """A copy of it that may be damaged."""
    return lf.open_store(shutil.copytree(parted._lake.folder, tmp_path / "lake"))


@pytest.fixture(scope="session")
def fortnight():
    """Two weeks with a segment of objects per day."""
    with simulated(days=14, rounds_per_day=2) as network:
        yield network


@pytest.fixture
def ledger(fortnight):
    """The same, whose objects a test may spoil."""
    yield fortnight
    fortnight.sandbox.object_faults = ObjectFaults()


def downloads(net):
    """Which objects were fetched, and how often."""
    return Counter({name: count for name, count in net.sandbox.requests.items() if "/bulk/download/" in name})


def assert_covered_alike(store, other):
    """Two lakes of one ledger cover the same, and the same updates are final.

    A page proves itself, so where pages end decides to the second what is final.
    """
    mine, theirs = store.coverage(), other.coverage()
    assert mine.drop(columns="settled").equals(theirs.drop(columns="settled"))
    times = store.load("updates").record_time
    assert [(times <= at).sum() for at in mine.settled] == [(times <= at).sum() for at in theirs.settled]


def data_files(store, *names):
    """The Parquet files of some tables, those of a partition from the smallest to the largest.

    Their names differ from run to run, so that by name the same test would change other bytes each time.
    """
    files = (file for name in names for file in (store._lake.folder / name).rglob("*.parquet"))
    kept = (file for file in files if "_delta_log" not in file.parts)
    return sorted(kept, key=lambda file: (file.parent, file.stat().st_size))


def smallest(store, name):
    """The smallest file of a table that is still read."""
    read = {store._lake.folder / name / path for path in store._lake.table(name).refresh().files.listed}
    return next(file for file in data_files(store, name) if file in read)


def flip(file, bit=None):
    """Turn a bit over, by default among the rows of a file: bits of pages that nobody reads have no checksum."""
    raw = bytearray(file.read_bytes())
    bit = 8 * (len(raw) // 2) + 4 if bit is None else bit
    raw[bit // 8] ^= 1 << bit % 8
    file.write_bytes(raw)


def adopt(store):
    """Make the newest state of every table, as another program left it, the one that readers see."""
    root = Root(store._lake, strict=False).open()
    for name in root.names:
        root.changed(store._lake.table(name).refresh())
    root.commit(root.document)


def mend_rejects(store, *goods):
    """Put these updates in the place of the rejects that were made of them, as if they could be decoded by now."""
    rejects = store._lake.table("rejects").refresh()
    raws = {good.update_id: good.rendered.decode() for good in goods}
    rows = store.load("rejects", as_="arrow").to_pylist()
    for row in rows:
        row["raw"] = next((raw for update_id, raw in raws.items() if update_id in row["raw"]), row["raw"])
    rejects.replace(pa.Table.from_pylist(rows, rejects.table.schema))
    adopt(store)


def by_value(frame):
    """A frame whose JSON is sorted by names: objects have the members of payloads in another order than pages."""
    texts = [name for name in ("payload", "exercise_result", "extra") if name in frame]
    return frame.assign(**{name: frame[name].map(sorted_text, na_action="ignore") for name in texts})


def sorted_text(text):
    return json.dumps(json.loads(text, parse_float=str), sort_keys=True)


def assert_same(found, wanted, name):
    """Two frames of a table hold the same rows, whatever their order."""
    key = KEYS[name]
    found, wanted = found.sort_values(key, ignore_index=True), wanted.sort_values(key, ignore_index=True)
    if not found.equals(wanted):  # which compares lists ten times as fast
        pd.testing.assert_frame_equal(found, wanted, check_like=False)


def assert_whole(store, net, *, form=lambda frame: frame, **options):
    """The store holds the network's whole history, each row once."""
    history = lf.load_history(net, start=BEGIN)
    for name in KEYS:
        assert_same(form(store.load(name, **options)), form(getattr(history, name)), name)

"""Computed tables go back to where the history changed below them, and are computed again from there on."""

import random
import re
import shutil

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive import chunks, kept
from ledgerframes.store.derive.progress import Progress
from tests.store.conftest import data_files
from tests.store.test_derived import NAMES, assert_equal_to_one_go
from tests.store.test_rejects import BREAKS, spoil

pytestmark = pytest.mark.long

# What is summed from other tables has no state to go back to.
CHUNKED = {*NAMES} - {"supply_per_round"}
MAY = 1_746_057_600_000_000


@pytest.fixture(scope="module", autouse=True)
def small_chunks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "EVENTS_AT_ONCE", 4_000)
        yield


@pytest.fixture(scope="module")
def net():
    """A network of March, April and a week of May."""
    with lf.sandbox(days=66, migrations=1) as network:
        yield network


@pytest.fixture(scope="module")
def whole(net, tmp_path_factory):
    """A store with all tables, and a transfer late in May that it could not decode; to be copied."""
    world = net.sandbox.world
    place = next(
        place
        for place, update in enumerate(world.updates)
        if update.record_time > MAY + 5 * 86_400_000_000 and b"AmuletRules_Transfer" in update.rendered
    )
    good = spoil(world, place, BREAKS["no template"])
    store = lf.open_store(tmp_path_factory.mktemp("whole") / "lake")
    store.sync(net, progress=False, on_error="reject", derive=NAMES)
    world.updates[place] = good
    return store, good


@pytest.fixture
def store(whole, tmp_path):
    shutil.copytree(whole[0]._lake.folder, tmp_path / "lake")
    return lf.open_store(tmp_path / "lake")


def retry_as(store, *goods):
    """Some rejects can be decoded by now, and their updates move to the history, below what is settled."""
    rejects = store._lake.table("rejects").refresh()
    raws = {good.update_id: good.rendered.decode() for good in goods}
    rows = store.load("rejects", as_="arrow").to_pylist()
    named = [next((one for one in raws if one in row["raw"]), None) for row in rows]
    mended = [row if one is None else row | {"raw": raws[one]} for row, one in zip(rows, named, strict=True)]
    rejects.replace(pa.Table.from_pylist(mended, rejects.table.schema))
    assert len(store.retry_rejects()) == len(rows) - len(goods)


def reach(store, name):
    """The record time up to which a table is computed."""
    return Progress.of(store._lake.table(name).refresh()).done[-1].hi


def test_a_row_added_below_what_is_settled_changes_what_follows_it(store, whole):
    good = whole[1]
    retry_as(store, good)
    report = store.derive()

    assert set(report.again) == {*NAMES}
    assert "rows were added to" in report.again["mint_burn"]
    assert set(report.kept) == CHUNKED
    assert "up to 2025-05-0" in report.kept["mint_burn"]
    assert "computed again: mint_burn, what follows migration 0 after its beginning up to" in str(report)
    # One commit takes a table back, two chunks at most follow, and the end.
    assert report.commits <= 4 * len(NAMES) + 4
    assert good.update_id in set(store.load("transfers").update_id)
    assert_equal_to_one_go(store)
    assert store.check(full=True)
    assert not store.derive().again


def test_what_lies_before_the_change_is_not_read(store, whole, tmp_path):
    retry_as(store, whole[1])
    hidden = [
        path
        for name in ("updates", "events", "reassignments")
        for path in (store._lake.folder / name).rglob("record_month=2025-0[34]")
    ]
    assert len(hidden) == 6
    for place, path in enumerate(hidden):
        path.rename(tmp_path / str(place))

    assert set(store.derive().kept) == CHUNKED
    for place, path in enumerate(hidden):
        (tmp_path / str(place)).rename(path)
    assert_equal_to_one_go(store)


def test_a_month_read_again_after_a_repair_keeps_the_months_before(store, net):
    store.derive()
    for file in (path for path in data_files(store, "events") if "2025-04" in str(path)):
        file.write_bytes(file.read_bytes()[:-40])
    assert store.repair()
    first = store.derive()
    assert set(first.kept) == CHUNKED
    assert "up to 2025-03" in first.kept["coin_history"]
    assert reach(store, "mint_burn") < MAY

    assert store.sync(net, progress=False, on_error="raise").complete
    assert not store.derive().again
    assert reach(store, "mint_burn") > MAY
    assert_equal_to_one_go(store)
    assert store.check(full=True)


def test_a_repair_and_a_sync_in_one_go_keep_the_months_before(store, net, caplog, monkeypatch):
    world = net.sandbox.world
    # The rows that are read again are others, so what was computed from the old ones would show.
    other = [
        update._replace(rendered=re.sub(rb'("trafficAmount": *)"[0-9]+"', rb'\1"77"', update.rendered))
        for update in world.updates
    ]
    monkeypatch.setattr(world, "updates", other)
    before = (store.load("traffic_purchases").bytes == 77).sum()
    for name in ("updates", "events", "reassignments"):
        for path in (path for path in data_files(store, name) if "2025-04" in str(path)):
            path.unlink()
    store.repair()
    with caplog.at_level("INFO", logger="ledgerframes.store"):
        store.sync(net, progress=False)

    assert "mint_burn is computed again after migration 0 after its beginning up to 2025-03" in caplog.text
    assert (store.load("traffic_purchases").bytes == 77).sum() > before
    assert_equal_to_one_go(store)


def test_states_that_were_forgotten_are_computed_from_the_beginning(store, whole):
    store.compact(forget_before=store.syncs().finished_at.max())
    retry_as(store, whole[1])
    report = store.derive()

    assert set(report.again) == {*NAMES}
    assert not report.kept
    assert "computed again: rewards, from the beginning, because" in str(report)
    assert_equal_to_one_go(store)


def flip(file):
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 16
    file.write_bytes(raw)


@pytest.mark.parametrize("harm", [lambda file: file.unlink(), flip], ids=["gone", "flipped"])
def test_an_earlier_state_with_a_damaged_file_is_not_gone_back_to(store, whole, harm):
    retry_as(store, whole[1])
    now = {name: set(store._lake.table(name).refresh().files.listed) for name in CHUNKED}
    older = [path for path in data_files(store, *CHUNKED) if "open" in path.parts and path.name not in names_of(now)]
    for path in older:
        harm(path)

    store.derive()
    assert_equal_to_one_go(store)
    assert store.check(full=True)


def names_of(listed):
    return {path.rpartition("/")[2] for paths in listed.values() for path in paths}


@pytest.mark.parametrize("lacking", ["derived/reach/", "derived/changes/"])
def test_a_state_of_an_older_version_is_not_gone_back_to(whole, net, tmp_path, monkeypatch, lacking):
    """It recorded neither on what rows depend nor the changes of each table."""
    numbers = Progress.numbers
    store = lf.open_store(tmp_path / "older")
    with monkeypatch.context() as older:
        older.setattr(
            Progress,
            "numbers",
            lambda self: {key: value for key, value in numbers(self).items() if not key.startswith(lacking)},
        )
        spoiled = net.sandbox.world.updates.index(whole[1])
        good = spoil(net.sandbox.world, spoiled, BREAKS["no template"])
        store.sync(net, progress=False, on_error="reject", derive=["mint_burn"])
        net.sandbox.world.updates[spoiled] = good
    retry_as(store, good)
    report = store.derive()

    assert set(report.again) == {"mint_burn"}
    assert not report.kept
    assert_equal_to_one_go(store, ["mint_burn"])


def test_rows_that_rest_on_later_rounds_are_not_gone_back_to(store, whole):
    """Rewards that are added later are computed with rounds that are known to their end."""
    shutil.rmtree(store._lake.folder / "rewards")
    store.derive(["rewards"])
    retry_as(store, whole[1])
    report = store.derive()

    assert set(report.kept) == CHUNKED - {"rewards"}
    assert "rewards" in report.again
    assert_equal_to_one_go(store)


class Killed(BaseException):
    """The process ends here."""


def derive_until(place, instant, names=None):
    """Derive, and end at one of the commits; gives the number of commits left, 0 or more if it came to its end."""
    left = instant
    commit = DeltaStoreTable._commit

    def counted(self, actions, numbers):
        nonlocal left
        if left == 0:
            raise Killed
        left -= 1
        commit(self, actions, numbers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeltaStoreTable, "_commit", counted)
        try:
            lf.open_store(place).derive(names)
        except Killed:
            return None
    return left


@pytest.mark.parametrize("instant", [1, 3])
def test_killed_at_each_commit_tables_equal_those_in_one_go(store, whole, instant):
    retry_as(store, whole[1])
    for _ in range(80):
        if derive_until(store._lake.folder, instant) is not None:
            break
    else:
        raise AssertionError("it never came to an end")

    assert_equal_to_one_go(store)
    assert store.check(full=True)


@pytest.mark.parametrize("seed", [1, 2, 3, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(4, 60))])
def test_whatever_changes_in_whatever_order_tables_equal_those_in_one_go(tmp_path, seed, monkeypatch):
    chance = random.Random(seed)
    monkeypatch.setattr(chunks, "EVENTS_AT_ONCE", chance.choice([60, 150, 400]))
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(seed=seed, updates=260, migrations=chance.choice([1, 2])) as net:
        world = net.sandbox.world
        every = list(world.updates)
        places = [place for place, update in enumerate(every) if b'"root_event_ids"' in update.rendered]
        goods = [spoil(world, place, BREAKS["no template"]) for place in sorted(chance.sample(places, 8))]
        spoiled, shown = list(world.updates), 60
        world.updates[:] = spoiled[:shown]
        store.sync(net, progress=False, on_error="reject", derive=[])
        for _ in range(14):
            match chance.choice(["more", "retry", "retry", "repair", "damage", "compact", "derive", "kill", "kill"]):
                case "more":
                    shown += chance.randrange(60)
                    world.updates[:] = spoiled[:shown]
                    store.sync(net, progress=False, on_error="reject", derive=[])
                case "retry":
                    rejected = "".join(store.load("rejects").raw) if "rejects" in versions(store) else ""
                    here = [good for good in goods if good.update_id in rejected]
                    retry_as(store, *here[: chance.choice([1, 1, 8])]) if here else None
                case "repair":
                    flip(chance.choice(data_files(store, "updates", "events", "reassignments")))
                    store.repair()
                    if chance.random() < 0.5:
                        store.sync(net, progress=False, on_error="reject", derive=[])
                case "damage":
                    files = data_files(store, *kept.KEPT)
                    if files:
                        flip(chance.choice(files))
                        store.repair()
                case "compact":
                    store.compact()
                case "derive":
                    store.derive(chance.choice([NAMES, ["mint_burn", "rewards"], ["round_history", "coin_history"]]))
                case "kill":
                    derive_until(store._lake.folder, chance.randrange(25), NAMES)
        store.sync(net, progress=False, on_error="reject", derive=NAMES)
        retry_as(store, *[good for good in goods if good.update_id in "".join(store.load("rejects").raw)])
    store.derive(NAMES)
    assert_equal_to_one_go(store)
    assert store.check(full=True)


def versions(store):
    return set(store.tables().table)

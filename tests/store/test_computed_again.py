"""Tables that a lake keeps are computed again where the history changed below them, in whatever order that happens."""

import random

import pytest

import ledgerframes as lf
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive import chunks, tables
from tests.store.conftest import data_files, flip, mend_rejects
from tests.store.test_derived import NAMES, assert_equal_to_one_go
from tests.store.test_rejects import BREAKS, spoil

pytestmark = pytest.mark.long


def retry_as(store, *goods):
    """Some rejects can be decoded by now, and their updates move to the history, below what is settled."""
    rejected = len(store.load("rejects"))
    mend_rejects(store, *goods)
    assert len(store.retry_rejects()) == rejected - len(goods)


class Killed(BaseException):
    """The process ends here."""


def derive_until(place, instant, names=None):
    """Derive, and end at one of the commits; gives the number of commits left, 0 or more if it came to its end."""
    left = instant
    commit = DeltaStoreTable._commit

    def counted(self, *arguments):
        nonlocal left
        if left == 0:
            raise Killed
        left -= 1
        commit(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeltaStoreTable, "_commit", counted)
        try:
            lf.open_store(place).derive(names)
        except Killed:
            return None
    return left


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
        # By record time: a server that shows a migration's items minutes after later ones breaks what settle= promises.
        spoiled, shown = sorted(world.updates, key=lambda update: update.record_time), 60
        world.updates[:] = sorted(spoiled[:shown])
        store.sync(net, progress=False, on_error="reject", derive=[])
        for _ in range(14):
            match chance.choice(["more", "retry", "retry", "repair", "damage", "compact", "derive", "kill", "kill"]):
                case "more":
                    shown += chance.randrange(60)
                    world.updates[:] = sorted(spoiled[:shown])
                    store.sync(net, progress=False, on_error="reject", derive=[])
                case "retry":
                    rejected = "".join(store.load("rejects").raw) if "rejects" in set(store.tables().table) else ""
                    here = [good for good in goods if good.update_id in rejected]
                    retry_as(store, *here[: chance.choice([1, 1, 8])]) if here else None
                case "repair":
                    flip(chance.choice(data_files(store, "updates", "events", "reassignments")))
                    store.repair()
                    if chance.random() < 0.5:
                        store.sync(net, progress=False, on_error="reject", derive=[])
                case "damage":
                    files = data_files(store, *tables.DERIVED_TABLES)
                    if files:
                        flip(chance.choice(files))
                        store.repair()
                case "compact":
                    store.compact()
                case "derive":
                    names = chance.choice([NAMES, ["mint_burn", "rewards"], ["round_history", "coin_history"]])
                    if begins(store) or "coin_history" not in names:
                        store.derive(names)
                case "kill":
                    names = NAMES if begins(store) else ["mint_burn", "rewards"]
                    derive_until(store._lake.folder, chance.randrange(25), names)
        store.sync(net, progress=False, on_error="reject", derive=NAMES)
        retry_as(store, *[good for good in goods if good.update_id in "".join(store.load("rejects").raw)])
    store.derive(NAMES)
    assert_equal_to_one_go(store)
    assert store.check(full=True)


def begins(store):
    """Whether the lake has what lies at ledger begin, which a repair may have taken out."""
    return store.coverage().from_beginning.to_list()[0] is True

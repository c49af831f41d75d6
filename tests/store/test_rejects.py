"""Items that break the contract: a sync stops before them, or puts them aside whole and goes on."""

import json

import pytest

import ledgerframes as lf
from tests.store.conftest import BEGIN, assert_same, mend_rejects

BREAKS = {
    "no template": lambda item: _first_event(item).pop("template_id"),
    "a missing child": lambda item: item["root_event_ids"].append("nothing:9"),
    "no effective time": lambda item: item.pop("effective_at"),
    "events as text": lambda item: item.update(events_by_id="none"),
    "a time that is none": lambda item: item.update(effective_at="tomorrow"),
    "no record time": lambda item: item.pop("record_time"),
    "an id that is a number": lambda item: item.update(update_id=5),
}


def _first_event(item):
    return next(iter(item["events_by_id"].values()))


def transactions(world):
    return [place for place, update in enumerate(world.updates) if b'"root_event_ids"' in update.rendered]


def spoil(world, place, spoiling):
    """Break one item of a sandbox's history; gives its id."""
    update = world.updates[place]
    item = json.loads(update.rendered)
    spoiling(item)
    world.updates[place] = update._replace(rendered=json.dumps(item).encode())
    return update


@pytest.mark.parametrize(("breaks", "workers"), [("no template", 1), ("no record time", 4)])
def test_a_sync_stops_before_a_broken_item_and_keeps_what_was_before(store, breaks, workers):
    spoiling = BREAKS[breaks]
    with lf.sandbox(updates=150, migrations=1) as net:
        world = net.sandbox.world
        place = transactions(world)[60]
        good = spoil(world, place, spoiling)
        with pytest.raises(lf.errors.DecodeError):
            store.sync(net, workers=workers, page_size=20)
        kept = store.load("updates", allow_partial=True)
        assert good.update_id not in set(kept.update_id)
        assert store.syncs().complete.tolist() == [False]
        world.updates[place] = good
        store.sync(net, workers=workers)
        assert_same(store.load("updates"), lf.load_updates(net, start=BEGIN), "updates")


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("spoiling", BREAKS.values(), ids=BREAKS)
def test_a_broken_item_is_put_aside_whole_and_the_rest_goes_on(store, spoiling):
    with lf.sandbox(updates=120, migrations=2) as net:
        wanted = lf.load_updates(net, start=BEGIN)
        world = net.sandbox.world
        broken = [spoil(world, transactions(world)[place], spoiling) for place in (20, 21, 60)]
        raws = {update.rendered.decode() for update in world.updates}
        report = store.sync(net, page_size=40, on_error="reject")
        rest = wanted[~wanted.update_id.isin([one.update_id for one in broken])]
        assert_same(store.load("updates"), rest, "updates")
        rejects = store.load("rejects")
        assert report.rejected == 3
        assert report.complete
        assert set(rejects.raw) <= raws
        assert len(rejects) == 3
        assert rejects.reason.str.len().min() > 20
        store.sync(net, on_error="reject")
        assert len(store.load("rejects")) == 3


def test_rejects_that_can_be_read_now_move_to_the_history(store):
    with lf.sandbox(updates=200) as net:
        wanted = lf.load_history(net, start=BEGIN)
        world = net.sandbox.world
        good, later = (spoil(world, transactions(world)[place], BREAKS["no template"]) for place in (40, 60))
        store.sync(net, on_error="reject")
    mend_rejects(store, good)
    assert len(store.retry_rejects()) == 1  # what still cannot be read stays
    mend_rejects(store, later)
    for _ in range(2):
        assert store.retry_rejects().empty
    assert_same(store.load("updates"), wanted.updates, "updates")
    assert_same(store.load("events"), wanted.events, "events")


def test_a_page_without_any_place_is_an_error_even_then(store):
    with lf.sandbox(updates=60, migrations=1) as net:
        world = net.sandbox.world
        for place in transactions(world):
            spoil(world, place, BREAKS["no record time"])
        with pytest.raises(lf.errors.DecodeError):
            store.sync(net, page_size=5, on_error="reject")


def test_a_stored_update_that_a_server_shows_broken_is_not_missing_there(store):
    """It was read well before, and lies where the store is not final yet."""
    with lf.sandbox(updates=200, migrations=1) as net:
        world = net.sandbox.world
        every, place = list(world.updates), transactions(world)[99]
        world.updates[:] = every[: place + 2]
        store.sync(net, progress=False)
        world.updates[:] = every
        good = spoil(world, place, BREAKS["no template"])
        assert store.sync(net, on_error="reject", progress=False).complete

    assert store.load("updates").update_id.tolist().count(good.update_id) == 1
    assert good.update_id in "".join(store.load("rejects").raw)

"""Items that break the contract: a sync stops before them, or puts them aside whole and goes on; a load names them."""

import json

import pytest

import ledgerframes as lf
from tests.store.conftest import BEGIN, KEYS, assert_same


def _first_event(item):
    return next(iter(item["events_by_id"].values()))


def _payload(item):
    event = _first_event(item)
    event["create_arguments" if "create_arguments" in event else "choice_argument"] = "@@"


#: How an item is broken: what changes it, and what then stands for "@@", often a value that no JSON reader takes.
BROKEN = {
    "a lone surrogate": (_payload, b'"\\ud800"'),
    "no template": (lambda item: _first_event(item).pop("template_id"),),
    "a missing child": (lambda item: item["root_event_ids"].append("nothing:9"),),
    "no effective time": (lambda item: item.pop("effective_at"),),
    "events as text": (lambda item: item.update(events_by_id="none"),),
    "a time that is none": (lambda item: item.update(effective_at="tomorrow"),),
    "no record time": (lambda item: item.pop("record_time"),),
    "an id that is a number": (lambda item: item.update(update_id=5),),
    "an empty id": (lambda item: item.update(update_id=""),),
    "an unreadable place": (lambda item: item.update(record_time="@@"), b'"\\ud800"'),
    "NaN": (_payload, b"NaN"),
    "Infinity": (_payload, b"-Infinity"),
    "deep lists": (_payload, b"[" * 10_000 + b"]" * 10_000),
    "deep objects": (_payload, b'{"a":' * 10_000 + b"1" + b"}" * 10_000),
    "brackets and quotes in a text beside NaN": (_payload, b'["}]\\"{[", NaN, "\\\\"]'),
    "bytes that are not UTF-8": (_payload, b'"\xff\xfe"'),
}


def places_of(world, words):
    """The places of the updates in which these bytes are."""
    return [place for place, update in enumerate(world.updates) if words in update.rendered]


def transactions(world):
    return places_of(world, b'"root_event_ids"')


def spoil(world, place, spoiling, value=b""):
    """Break one item of a sandbox's history, in which "@@" stands for a value; returns it as it was."""
    update = world.updates[place]
    item = json.loads(update.rendered)
    spoiling(item)
    world.updates[place] = update._replace(rendered=json.dumps(item).encode().replace(b'"@@"', value))
    return update


def spoil_coin(world, amount):
    """Write an amount into the first coin of a sandbox's history."""

    def spoiling(item):
        coin = next(event for event in item["events_by_id"].values() if event["template_id"].endswith(":Amulet"))
        coin["create_arguments"]["amount"]["initialAmount"] = amount

    spoil(world, places_of(world, b':Amulet"')[0], spoiling)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_item_is_put_aside_whole_and_the_rest_goes_on(store, kind):
    with lf.sandbox(updates=120, migrations=2) as net:
        wanted, world = lf.load_history(net, start=BEGIN), net.sandbox.world
        places = [transactions(world)[place] for place in (20, 21, 22, 60)]
        gone = [spoil(world, place, *BROKEN[kind]).update_id for place in places]
        sent = {world.updates[place].rendered.decode("utf-8", "backslashreplace") for place in places}
        # Of one kind a page has nothing else.
        report = store.sync(net, page_size=2 if kind == "NaN" else 40, on_error="reject")
        for name in KEYS:
            frame = getattr(wanted, name)
            assert_same(store.load(name), frame[~frame.update_id.isin(gone)], name)
        rejects = store.load("rejects")
        assert (report.rejected, report.complete) == (4, True)
        assert set(rejects.raw) == sent
        assert rejects.reason.str.len().min() > 20
        store.sync(net, on_error="reject")
        store.sync(net, tables=["licenses", "verdicts"])
        assert len(store.load("rejects")) == store.load("events").attrs["rejected"] == 4
        assert "rejected" not in store.load("verdicts").attrs
        assert [finding.count for finding in store.check().findings] == [4]


@pytest.mark.parametrize(
    ("kind", "workers"),
    [("NaN", 1), ("deep lists", 1), ("bytes that are not UTF-8", 4), ("an empty id", 1), ("no template", 4)],
)
def test_a_load_and_a_sync_name_a_broken_item_and_a_sync_keeps_what_was_before(store, kind, workers):
    with lf.sandbox(updates=150, migrations=1) as net:
        world = net.sandbox.world
        place = transactions(world)[60]
        good = spoil(world, place, *BROKEN[kind])
        for read in (lambda: lf.load_history(net), lambda: store.sync(net, workers=workers, page_size=20)):
            with pytest.raises(lf.errors.DecodeError, match=r"POST /v2/updates: item \d+") as caught:
                read()
            said = f"{caught.value} {caught.value.item}"
            assert good.update_id in said or "not UTF-8" in said or "update_id: the text is empty" in said
        assert good.update_id not in set(store.load("updates", allow_partial=True).update_id)
        assert store.syncs().complete.tolist() == [False]
        world.updates[place] = good
        store.sync(net, workers=workers)
        assert_same(store.load("updates"), lf.load_updates(net, start=BEGIN), "updates")


def test_a_load_keeps_the_small_pages_before_a_broken_item():
    with lf.sandbox(updates=200) as net:
        whole, world = lf.load_updates(net, start=BEGIN), net.sandbox.world
        spoil(world, next(one for one in transactions(world) if one > 130), *BROKEN["a time that is none"])
        part = lf.load_updates(net, start=BEGIN, page_size=20, allow_partial=True)
        assert not part.attrs["complete"]
        assert 100 <= len(part) < 160
        assert part.update_id.tolist() == whole.update_id.tolist()[: len(part)]
        last = part.record_time.iloc[-1].isoformat(timespec="microseconds").replace("+00:00", "Z")
        assert part.attrs["cursor"] == [int(part.migration_id.iloc[-1]), last]


@pytest.mark.parametrize("kind", ["no template", "NaN", "bytes that are not UTF-8"])
def test_rejects_that_a_server_shows_whole_now_are_read_again_in_one_commit(store, kind):
    with lf.sandbox(updates=200, migrations=2) as net, lf.sandbox(seed=3, updates=50) as other:
        wanted, world = lf.load_history(net, start=BEGIN), net.sandbox.world
        places = [transactions(world)[place] for place in (40, 60)]
        goods = [spoil(world, place, *BROKEN[kind]) for place in places]
        store.sync(net, tables=["updates", "verdicts"], on_error="reject", progress=False)
        world.updates[places[0]] = goods[0]
        assert len(store.retry_rejects()) == 2
        versions = store.tables().version.sum()
        assert goods[1].update_id in store.retry_rejects(net).raw.item()  # what is still broken stays
        assert store.tables().version.sum() - versions == 3  # of rejects, events and updates
        world.updates[places[1]] = goods[1]
        with pytest.raises(lf.errors.StoreError, match="not the network"):
            store.retry_rejects(other)
        for _ in range(2):
            assert store.retry_rejects(net).empty
        for name in KEYS:
            assert_same(store.load(name), getattr(wanted, name), name)
        assert store.check()


def test_a_reject_whose_place_is_not_covered_any_more_waits_for_the_next_sync(store):
    with lf.sandbox(updates=200, migrations=1) as net:
        wanted, world = lf.load_updates(net, start=BEGIN), net.sandbox.world
        place = transactions(world)[-1]
        good = spoil(world, place, *BROKEN["no template"])
        store.sync(net, on_error="reject", progress=False)
        world.updates[place] = good
        assert store.repair(unsettled=True)
        assert len(store.retry_rejects(net)) == 1
        store.sync(net, progress=False)
        assert store.retry_rejects(net).empty
    assert_same(store.load("updates"), wanted, "updates")


def test_a_page_without_any_place_is_an_error_even_then(store):
    with lf.sandbox(updates=60, migrations=1) as net:
        world = net.sandbox.world
        for place in transactions(world):
            spoil(world, place, *BROKEN["no record time"])
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
        good = spoil(world, place, *BROKEN["no template"])
        assert store.sync(net, on_error="reject", progress=False).complete

    assert store.load("updates").update_id.tolist().count(good.update_id) == 1
    assert good.update_id in "".join(store.load("rejects").raw)

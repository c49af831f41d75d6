"""Items that no JSON reader takes: the one is put aside whole, the rest of its page is read; or the error names it."""

import json

import pytest

import ledgerframes as lf
from tests.store.conftest import BEGIN, assert_same
from tests.store.test_rejects import transactions

VALUES = {
    "a lone surrogate": b'"\\ud800"',
    "NaN": b"NaN",
    "Infinity": b"-Infinity",
    "deep lists": b"[" * 10_000 + b"]" * 10_000,
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "brackets and quotes in a text beside NaN": b'["}]\\"{[", NaN, "\\\\"]',
    "bytes that are not UTF-8": b'"\xff\xfe"',
}


def spoil(world, place, value, member="payload"):
    """Put a value into one item of a sandbox's history as it stands; gives the item as it was."""
    update = world.updates[place]
    item = json.loads(update.rendered)
    event = next(iter(item["events_by_id"].values()))
    if member == "payload":
        event["create_arguments" if "create_arguments" in event else "choice_argument"] = "@@"
    else:
        item[member] = "@@"
    world.updates[place] = update._replace(rendered=json.dumps(item).encode().replace(b'"@@"', value))
    return update


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_an_unreadable_item_is_put_aside_whole_and_the_rest_goes_on(store, value):
    with lf.sandbox(updates=100, migrations=2) as net:
        wanted = lf.load_history(net, start=BEGIN)
        world = net.sandbox.world
        places = [transactions(world)[place] for place in (5, 6, 60)]
        broken = [spoil(world, place, value) for place in places]
        sent = {world.updates[place].rendered.decode("utf-8", "backslashreplace") for place in places}
        report = store.sync(net, page_size=40, on_error="reject", workers=1)
        gone = [one.update_id for one in broken]
        for name in ("updates", "events", "reassignments"):
            frame = getattr(wanted, name)
            assert_same(store.load(name), frame[~frame.update_id.isin(gone)], name)
        rejects = store.load("rejects")
        assert report.complete
        assert report.rejected == 3
        assert set(rejects.raw) == sent
        store.sync(net, on_error="reject")
        assert len(store.load("rejects")) == 3


def test_an_unreadable_item_without_a_place_is_put_aside_too(store):
    with lf.sandbox(updates=100, migrations=1) as net:
        wanted = lf.load_updates(net, start=BEGIN)
        world = net.sandbox.world
        broken = spoil(world, transactions(world)[50], VALUES["a lone surrogate"], "record_time")
        store.sync(net, page_size=40, on_error="reject", workers=1)
        assert_same(store.load("updates"), wanted[wanted.update_id != broken.update_id], "updates")
        assert len(store.load("rejects")) == 1


@pytest.mark.parametrize("value", [VALUES[name] for name in ("NaN", "deep lists", "bytes that are not UTF-8")])
def test_without_that_an_error_names_the_item(store, value):
    with lf.sandbox(updates=100, migrations=1) as net:
        world = net.sandbox.world
        broken = spoil(world, transactions(world)[30], value)
        for read in (lambda: lf.load_history(net), lambda: store.sync(net, workers=1)):
            with pytest.raises(lf.errors.DecodeError, match=r"POST /v2/updates: item \d+") as caught:
                read()
            said = f"{caught.value} {caught.value.item}"
            assert broken.update_id in said or "not UTF-8" in said


def test_a_load_keeps_the_small_pages_before_a_broken_item():
    with lf.sandbox(updates=200) as net:
        whole, world = lf.load_updates(net, start=BEGIN), net.sandbox.world
        spoil(world, next(place for place in transactions(world) if place > 130), b'"not a time"', "effective_at")
        part = lf.load_updates(net, start=BEGIN, page_size=20, allow_partial=True)
        assert not part.attrs["complete"]
        assert 100 <= len(part) < 160
        assert part.update_id.tolist() == whole.update_id.tolist()[: len(part)]
        last = part.record_time.iloc[-1].isoformat(timespec="microseconds").replace("+00:00", "Z")
        assert part.attrs["cursor"] == [int(part.migration_id.iloc[-1]), last]


@pytest.mark.long
def test_a_page_of_one_unreadable_item_is_read_on(store):
    with lf.sandbox(updates=60, migrations=1) as net:
        wanted = lf.load_updates(net, start=BEGIN)
        world = net.sandbox.world
        broken = [spoil(world, place, VALUES["NaN"]) for place in transactions(world)[5:9]]
        store.sync(net, page_size=2, on_error="reject", workers=1)
        gone = [one.update_id for one in broken]
        assert_same(store.load("updates"), wanted[~wanted.update_id.isin(gone)], "updates")


def test_an_empty_update_id_is_a_broken_item(store):
    with lf.sandbox(updates=100, migrations=1) as net:
        wanted = lf.load_updates(net, start=BEGIN)
        broken = spoil(net.sandbox.world, transactions(net.sandbox.world)[30], b'""', "update_id")
        for call in (lambda: lf.load_history(net), lambda: store.sync(net)):
            with pytest.raises(lf.errors.DecodeError, match="update_id: the text is empty"):
                call()
        assert store.sync(net, on_error="reject").rejected == 1
        assert_same(store.load("updates"), wanted[wanted.update_id != broken.update_id], "updates")

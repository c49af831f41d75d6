"""Histories of small pages: a lake holds the same rows, and a broken item takes none of the pages before it along."""

import json

import ledgerframes as lf
from tests.store.conftest import BEGIN, assert_same


def test_a_lake_of_small_pages_holds_the_same_rows(store):
    with lf.sandbox(updates=400) as net:
        store.sync(net, page_size=20, workers=2)
        wanted = lf.load_history(net, start=BEGIN)
        for name, frame in wanted._asdict().items():
            assert_same(store.load(name), frame, name)


def test_a_load_keeps_the_small_pages_before_a_broken_item():
    with lf.sandbox(updates=200) as net:
        whole = lf.load_updates(net, start=BEGIN)
        world = net.sandbox.world
        place = next(at for at, update in enumerate(world.updates) if at > 130 and b"events_by_id" in update.rendered)
        update = world.updates[place]
        item = json.loads(update.rendered)
        item["effective_at"] = "not a time"
        world.updates[place] = update._replace(rendered=json.dumps(item).encode())
        part = lf.load_updates(net, start=BEGIN, page_size=20, allow_partial=True)
        assert not part.attrs["complete"]
        assert 100 <= len(part) < 160
        assert part.update_id.tolist() == whole.update_id.tolist()[: len(part)]
        last = part.record_time.iloc[-1].isoformat(timespec="microseconds").replace("+00:00", "Z")
        assert part.attrs["cursor"] == [int(part.migration_id.iloc[-1]), last]

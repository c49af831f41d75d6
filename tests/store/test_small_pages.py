"""Small pages of one shard are decoded together, in order, and none is held back for long or lost by an error."""

import json
from collections import deque

import pytest

import ledgerframes as lf
from ledgerframes.errors import DecodeError, NoAnswerError
from ledgerframes.interfaces.history import read_pages
from ledgerframes.paging.cursor import Window
from ledgerframes.paging.history import HistoryReader
from ledgerframes.store.coverage import Interval
from ledgerframes.store.sync.gathering import Gathering, PageDecoder
from ledgerframes.store.sync.shards import Fetched
from tests.store.conftest import BEGIN, assert_same


class Counting:
    """A decoder that notes how many pages and bytes it was given each time, and refuses those of some ids."""

    def __init__(self, refused=frozenset()):
        self.sizes = []
        self.bytes = []
        self._decode = PageDecoder()
        self._refused = refused

    def __call__(self, pages):
        self.sizes.append(len(pages))
        self.bytes.append(sum(len(page.page.raw) for page in pages))
        if any(update_id in self._refused for page in pages for update_id in page.page.page_index.update_ids):
            raise DecodeError("refused", endpoint="")
        return self._decode(pages)


@pytest.fixture(scope="module")
def pages():
    with lf.sandbox(updates=200) as net:
        return list(read_pages(net.scan.update_pages, HistoryReader(Window(), page_size=20)))


def results(pages, key=0, **last):
    """Pages as a worker gives them: each begins where the one before ends."""
    fetched = []
    for number, page in enumerate(pages):
        span = Interval(0, number, number + 1)
        more = last if number == len(pages) - 1 else {}
        read = Interval(0, 0, number + 1)
        fetched.append((Fetched(key, read, settled=number, span=span, server="a", **more), page))
    return fetched


def ids(fetched):
    return [update_id for one in fetched for update_id in one.batches["updates"]["update_id"].to_pylist()]


def ids_of(pages):
    return [page.page.page_index.update_ids[row] for page in pages for row in page.rows]


def until_an_error(generator):
    """What it gives, and what it raises."""
    given = []
    try:
        # By `append`, as `extend` would lose what came before the error.
        deque(map(given.append, generator), maxlen=0)
    except (lf.LedgerframesError, KeyboardInterrupt) as error:
        return given, error
    return given, None


def test_pages_that_follow_one_another_are_decoded_together(pages):
    decode = Counting()
    given = list(Gathering(decode).decoded(results(pages, ended=True)))
    assert decode.sizes == [len(pages)]
    assert len(given) == 1
    assert given[0].span == given[0].read == Interval(0, 0, len(pages))
    assert (given[0].settled, given[0].ended) == (len(pages) - 1, True)
    assert ids(given) == ids_of(pages)


def test_no_more_is_decoded_at_once_than_was_asked_for(pages):
    size = len(pages[0].page.raw) + len(pages[1].page.raw)
    decode = Counting()
    given = list(Gathering(decode, most=size).decoded(results(pages)))
    assert max(decode.bytes) <= size
    assert len(given) < len(pages)
    assert ids(given) == ids_of(pages)
    assert len(list(Gathering(Counting(), most=0).decoded(results(pages)))) == len(pages)


def test_shards_are_kept_apart_and_each_stays_in_order(pages):
    mixed = [one for pair in zip(results(pages[:5], key=1), results(pages[5:10], key=2), strict=True) for one in pair]
    given = list(Gathering(Counting()).decoded(mixed))
    assert [one.key for one in given] == [1, 2]
    assert ids(given) == ids_of(pages[:10])


def test_a_page_after_a_gap_or_of_another_server_is_not_joined(pages):
    first, second, third = (fetched for fetched, _ in results(pages[:3]))
    other = Fetched(0, third.read, third.settled, third.span, server="b")
    again = Fetched(0, second.read, second.settled, Interval(0, 0, 2), server="a")
    given = list(Gathering(Counting()).decoded([(first, pages[0]), (again, pages[1]), (other, pages[2])]))
    assert [one.span for one in given] == [first.span, again.span, other.span]


def test_what_a_shard_says_without_a_page_comes_after_the_pages_before_it(pages):
    fetched = results(pages[:2])
    told = Fetched(0, Interval(0, 0, 2), 2, Interval(0, 2, 2))
    given = list(Gathering(Counting()).decoded([*fetched, (told, None)]))
    assert given[1] is told
    assert ids(given[:1]) == ids_of(pages[:2])


def test_pages_of_a_slow_server_go_on_after_a_second(pages):
    times = iter([0.0, 0.0, 0.4, 1.1, *[1.2] * 20])
    gathering = Gathering(Counting(), clock=lambda: next(times))
    given = gathering.decoded(results(pages))
    assert len(ids([next(given)])) < len(ids_of(pages)) / 2


@pytest.mark.parametrize("error", [NoAnswerError("lost"), KeyboardInterrupt()], ids=["an error", "Ctrl-C"])
def test_what_came_before_an_error_is_given_first(pages, error):
    def breaking():
        yield from results(pages[:4])
        raise error

    kept, raised = until_an_error(Gathering(Counting()).decoded(breaking()))
    assert raised is error
    assert ids(kept) == ids_of(pages[:4])


def test_the_pages_before_a_broken_one_are_given_and_those_of_other_shards(pages):
    broken = pages[3].page.page_index.update_ids[5]
    mixed = [*results(pages[:2], key=1), *results(pages[2:5], key=2, ended=True)]
    kept, raised = until_an_error(Gathering(Counting({broken})).decoded(mixed))
    assert str(raised) == "refused"
    assert sorted(ids(kept)) == sorted(ids_of(pages[:3]))


def test_a_broken_page_is_reported_before_an_error_that_came_after_it(pages):
    def breaking():
        yield from results(pages[:4])
        raise NoAnswerError("lost")

    broken = pages[3].page.page_index.update_ids[5]
    kept, raised = until_an_error(Gathering(Counting({broken})).decoded(breaking()))
    assert str(raised) == "refused"
    assert ids(kept) == ids_of(pages[:3])


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

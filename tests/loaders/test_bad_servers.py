"""Servers that fail, lie or damage an answer: a load or sync is right or refused, in bounded time, never wrong."""

import contextlib
import json

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.paging.modes import PageQuery
from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.generator.generate import generate
from tests.asking import forwarded, network
from tests.rigs.servers import replica, simulated, started
from tests.store.conftest import BEGIN, assert_same
from tests.transport.hostile_server import HostileServer, Reply, answer, text

GOOD_PAGE = b'{"transactions":[{"update_id":"u","record_time":"2026-01-01T00:00:00.000000Z","migration_id":0'
LIES = {
    "HTML": text("<html><title>Sign in</title></html>", 200, "text/html"),
    "truncated JSON": Reply(body=GOOD_PAGE),
    "cut off": Reply(body=GOOD_PAGE, cut=20),
    "reset": Reply(body=GOOD_PAGE, hang_up="body"),
    "not gzip": Reply(body=b"{}", headers=(("Content-Encoding", "gzip"),)),
    "an error with 200": answer({"error": "no database"}),
    "a list": answer([]),
    "null": answer(None),
    "an item without a place": answer({"transactions": [{"update_id": "u"}]}),
    "an item that is not JSON": Reply(body=GOOD_PAGE + b',"x":NaN}]}'),
    "500": answer({"error": "bug"}, 500),
    "nothing": Reply(body=b""),
}
#: What a single server is asked again for; the rest is its word.
DAMAGES = [kind for kind in LIES if kind not in {"an item without a place", "500"}]

RETRYABLE = (
    *("429", "429-seconds", "429-date", "502", "503", "503-not-replicated", "504"),
    *("reset", "reset-in-body", "reset-after", "truncated", "short-body", "html", "empty"),
)
HARMLESS = ("content-type",)


def connected(*urls):
    return network(scan_url=urls)


def proxied(scan_url, reply, turns):
    """Answers as another server does, but for the requests of these numbers."""
    asked = []

    def by(heard):
        asked.append(heard)
        return reply if len(asked) - 1 in turns else forwarded(scan_url, heard)

    return by


@pytest.fixture(scope="module")
def wanted(small):
    return lf.load_updates(small, start=BEGIN)


@pytest.mark.parametrize("kind", LIES)
def test_a_server_that_always_lies_is_a_named_error_alone_and_does_not_fail_a_load_with_two(kind, small, wanted):
    with HostileServer([LIES[kind]]) as liar:
        with connected(liar.url, small.sandbox.scan_url) as net:
            assert_same(lf.load_updates(net, page_size=25), wanted, "updates")
        before = len(liar.heard)
        named = pytest.raises(lf.LedgerframesError, match="POST /v2/updates")
        with connected(liar.url) as net, named as caught:
            lf.load_updates(net)
        asked = len(liar.heard) - before
    faults = lf.errors.ServerError if kind == "500" else (lf.errors.DecodeError, lf.errors.NoAnswerError)
    assert isinstance(caught.value, faults)
    if kind in {"an error with 200", "a list", "null", "an item that is not JSON"}:
        assert asked == 2  # the same answer twice: that is what the server means
    if kind == "an item without a place":
        assert asked == 1


@pytest.mark.parametrize(
    ("turn", "kind"),
    [(0, "null"), *((2, kind) for kind in DAMAGES)],  # HTML at first is a wrong address
)
def test_one_damaged_answer_is_asked_for_again(turn, kind, small, wanted):
    with HostileServer(proxied(small.sandbox.scan_url, LIES[kind], {turn})) as server, connected(server.url) as net:
        assert_same(lf.load_updates(net, page_size=25), wanted, "updates")
        assert net.stats.retries == 1


def test_one_damaged_answer_puts_nothing_into_rejects(small, wanted, tmp_path):
    damaged = proxied(small.sandbox.scan_url, LIES["an item that is not JSON"], {3})
    with HostileServer(damaged) as server, connected(server.url) as net:
        store = lf.open_store(tmp_path / "lake")
        assert store.sync(net, workers=1, page_size=20, on_error="reject").rejected == 0
        assert_same(store.load("updates"), wanted, "updates")


def test_an_item_that_one_server_spoils_comes_from_the_other(small):
    """Where another scan has an item whole, it is not put aside."""

    def spoilt(heard):
        page = json.loads(forwarded(small.sandbox.scan_url, heard).body)
        for item in page.get("transactions", []):
            item.pop("record_time")
        return answer(page)

    with HostileServer(spoilt) as liar, connected(liar.url, small.sandbox.scan_url) as net:
        page = net.scan.update_pages.leniently().send_page(PageQuery(None, 20))
    assert (page.server, page.value.unplaced) == (small.sandbox.scan_url, ())


def test_a_scan_that_goes_away_in_the_middle_does_not_fail_a_load_that_another_one_finishes(small, wanted):
    left = [4]

    def by(heard):
        left[0] -= 1
        return forwarded(small.sandbox.scan_url, heard) if left[0] >= 0 else Reply(hang_up="body")

    with HostileServer(by) as server, connected(server.url, small.sandbox.scan_url) as net:
        assert_same(lf.load_updates(net, page_size=25), wanted, "updates")
        assert left[0] >= -4  # what is asked of it for nothing


def test_a_server_that_refuses_negative_migration_ids_can_be_synced(small, wanted, tmp_path):
    def by(heard):
        refused = json.loads(heard.body or b"{}").get("after", {}).get("after_migration_id", 0) < 0
        return answer({"error": "negative"}, 400) if refused else forwarded(small.sandbox.scan_url, heard)

    with HostileServer(by) as server, connected(server.url) as net:
        store = lf.open_store(tmp_path / "lake")
        assert store.sync(net, progress=False).complete
        assert_same(store.load("updates"), wanted, "updates")


@pytest.mark.parametrize(("size", "rows"), [(25, 40), (50, 50)], ids=["by what it looked at", "by its first page"])
def test_a_load_that_ends_before_what_it_was_shown_is_not_complete(size, rows):
    """Several scans stand behind one address, and one of them lags."""
    with lf.sandbox(updates=60) as base, replica(base.sandbox, lag=20) as late:

        def by(heard):
            asked = json.loads(heard.body or b"{}")
            newest = asked.get("page_size") != size or (size > 40 and "after" not in asked)
            return forwarded(base.sandbox.scan_url if newest else late.scan_url, heard)

        with HostileServer(by) as server, connected(server.url) as net:
            frame = lf.load_updates(net, page_size=size)
    assert (len(frame), frame.attrs["complete"], "known_to" in frame.attrs) == (rows, False, True)
    assert frame.attrs["range"].endswith("(the last one read)")


def test_follow_outlives_every_bad_answer(tmp_path, caplog):
    with lf.sandbox(updates=60) as base:
        bad = []

        def by(heard):
            return bad.pop(0) if bad else forwarded(base.sandbox.scan_url, heard)

        with HostileServer(by) as server, connected(server.url) as net:
            rounds = lf.open_store(tmp_path / "lake").follow(net, every="1ms")
            assert next(rounds).rows["updates"] == 60
            base.sandbox.advance(updates=5)
            for kind in ("a list", "an item without a place", "an item that is not JSON"):
                bad += [LIES[kind]] * 2  # the same answer twice: that is what the server means
            assert next(rounds).rows["updates"] == 5
    assert caplog.text.count("the next one starts") >= 3


def test_whatever_looks_at_a_history_follows_a_maximum_smaller_than_its_samples(tmp_path):
    with simulated(updates=100) as base, replica(base.sandbox, page_maximum=25) as box, connected(box.scan_url) as net:
        pd.testing.assert_frame_equal(lf.load_updates(net, last="10min"), lf.load_updates(base, last="10min"))
        pd.testing.assert_frame_equal(lf.load_active_contracts(net), lf.load_active_contracts(base))
        assert lf.migrations(net).equals(lf.migrations(base))
        assert lf.plan(net, last="10min").rows == lf.plan(base, last="10min").rows
        assert len(lf.load_verdicts(net, last="10min")[0])
        assert lf.cross_check(net, base)
        store = lf.open_store(tmp_path / "lake")
        assert store.sync(net, last="10min", progress=False).complete
        assert store.sync(net, progress=False).complete
        assert store.verify(net, sample=5)
        assert lf.doctor(net)


@pytest.fixture(scope="module")
def world():
    return generate(11, 300, rounds_per_day=1_440)


@pytest.fixture(scope="module")
def items(world):
    return list(world.items())


@pytest.mark.parametrize("kind", [*RETRYABLE, *HARMLESS])
@pytest.mark.parametrize("times", [pytest.param(15, marks=pytest.mark.long), pytest.param(500, marks=pytest.mark.soak)])
def test_a_fault_in_a_fifth_of_the_answers_does_not_stop_a_load(world, items, kind, times):
    done = 0
    with started(world=world, faults=Faults({kind: 0.2}, seed=5)) as server, connected(server.scan_url) as net:
        for _ in range(times):
            with contextlib.suppress(lf.errors.RequestError):
                history = lf.load_history(net, limit=300, page_size=60, as_="arrow", progress=False)
                assert history.updates.column("update_id").to_pylist() == [item["update_id"] for item in items]
                done += 1
        assert list(lf.rebuild_items(history)) == items
    assert done >= 0.99 * times

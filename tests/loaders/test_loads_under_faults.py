"""Loads from a server that fails: right or refused, in bounded time, never wrong."""

import pytest

import ledgerframes as lf
from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.generator.generate import generate
from tests.asking import network
from tests.rigs.servers import started

RETRYABLE = (
    *("429", "429-seconds", "429-date", "502", "503", "503-not-replicated", "504"),
    *("reset", "reset-in-body", "reset-after", "truncated", "short-body", "html", "empty"),
)
HARMLESS = ("content-type",)


@pytest.fixture(scope="module")
def world():
    return generate(11, 300, rounds_per_day=1_440)


@pytest.fixture(scope="module")
def wanted(world):
    return list(world.items())


def connected(server):
    return network(scan_url=(server.scan_url,))


def loads(world, wanted, faults, times):
    """How many of so many loads succeed; each one that does must be right."""
    done = 0
    with started(world=world, faults=faults) as server, connected(server) as net:
        for _ in range(times):
            try:
                history = lf.load_history(net, limit=300, page_size=60, as_="arrow", progress=False)
            except lf.errors.RequestError:
                continue
            done += 1
            assert history.updates.column("update_id").to_pylist() == [item["update_id"] for item in wanted]
        assert list(lf.rebuild_items(history)) == wanted
    return done


@pytest.mark.parametrize("kind", [*RETRYABLE, *HARMLESS])
@pytest.mark.parametrize("times", [pytest.param(15, marks=pytest.mark.long), pytest.param(500, marks=pytest.mark.soak)])
def test_a_fault_in_a_fifth_of_the_answers_does_not_stop_a_load(world, wanted, kind, times):
    assert loads(world, wanted, Faults({kind: 0.2}, seed=5), times) >= 0.99 * times


def test_mixed_faults_do_not_stop_a_load(world, wanted):
    assert loads(world, wanted, Faults(dict.fromkeys(RETRYABLE, 0.02), seed=9), 15) == 15


def test_what_was_loaded_before_a_fault_can_be_kept(world, wanted):
    script = Faults(sequence=("ok", "ok", "ok", *["500"] * 50))
    with started(world=world, faults=script) as server, connected(server) as net:
        frame = lf.load_updates(net, limit=300, page_size=50, allow_partial=True, progress=False)
    assert frame.attrs["complete"] is False
    assert 0 < len(frame) < 300
    assert list(frame.update_id) == [item["update_id"] for item in wanted[: len(frame)]]


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning")  # the bootstrap may be among the late
def test_updates_that_appear_late_are_not_lost_by_a_read_that_begins_after_them(world, wanted):
    with started(world=world, late=0.5) as server, connected(server) as net:
        first = lf.load_updates(net, limit=1000, progress=False)
        for _ in range(10):
            again = lf.load_updates(net, limit=1000, progress=False)
    assert set(first.update_id) <= {item["update_id"] for item in wanted}
    assert list(again.update_id) == [item["update_id"] for item in wanted]

"""What a lagging server and one with late updates show of the same world."""

from __future__ import annotations

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world import timestamps
from tests.rigs.views import RiggedView


@pytest.fixture
def world():
    return generate(7, 600, rounds_per_day=1_440)


def cursor(update):
    return update[:2]


def test_a_plain_view_shows_what_the_world_has(world):
    view = RiggedView(world)

    assert view.page(None, 1_000) == world.updates
    assert view.page(cursor(world.updates[99]), 10) == world.updates[world.position(cursor(world.updates[99])) :][:10]


def test_a_lagging_view_misses_the_last_updates_and_ends_earlier(world):
    view = RiggedView(world, lag=40)

    assert view.page(None, 1_000) == world.updates[:560]
    assert view.page(cursor(world.updates[559]), 10) == []
    assert view.page(cursor(world.updates[580]), 10) == []
    assert view.knows(world.updates[559])
    assert not view.knows(world.updates[560])


def test_a_view_that_lags_by_more_than_everything_is_empty(world):
    view = RiggedView(world, lag=10_000)

    assert view.page(None, 10) == []
    assert not view.knows(world.updates[0])


def test_a_lagging_view_catches_up_as_the_world_goes_on(world):
    view = RiggedView(world, lag=40)
    hidden = world.updates[-1]

    world.advance(40)

    assert view.knows(hidden)
    assert view.page(None, 1_000) == world.updates[:600]


def late_view(world, **options):
    return RiggedView(world, late=1.0, late_span=300.0, **options)


def test_late_updates_are_young_ones_of_other_synchronizers_than_the_main_one(world):
    view = late_view(world)
    missing = set(world.updates) - set(view.page(None, 1_000))

    assert len(missing) > 3
    assert world.synchronizers[0] not in {update.synchronizer_id for update in missing}
    youngest = world.updates[-1].record_time
    assert all(youngest - update.record_time <= 300 * timestamps.SECOND for update in missing)
    assert not any(view.knows(update) for update in missing)


def test_late_updates_appear_behind_what_was_shown_after_some_pages_passed_over_them(world):
    view = late_view(world, late_requests=3)
    newest = view.page(None, 1_000)[-1]
    pages = [view.page(None, 1_000) for _ in range(3)]

    assert [len(page) < 600 for page in pages] == [True, True, False]
    appeared = set(pages[2]) - set(pages[1])
    assert min(appeared) < newest
    assert all(map(view.knows, appeared))


def test_pages_that_do_not_reach_a_late_update_do_not_hasten_it(world):
    view = late_view(world, late_requests=1)

    for _ in range(5):
        view.page(None, 100)

    assert len(view.page(None, 1_000)) < 600
    assert len(view.page(None, 1_000)) == 600


def test_a_late_update_that_is_young_no_more_is_shown(world):
    view = late_view(world, late_requests=10**6)
    missing = set(world.updates) - set(view.page(None, 1_000))

    world.advance(400)

    assert missing <= set(view.page(None, 2_000))


def test_each_view_of_a_world_counts_for_itself(world):
    first, second = late_view(world, late_requests=1), late_view(world, late_requests=1)
    first.page(None, 1_000)

    assert len(first.page(None, 1_000)) == 600
    assert len(second.page(None, 1_000)) < 600


def test_a_share_of_the_candidates_is_late_and_always_the_same(world):
    some, again, every = (
        set(world.updates) - set(RiggedView(world, late=late, late_span=1e6, seed=4).page(None, 1_000))
        for late in (0.5, 0.5, 1.0)
    )

    assert some == again
    assert 0.25 < len(some) / len(every) < 0.75


def test_a_short_page_around_late_updates_is_still_full(world):
    view = late_view(world, late_requests=10**6)
    shown = view.page(None, 1_000)

    behind = [update for update in shown if cursor(update) > cursor(shown[-40])]
    assert view.page(cursor(shown[-40]), 20) == behind[:20]

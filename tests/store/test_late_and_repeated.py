"""A migration that appears late between two known ones, and update ids that a server shows at two places."""

import pytest

import ledgerframes as lf
from tests.store.conftest import BEGIN, assert_whole


def test_a_migration_that_appears_between_two_known_ones_is_read(store):
    with lf.sandbox(updates=300, migrations=3) as net:
        world = net.sandbox.world
        every = list(world.updates)
        later = [one for one in every if one.migration_id == 2]
        world.updates[:] = [*(one for one in every if one.migration_id == 0), *later[:5]]
        store.sync(net)
        assert set(store.load("updates").migration_id) == {0, 2}
        world.updates[:] = every
        store.sync(net)
        assert_whole(store, net)


@pytest.mark.parametrize("target", [60, -1], ids=["on a later page", "in another migration"])
def test_an_update_id_at_two_places_is_told_once_by_a_load(target):
    with lf.sandbox(updates=200, migrations=2) as net:
        updates = net.sandbox.world.updates
        first, other = updates[3], updates[target]
        rendered = other.rendered.replace(other.update_id.encode(), first.update_id.encode())
        updates[target] = other._replace(update_id=first.update_id, rendered=rendered)
        with pytest.raises(lf.errors.PagingError, match="at another cursor") as caught:
            lf.load_history(net, start=BEGIN, page_size=25)
        assert str(caught.value).count(first.update_id) == 1

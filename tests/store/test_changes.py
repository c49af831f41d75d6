"""Where final rows changed: never later than any change since a count, however many changes are noted."""

import random

import pytest

from ledgerframes.store.changes import AFTER_ALL, BEFORE_ALL, Changes


@pytest.mark.parametrize("seed", range(40))
def test_the_instant_is_that_of_the_earliest_change_since_a_count(seed):
    chance = random.Random(seed)
    changes, instants = Changes(), []
    for now in range(chance.randrange(1, 60)):
        instant = chance.choice([None, (chance.randrange(3), chance.randrange(200))])
        instants.append(instant)
        changes = changes.counted(now, now + 1, instant)
        logged = changes.numbers()
        changes = Changes.read(logged.get)
        assert changes.numbers() == logged
        for then in range(now + 2):
            true = min((one for one in instants[then:] if one is not None), default=AFTER_ALL)
            found = changes.since(then, now + 1)
            assert found <= true
            # Only what has no place of its own any more is answered with an earlier instant than the true one.
            assert found == true or len(changes.notes) == 16


def test_sixteen_changes_are_known_exactly():
    changes = Changes()
    for number in range(16):
        changes = changes.counted(number, number + 1, (0, 10 * number))
    assert [changes.since(number, 16) for number in range(16)] == [(0, 10 * number) for number in range(16)]
    changes = changes.counted(16, 17, (0, 500))
    assert [changes.since(number, 17)[1] for number in (0, 1, 2, 16)] == [0, 0, 20, 500]


def test_what_an_older_version_counted_may_be_anywhere():
    noted = Changes().counted(0, 1, (0, 70))
    assert noted.since(0, 1) == (0, 70)
    assert noted.since(0, 2) == noted.since(1, 2) == BEFORE_ALL
    assert noted.since(None, 1) == BEFORE_ALL

    again = noted.counted(2, 3, (0, 90))
    assert again.since(1, 3) == BEFORE_ALL
    assert again.since(2, 3) == (0, 90)
    assert again.since(3, 3) == AFTER_ALL

"""What servers have shown proves their pages, until one shows less than before."""

from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import NOTHING, Proofs


def test_a_server_proves_its_own_pages_until_it_shows_less_than_before():
    proofs = Proofs(settle=10)
    proofs.saw("one", [Cursor(0, 100), Cursor(1, 70), Cursor(0, 130)])
    proofs.saw("one", [Cursor(1, 60)])
    proofs.saw("two", [])

    before = proofs.now()
    assert [before.of("one"), before.of("one", [Cursor(0, 140)]), before.of("two")] == [119, 129, NOTHING - 11]
    assert [proofs.earliest("one", migration_id) for migration_id in (0, 1, 2)] == [100, 60, None]
    places = (None, Cursor(1, 69), Cursor(1, 70))
    assert [proofs.contradicts("one", after) for after in places] == [True, True, False]
    assert not proofs.contradicts("two", None)

    assert (proofs.proves_ahead("one"), proofs.breaks("one")) == (True, 0)
    proofs.lose("one")
    assert (proofs.proves_ahead("one"), proofs.breaks("one")) == (False, 1)
    assert proofs.now().of("one", [Cursor(0, 140)]) == 129  # by the page alone
    assert proofs.now().of("one") == NOTHING - 11
    assert not proofs.contradicts("one", None)
    assert proofs.proves_ahead("two")


def test_the_latest_beginning_that_a_server_has_shown_counts():
    proofs = Proofs(settle=0)
    for at in (Cursor(0, 5), Cursor(1, 2), Cursor(0, 9)):
        proofs.begins("one", at)
    assert (proofs.latest_begin("one"), proofs.latest_begin("two")) == (Cursor(1, 2), None)
